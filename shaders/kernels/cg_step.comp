// x += alpha p and r -= alpha q.
//
// CPU twin: `ConjugateGradients::solve` in crates/system/src/pcg.rs

layout(local_size_x = 64) in;

#include "lib/scalars.glsl"
layout(std430, binding = 0) readonly buffer Carried { Scalars s; };
layout(std430, binding = 1) readonly buffer P { double p[]; };
layout(std430, binding = 2) readonly buffer Q { double q[]; };
layout(std430, binding = 3) buffer X { double x[]; };
layout(std430, binding = 4) buffer R { double r[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k >= count || s.done != 0u) return;
    precise double moved = s.alpha * p[k];
    precise double nearer = s.alpha * q[k];
    x[k] += moved;
    r[k] -= nearer;
}
