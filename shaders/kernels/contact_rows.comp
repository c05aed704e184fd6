// Closest points of each pair: weights, unit normal, gap and, of two edges, the squared sine of their angle; a gap of infinity
// where the distance is known to be beyond the limit. One thread a pair.
//
// CPU twin: `active_row` in crates/contact/src/rows.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Positions { double x[]; };
layout(std430, binding = 1) readonly buffer Pairs { uvec4 stencils[]; };
layout(std430, binding = 2) readonly buffer Offsets { double offset[]; };
// Nine numbers a pair: weights, normal, gap, squared sine.
layout(std430, binding = 3) writeonly buffer Rows { double rows[]; };

layout(push_constant) uniform Constants { double dhat; uint count; uint kind; };

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
    precise dvec3 normal = c.r / distance;
    if (!(distance > 0.0lf)) normal = dvec3(0.0lf);
    for (uint i = 0u; i < 4u; ++i) rows[9u * k + i] = c.weights[i];
    for (uint i = 0u; i < 3u; ++i) rows[9u * k + 4u + i] = normal[i];
    rows[9u * k + 7u] = c.near ? gap : infinite();
    precise dvec3 u = at[1] - at[0];
    precise dvec3 v = at[3] - at[2];
    dvec3 n = cross3(u, v);
    precise double sine = dot3(n, n) / (dot3(u, u) * dot3(v, v));
    rows[9u * k + 8u] = kind == EDGE_EDGE ? sine : 1.0lf;
}
