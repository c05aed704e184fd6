//! Checks that every energy should pass, in one line of its tests.
//!
//! ```
//! # use gusset_energy::{At, Element, Scalar, fields, check::Check};
//! # pub struct Spring;
//! # fields! { pub struct Edge<S> { pub rest: S, pub stiffness: S } }
//! # impl Element<2> for Spring {
//! #     type Params<S: Scalar> = Edge<S>;
//! #     fn energy<S: Scalar>(at: &At<S, 2>, p: &Edge<S>) -> S {
//! #         let stretch = (at.x[1] - at.x[0]).norm() / p.rest - 1.0;
//! #         p.stiffness * p.rest * stretch * stretch * 0.5
//! #     }
//! # }
//! Check::<Spring, 2>::new(|random| (random.at(1.0), Edge { rest: random.within(0.5, 1.5), stiffness: 10.0 }))
//!     .internal()
//!     .run();
//! ```

use crate::batch::Batch;
use crate::element::{At, Blocks, Element, Psd};
use crate::psd::project;
use crate::term::{Local, StepState, Term, VertexBlock, Want, block_count, block_index};
use glam::{DQuat, DVec3};
use gusset_scalar::{Mat3, Vec3};
use nalgebra::DMatrix;

/// Random states that are checked.
const SAMPLES: usize = 48;

/// A small deterministic generator (Vigna's `SplitMix64`), so that a failure can be repeated.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in `[low, high)`.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        low + (high - low) * unit
    }

    /// A vector with components in `[-size, size)`.
    pub fn vector(&mut self, size: f64) -> Vec3<f64> {
        let mut c = || self.within(-size, size);
        Vec3::new(c(), c(), c())
    }

    /// A state of `N` points within `size` of the origin, with as much motion, and a step of 0.01 s.
    pub fn at<const N: usize>(&mut self, size: f64) -> At<f64, N> {
        let mut points = || std::array::from_fn(|_| self.vector(size));
        At { x: points(), x_start: points(), v_start: points(), dt: 0.01 }
    }

    /// A state near the given points: each moved by up to `size`.
    pub fn near<const N: usize>(&mut self, points: [[f64; 3]; N], size: f64) -> At<f64, N> {
        let mut at = self.at(size);
        for (x, p) in at.x.iter_mut().zip(points) {
            *x += Vec3::from(p);
        }
        at
    }
}

type Sample<E, const N: usize> = (At<f64, N>, <E as Element<N>>::Params<f64>);
type Sampler<E, const N: usize> = Box<dyn Fn(&mut Random) -> Sample<E, N>>;
type Reference<E, const N: usize> =
    Box<dyn Fn(&At<f64, N>, &<E as Element<N>>::Params<f64>) -> Blocks<N>>;

type VertexReference<E, const N: usize> =
    Box<dyn Fn(&At<f64, N>, &<E as Element<N>>::Params<f64>, usize) -> Mat3<f64>>;

/// What an element is checked for; [`Check::run`] panics with the first thing that is wrong.
pub struct Check<E: Element<N>, const N: usize> {
    sample: Sampler<E, N>,
    internal: bool,
    rest: Vec<Sample<E, N>>,
    degenerate: Vec<Sample<E, N>>,
    reference: Option<Reference<E, N>>,
    vertex_reference: Option<VertexReference<E, N>>,
}

impl<E: Element<N>, const N: usize> Check<E, N> {
    /// Checks on states that `sample` draws. Every check holds: gradient and exact Hessian against central differences
    /// (1e-6 relative), a closed form's gradient against the traced one (1e-11 relative), no eigenvalue of an assembled
    /// Hessian below -1e-10 of its largest, one vertex's gradient and block equal to the whole's (or to the exact block,
    /// projected by itself), step bounds that keep the energy finite.
    pub fn new(sample: impl Fn(&mut Random) -> Sample<E, N> + 'static) -> Self {
        Self {
            sample: Box::new(sample),
            internal: false,
            rest: Vec::new(),
            degenerate: Vec::new(),
            reference: None,
            vertex_reference: None,
        }
    }

    /// Also: the energy is the same after any rigid motion, forces and torques sum to zero (1e-12 of the largest).
    #[must_use]
    pub fn internal(mut self) -> Self {
        self.internal = true;
        self
    }

    /// Also: no force at this state (1e-9 of the stiffness times the size of the stencil).
    #[must_use]
    pub fn rest(mut self, at: At<f64, N>, params: E::Params<f64>) -> Self {
        self.rest.push((at, params));
        self
    }

    /// Also: energy, gradient and Hessian are finite at this state, however singular it looks.
    #[must_use]
    pub fn degenerate(mut self, at: At<f64, N>, params: E::Params<f64>) -> Self {
        self.degenerate.push((at, params));
        self
    }

