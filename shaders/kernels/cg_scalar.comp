// Sums what the workgroups have left, in one order, and from it the next step of conjugate gradients. One workgroup.
//
// CPU twin: the scalars of `ConjugateGradients::solve` in crates/system/src/pcg.rs

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer Partial { double partial[]; };
layout(std430, binding = 1) readonly buffer More { double more[]; };
#include "lib/scalars.glsl"
layout(std430, binding = 2) buffer Carried { Scalars s; };

// 0: begin, from r.z and r.r; 1: alpha from p.q; 2: beta from r.z and r.r
layout(push_constant) uniform Constants { double tolerance; uint count; uint stage; };

shared double sums[256];
shared double sums_more[256];

void main() {
    uint lane = gl_LocalInvocationID.x;
    precise double sum = 0.0lf, sum_more = 0.0lf;
    for (uint k = lane; k < count; k += 256u) {
        sum += partial[k];
        if (stage != 1u) sum_more += more[k];
    }
    sums[lane] = sum;
    sums_more[lane] = sum_more;
    barrier();
    for (uint half_way = 128u; half_way > 0u; half_way >>= 1) {
        if (lane < half_way) {
            sums[lane] += sums[lane + half_way];
            sums_more[lane] += sums_more[lane + half_way];
        }
        barrier();
    }
    if (lane != 0u || (stage != 0u && s.done != 0u)) return;
    if (stage == 0u) {
        s.rz = sums[0];
        s.rr = sums_more[0];
        s.goal = tolerance * tolerance * s.rr;
        s.iterations = 0u;
        s.beta = 0.0lf;
        s.alpha = 0.0lf;
        s.done = s.rr <= 0.0lf ? 1u : (s.rz > 0.0lf ? 0u : 2u);
    } else if (stage == 1u) {
        if (sums[0] > 0.0lf) {
            s.alpha = s.rz / sums[0];
        } else {
            s.alpha = 0.0lf;
            s.done = 2u;
        }
    } else {
        s.iterations += 1u;
        s.rr = sums_more[0];
        s.beta = sums[0] / s.rz;
        s.rz = sums[0];
        if (s.rr <= s.goal) s.done = 1u;
    }
}
