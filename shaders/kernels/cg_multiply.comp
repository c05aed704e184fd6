// q = H p for the symmetric matrix of which the lower triangle's blocks are stored, and p . q of each workgroup. One thread
// a row; entries in the order of their columns.
//
// CPU twin: `Pattern::multiply` in crates/system/src/pattern.rs

layout(local_size_x = 96) in;

layout(std430, binding = 0) readonly buffer Starts { uint starts[]; };
// Column and block of each entry; the block is transposed above the diagonal.
layout(std430, binding = 1) readonly buffer Entries { uvec2 entries[]; };
layout(std430, binding = 2) readonly buffer Blocks { double blocks[]; };
layout(std430, binding = 3) readonly buffer P { double p[]; };
layout(std430, binding = 4) writeonly buffer Q { double q[]; };
layout(std430, binding = 5) writeonly buffer Partial { double partial[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

const uint TRANSPOSED = 0x80000000u;

shared double products[96];

void main() {
    uint k = thread_index(), lane = gl_LocalInvocationID.x;
    products[lane] = 0.0lf;
    if (k < count) {
        uint row = k / 3u, r = k % 3u;
        precise double sum = 0.0lf;
        for (uint e = starts[row]; e < starts[row + 1u]; ++e) {
            uvec2 entry = entries[e];
            uint base = 9u * (entry.y & ~TRANSPOSED);
            bool turned = (entry.y & TRANSPOSED) != 0u;
            uint first = base + (turned ? r : 3u * r), stride = turned ? 3u : 1u;
            uint column = 3u * entry.x;
            sum += blocks[first] * p[column];
            sum += blocks[first + stride] * p[column + 1u];
            sum += blocks[first + 2u * stride] * p[column + 2u];
        }
        q[k] = sum;
        precise double product = sum * p[k];
        products[lane] = product;
    }
    barrier();
    if (lane < 32u) {
        precise double three = products[lane] + products[lane + 32u] + products[lane + 64u];
        products[lane] = three;
    }
    barrier();
    for (uint half_way = 16u; half_way > 0u; half_way >>= 1) {
        if (lane < half_way) products[lane] += products[lane + half_way];
        barrier();
    }
    if (lane == 0u && group_index() * 96u < count) partial[group_index()] = products[0];
}
