// Closest points of points, segments and triangles, in the same order of operations as on the CPU.
//
// CPU twin: crates/contact/src/distance.rs, which says why

const double ILL_CONDITIONED = 1e-8lf;
const double PARALLEL = 1e-28lf;

// Weights of the four vertices, and the vector from the closest point of the second primitive to that of the first. Not
// `near` where a lower bound of the distance exceeds the limit.
struct Closest {
    double weights[4];
    dvec3 r;
    bool near;
};

double dot3(dvec3 a, dvec3 b) {
    precise double sum = a.x * b.x + a.y * b.y + a.z * b.z;
    return sum;
}

dvec3 cross3(dvec3 a, dvec3 b) {
    precise dvec3 c = dvec3(a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y);
    return c;
}

double length3(dvec3 a) {
    return sqrt(dot3(a, a));
}

Closest closest_of(double w0, double w1, double w2, double w3, dvec3 r) {
    return Closest(double[](w0, w1, w2, w3), r, true);
}

// The nearest of the features tried so far.
void offer(inout Closest best, inout double squared, double w0, double w1, double w2, double w3, dvec3 r) {
    double here = dot3(r, r);
    if (here < squared) {
        squared = here;
        best = closest_of(w0, w1, w2, w3, r);
    }
}

double infinite() {
    return packDouble2x32(uvec2(0u, 0x7ff00000u));
}

Closest nothing_yet() {
    double nan = packDouble2x32(uvec2(0u, 0x7ff80000u));
    return Closest(double[](0.0lf, 0.0lf, 0.0lf, 0.0lf), dvec3(nan), true);
}

double on_segment(dvec3 p, dvec3 a, dvec3 b, out dvec3 r) {
    precise dvec3 ab = b - a;
    precise dvec3 ap = p - a;
    precise dvec3 bp = p - b;
    double from_a = dot3(ap, ab), from_b = -dot3(bp, ab);
    if (from_a <= from_b) {
        r = ap;
        if (from_a <= 0.0lf) return 0.0lf;
        precise double t = from_a / dot3(ab, ab);
        precise dvec3 left = ap - t * ab;
        r = left;
        return t;
    }
    r = bp;
    if (from_b <= 0.0lf) return 1.0lf;
    precise double t = from_b / dot3(ab, ab);
    precise dvec3 left = bp + t * ab;
    r = left;
    precise double from_start = 1.0lf - t;
    return from_start;
}

// The edge of a triangle opposite to a corner, as the closest feature to p.
void offer_edge(inout Closest best, inout double squared, dvec3 p, dvec3 a, dvec3 b, uint opposite) {
    dvec3 r;
    double t = on_segment(p, a, b, r);
    if (opposite == 0u) offer(best, squared, 1.0lf, 0.0lf, t - 1.0lf, -t, r);
    else if (opposite == 1u) offer(best, squared, 1.0lf, -t, 0.0lf, t - 1.0lf, r);
    else offer(best, squared, 1.0lf, t - 1.0lf, -t, 0.0lf, r);
}

// All edges of a sliver and its interior where it has one; else the interior, or the edges beyond which the point lies.
Closest point_triangle(dvec3 p, dvec3 a, dvec3 b, dvec3 c, double limit2) {
    precise dvec3 ab = b - a;
    precise dvec3 ac = c - a;
    precise dvec3 ap = p - a;
    dvec3 n = cross3(ab, ac);
    double n2 = dot3(n, n);
    precise double bound = ILL_CONDITIONED * dot3(ab, ab) * dot3(ac, ac);
    bool sliver = n2 <= bound;
    Closest best = nothing_yet();
    double b1 = dot3(n, cross3(ap, ac)), b2 = dot3(n, cross3(ab, ap));
    precise double b0 = n2 - b1 - b2;
    if (!sliver) {
        double height = dot3(n, ap);
        precise double height2 = height * height;
        precise double far2 = limit2 * n2;
        if (height2 > far2) {
            best.near = false;
            return best;
        }
        if (b0 > 0.0lf && b1 > 0.0lf && b2 > 0.0lf) {
            precise double u = b1 / n2;
            precise double v = b2 / n2;
            precise dvec3 r = ap - u * ab - v * ac;
            precise double w1 = u + v - 1.0lf;
            return closest_of(1.0lf, w1, -u, -v, r);
        }
    }
    double squared = infinite();
    if (sliver || b0 <= 0.0lf) offer_edge(best, squared, p, b, c, 0u);
    if (sliver || b1 <= 0.0lf) offer_edge(best, squared, p, c, a, 1u);
    if (sliver || b2 <= 0.0lf) offer_edge(best, squared, p, a, b, 2u);
    precise double parallel = PARALLEL * dot3(ab, ab) * dot3(ac, ac);
    if (sliver && n2 > parallel) {
        precise double u = b1 / n2;
        precise double v = b2 / n2;
        precise dvec3 rest = ap - u * ab - v * ac;
        u += dot3(n, cross3(rest, ac)) / n2;
        v += dot3(n, cross3(ab, rest)) / n2;
        if (u > 0.0lf && v > 0.0lf && u + v < 1.0lf) {
            precise dvec3 inner = ap - u * ab - v * ac;
            offer(best, squared, 1.0lf, u + v - 1.0lf, -u, -v, inner);
        }
    }
    return best;
}

