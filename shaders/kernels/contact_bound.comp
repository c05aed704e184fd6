// The smallest fraction of the step at which a pair of the workgroup is to stop, and the first pair that has it. One thread a
// pair; a smallest value is the same in any order.
//
// CPU twin: `mesh_fraction` in crates/contact/src/step_bound.rs and `advance` in crates/contact/src/additive.rs

layout(local_size_x = 64) in;

layout(std430, binding = 0) readonly buffer Positions { double x[]; };
layout(std430, binding = 1) readonly buffer Displacements { double dx[]; };
layout(std430, binding = 2) readonly buffer Pairs { uvec4 stencils[]; };
layout(std430, binding = 3) readonly buffer Offsets { double offsets[]; };
layout(std430, binding = 4) writeonly buffer Smallest { double smallest[]; };
layout(std430, binding = 5) writeonly buffer Whose { uint whose[]; };

layout(push_constant) uniform Constants {
    double slack;
    uint count;
    uint kind;
    uint additive;
    uint most_looks;
    uint first;         // number of the first of these pairs
    uint first_group;
};

#include "lib/thread.glsl"
#include "lib/distance.glsl"

const double SHORT = 0.1lf;

shared double least[64];
shared uint least_lane[64];

double approach(dvec3 n, dvec3 d[4]) {
    double u[4];
    for (uint i = 0u; i < 4u; ++i) u[i] = dot3(n, d[i]);
    precise double result = kind == EDGE_EDGE ? max(u[2], u[3]) - min(u[0], u[1])
        : kind == SPHERE_SPHERE ? u[1] - u[0] : max(max(u[1], u[2]), u[3]) - u[0];
    return result;
}

double advance(dvec3 p[4], dvec3 d[4], double offset, dvec3 start, double best) {
    dvec3 r = start;
    double distance = length3(r);
    precise double target = (1.0lf - slack) * (distance - offset) * (1.0lf + 1e-6lf);
    double t = 0.0lf;
    for (uint look = 0u; look < most_looks; ++look) {
        precise double gap = distance - offset;
        precise dvec3 n = r / distance;
        double closing = approach(n, d);
        if (closing <= 0.0lf) return infinite();
        precise double next = t + slack * gap / closing;
        if (next > best) return infinite();
        dvec3 there[4];
        for (uint i = 0u; i < 4u; ++i) {
            precise dvec3 moved = p[i] + next * d[i];
            there[i] = moved;
        }
        r = closest(kind, there, infinite()).r;
        distance = length3(r);
        if (!(distance > offset)) return t > 0.0lf ? t : 0.5lf * next;
        t = next;
        if (distance - offset <= target) return t;
    }
    return t;
}

bool swept_boxes_apart(dvec3 p[4], dvec3 d[4], double offset) {
    dvec3 low[4], high[4];
    for (uint i = 0u; i < 4u; ++i) {
        precise dvec3 end = p[i] + d[i];
        low[i] = min(p[i], end);
        high[i] = max(p[i], end);
    }
    dvec3 low_a = low[0], high_a = high[0], low_b = low[1], high_b = high[1];
    if (kind == EDGE_EDGE) {
        low_a = min(low_a, low[1]);
        high_a = max(high_a, high[1]);
        low_b = min(low[2], low[3]);
        high_b = max(high[2], high[3]);
    } else if (kind != SPHERE_SPHERE) {
        low_b = min(min(low[1], low[2]), low[3]);
        high_b = max(max(high[1], high[2]), high[3]);
    }
    for (uint c = 0u; c < 3u; ++c) {
        precise double a = low_a[c] - offset;
        precise double b = low_b[c] - offset;
        if (a > high_b[c] || b > high_a[c]) return true;
    }
    return false;
}

double fraction_of_pair(uint k) {
    dvec3 p[4], d[4], relative[4];
    for (uint i = 0u; i < 4u; ++i) {
        uint v = 3u * stencils[k][i];
        p[i] = dvec3(x[v], x[v + 1u], x[v + 2u]);
        d[i] = dvec3(dx[v], dx[v + 1u], dx[v + 2u]);
    }
    double offset = offsets[k];
    if (swept_boxes_apart(p, d, offset)) return infinite();
    for (uint i = 0u; i < 4u; ++i) {
        precise dvec3 difference = d[i] - d[0];
        relative[i] = difference;
    }
    Closest c = closest(kind, p, infinite());
    double distance = length3(c.r);
    precise double gap = distance - offset;
    if (!(gap > 0.0lf)) return 0.0lf;
    if (additive != 0u) return advance(p, relative, offset, c.r, 1.0lf);
    precise dvec3 n = c.r / distance;
    double closing = approach(n, relative);
    if (closing <= 0.0lf) return infinite();
    precise double fraction = gap / closing;
    if (fraction >= SHORT || fraction > 1.0lf) return fraction;
    precise double further = advance(p, relative, offset, c.r, slack) / slack;
    return max(fraction, further);
}

void main() {
    uint k = thread_index(), lane = gl_LocalInvocationID.x;
    double fraction = k < count ? fraction_of_pair(k) : infinite();
    // What is no number stops nothing, as on the CPU.
    least[lane] = fraction <= 1.0lf ? fraction : infinite();
    least_lane[lane] = lane;
    barrier();
    for (uint half_way = 32u; half_way > 0u; half_way >>= 1) {
        if (lane < half_way) {
            uint other = lane + half_way;
            bool smaller = least[other] < least[lane];
            bool earlier = least[other] == least[lane] && least_lane[other] < least_lane[lane];
            if (smaller || earlier) {
                least[lane] = least[other];
                least_lane[lane] = least_lane[other];
            }
        }
        barrier();
    }
    if (lane == 0u && group_index() * 64u < count) {
        smallest[first_group + group_index()] = least[0];
        whose[first_group + group_index()] = first + group_index() * 64u + least_lane[0];
    }
}
