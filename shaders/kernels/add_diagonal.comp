// Adds an isotropic stiffness to the diagonal blocks of some vertices.
//
// CPU twin: `System::add_diagonal` in crates/system/src/assembly.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Targets { uint targets[]; };
layout(std430, binding = 1) readonly buffer Stiffness { double stiffness[]; };
layout(std430, binding = 2) buffer Blocks { double blocks[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k >= count) return;
    for (uint axis = 0u; axis < 3u; ++axis) blocks[9u * targets[k] + 4u * axis] += stiffness[k];
}
