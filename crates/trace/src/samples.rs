//! Element energies of the kinds a simulation uses, for tests and benchmarks.

use gusset_scalar::{Mat2, Mat3, Mat3x2, Scalar, Vec3};

/// An energy of `points` vertices and `params` numbers. Input order: the vertices' coordinates, then the numbers.
pub(crate) trait Sample {
    const NAME: &'static str;
    const POINTS: usize;
    const PARAMS: usize;

    fn energy<S: Scalar>(x: &[Vec3<S>], p: &[S]) -> S;

    /// A state away from rest, in the input order.
    fn state() -> Vec<f64>;

    /// The energy of inputs in order.
    fn of<S: Scalar>(inputs: &[S]) -> S {
        let points: Vec<_> = inputs[..3 * Self::POINTS]
            .chunks_exact(3)
            .map(|c| Vec3::new(c[0], c[1], c[2]))
            .collect();
        Self::energy(&points, &inputs[3 * Self::POINTS..])
    }

    /// Number of coordinates.
    fn dofs() -> usize {
        3 * Self::POINTS
    }

    /// Number of inputs.
    fn inputs() -> usize {
        3 * Self::POINTS + Self::PARAMS
    }
}

/// Compressible neo-Hookean tetrahedron, `V (mu/2 (tr F^T F - 3) - mu ln J + lambda/2 (ln J)^2)` (Bonet and Wood).
/// Parameters: inverse of the rest edge matrix by column, rest volume, mu, lambda.
pub(crate) struct NeoHookeanTet;

impl Sample for NeoHookeanTet {
    const NAME: &'static str = "neo-Hookean tet";
    const POINTS: usize = 4;
    const PARAMS: usize = 12;

    fn energy<S: Scalar>(x: &[Vec3<S>], p: &[S]) -> S {
        let edges = Mat3::from_columns(x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        let rest = Mat3::from_columns(
            Vec3::new(p[0], p[1], p[2]),
            Vec3::new(p[3], p[4], p[5]),
            Vec3::new(p[6], p[7], p[8]),
        );
        let f = edges * rest;
        let log = f.det().ln();
        let (volume, mu, lambda) = (p[9], p[10], p[11]);
        volume * (mu * 0.5 * (f.norm_squared() - 3.0) - mu * log + lambda * 0.5 * log.square())
    }

    fn state() -> Vec<f64> {
        let x = [0.1, -0.05, 0.02, 1.1, 0.1, -0.1, 0.2, 0.9, 0.15, -0.1, 0.1, 1.2];
        let p = [1.0, 0.1, 0.0, -0.2, 0.9, 0.05, 0.0, 0.3, 1.1, 0.17, 2.0, 3.0];
        [&x[..], &p[..]].concat()
    }
}

/// Saint Venant-Kirchhoff membrane, `A (mu E:E + lambda/2 (tr E)^2)` with `E = (F^T F - 1) / 2`.
/// Parameters: inverse of the rest edge matrix by column, rest area, mu, lambda.
pub(crate) struct StVKTriangle;

impl Sample for StVKTriangle {
    const NAME: &'static str = "StVK triangle";
    const POINTS: usize = 3;
    const PARAMS: usize = 7;

    fn energy<S: Scalar>(x: &[Vec3<S>], p: &[S]) -> S {
        let edges = Mat3x2::from_columns(x[1] - x[0], x[2] - x[0]);
        let f = edges * Mat2::from_columns([p[0], p[1]], [p[2], p[3]]);
        let c = f.gram();
        let (e00, e11) = ((c.entry(0, 0) - 1.0) * 0.5, (c.entry(1, 1) - 1.0) * 0.5);
        let e01 = c.entry(0, 1) * 0.5;
        let trace = e00 + e11;
        let (area, mu, lambda) = (p[4], p[5], p[6]);
        area * (mu * (e00.square() + e01.square() * 2.0 + e11.square())
            + lambda * 0.5 * trace.square())
    }

