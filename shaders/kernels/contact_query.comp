// All pairs of a primitive and those whose boxes come near: one thread a primitive, in the order of their own tree, so that
// neighbours go down the partners' tree together. Pairs are counted even where there is no room for them; the host makes room
// and asks again.
//
// CPU twin: `Candidates::query` in crates/contact/src/candidates.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer QueryBoxes { float query_boxes[]; };
layout(std430, binding = 1) readonly buffer QueryVertices { uint query_vertices[]; };
layout(std430, binding = 2) readonly buffer Keys { uvec2 keys[]; };
layout(std430, binding = 3) readonly buffer Nodes { float nodes[]; };
layout(std430, binding = 4) readonly buffer PartnerVertices { uint partner_vertices[]; };
layout(std430, binding = 5) readonly buffer Movable { uint movable[]; };
layout(std430, binding = 6) buffer Found { uint found; uint unused; uvec2 pairs[]; };
// By how much each query box is grown, rounded up.
layout(std430, binding = 7) readonly buffer Reaches { float reach[]; };
layout(std430, binding = 8) readonly buffer Order { uvec2 order[]; };

layout(push_constant) uniform Constants {
    uint count;
    uint leaves;        // of the partners' tree, a power of two
    uint query_stride;
    uint partner_stride;
    uint rising;        // both sides are the same list: each pair once, the lower number first
    uint may_share;     // a common vertex is no reason to leave a pair out
    uint room;
};

#include "lib/thread.glsl"

bool moves(uint v) {
    return movable[v] != 0u;
}

bool kept(uint i, uint j, bool i_moves) {
    bool j_moves = false, share = false;
    for (uint b = 0u; b < partner_stride; ++b) {
        uint v = partner_vertices[partner_stride * j + b];
        j_moves = j_moves || moves(v);
        for (uint a = 0u; a < query_stride; ++a) share = share || v == query_vertices[query_stride * i + a];
    }
    // Of two that move, the lower finds the higher; one that never moves is found by those that do.
    if (rising != 0u && j_moves && j <= i) return false;
    return (i_moves || j_moves) && (may_share != 0u || !share);
}

void main() {
    if (thread_index() >= count) return;
    uint i = order[thread_index()].y;
    bool i_moves = false;
    for (uint a = 0u; a < query_stride; ++a) i_moves = i_moves || moves(query_vertices[query_stride * i + a]);
    if (rising != 0u && !i_moves) return;
    vec3 low, high;
    for (uint c = 0u; c < 3u; ++c) {
        low[c] = query_boxes[6u * i + c] - reach[i];
        high[c] = query_boxes[6u * i + 3u + c] + reach[i];
    }
    // Node k has the children 2k and 2k + 1; the root is node 1. What comes after a subtree needs no memory: the next node of
    // its level, or the ancestor of that which has not been seen.
    uint node = 1u;
    do {
        uint at = 6u * (node - 1u);
        bool apart = false;
        for (uint c = 0u; c < 3u; ++c) apart = apart || low[c] > nodes[at + 3u + c] || nodes[at + c] > high[c];
        if (!apart && node < leaves) {
            node *= 2u;
            continue;
        }
        if (!apart) {
            uint j = keys[node - leaves].y;
            if (kept(i, j, i_moves)) {
                uint slot = atomicAdd(found, 1u);
                if (slot < room) pairs[slot] = rising != 0u ? uvec2(min(i, j), max(i, j)) : uvec2(i, j);
            }
        }
        node += 1u;
        node >>= findLSB(node);
    } while (node != 1u);
}
