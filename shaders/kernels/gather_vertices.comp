// Adds to each free vertex's gradient what the corners of stencils give it, in the order of the list: one thread a
// component.
//
// CPU twin: `System::gather_static` and `System::scatter_dynamic` in crates/system/src/assembly.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Targets { uint targets[]; };
layout(std430, binding = 1) readonly buffer Starts { uint starts[]; };
layout(std430, binding = 2) readonly buffer Corners { uint corners[]; };
layout(std430, binding = 3) readonly buffer Stencils { double local_gradient[]; };
layout(std430, binding = 4) buffer Gradient { double gradient[]; };
layout(std430, binding = 5) buffer Status { uint status[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index(), list = k / 3u, axis = k % 3u;
    if (list >= count) return;
    uint at = 3u * targets[list] + axis;
    precise double sum = gradient[at];
    for (uint c = starts[list]; c < starts[list + 1u]; ++c) sum += local_gradient[3u * corners[c] + axis];
    gradient[at] = sum;
    if (isnan(sum) || isinf(sum)) atomicOr(status[0], 1u);
}