    fn state() -> Vec<f64> {
        let x = [0.1, -0.05, 0.02, 1.1, 0.1, -0.1, 0.2, 0.9, 0.15];
        let p = [1.0, 0.1, -0.2, 0.9, 0.5, 2.0, 3.0];
        [&x[..], &p[..]].concat()
    }
}

/// Discrete-shell hinge, `k (theta - theta0)^2` with the signed dihedral angle from `atan2` (Grinspun et al. 2003).
/// Vertices: the two opposite ones, then the edge. Parameters: stiffness, rest angle.
pub(crate) struct Hinge;

impl Sample for Hinge {
    const NAME: &'static str = "hinge";
    const POINTS: usize = 4;
    const PARAMS: usize = 2;

    fn energy<S: Scalar>(x: &[Vec3<S>], p: &[S]) -> S {
        let (a, b, c, d) = (x[0], x[1], x[2], x[3]);
        let edge = d - c;
        let n1 = (c - a).cross(d - a);
        let n2 = (d - b).cross(c - b);
        let sine = n1.cross(n2).dot(edge) / edge.norm();
        let angle = sine.atan2(n1.dot(n2));
        p[0] * (angle - p[1]).square()
    }

    fn state() -> Vec<f64> {
        let x = [0.4, 1.0, 0.35, 0.6, -0.9, 0.2, 0.0, 0.05, 0.0, 1.1, 0.0, -0.1];
        [&x[..], &[0.3, 0.1]].concat()
    }
}

/// Logarithmic barrier on the distance of the lines through two edges, times the parallel-edge mollifier of
/// Li et al. 2020. Parameters: offset, activation distance, mollifier threshold.
pub(crate) struct EdgeEdgeBarrier;

impl Sample for EdgeEdgeBarrier {
    const NAME: &'static str = "edge-edge barrier";
    const POINTS: usize = 4;
    const PARAMS: usize = 3;

    fn energy<S: Scalar>(x: &[Vec3<S>], p: &[S]) -> S {
        let normal = (x[1] - x[0]).cross(x[3] - x[2]);
        let square = normal.norm_squared();
        let height = (x[2] - x[0]).dot(normal);
        let distance = (height.square() / square).sqrt() - p[0];
        let gap = distance.min(p[1]);
        let barrier = -(gap - p[1]).square() * (gap / p[1]).ln();
        let ratio = (square / p[2]).min(S::lit(1.0));
        barrier * ratio * (-ratio + 2.0)
    }

    fn state() -> Vec<f64> {
        let x = [0.0, 0.0, 0.0, 1.0, 0.1, 0.0, 0.4, -0.5, 0.1, 0.5, 0.6, 0.13];
        [&x[..], &[0.02, 0.1, 2.0]].concat()
    }
}

/// Lagged friction, `mu lambda f0(|u|)` with the mollified norm of the tangential slip.
/// Parameters: the lagged tangent basis (6), barycentric weights (3), slip threshold, force bound, start positions (12).
pub(crate) struct Friction;

impl Sample for Friction {
    const NAME: &'static str = "lagged friction";
    const POINTS: usize = 4;
    const PARAMS: usize = 23;

    fn energy<S: Scalar>(x: &[Vec3<S>], p: &[S]) -> S {
        let start = |i: usize| Vec3::new(p[11 + 3 * i], p[12 + 3 * i], p[13 + 3 * i]);
        let moved = |i: usize| x[i] - start(i);
        let slip = moved(0) - moved(1) * p[6] - moved(2) * p[7] - moved(3) * p[8];
        let u = slip.dot(Vec3::new(p[0], p[1], p[2]));
        let v = slip.dot(Vec3::new(p[3], p[4], p[5]));
        let eps = p[9];
        let y = (u * u + v * v + eps.square() * 1e-6).sqrt();
        let inside = y.square() * (-y / (eps * 3.0) + 1.0) / eps + eps / 3.0;
        p[10] * S::select_lt(y, eps, inside, y)
    }

    fn state() -> Vec<f64> {
        let x = [0.01, 0.02, 0.0, 0.5, 0.0, 0.1, 0.0, 0.6, 0.0, 0.1, 0.1, 0.7];
        let p = [0.8, 0.6, 0.0, -0.6, 0.8, 0.0, 0.2, 0.3, 0.5, 0.02, 1.5];
        let start = [0.0, 0.0, 0.0, 0.49, 0.01, 0.1, 0.0, 0.61, 0.0, 0.11, 0.1, 0.7];
        [&x[..], &p[..], &start[..]].concat()
    }
}
