//! One step with contact rows of an augmented Lagrangian (`alm_dat`). Trial positions are free to penetrate; what is
//! committed stays on its side of stored planes.

mod round;
mod row;
mod rows;

pub(crate) use row::Cushion;

use crate::descent::{Parts, Trouble};
use crate::local::allowed;
use crate::memory::Remembered;
use crate::settings::{Alm, ContactRule};
use glam::DVec3;
use gusset_energy::StepState;
use round::{Commit, Progress};
use rows::{Rows, Support};
use std::time::Instant;

/// Times the wanted motion that an adaptive detection reaches. With twice of it, folds that begin crushed throw their sheets
/// into the air; with less than all of it, free fall would be slowed.
const AHEAD: f64 = 1.25;

/// Most detections of one step.
const MOST_DETECTIONS: u32 = 16;

/// Most automatic rounds of one step.
const MOST_ROUNDS: u32 = 64;

/// Automatic rounds end when one of them shortens what is left by less than this share.
const LEAST_PROGRESS: f64 = 0.01;

/// What the parts of a step share.
struct Step<'a, 'b, 'p> {
    parts: &'a mut Parts<'p>,
    alm: &'b Alm,
    support: Support,
    rows: Rows,
    commit: Commit,
    reach: f64,
    budget: f64,
}

/// Goes from the start of the step to its end; `y` is the inertial target.
pub(crate) fn step(
    parts: &mut Parts<'_>,
    rule: &ContactRule,
    alm: &Alm,
    memory: &mut Remembered,
    x_start: &[DVec3],
    v_start: &[DVec3],
    y: &[DVec3],
    x: &mut Vec<DVec3>,
) -> Result<(), Trouble> {
    let law = parts.law;
    let dt = parts.settings.dt;
    let least = 0.5 * rule.relaxation * (law.margin + rule.gap);
    let wanted = y.iter().zip(x_start).fold(0.0_f64, |w, (y, x)| w.max(y.distance(*x)));
    // How far a vertex may go in the whole step, and from one detection. What inertia wants is granted with room for
    // corrections, and no more: a step that is far from its minimum would else throw vertices as far as it likes.
    let range = match (alm.adaptive_reach, alm.redetect) {
        (true, _) => (AHEAD * wanted).max(least),
        (false, true) => f64::INFINITY,
        (false, false) => least,
    };
    let budget = match (alm.adaptive_reach, alm.redetect) {
        // Wide detections find many pairs; what is beyond half an edge is better done by detecting again.
        (true, true) => range.min((0.5 * parts.shortest_edge).max(least)),
        (true, false) => range,
        (false, _) => least,
    };
    let reach = 2.0 * budget / rule.relaxation;
    let toward: Vec<DVec3> =
        y.iter().zip(x_start).map(|(y, x)| *x + (*y - *x).clamp_length_max(budget)).collect();
    parts.detect(x_start, &toward, reach)?;
    parts.record.budget = budget;
    let support = Support {
        cushion: law.cushion(),
        scale: alm.support,
        dt,
        kept: [alm.normal_memory, alm.tangential_memory],
    };
    let rows = Rows::make(parts.detection, memory, &support, parts.mass);
    let commit = Commit::new(x_start, alm.budget, rule.relaxation, budget, range);
    let mut step = Step { parts, alm, support, rows, commit, reach, budget };
    x.copy_from_slice(y);
    step.round(x)?;
    for iteration in 1..=step.parts.settings.iterations {
        let last = step.sweep(x, x_start, v_start);
        if alm.interval > 0 && iteration % alm.interval == 0 {
            step.round(x)?;
        }
        if last {
            break;
        }
    }
    let mut left = f64::INFINITY;
    for _ in 0..alm.rounds {
        left = step.round(x)?.left;
    }
    if alm.auto_rounds {
        for _ in 0..MOST_ROUNDS {
            let progress = step.round(x)?;
            if progress.left == 0.0 || progress.left > (1.0 - LEAST_PROGRESS) * left {
                break;
            }
            left = progress.left;
        }
    }
    let Step { parts, rows, commit, .. } = step;
    let uncommitted = x.iter().zip(&commit.c).map(|(x, c)| x.distance(*c));
    parts.record.uncommitted = uncommitted.fold(0.0, f64::max);
    *memory = rows.remember(parts.detection);
    *x = commit.c;
    Ok(())
}

impl Step<'_, '_, '_> {
    /// One sweep over all colours at the trial positions, and the update of the multipliers.
    fn sweep(&mut self, x: &mut [DVec3], x_start: &[DVec3], v_start: &[DVec3]) -> bool {
        let begin = Instant::now();
        let parts = &mut *self.parts;
        let (law, dt) = (parts.law, parts.settings.dt);
        let mut largest = crate::local::Largest::default();
        for vertices in &parts.colouring.colours {
            let at = StepState { x, x_start, v_start, dt };
            let (detection, rows) = (&*parts.detection, &self.rows);
            let found =
                parts.sweep.visit(vertices, parts.terms, &at, parts.settings.ratio, |v, block| {
                    rows.apply(detection, &law, &at, v, block);
                });
            let steps = &parts.sweep.steps;
            let fraction = allowed(parts.terms, x, vertices, steps, parts.scratch);
            for (&v, step) in vertices.iter().zip(steps) {
                x[v as usize] += *step * fraction;
            }
            largest = largest.max(found);
        }
        let at = StepState { x, x_start, v_start, dt };
        self.rows.update(parts.detection, &self.support.cushion, &at);
        parts.seconds.assembly += begin.elapsed().as_secs_f64();
        parts.iterated(largest)
    }

    /// A round, and a detection at the committed positions where the budget was in the way and something of it was used.
    fn round(&mut self, x: &[DVec3]) -> Result<Progress, Trouble> {
        let begin = Instant::now();
        let margin = self.support.cushion.margin;
        let parts = &mut *self.parts;
        let progress = self.commit.round(parts.detection, &mut self.rows, margin, x, parts.cuts);
        parts.record.rounds += 1;
        parts.seconds.step_bound += begin.elapsed().as_secs_f64();
        let again = self.alm.redetect
            && progress.out_of_reach
            && progress.farthest > 0.5 * self.budget
            && parts.record.detections < MOST_DETECTIONS;
        if again {
            let before = self.rows.remember(parts.detection);
            let c = &self.commit.c;
            parts.detect(c, c, self.reach)?;
            let support = Support { kept: [1.0; 2], ..self.support };
            self.rows = Rows::make(parts.detection, &before, &support, parts.mass);
            self.commit.renew(parts.cuts);
        }
        Ok(progress)
    }
}
