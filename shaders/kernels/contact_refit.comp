// Boxes of one level of the hierarchy: of the leaves from their primitives, of the others from their two children.
//
// The hierarchy is the complete binary tree over the primitives in the order of their Morton codes: node k has the children
// 2k+1 and 2k+2, so there are no links to build, and a level needs nothing but the one below it.

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Keys { uvec2 keys[]; };
layout(std430, binding = 1) readonly buffer Boxes { float boxes[]; };
layout(std430, binding = 2) buffer Nodes { float nodes[]; };

// Primitives, leaves (a power of two), and nodes of this level, which is also the number of its first node plus 1.
layout(push_constant) uniform Constants { uint count; uint leaves; uint size; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index();
    if (k >= size) return;
    uint node = size - 1u + k;
    float infinity = uintBitsToFloat(0x7f800000u);
    for (uint c = 0u; c < 3u; ++c) {
        float low = infinity, high = -infinity;
        if (size < leaves) {
            uint left = 6u * (2u * node + 1u), right = left + 6u;
            low = min(nodes[left + c], nodes[right + c]);
            high = max(nodes[left + 3u + c], nodes[right + 3u + c]);
        } else if (k < count) {
            uint primitive = keys[k].y;
            low = boxes[6u * primitive + c];
            high = boxes[6u * primitive + 3u + c];
        }
        nodes[6u * node + c] = low;
        nodes[6u * node + 3u + c] = high;
    }
}
