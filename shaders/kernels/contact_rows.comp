// Closest points of each pair: weights, unit normal, gap and, of two edges, the squared sine of their angle. Pairs with a gap
// below the limit are listed with what was found; they are counted even where there is no room for them, and the host makes
// room and asks again. One thread a pair.
//
// CPU twin: `active_row` in crates/contact/src/rows.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Positions { double x[]; };
layout(std430, binding = 1) readonly buffer Pairs { uvec4 stencils[]; };
layout(std430, binding = 2) readonly buffer Offsets { double offset[]; };
layout(std430, binding = 3) buffer Active { uint found; uint pairs[]; };
// Nine numbers an active pair: weights, normal, gap, squared sine.
layout(std430, binding = 4) writeonly buffer Rows { double rows[]; };

layout(push_constant) uniform Constants {
    double dhat;
    uint count;
    uint kind;
    uint first;     // number of the first of these pairs
    uint room;
};

#include "lib/thread.glsl"
#include "lib/distance.glsl"

void main() {
    uint k = thread_index();
    if (k >= count) return;
    dvec3 at[4];
    for (uint i = 0u; i < 4u; ++i) {
        uint v = 3u * stencils[k][i];
        at[i] = dvec3(x[v], x[v + 1u], x[v + 2u]);
    }
    precise double limit = dhat + offset[k];
    precise double limit2 = limit * limit;
    Closest c = closest(kind, at, limit2);
    double distance = length3(c.r);
    precise double gap = distance - offset[k];
    // A gap that is no number must reach the host.
    if (!c.near || gap >= dhat) return;
    uint slot = atomicAdd(found, 1u);
    if (slot >= room) return;
    pairs[slot] = first + k;
    precise dvec3 normal = c.r / distance;
    if (!(distance > 0.0lf)) normal = dvec3(0.0lf);
    for (uint i = 0u; i < 4u; ++i) rows[9u * slot + i] = c.weights[i];
    for (uint i = 0u; i < 3u; ++i) rows[9u * slot + 4u + i] = normal[i];
    rows[9u * slot + 7u] = gap;
    precise dvec3 u = at[1] - at[0];
    precise dvec3 v = at[3] - at[2];
    dvec3 n = cross3(u, v);
    precise double sine = dot3(n, n) / (dot3(u, u) * dot3(v, v));
    rows[9u * slot + 8u] = kind == EDGE_EDGE ? sine : 1.0lf;
}
