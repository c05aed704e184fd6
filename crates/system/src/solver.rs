//! The linear solve behind a Newton direction.

use crate::assembly::System;
use crate::cholesky::SparseCholesky;
use crate::dense::DenseCholesky;
use crate::pcg::ConjugateGradients;
use std::time::{Duration, Instant};
use thiserror::Error;

/// How the Newton system is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Method {
    /// Sparse Cholesky.
    #[default]
    Cholesky,
    /// Dense Cholesky of the full matrix; for small systems and cross-checks.
    Dense,
    /// Whichever suits the size of the system and who solves it; the CPU's solver takes sparse Cholesky.
    Auto,
    /// Conjugate gradients with inverted diagonal blocks.
    Pcg {
        /// Relative residual at which it stops.
        tolerance: f64,
        /// Most iterations; more are an error.
        max_iterations: u32,
    },
}

/// Why a linear system can't be solved.
#[derive(Debug, Error)]
pub enum SolveError {
    /// A pivot is not positive.
    #[error(
        "the Newton matrix is not positive definite: some free vertex has no mass, or a term's Hessian is indefinite"
    )]
    NotPositiveDefinite,
    /// The iteration limit was reached.
    #[error(
        "conjugate gradients did not reach a relative residual of {tolerance} in {iterations} iterations; \
         use `linear = \"cholesky\"` or allow more"
    )]
    NoConvergence {
        /// Iterations made.
        iterations: u32,
        /// Relative residual wanted.
        tolerance: f64,
    },
    /// The device that should have solved it can't.
    #[error("{0}")]
    Device(String),
    /// Memory for the factor can't be had.
    #[error("no memory for the factor of the Newton matrix: {0}")]
    OutOfMemory(String),
}

/// What a solve reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solution {
    /// `|H dx + g| / |g|`.
    pub residual: f64,
    /// Time of ordering, symbolic and numeric factorisation.
    pub factorisation: Duration,
    /// Time of the triangular solves or the iterations.
    pub solve: Duration,
    /// Iterations of an iterative method.
    pub iterations: u32,
}

/// Solves Newton systems, equilibrated: `(D H D) z = -D g`, `dx = D z` with `D = diag(H)^(-1/2)` (bag article, section 2).
#[derive(Default)]
pub struct LinearSolver {
    /// Which solver.
    pub method: Method,
    sparse: SparseCholesky,
    dense: DenseCholesky,
    pcg: ConjugateGradients,
    scale: Vec<f64>,
    scaled: Vec<f64>,
    work: Vec<f64>,
}

impl LinearSolver {
    /// A solver of that method.
    pub fn new(method: Method) -> Self {
        Self { method, ..Self::default() }
    }

    /// Writes the Newton direction `dx = -H^-1 g` over the free vertices (m).
    pub fn solve(&mut self, system: &System, dx: &mut Vec<f64>) -> Result<Solution, SolveError> {
        let begin = Instant::now();
        let (pattern, gradient) = (&system.pattern, &system.gradient);
        let n = gradient.len();
        dx.clear();
        dx.resize(n, 0.0);
        if n == 0 {
            return Ok(Solution::default());
        }
        self.scale.resize(n, 0.0);
        pattern.diagonal(&system.values, &mut self.scale);
        if self.scale.iter().any(|&d| d <= 0.0) {
            return Err(SolveError::NotPositiveDefinite);
        }
        self.scale.iter_mut().for_each(|d| *d = 1.0 / d.sqrt());
        pattern.scaled(&system.values, &self.scale, &mut self.scaled);
        let right = gradient.iter().zip(&self.scale).map(|(g, d)| -g * d);
        let mut solution = Solution::default();
        match self.method {
            Method::Cholesky | Method::Dense | Method::Auto => {
                dx.clear();
                dx.extend(right);
                if self.method == Method::Dense {
                    self.dense.factorise(pattern, &self.scaled)?;
                } else {
                    self.sparse.analyse(pattern, system.version())?;
                    self.sparse.factorise(&self.scaled)?;
                }
                solution.factorisation = begin.elapsed();
                if self.method == Method::Dense {
                    self.dense.solve(dx);
                } else {
                    self.sparse.solve(dx);
                }
            }
            Method::Pcg { tolerance, max_iterations } => {
                let b: Vec<f64> = right.collect();
                solution.iterations =
                    self.pcg.solve(pattern, &self.scaled, &b, dx, tolerance, max_iterations)?;
            }
        }
        dx.iter_mut().zip(&self.scale).for_each(|(x, d)| *x *= d);
        self.work.resize(n, 0.0);
        pattern.multiply(&system.values, dx, &mut self.work);
        let (mut error, mut size) = (0.0, 0.0);
        for (h, g) in self.work.iter().zip(gradient) {
            error += (h + g) * (h + g);
            size += g * g;
        }
        solution.residual = if size > 0.0 { (error / size).sqrt() } else { 0.0 };
        solution.solve = begin.elapsed().saturating_sub(solution.factorisation);
        Ok(solution)
    }
}
