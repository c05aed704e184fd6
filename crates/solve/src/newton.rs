//! Newton's method with a bounded line search.

use crate::collision::Collision;
use crate::kinematic::Pull;
use crate::record::{Failure, StepRecord, Times, add};
use crate::settings::{Curvature, LineSearch, Settings};
use glam::DVec3;
use gusset_energy::{StepState, Term, Want};
use gusset_system::{Backend, Compensated, LinearSolver, SolveError, System};
use std::time::Instant;

/// Exact Hessians are tried once the direction is below this many tolerances.
const EXACT_BELOW: f64 = 1000.0;

/// After an indefinite one, not before the direction is this much smaller.
const RETREAT: f64 = 0.2;

/// A step along which the energy bends downwards is made this many times as long,
const EXTENSION: f64 = 3.0;

/// at most so often.
const EXTENSIONS: u32 = 4;

/// The fixed part of one attempt at a step.
#[derive(Clone, Copy)]
pub(crate) struct Interval<'a> {
    pub(crate) x_start: &'a [DVec3],
    pub(crate) v_start: &'a [DVec3],
    pub(crate) dt: f64,
    pub(crate) tolerance: f64,
}

impl Interval<'_> {
    fn at<'b>(&'b self, x: &'b [DVec3]) -> StepState<'b> {
        StepState { x, x_start: self.x_start, v_start: self.v_start, dt: self.dt }
    }
}

/// How one Newton iteration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    Converged,
    Moving,
}

/// The parts a Newton iteration works with.
pub(crate) struct Newton<'s> {
    pub(crate) terms: &'s mut Vec<Box<dyn Term>>,
    pub(crate) collision: Option<&'s mut Collision>,
    pub(crate) system: &'s mut System,
    pub(crate) linear: &'s mut LinearSolver,
    pub(crate) backend: &'s mut dyn Backend,
    pub(crate) settings: &'s Settings,
    /// Present while prescribed motion is blocked.
    pub(crate) pull: Option<&'s Pull>,
    pub(crate) buffers: &'s mut Buffers,
}

/// Arrays that keep their memory from step to step.
#[derive(Default)]
pub(crate) struct Buffers {
    direction: Vec<f64>,
    /// Exact Hessians are tried once the last direction is smaller (m).
    exact_below: f64,
    dx: Vec<DVec3>,
    trial: Vec<DVec3>,
    energies: Vec<Compensated>,
    trial_energies: Vec<Compensated>,
}

