// One stencil a thread: load it, evaluate it, store what comes out. The shell of every energy; what it calls is written
// by `gusset_gpu::source` from the traced energy:
//
//   ARITY, INPUTS, OUTPUTS        points, inputs and results of a stencil
//   void load(uint k, out double v[INPUTS])
//   void evaluate(in double v[INPUTS], out double r[OUTPUTS])
//   void store(uint gradient, uint hessian, in double r[OUTPUTS])    unless ENERGY is defined
//
// CPU twin: `Batch::energy` and `Batch::eval` in crates/energy/src/batch.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Positions { double x[]; };
layout(std430, binding = 1) readonly buffer StartPositions { double x_start[]; };
layout(std430, binding = 2) readonly buffer StartVelocities { double v_start[]; };
layout(std430, binding = 3) readonly buffer Stencils { uint stencils[]; };
layout(std430, binding = 4) readonly buffer Parameters { double params[]; };
// Energy of each stencil, or gradients.
layout(std430, binding = 5) writeonly buffer First { double first[]; };
// Sum of each workgroup's energies, or row-major upper 3x3 blocks of Hessians.
layout(std430, binding = 6) writeonly buffer Second { double second[]; };

layout(push_constant) uniform Constants {
    double dt;
    uint count;
    uint first_at;
    uint second_at;
};

#include "lib/thread.glsl"
#include "element"

#ifdef ENERGY

#include "lib/sum.glsl"

shared double high[64];
shared double low[64];

void main() {
    uint k = thread_index(), lane = gl_LocalInvocationID.x;
    double energy = 0.0lf;
    if (k < count) {
        double v[INPUTS];
        double r[OUTPUTS];
        load(k, v);
        evaluate(v, r);
        energy = r[0];
        first[first_at + k] = energy;
    }
    high[lane] = energy;
    low[lane] = 0.0lf;
    barrier();
    for (uint half_way = 32u; half_way > 0u; half_way >>= 1) {
        if (lane < half_way) {
            Sum s = sum_of(Sum(high[lane], low[lane]), Sum(high[lane + half_way], low[lane + half_way]));
            high[lane] = s.high;
            low[lane] = s.low;
        }
        barrier();
    }
    if (lane == 0u && group_index() * 64u < count) {
        second[2u * (second_at + group_index())] = high[0];
        second[2u * (second_at + group_index()) + 1u] = low[0];
    }
}

#else

#include "lib/psd.glsl"

void main() {
    uint k = thread_index();
    if (k >= count) return;
    double v[INPUTS];
    double r[OUTPUTS];
    load(k, v);
    evaluate(v, r);
    if (PSD != 0u) project(r);
    store(first_at + 3u * ARITY * k, second_at + 9u * BLOCKS * k, r);
}

#endif