// An end of one segment as the closest feature to the other segment.
void offer_end(inout Closest best, inout double squared, dvec3 end, dvec3 a, dvec3 b, uint which) {
    dvec3 r;
    double t = on_segment(end, a, b, r);
    if (which == 0u) offer(best, squared, 1.0lf, 0.0lf, t - 1.0lf, -t, r);
    else if (which == 1u) offer(best, squared, 0.0lf, 1.0lf, t - 1.0lf, -t, r);
    else if (which == 2u) offer(best, squared, 1.0lf - t, t, -1.0lf, 0.0lf, -r);
    else offer(best, squared, 1.0lf - t, t, 0.0lf, -1.0lf, -r);
}

// All ends of nearly parallel segments, their insides refined, or the middle of their overlap; else the insides, or the ends
// beyond which they lie.
Closest edge_edge(dvec3 a0, dvec3 a1, dvec3 b0, dvec3 b1, double limit2) {
    precise dvec3 u = a1 - a0;
    precise dvec3 v = b1 - b0;
    precise dvec3 w = a0 - b0;
    double uu = dot3(u, u), vv = dot3(v, v);
    dvec3 n = cross3(u, v);
    double n2 = dot3(n, n);
    precise double bound = ILL_CONDITIONED * uu * vv;
    bool parallel = n2 <= bound;
    Closest best = nothing_yet();
    double s = dot3(n, cross3(v, w)), t = dot3(n, cross3(u, w));
    if (!parallel) {
        double height = dot3(n, w);
        precise double height2 = height * height;
        precise double far2 = limit2 * n2;
        if (height2 > far2) {
            best.near = false;
            return best;
        }
        if (s > 0.0lf && s < n2 && t > 0.0lf && t < n2) {
            precise double along_a = s / n2;
            precise double along_b = t / n2;
            precise dvec3 r = w + along_a * u - along_b * v;
            return closest_of(1.0lf - along_a, along_a, along_b - 1.0lf, -along_b, r);
        }
    }
    double squared = infinite();
    if (parallel || s <= 0.0lf) offer_end(best, squared, a0, b0, b1, 0u);
    if (parallel || s >= n2) offer_end(best, squared, a1, b0, b1, 1u);
    if (parallel || t <= 0.0lf) offer_end(best, squared, b0, a0, a1, 2u);
    if (parallel || t >= n2) offer_end(best, squared, b1, a0, a1, 3u);
    if (!parallel) return best;
    precise double indistinct = PARALLEL * uu * vv;
    if (n2 > indistinct) {
        precise double along_a = s / n2;
        precise double along_b = t / n2;
        precise dvec3 rest = w + along_a * u - along_b * v;
        along_a += dot3(n, cross3(v, rest)) / n2;
        along_b += dot3(n, cross3(u, rest)) / n2;
        if (along_a > 0.0lf && along_a < 1.0lf && along_b > 0.0lf && along_b < 1.0lf) {
            precise dvec3 inner = w + along_a * u - along_b * v;
            offer(best, squared, 1.0lf - along_a, along_a, along_b - 1.0lf, -along_b, inner);
        }
    } else if (uu > 0.0lf && vv > 0.0lf) {
        precise dvec3 ahead = v - w;
        precise double p0 = -dot3(w, u) / uu;
        precise double p1 = dot3(ahead, u) / uu;
        double low = max(min(p0, p1), 0.0lf), high = min(max(p0, p1), 1.0lf);
        if (low <= high) {
            dvec3 r;
            precise double middle = 0.5lf * (low + high);
            precise dvec3 there = a0 + middle * u;
            double at = on_segment(there, b0, b1, r);
            precise double reach = squared * (1.0lf + 1e-9lf);
            if (dot3(r, r) <= reach) best = closest_of(1.0lf - middle, middle, at - 1.0lf, -at, r);
        }
    }
    return best;
}

const uint VERTEX_TRIANGLE = 0u;
const uint EDGE_EDGE = 1u;
const uint SPHERE_TRIANGLE = 2u;
const uint SPHERE_SPHERE = 3u;

Closest closest(uint kind, dvec3 x[4], double limit2) {
    if (kind == EDGE_EDGE) return edge_edge(x[0], x[1], x[2], x[3], limit2);
    if (kind == SPHERE_SPHERE) return closest_of(1.0lf, -1.0lf, 0.0lf, 0.0lf, x[0] - x[1]);
    return point_triangle(x[0], x[1], x[2], x[3], limit2);
}
