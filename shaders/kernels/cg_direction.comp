// p = z + beta p.
//
// CPU twin: `ConjugateGradients::solve` in crates/system/src/pcg.rs

layout(local_size_x = 64) in;

#include "lib/scalars.glsl"
layout(std430, binding = 0) readonly buffer Carried { Scalars s; };
layout(std430, binding = 1) readonly buffer Z { double z[]; };
layout(std430, binding = 2) buffer P { double p[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k >= count || s.done != 0u) return;
    precise double carried = s.beta * p[k];
    p[k] = z[k] + carried;
}
