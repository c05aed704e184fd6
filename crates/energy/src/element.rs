//! The maths of one stencil: what an energy author writes.

use glam::DVec3;
use gusset_scalar::{Mat3, Scalar, Vec3};

/// What an element may look at. Fields that an energy does not read cost nothing: the traced graph drops them.
#[derive(Clone, Copy, Debug)]
pub struct At<S, const N: usize> {
    /// Positions the energy is asked for (m).
    pub x: [Vec3<S>; N],
    /// Positions at the start of the step (m).
    pub x_start: [Vec3<S>; N],
    /// Velocities at the start of the step (m/s).
    pub v_start: [Vec3<S>; N],
    /// Length of the step (s).
    pub dt: S,
}

/// A position or vector as elements see it.
#[inline(always)]
pub fn vec3(v: DVec3) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}

/// How the Hessian of an element is made safe for a Newton direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Psd {
    /// Already positive semi-definite (or the author's closed form is): assembled as it is.
    Exact,
    /// Negative eigenvalues become 0.
    Clamp,
    /// Negative eigenvalues change sign.
    Absolute,
}

/// Gradient and Hessian blocks of one stencil, as a closed form fills them.
#[derive(Clone, Copy, Debug)]
pub struct Blocks<const N: usize, S = f64> {
    /// `dE/dx_i` (N).
    pub gradient: [Vec3<S>; N],
    /// `d2E/dx_i dx_j` (N/m); only `i <= j` is read.
    pub hessian: [[Mat3<S>; N]; N],
}

impl<const N: usize, S: Scalar> Blocks<N, S> {
    /// All zero.
    pub fn zero() -> Self {
        Self { gradient: [Vec3::zero(); N], hessian: [[Mat3::zero(); N]; N] }
    }
}

/// A scalar function of `N` vertices: the only thing that an author must write.
///
/// The function may not branch on its arguments: use [`Scalar::select_lt`], `min` and `max`.
pub trait Element<const N: usize>: Sized + Send + Sync + 'static {
    /// Constants of one stencil; declare them with [`fields!`](crate::fields).
    type Params<S: Scalar>: Fields<S>;

    /// What is done to an indefinite traced Hessian.
    const PSD: Psd = Psd::Clamp;

    /// Whether [`Element::closed_form`] replaces the traced gradient and projected Hessian.
    const CLOSED_FORM: bool = false;

    /// Whether [`Element::vertex_block`] is overridden. Otherwise a vertex's block is that of the closed form, else the
    /// traced one, projected by itself.
    const VERTEX_BLOCK: bool = false;

    /// Whether [`Element::vertex_block`], else [`Element::closed_form`], may be compiled for the widest vectors of the
    /// processor, in which four stencils are evaluated at once. That is twice as fast where it and all that it calls are
    /// `#[inline(always)]` and without closures (a closure becomes a function of its own, compiled for every processor),
    /// and several times slower where they are not. The results are the same.
    const WIDE: bool = false;

    /// How many numbers [`Element::start`] gives.
    const START: usize = 0;

    /// Whether [`Element::max_step`] is overridden; otherwise it is never called.
    const BOUNDS_STEP: bool = false;

    /// Energy of one stencil (J).
    fn energy<S: Scalar>(at: &At<S, N>, p: &Self::Params<S>) -> S;

    /// Gradient and (possibly deliberately inexact, always positive semi-definite) Hessian in closed form. Its gradient
    /// must equal the traced one; its Hessian must equal the formula that the author documents. Generic like the energy, so
    /// that a GPU computes the same.
    fn closed_form<S: Scalar>(at: &At<S, N>, p: &Self::Params<S>, out: &mut Blocks<N, S>) {
        let _ = (at, p, out);
        unreachable!("CLOSED_FORM is set without an override of closed_form");
    }

    /// What [`Element::vertex_block`] needs of the start of the step, [`Element::START`] numbers, so that they are computed
    /// once a step: of `at` only `x_start`, `v_start` and `dt` are given.
    fn start<S: Scalar>(at: &At<S, N>, p: &Self::Params<S>, out: &mut [S]) {
        let _ = (at, p, out);
        unreachable!("START is set without an override of start");
    }

    /// Gradient and diagonal Hessian block of one corner: the exact block, made positive semi-definite by itself. Worth
    /// an override where the closed form of all corners projects at a cost that one vertex's block does not need.
    ///
    /// `start` has what [`Element::start`] gave; where [`Element::START`] is not 0, `at` has nothing of the start itself.
    fn vertex_block<S: Scalar>(
        at: &At<S, N>,
        p: &Self::Params<S>,
        start: &[S],
        corner: usize,
    ) -> (Vec3<S>, Mat3<S>) {
        let _ = (at, p, start, corner);
        unreachable!("VERTEX_BLOCK is set without an override of vertex_block");
    }

    /// Largest fraction of the step `dx` that this stencil tolerates (an inversion, say); 1 when it does not care.
    fn max_step(x: &[Vec3<f64>; N], dx: &[Vec3<f64>; N], p: &Self::Params<f64>) -> f64 {
        let _ = (x, dx, p);
        1.0
    }
}