impl Newton<'_> {
    /// Takes the rows and energies of `x`, which the candidates cover.
    pub(crate) fn begin(
        &mut self,
        interval: &Interval<'_>,
        x: &[DVec3],
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        self.evaluate(interval, x, record)?;
        self.buffers.exact_below = match self.settings.curvature {
            Curvature::Projected => 0.0,
            Curvature::Adaptive => EXACT_BELOW * interval.tolerance,
        };
        std::mem::swap(&mut self.buffers.energies, &mut self.buffers.trial_energies);
        Ok(())
    }

    /// Rows of `x` into the terms, energies of `x` into `trial_energies`. False where a gap is not positive.
    fn evaluate(
        &mut self,
        interval: &Interval<'_>,
        x: &[DVec3],
        record: &mut StepRecord,
    ) -> Result<bool, Failure> {
        let times = &mut record.seconds;
        if let Some(collision) = self.collision.as_deref_mut() {
            let smallest = collision.rows(x, times)?;
            if collision.lost(smallest).is_some() {
                return Ok(false);
            }
            for term in self.terms.iter_mut() {
                term.refresh(&collision.contacts);
            }
        }
        let begin = Instant::now();
        let out = &mut self.buffers.trial_energies;
        self.backend.energies(self.terms, &interval.at(x), out)?;
        out.extend(self.pull.map(|pull| pull.energy(x)));
        add(&mut times.line_search, begin.elapsed());
        Ok(true)
    }

    /// One iteration from `x`, whose rows and energies were taken; moves `x`.
    pub(crate) fn iterate(
        &mut self,
        interval: &Interval<'_>,
        x: &mut Vec<DVec3>,
        record: &mut StepRecord,
    ) -> Result<Progress, Failure> {
        self.direction(interval, x, record)?;
        let largest = largest(&self.buffers.direction);
        record.iterations += 1;
        record.directions.push(largest);
        record.gradient = self.system.gradient.iter().fold(0.0, |a, g| g.abs().max(a));
        let converged = largest < interval.tolerance;
        if converged && self.settings.stop_before_update {
            return Ok(Progress::Converged);
        }
        let slope: f64 =
            self.system.gradient.iter().zip(&self.buffers.direction).map(|(g, d)| g * d).sum();
        let bound = self.bound(x, &mut record.seconds)?;
        record.step_bounds.push(bound);
        self.line_search(interval, x, bound, slope, largest, record)?;
        Ok(if converged { Progress::Converged } else { Progress::Moving })
    }

    /// Finds the Newton direction; it stands in the buffers, over free and over all vertices.
    fn direction(
        &mut self,
        interval: &Interval<'_>,
        x: &[DVec3],
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        let last = record.directions.last().copied().unwrap_or(f64::INFINITY);
        let exact = last < self.buffers.exact_below;
        let mut solved = Err(Failure::Linear(SolveError::NotPositiveDefinite));
        if exact {
            solved = self.solve(interval, x, Want::ExactHessian, record);
            if matches!(solved, Err(Failure::Linear(SolveError::NotPositiveDefinite))) {
                record.indefinite += 1;
                self.buffers.exact_below = RETREAT * last;
            }
        }
        if matches!(solved, Err(Failure::Linear(SolveError::NotPositiveDefinite))) {
            solved = self.solve(interval, x, Want::Hessian, record);
        }
        solved?;
        let dx = &mut self.buffers.dx;
        dx.clear();
        dx.resize(x.len(), DVec3::ZERO);
        for (k, &v) in self.system.pattern.free().iter().enumerate() {
            dx[v as usize] = DVec3::from_slice(&self.buffers.direction[3 * k..3 * k + 3]);
        }
        Ok(())
    }

    /// Assembles with that kind of Hessian and solves.
    fn solve(
        &mut self,
        interval: &Interval<'_>,
        x: &[DVec3],
        want: Want,
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        let begin = Instant::now();
        let collision = &mut self.collision;
        let mut lost = None;
        let mut near = || match collision.as_deref_mut().map(|c| c.near(x)) {
            Some(Ok(stencils)) => stencils,
            Some(Err(failure)) => {
                lost = Some(failure);
                Vec::new()
            }
            None => Vec::new(),
        };
        let assembled =
            self.backend.assemble(self.terms, &interval.at(x), want, &mut near, self.system);
        if let Some(failure) = lost {
            return Err(failure);
        }
        assembled?;
        if let Some(pull) = self.pull {
            pull.assemble(x, self.system);
        }
        add(&mut record.seconds.assembly, begin.elapsed());
        let direction = &mut self.buffers.direction;
        let solution = match self.backend.solve(self.system, direction) {
            Some(solved) => solved?,
            None => self.linear.solve(self.system, direction)?,
        };
        add(&mut record.seconds.factorisation, solution.factorisation);
        add(&mut record.seconds.solve, solution.solve);
        record.linear_residual = record.linear_residual.max(solution.residual);
        Ok(())
    }

    /// Largest fraction of the direction that contact and terms allow.
    fn bound(&mut self, x: &[DVec3], times: &mut Times) -> Result<f64, Failure> {
        let dx = &self.buffers.dx;
        let begin = Instant::now();
        let mut bound = 1.0_f64;
        for term in self.terms.iter() {
            bound = bound.min(term.max_step(x, dx));
        }
        add(&mut times.step_bound, begin.elapsed());
        if let Some(collision) = self.collision.as_deref_mut() {
            bound = bound.min(collision.bound(x, dx, times)?.0);
        }
        Ok(bound)
    }

    /// Halves from `bound` until the energy decreases enough, and moves there.
    fn line_search(
        &mut self,
        interval: &Interval<'_>,
        x: &mut Vec<DVec3>,
        bound: f64,
        slope: f64,
        largest: f64,
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        // A decrease below the rounding of the energies can't be seen, so it isn't asked for.
        let rounding: f64 =
            self.buffers.energies.iter().map(|e| e.value().abs()).sum::<f64>() * 4.0 * f64::EPSILON;
        let mut trial = std::mem::take(&mut self.buffers.trial);
        let mut alpha = bound;
        let mut change = f64::INFINITY;
        let mut accepted = false;
        for halving in 0..=self.settings.max_halvings {
            record.halvings += u32::from(halving > 0);
            trial.clear();
            trial.extend(x.iter().zip(&self.buffers.dx).map(|(x, d)| *x + *d * alpha));
            let feasible = self.evaluate(interval, &trial, record)?;
            change = if feasible { self.change() } else { f64::INFINITY };
            accepted = match self.settings.line_search {
                LineSearch::Armijo => change <= 1e-4 * alpha * slope + rounding,
                LineSearch::Decrease => change <= 0.0 || alpha <= 1e-12,
            };
            if accepted {
                break;
            }
            alpha *= 0.5;
        }
        self.buffers.trial = trial;
        if !accepted {
            let halvings = self.settings.max_halvings;
            return Err(Failure::LineSearch { halvings, direction: largest });
        }
        std::mem::swap(x, &mut self.buffers.trial);
        std::mem::swap(&mut self.buffers.energies, &mut self.buffers.trial_energies);
        // More than the slope promised: the energy bends downwards along the direction.
        let concave = alpha == 1.0 && change < slope - rounding;
        let (search, curvature) = (self.settings.line_search, self.settings.curvature);
        if concave && search == LineSearch::Armijo && curvature == Curvature::Adaptive {
            self.extend(interval, x, record)?;
        }
        Ok(())
    }

    /// Goes on along the direction for as long as the energy decreases and the way is free. Past a saddle, where a film
    /// is about to buckle, projected Hessians see no curvature at all and give steps that are far too short.
    fn extend(
        &mut self,
        interval: &Interval<'_>,
        x: &mut Vec<DVec3>,
        record: &mut StepRecord,
    ) -> Result<(), Failure> {
        let mut further = EXTENSION - 1.0;
        for _ in 0..EXTENSIONS {
            self.buffers.dx.iter_mut().for_each(|d| *d *= further);
            further = EXTENSION;
            if self.bound(x, &mut record.seconds)? < 1.0 {
                break;
            }
            self.buffers.trial.clear();
            self.buffers.trial.extend(x.iter().zip(&self.buffers.dx).map(|(x, d)| *x + *d));
            let trial = std::mem::take(&mut self.buffers.trial);
            let feasible = self.evaluate(interval, &trial, record)?;
            self.buffers.trial = trial;
            if !feasible || self.change() >= 0.0 {
                // Back to the rows of the positions that stay; their energies are kept.
                self.evaluate(interval, x, record)?;
                break;
            }
            record.extensions += 1;
            std::mem::swap(x, &mut self.buffers.trial);
            std::mem::swap(&mut self.buffers.energies, &mut self.buffers.trial_energies);
        }
        Ok(())
    }

    /// Energy of the trial less that of the accepted positions.
    fn change(&self) -> f64 {
        let pairs = self.buffers.trial_energies.iter().zip(&self.buffers.energies);
        pairs.map(|(after, before)| after.minus(*before)).sum()
    }

    /// Energies of the accepted positions.
    pub(crate) fn energies(&self) -> Vec<(String, f64)> {
        let terms = self.terms.iter().zip(&self.buffers.energies);
        terms.map(|(term, e)| (term.label().to_owned(), e.value())).collect()
    }
}

fn largest(direction: &[f64]) -> f64 {
    direction.iter().fold(0.0, |a, d| d.abs().max(a))
}