    /// Also: the assembled Hessian equals a documented formula (1e-10 of its largest entry). Without one, a closed form must
    /// equal the exact traced Hessian.
    #[must_use]
    pub fn formula(
        mut self,
        reference: impl Fn(&At<f64, N>, &E::Params<f64>) -> Blocks<N> + 'static,
    ) -> Self {
        self.reference = Some(Box::new(reference));
        self
    }

    /// Also: the block of one vertex equals a documented formula (1e-10 of its largest entry), instead of the exact block
    /// projected by itself.
    #[must_use]
    pub fn vertex_formula(
        mut self,
        reference: impl Fn(&At<f64, N>, &E::Params<f64>, usize) -> Mat3<f64> + 'static,
    ) -> Self {
        self.vertex_reference = Some(Box::new(reference));
        self
    }

    /// Runs all of it.
    ///
    /// # Panics
    /// With what is wrong, and at which state.
    pub fn run(self) {
        let mut random = Random::new(7);
        for k in 0..SAMPLES {
            let (at, params) = (self.sample)(&mut random);
            let stencil = Stencil::<E, N>::new(at, params);
            stencil.check_differences(k);
            stencil.check_assembled(k, self.vertex_reference.as_ref());
            stencil.check_step_bound(k, &mut random);
            if self.internal {
                stencil.check_invariance(k, &mut random);
            }
            if let Some(reference) = &self.reference {
                stencil.check_formula(k, &reference(&stencil.at, &stencil.params));
            } else if E::CLOSED_FORM {
                stencil.check_exact(k);
            }
        }
        for (at, params) in self.rest {
            Stencil::<E, N>::new(at, params).check_rest();
        }
        for (at, params) in self.degenerate {
            Stencil::<E, N>::new(at, params).check_finite();
        }
    }
}

/// One stencil on its own, evaluated through the same batch that solvers use.
struct Stencil<E: Element<N>, const N: usize> {
    at: At<f64, N>,
    params: E::Params<f64>,
    batch: Batch<E, N>,
}

