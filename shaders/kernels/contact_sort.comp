// One step of a bitonic sort of (code, number): keys are distinct, so the order is one.

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Keys { uvec2 keys[]; };

layout(push_constant) uniform Constants { uint count; uint block; uint distance; };

#include "lib/thread.glsl"

void main() {
    uint k = thread_index(), other = k ^ distance;
    if (k >= count || other <= k) return;
    uvec2 a = keys[k], b = keys[other];
    bool greater = a.x > b.x || (a.x == b.x && a.y > b.y);
    if (greater == ((k & block) == 0u)) {
        keys[k] = b;
        keys[other] = a;
    }
}
