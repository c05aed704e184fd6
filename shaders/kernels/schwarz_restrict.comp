// Residual of each domain as one node of the level above: the sum over its members, in their order.

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Members { uint members[]; };
layout(std430, binding = 1) readonly buffer Fine { double fine[]; };
layout(std430, binding = 2) writeonly buffer Coarse { double coarse[]; };

layout(push_constant) uniform Constants { uint count; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k >= count) return;
    uint domain = k / 3u, axis = k % 3u;
    precise double sum = 0.0lf;
    for (uint m = 0u; m < 16u; ++m) {
        uint node = members[16u * domain + m];
        if (node != 0xffffffffu) sum += fine[3u * node + axis];
    }
    coarse[k] = sum;
}