/// Calls `f` with the state as a solver holds it.
fn with_state<const N: usize, T>(at: &At<f64, N>, f: impl FnOnce(&StepState<'_>) -> T) -> T {
    let points = |v: &[Vec3<f64>; N]| v.map(|p| DVec3::new(p.x, p.y, p.z));
    let (x, x_start, v_start) = (points(&at.x), points(&at.x_start), points(&at.v_start));
    f(&StepState { x: &x, x_start: &x_start, v_start: &v_start, dt: at.dt })
}

impl<E: Element<N>, const N: usize> Stencil<E, N> {
    fn new(at: At<f64, N>, params: E::Params<f64>) -> Self {
        let mut flat = Vec::new();
        crate::element::Fields::write(&params, &mut flat);
        let copy = crate::element::Fields::read(&flat, &mut 0);
        let vertices = std::array::from_fn(|i| i as u32);
        let batch = Batch::new("checked", "checked".to_owned(), [(vertices, copy)]);
        Self { at, params, batch }
    }

    fn energy(&self, at: &At<f64, N>) -> f64 {
        let mut out = Vec::new();
        with_state(at, |s| self.batch.energy(s, &mut out));
        out[0]
    }

    fn eval(&self, at: &At<f64, N>, want: Want) -> Local {
        let mut local = Local::default();
        with_state(at, |s| local.eval(&self.batch, s, want));
        local
    }

    /// The state with coordinate `k` moved by `h`.
    fn moved(&self, k: usize, h: f64) -> At<f64, N> {
        let mut at = self.at;
        let p = &mut at.x[k / 3];
        *match k % 3 {
            0 => &mut p.x,
            1 => &mut p.y,
            _ => &mut p.z,
        } += h;
        at
    }

    /// Smallest distance between two points of the stencil, or of a single point from its start: the scale of
    /// differences.
    fn size(&self) -> f64 {
        let mut size = f64::INFINITY;
        if N == 1 && self.at.x != self.at.x_start {
            size = (self.at.x[0] - self.at.x_start[0]).norm();
        }
        for i in 0..N {
            for j in i + 1..N {
                let d = (self.at.x[i] - self.at.x[j]).norm();
                if d > 0.0 {
                    size = size.min(d);
                }
            }
        }
        if size.is_finite() { size } else { 1.0 }
    }

    /// Central difference of fourth order along coordinate `k`, at the best of a few widths.
    fn difference(&self, k: usize, exact: &[f64], f: impl Fn(&At<f64, N>) -> Vec<f64>) -> f64 {
        let scale = exact.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        [1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6]
            .map(|w| {
                let h = w * self.size();
                let sides = [-2.0, -1.0, 1.0, 2.0].map(|s| f(&self.moved(k, s * h)));
                exact.iter().enumerate().fold(0.0_f64, |worst, (i, exact)| {
                    let d = (sides[0][i] - 8.0 * sides[1][i] + 8.0 * sides[2][i] - sides[3][i])
                        / (12.0 * h);
                    worst.max((d - exact).abs() / scale.max(f64::MIN_POSITIVE))
                })
            })
            .into_iter()
            .fold(f64::INFINITY, f64::min)
    }

    fn check_differences(&self, k: usize) {
        let exact = self.eval(&self.at, Want::ExactHessian);
        let largest = exact.gradient.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for c in 0..3 * N {
            // One coordinate's derivative is compared on the scale of the largest.
            let d = self.difference(c, &[exact.gradient[c], largest], |at| {
                vec![self.energy(at), largest * at.x[c / 3][c % 3]]
            });
            assert!(d < 1e-6, "state {k}: gradient {c} is off its difference by {d:e}");
            let column: Vec<f64> = (0..3 * N).map(|r| entry(&exact.hessian, N, r, c)).collect();
            let mut all = exact.hessian.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
            if all == 0.0 {
                all = largest / self.size(); // a linear energy: its gradient's differences are roundings
            }
            let d = self.difference(c, &[column, vec![all]].concat(), |at| {
                let mut g = self.eval(at, Want::Gradient).gradient;
                g.push(all * at.x[c / 3][c % 3]);
                g
            });
            assert!(d < 1e-6, "state {k}: Hessian column {c} is off its difference by {d:e}");
        }
    }

    fn check_assembled(&self, k: usize, formula: Option<&VertexReference<E, N>>) {
        let traced = self.eval(&self.at, Want::ExactHessian);
        let assembled = self.eval(&self.at, Want::Hessian);
        let largest = traced.gradient.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (a, t) in assembled.gradient.iter().zip(&traced.gradient) {
            assert!(
                (a - t).abs() <= 1e-11 * largest,
                "state {k}: the closed form's gradient {a} is not the traced {t}"
            );
        }
        let matrix = DMatrix::from_fn(3 * N, 3 * N, |r, c| entry(&assembled.hessian, N, r, c));
        let values = matrix.symmetric_eigenvalues();
        assert!(
            values.min() >= -1e-10 * values.max().abs(),
            "state {k}: an assembled eigenvalue is {:e} with a largest of {:e}",
            values.min(),
            values.max()
        );
        let vertices: Vec<u32> = (0..N as u32).collect();
        let mut blocks = vec![VertexBlock::default(); N];
        with_state(&self.at, |s| self.batch.vertex_blocks(s, &vertices, &mut blocks));
        for (i, block) in blocks.iter().enumerate() {
            for c in 0..3 {
                let whole = traced.gradient[3 * i + c];
                assert!(
                    (block.gradient[c] - whole).abs() <= 1e-11 * largest,
                    "state {k}: vertex {i} has gradient {} on its own and {whole} in the whole",
                    block.gradient[c]
                );
            }
            let diagonal = |blocks: &[f64]| blocks[9 * block_index(N, i, i)..][..9].to_vec();
            if E::VERTEX_BLOCK {
                let mut exact = diagonal(&traced.hessian);
                if let Some(formula) = formula {
                    let m = formula(&self.at, &self.params, i);
                    exact = (0..9).map(|k| m.entry(k / 3, k % 3)).collect();
                } else {
                    project(&mut exact, 1, Psd::Clamp);
                }
                let size = exact.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                let from = |expected: &[f64]| {
                    let off = block.hessian.iter().zip(expected).map(|(a, b)| (a - b).abs());
                    off.fold(0.0, f64::max)
                };
                let mut off = from(&exact);
                if E::CLOSED_FORM {
                    off = off.min(from(&diagonal(&assembled.hessian)));
                }
                assert!(off <= 1e-10 * size, "state {k}: block of vertex {i} is off by {off:e}");
            } else if E::CLOSED_FORM {
                let whole = diagonal(&assembled.hessian);
                assert_eq!(&block.hessian[..], whole, "state {k}: block of vertex {i}");
            }
        }
    }

    /// The fraction lies between 0 and 1, the energy there is no more infinite than it was, and the element says that it
    /// bounds steps if it does.
    fn check_step_bound(&self, k: usize, random: &mut Random) {
        let scale = 4.0 * self.size();
        let dx = std::array::from_fn(|_| random.vector(scale));
        let fraction = E::max_step(&self.at.x, &dx, &self.params);
        assert!((0.0..=1.0).contains(&fraction), "state {k}: the step bound is {fraction}");
        assert!(
            E::BOUNDS_STEP || fraction == 1.0,
            "state {k}: max_step gives {fraction}, but BOUNDS_STEP is not set, so no solver asks"
        );
        if E::BOUNDS_STEP {
            let mut moved = self.at;
            moved.x = std::array::from_fn(|i| self.at.x[i] + dx[i] * fraction);
            let energy = self.energy(&moved);
            assert!(
                energy.is_finite() || !self.energy(&self.at).is_finite(),
                "state {k}: the energy is {energy} after the fraction {fraction} of a step"
            );
        }
    }

    /// A closed form that states no formula of its own is the exact Hessian.
    fn check_exact(&self, k: usize) {
        let exact = self.eval(&self.at, Want::ExactHessian).hessian;
        let assembled = self.eval(&self.at, Want::Hessian).hessian;
        let largest = exact.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for (place, (found, expected)) in assembled.iter().zip(&exact).enumerate() {
            assert!(
                (found - expected).abs() <= 1e-10 * largest,
                "state {k}: entry {place} of the closed form's Hessian is {found}, the traced one has {expected}"
            );
        }
    }

    fn check_formula(&self, k: usize, reference: &Blocks<N>) {
        let assembled = self.eval(&self.at, Want::Hessian);
        let largest = assembled.hessian.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        for r in 0..3 * N {
            for c in r..3 * N {
                let (i, j) = (r / 3, c / 3);
                let expected = reference.hessian[i][j].entry(r % 3, c % 3);
                let found = entry(&assembled.hessian, N, r, c);
                assert!(
                    (found - expected).abs() <= 1e-10 * largest,
                    "state {k}: Hessian ({r}, {c}) is {found}, the formula gives {expected}"
                );
            }
        }
    }

    fn check_invariance(&self, k: usize, random: &mut Random) {
        let local = self.eval(&self.at, Want::Gradient);
        let force: Vec<DVec3> = local.gradient.chunks_exact(3).map(DVec3::from_slice).collect();
        let largest = force.iter().fold(0.0_f64, |a, f| a.max(f.length()));
        let sum = force.iter().copied().fold(DVec3::ZERO, |a, b| a + b);
        assert!(
            sum.length() <= 1e-12 * largest,
            "state {k}: forces sum to {sum}, with a largest of {largest}"
        );
        let points = self.at.x.map(|p| DVec3::new(p.x, p.y, p.z));
        let arm = points.iter().fold(0.0_f64, |a, p| a.max((*p - points[0]).length()));
        let torque =
            points.iter().zip(&force).fold(DVec3::ZERO, |a, (p, f)| a + (*p - points[0]).cross(*f));
        assert!(
            torque.length() <= 1e-12 * largest * arm,
            "state {k}: torques sum to {torque}, with a largest force of {largest} at {arm}"
        );
        let a = random.vector(1.0);
        let turn = DQuat::from_scaled_axis(DVec3::new(a.x, a.y, a.z) * 2.0);
        let shift = random.vector(1.0);
        let carry = |p: Vec3<f64>| {
            let q = turn * DVec3::new(p.x, p.y, p.z);
            Vec3::new(q.x, q.y, q.z) + shift
        };
        let mut moved = self.at;
        moved.x = moved.x.map(carry);
        moved.x_start = moved.x_start.map(carry);
        let (before, after) = (self.energy(&self.at), self.energy(&moved));
        // The rounding of the moved positions changes the energy by up to force times eps times distance.
        let slack = 1e-9 * before.abs() + 1e-14 * largest * (arm + 2.0);
        assert!(
            (before - after).abs() <= slack,
            "state {k}: the energy is {before}, and {after} after a rigid motion"
        );
    }

    fn check_rest(&self) {
        self.check_finite();
        let local = self.eval(&self.at, Want::ExactHessian);
        let stiffness = local.hessian.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        let size = self.size();
        for (c, g) in local.gradient.iter().enumerate() {
            assert!(g.abs() <= 1e-9 * stiffness * size, "force {c} is {g} at the rest state");
        }
    }

    fn check_finite(&self) {
        assert!(self.energy(&self.at).is_finite(), "the energy is not finite");
        for want in [Want::Gradient, Want::Hessian, Want::ExactHessian] {
            let local = self.eval(&self.at, want);
            let finite = local.gradient.iter().chain(&local.hessian).all(|v| v.is_finite());
            assert!(finite, "gradient or Hessian is not finite: {local:?}");
        }
    }
}

/// Entry (r, c) of a symmetric matrix stored as row-major upper blocks.
fn entry(blocks: &[f64], arity: usize, r: usize, c: usize) -> f64 {
    debug_assert_eq!(blocks.len(), 9 * block_count(arity));
    let (r, c) = if r / 3 <= c / 3 { (r, c) } else { (c, r) };
    blocks[9 * block_index(arity, r / 3, c / 3) + 3 * (r % 3) + c % 3]
}
