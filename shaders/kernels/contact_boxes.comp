// Boxes of primitives: the hull of what their vertices sweep, grown by a skin where the vertex may move, rounded outward to
// single precision as on the CPU; and a Morton code of each box's centre. One thread a primitive.
//
// CPU twin: `VertexBoxes::update` in crates/contact/src/candidates.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer From { double x[]; };
layout(std430, binding = 1) readonly buffer To { double x_end[]; };
layout(std430, binding = 2) readonly buffer Movable { uint movable[]; };
layout(std430, binding = 3) readonly buffer Primitives { uint vertices[]; };
// By how much each box is grown besides (a sphere's radius), rounded up.
layout(std430, binding = 4) readonly buffer Radii { float radius[]; };
// Six numbers a primitive: low, high.
layout(std430, binding = 5) writeonly buffer Boxes { float boxes[]; };
layout(std430, binding = 6) writeonly buffer Keys { uvec2 keys[]; };

layout(push_constant) uniform Constants {
    double skin;
    uint count;
    uint stride;
    uint padded;
    uint unused;
    float low_x, low_y, low_z;
    float scale;
};

#include "lib/thread.glsl"

// Ten bits, two zeros between each.
uint spread(uint v) {
    v = (v * 0x00010001u) & 0xff0000ffu;
    v = (v * 0x00000101u) & 0x0f00f00fu;
    v = (v * 0x00000011u) & 0xc30c30c3u;
    v = (v * 0x00000005u) & 0x49249249u;
    return v;
}

void main() {
    uint k = thread_index();
    if (k >= padded) return;
    if (k >= count) {
        // Places beyond the end sort behind everything.
        keys[k] = uvec2(0xffffffffu, k);
        return;
    }
    const float EPSILON = 1.1920928955078125e-7;
    vec3 low = vec3(uintBitsToFloat(0x7f800000u)), high = -low;
    for (uint i = 0u; i < stride; ++i) {
        uint v = vertices[stride * k + i];
        for (uint c = 0u; c < 3u; ++c) {
            double a = x[3u * v + c], b = x_end[3u * v + c];
            precise double below = min(a, b) - skin;
            precise double above = max(a, b) + skin;
            if (movable[v] == 0u) {
                below = a;
                above = a;
            }
            float f = float(below), g = float(above);
            precise float down = f - 4.0 * EPSILON * (1.0 + abs(f));
            precise float up = g + 4.0 * EPSILON * (1.0 + abs(g));
            low[c] = min(low[c], down);
            high[c] = max(high[c], up);
        }
    }
    low -= radius[k];
    high += radius[k];
    for (uint c = 0u; c < 3u; ++c) {
        boxes[6u * k + c] = low[c];
        boxes[6u * k + 3u + c] = high[c];
    }
    vec3 centre = (0.5 * (low + high) - vec3(low_x, low_y, low_z)) * scale;
    uvec3 cell = uvec3(clamp(centre, vec3(0.0), vec3(1023.0)));
    keys[k] = uvec2(4u * spread(cell.x) + 2u * spread(cell.y) + spread(cell.z), k);
}
