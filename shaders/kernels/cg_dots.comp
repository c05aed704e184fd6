// r . z and r . r of each workgroup.
//
// CPU twin: `dot` in crates/system/src/pcg.rs

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer R { double r[]; };
layout(std430, binding = 1) readonly buffer Z { double z[]; };
layout(std430, binding = 2) writeonly buffer Partial { double partial[]; };
layout(std430, binding = 3) writeonly buffer More { double more[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

shared double rz[256];
shared double rr[256];

void main() {
    uint k = thread_index(), lane = gl_LocalInvocationID.x;
    double a = 0.0lf, b = 0.0lf;
    if (k < count) {
        a = r[k];
        b = z[k];
    }
    precise double first = a * b, second = a * a;
    rz[lane] = first;
    rr[lane] = second;
    barrier();
    for (uint half_way = 128u; half_way > 0u; half_way >>= 1) {
        if (lane < half_way) {
            rz[lane] += rz[lane + half_way];
            rr[lane] += rr[lane + half_way];
        }
        barrier();
    }
    if (lane == 0u && group_index() * 256u < count) {
        partial[group_index()] = rz[0];
        more[group_index()] = rr[0];
    }
}
