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

Closest point_sliver(dvec3 p, dvec3 a, dvec3 b, dvec3 c) {
    Closest best = nothing_yet();
    double squared = infinite();
    dvec3 r;
    double t = on_segment(p, b, c, r);
    offer(best, squared, 1.0lf, 0.0lf, t - 1.0lf, -t, r);
    t = on_segment(p, c, a, r);
    offer(best, squared, 1.0lf, -t, 0.0lf, t - 1.0lf, r);
    t = on_segment(p, a, b, r);
    offer(best, squared, 1.0lf, t - 1.0lf, -t, 0.0lf, r);
    precise dvec3 ab = b - a;
    precise dvec3 ac = c - a;
    precise dvec3 ap = p - a;
    dvec3 n = cross3(ab, ac);
    double n2 = dot3(n, n);
    precise double bound = PARALLEL * dot3(ab, ab) * dot3(ac, ac);
    if (n2 > bound) {
        precise double b1 = dot3(n, cross3(ap, ac)) / n2;
        precise double b2 = dot3(n, cross3(ab, ap)) / n2;
        precise dvec3 rest = ap - b1 * ab - b2 * ac;
        b1 += dot3(n, cross3(rest, ac)) / n2;
        b2 += dot3(n, cross3(ab, rest)) / n2;
        if (b1 > 0.0lf && b2 > 0.0lf && b1 + b2 < 1.0lf) {
            precise dvec3 inner = ap - b1 * ab - b2 * ac;
            offer(best, squared, 1.0lf, b1 + b2 - 1.0lf, -b1, -b2, inner);
        }
    }
    return best;
}

Closest point_triangle(dvec3 p, dvec3 a, dvec3 b, dvec3 c, double limit2) {
    precise dvec3 ab = b - a;
    precise dvec3 ac = c - a;
    precise dvec3 ap = p - a;
    dvec3 n = cross3(ab, ac);
    double n2 = dot3(n, n);
    precise double bound = ILL_CONDITIONED * dot3(ab, ab) * dot3(ac, ac);
    if (n2 <= bound) return point_sliver(p, a, b, c);
    double height = dot3(n, ap);
    precise double height2 = height * height;
    precise double far2 = limit2 * n2;
    Closest best = nothing_yet();
    if (height2 > far2) {
        best.near = false;
        return best;
    }
    double b1 = dot3(n, cross3(ap, ac));
    double b2 = dot3(n, cross3(ab, ap));
    precise double b0 = n2 - b1 - b2;
    if (b0 > 0.0lf && b1 > 0.0lf && b2 > 0.0lf) {
        precise double u = b1 / n2;
        precise double v = b2 / n2;
        precise dvec3 r = ap - u * ab - v * ac;
        precise double w1 = u + v - 1.0lf;
        return closest_of(1.0lf, w1, -u, -v, r);
    }
    double squared = infinite();
    dvec3 r;
    if (b0 <= 0.0lf) {
        double t = on_segment(p, b, c, r);
        offer(best, squared, 1.0lf, 0.0lf, t - 1.0lf, -t, r);
    }
    if (b1 <= 0.0lf) {
        double t = on_segment(p, c, a, r);
        offer(best, squared, 1.0lf, -t, 0.0lf, t - 1.0lf, r);
    }
    if (b2 <= 0.0lf) {
        double t = on_segment(p, a, b, r);
        offer(best, squared, 1.0lf, t - 1.0lf, -t, 0.0lf, r);
    }
    return best;
}

Closest nearly_parallel(dvec3 a0, dvec3 a1, dvec3 b0, dvec3 b1) {
    Closest best = nothing_yet();
    double squared = infinite();
    dvec3 r;
    double t = on_segment(a0, b0, b1, r);
    offer(best, squared, 1.0lf, 0.0lf, t - 1.0lf, -t, r);
    t = on_segment(a1, b0, b1, r);
    offer(best, squared, 0.0lf, 1.0lf, t - 1.0lf, -t, r);
    double s = on_segment(b0, a0, a1, r);
    offer(best, squared, 1.0lf - s, s, -1.0lf, 0.0lf, -r);
    s = on_segment(b1, a0, a1, r);
    offer(best, squared, 1.0lf - s, s, 0.0lf, -1.0lf, -r);
    precise dvec3 u = a1 - a0;
    precise dvec3 v = b1 - b0;
    precise dvec3 w = a0 - b0;
    double uu = dot3(u, u), vv = dot3(v, v);
    dvec3 n = cross3(u, v);
    double n2 = dot3(n, n);
    precise double bound = PARALLEL * uu * vv;
    if (n2 > bound) {
        precise double along_a = dot3(n, cross3(v, w)) / n2;
        precise double along_b = dot3(n, cross3(u, w)) / n2;
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
            precise double middle = 0.5lf * (low + high);
            precise dvec3 there = a0 + middle * u;
            double t2 = on_segment(there, b0, b1, r);
            precise double reach = squared * (1.0lf + 1e-9lf);
            if (dot3(r, r) <= reach) best = closest_of(1.0lf - middle, middle, t2 - 1.0lf, -t2, r);
        }
    }
    return best;
}

Closest edge_edge(dvec3 a0, dvec3 a1, dvec3 b0, dvec3 b1, double limit2) {
    precise dvec3 u = a1 - a0;
    precise dvec3 v = b1 - b0;
    precise dvec3 w = a0 - b0;
    dvec3 n = cross3(u, v);
    double n2 = dot3(n, n);
    precise double bound = ILL_CONDITIONED * dot3(u, u) * dot3(v, v);
    if (n2 <= bound) return nearly_parallel(a0, a1, b0, b1);
    double height = dot3(n, w);
    precise double height2 = height * height;
    precise double far2 = limit2 * n2;
    Closest best = nothing_yet();
    if (height2 > far2) {
        best.near = false;
        return best;
    }
    double s = dot3(n, cross3(v, w)), t = dot3(n, cross3(u, w));
    if (s > 0.0lf && s < n2 && t > 0.0lf && t < n2) {
        precise double along_a = s / n2;
        precise double along_b = t / n2;
        precise dvec3 r = w + along_a * u - along_b * v;
        return closest_of(1.0lf - along_a, along_a, along_b - 1.0lf, -along_b, r);
    }
    double squared = infinite();
    dvec3 r;
    if (s <= 0.0lf) {
        double at = on_segment(a0, b0, b1, r);
        offer(best, squared, 1.0lf, 0.0lf, at - 1.0lf, -at, r);
    } else if (s >= n2) {
        double at = on_segment(a1, b0, b1, r);
        offer(best, squared, 0.0lf, 1.0lf, at - 1.0lf, -at, r);
    }
    if (t <= 0.0lf) {
        double at = on_segment(b0, a0, a1, r);
        offer(best, squared, 1.0lf - at, at, -1.0lf, 0.0lf, -r);
    } else if (t >= n2) {
        double at = on_segment(b1, a0, a1, r);
        offer(best, squared, 1.0lf - at, at, 0.0lf, -1.0lf, -r);
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
