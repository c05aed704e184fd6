// Adds to each block of the matrix what the stencils give it, in the order of the list: one thread an entry.
//
// CPU twin: `System::gather_static` and `System::scatter_dynamic` in crates/system/src/assembly.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Targets { uint targets[]; };
// Where each target's contributions start; one more than targets.
layout(std430, binding = 1) readonly buffer Starts { uint starts[]; };
layout(std430, binding = 2) readonly buffer Contributions { uint contributions[]; };
layout(std430, binding = 3) readonly buffer Stencils { double local_blocks[]; };
layout(std430, binding = 4) buffer Blocks { double blocks[]; };
// Set where a number is not finite.
layout(std430, binding = 5) buffer Status { uint status[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

const uint TRANSPOSED = 0x80000000u;
const uint BOTH = 0x40000000u;

void main() {
    uint k = thread_index(), list = k / 9u, entry = k % 9u;
    if (list >= count) return;
    uint mirrored = 3u * (entry % 3u) + entry / 3u;
    uint at = 9u * targets[list] + entry;
    precise double sum = blocks[at];
    for (uint c = starts[list]; c < starts[list + 1u]; ++c) {
        uint block = contributions[c], base = 9u * (block & ~(TRANSPOSED | BOTH));
        precise double value = local_blocks[base + ((block & TRANSPOSED) != 0u ? mirrored : entry)];
        if ((block & BOTH) != 0u) value += local_blocks[base + mirrored];
        sum += value;
    }
    blocks[at] = sum;
    if (isnan(sum) || isinf(sum)) atomicOr(status[0], 1u);
}