/// A group of scalars stored flat: stencil parameters on the CPU, a `double` array on the GPU.
pub trait Fields<S>: Sized {
    /// Number of scalars.
    const COUNT: usize;
    /// Takes its scalars from `values`, starting at `*at`, which moves past them.
    fn read(values: &[S], at: &mut usize) -> Self;
    /// Appends its scalars to `out`, in the same order.
    fn write(&self, out: &mut Vec<S>);
    /// One name a scalar: `rest`, `normal.x`, `weight[2]`.
    fn names(prefix: &str, out: &mut Vec<String>);
}

impl<S: Scalar> Fields<S> for S {
    const COUNT: usize = 1;
    #[inline(always)]
    fn read(values: &[S], at: &mut usize) -> Self {
        *at += 1;
        values[*at - 1]
    }
    #[inline(always)]
    fn write(&self, out: &mut Vec<S>) {
        out.push(*self);
    }
    fn names(prefix: &str, out: &mut Vec<String>) {
        out.push(prefix.to_owned());
    }
}

impl<S: Scalar> Fields<S> for Vec3<S> {
    const COUNT: usize = 3;
    #[inline(always)]
    fn read(values: &[S], at: &mut usize) -> Self {
        *at += 3;
        Self::new(values[*at - 3], values[*at - 2], values[*at - 1])
    }
    #[inline(always)]
    fn write(&self, out: &mut Vec<S>) {
        out.extend([self.x, self.y, self.z]);
    }
    fn names(prefix: &str, out: &mut Vec<String>) {
        out.extend(["x", "y", "z"].map(|axis| format!("{prefix}.{axis}")));
    }
}

/// Arrays of numbers and of vectors; one impl for both would overlap with the scalar's own.
macro_rules! array_fields {
    ($item:ty) => {
        impl<S: Scalar, const K: usize> Fields<S> for [$item; K] {
            const COUNT: usize = K * <$item as Fields<S>>::COUNT;
            #[inline(always)]
            fn read(values: &[S], at: &mut usize) -> Self {
                const { assert!(K > 0, "a field has at least one entry") };
                let mut all = [<$item as Fields<S>>::read(values, at); K];
                for item in &mut all[1..] {
                    *item = <$item as Fields<S>>::read(values, at);
                }
                all
            }
            #[inline(always)]
            fn write(&self, out: &mut Vec<S>) {
                for item in self {
                    item.write(out);
                }
            }
            fn names(prefix: &str, out: &mut Vec<String>) {
                for k in 0..K {
                    <$item as Fields<S>>::names(&format!("{prefix}[{k}]"), out);
                }
            }
        }
    };
}

array_fields!(S);
array_fields!(Vec3<S>);

/// Declares the constants of a stencil: a struct generic over its number type, with the flat layout that batches and
/// kernels need. Fields may be `S`, `Vec3<S>` or arrays of those.
///
/// ```
/// gusset_energy::fields! {
///     /// An edge at rest.
///     pub struct Edge<S> {
///         /// Rest length (m).
///         pub rest: S,
///     }
/// }
/// ```
#[macro_export]
macro_rules! fields {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<$s:ident> { $($(#[$fmeta:meta])* $fvis:vis $field:ident : $ty:ty),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "the fields of a stencil may speak for themselves")]
        $vis struct $name<$s> { $($(#[$fmeta])* $fvis $field: $ty),* }

        impl<$s: $crate::Scalar> $crate::Fields<$s> for $name<$s> {
            const COUNT: usize = 0 $(+ <$ty as $crate::Fields<$s>>::COUNT)*;
            #[inline(always)]
            fn read(values: &[$s], at: &mut usize) -> Self {
                let _ = (values, &at);
                Self { $($field: <$ty as $crate::Fields<$s>>::read(values, at)),* }
            }
            #[inline(always)]
            fn write(&self, out: &mut Vec<$s>) {
                let _ = &out;
                $(<$ty as $crate::Fields<$s>>::write(&self.$field, out);)*
            }
            fn names(prefix: &str, out: &mut Vec<String>) {
                let dot = if prefix.is_empty() { "" } else { "." };
                let _ = (dot, &out);
                $(<$ty as $crate::Fields<$s>>::names(&format!("{prefix}{dot}{}", stringify!($field)), out);)*
            }
        }
    };
}
