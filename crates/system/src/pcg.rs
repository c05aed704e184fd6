//! Preconditioned conjugate gradients with inverted diagonal blocks.

use crate::pattern::Pattern;
use crate::solver::SolveError;
use nalgebra::Matrix3;

/// Conjugate gradients; needs no factor and little memory.
#[derive(Debug, Default)]
pub struct ConjugateGradients {
    inverse: Vec<Matrix3<f64>>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    hp: Vec<f64>,
}

impl ConjugateGradients {
    /// Solves `H x = b` to a relative residual of `tolerance`, from `x = 0`. Returns the iterations.
    pub(crate) fn solve(
        &mut self,
        pattern: &Pattern,
        values: &[f64],
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        max_iterations: u32,
    ) -> Result<u32, SolveError> {
        let n = b.len();
        self.invert_diagonal(pattern, values)?;
        for v in [&mut self.z, &mut self.hp] {
            v.resize(n, 0.0);
        }
        x.fill(0.0);
        self.r.clear();
        self.r.extend_from_slice(b);
        self.precondition();
        self.p.clear();
        self.p.extend_from_slice(&self.z);
        let goal = tolerance * dot(b, b).sqrt();
        let mut rz = dot(&self.r, &self.z);
        for iteration in 0..max_iterations {
            if dot(&self.r, &self.r).sqrt() <= goal {
                return Ok(iteration);
            }
            pattern.multiply(values, &self.p, &mut self.hp);
            let curvature = dot(&self.p, &self.hp);
            if curvature <= 0.0 {
                return Err(SolveError::NotPositiveDefinite);
            }
            let alpha = rz / curvature;
            axpy(alpha, &self.p, x);
            axpy(-alpha, &self.hp, &mut self.r);
            self.precondition();
            let next = dot(&self.r, &self.z);
            let beta = next / rz;
            rz = next;
            self.p.iter_mut().zip(&self.z).for_each(|(p, z)| *p = z + beta * *p);
        }
        if dot(&self.r, &self.r).sqrt() <= goal {
            return Ok(max_iterations);
        }
        Err(SolveError::NoConvergence { iterations: max_iterations, tolerance })
    }

    fn invert_diagonal(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), SolveError> {
        self.inverse.clear();
        for j in 0..pattern.len() {
            let (base, m) = (pattern.base(j), pattern.rows(j).len());
            let (xx, xy, xz) = (values[base], values[base + 1], values[base + 2]);
            let (yy, yz) = (values[base + 3 * m], values[base + 3 * m + 1]);
            let zz = values[base + 6 * m - 1];
            let block = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
            let cholesky = block.cholesky().ok_or(SolveError::NotPositiveDefinite)?;
            self.inverse.push(cholesky.inverse());
        }
        Ok(())
    }

    fn precondition(&mut self) {
        let blocks = self.z.chunks_exact_mut(3).zip(self.r.chunks_exact(3)).zip(&self.inverse);
        for ((z, r), m) in blocks {
            let v = m * nalgebra::Vector3::new(r[0], r[1], r[2]);
            z.copy_from_slice(v.as_slice());
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    y.iter_mut().zip(x).for_each(|(y, x)| *y += alpha * x);
}
