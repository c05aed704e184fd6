//! How far a tetrahedron may go before its volume vanishes.

use gusset_energy::{Mat3, Vec3};

/// Share of its volume that a tetrahedron keeps in one step.
const KEPT: f64 = 0.1;

/// Largest fraction of `dx`, at most 1, on which the volume stays above a tenth of what it is at `x`; 1 where it is not
/// positive to begin with.
pub(crate) fn max_step(x: &[Vec3<f64>; 4], dx: &[Vec3<f64>; 4]) -> f64 {
    let edges = |v: &[Vec3<f64>; 4]| Mat3::from_columns(v[1] - v[0], v[2] - v[0], v[3] - v[0]);
    let (a, b) = (edges(x), edges(dx));
    let volume = a.det();
    // det(A + t B) = det A + t cof(A):B + t^2 A:cof(B) + t^3 det B
    let cubic = [(1.0 - KEPT) * volume, a.cofactor().dot(b), a.dot(b.cofactor()), b.det()];
    if volume > 0.0 { positive_until(cubic) } else { 1.0 }
}

/// Largest t in [0, 1] up to which `c0 + c1 t + c2 t^2 + c3 t^3` is above 0, for `c0 > 0`; off the root by less than
/// 1e-12, on the safe side.
fn positive_until([c0, c1, c2, c3]: [f64; 4]) -> f64 {
    let p = |t: f64| c0 + t * (c1 + t * (c2 + t * c3));
    // Between its turning points the cubic is monotone: the first of these pieces with a bad end has the root.
    let mut low = 0.0;
    for high in turning_points(c1, 2.0 * c2, 3.0 * c3).into_iter().chain([1.0]) {
        if !(high > low && high <= 1.0) {
            continue;
        }
        if p(high) > 0.0 {
            low = high;
            continue;
        }
        let (mut good, mut bad) = (low, high);
        while bad - good > 1e-12 {
            let middle = 0.5 * (good + bad);
            *(if p(middle) > 0.0 { &mut good } else { &mut bad }) = middle;
        }
        return good;
    }
    1.0
}

/// Real roots of `c + b t + a t^2` in rising order, NaN where there are none.
fn turning_points(c: f64, b: f64, a: f64) -> [f64; 2] {
    // The larger of the two in magnitude by the usual formula, the other from their product: neither cancels.
    let q = -0.5 * (b + (b * b - 4.0 * a * c).sqrt().copysign(b));
    let (r, s) = (q / a, c / q);
    [r.min(s), r.max(s)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use gusset_energy::check::Random;

    #[test]
    fn stops_where_a_tenth_of_the_volume_is_left() {
        let x = [
            Vec3::zero(),
            Vec3::new(1.0, 0.0, 0.0),
            Vec3::new(0.0, 1.0, 0.0),
            Vec3::new(0.0, 0.0, 1.0),
        ];
        let still = Vec3::zero();
        let down = |z: f64| [still, still, still, Vec3::new(0.0, 0.0, z)];
        assert!((max_step(&x, &down(-1.8)) - 0.5).abs() < 1e-11);
        assert_eq!(max_step(&x, &down(-0.5)), 1.0);
        assert_eq!(max_step(&x, &[still; 4]), 1.0);
        // Shrunk to its corner, to the third power.
        let shrunk = x.map(|v| -v);
        assert!((max_step(&x, &shrunk) - (1.0 - 0.1_f64.cbrt())).abs() < 1e-11);
    }

    #[test]
    fn never_passes_the_first_root() {
        let mut random = Random::new(5);
        for _ in 0..2000 {
            let c: [f64; 4] =
                std::array::from_fn(|k| random.within(if k == 0 { 0.01 } else { -3.0 }, 3.0));
            let t = positive_until(c);
            let p = |t: f64| c[0] + t * (c[1] + t * (c[2] + t * c[3]));
            for k in 0..=1000 {
                assert!(p(t * f64::from(k) / 1000.0) > -1e-12, "{c:?} falls below 0 before {t}");
            }
            assert!(t == 1.0 || p(t).abs() < 1e-10, "{c:?} has no root at {t}");
        }
    }
}
