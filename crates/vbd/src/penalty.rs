//! One step with penalty contact: every colour's motion is divided and truncated before the next one sees it.

use crate::descent::{Parts, Trouble};
use crate::detection::Need;
use crate::local::{Largest, allowed};
use crate::settings::{ContactRule, Schedule};
use crate::touch::penalty;
use glam::DVec3;
use gusset_energy::StepState;
use std::time::Instant;

/// Corrections of the inertial start are mostly shorter than this share of the gap.
const SMALL: f64 = 0.125;

/// Goes from the start of the step to its end; `x` comes with the start and `y` with the inertial target.
pub(crate) fn step(
    parts: &mut Parts<'_>,
    rule: &ContactRule,
    schedule: Schedule,
    x_start: &[DVec3],
    v_start: &[DVec3],
    y: &[DVec3],
    x: &mut Vec<DVec3>,
) -> Result<(), Trouble> {
    let law = parts.law;
    let reach = law.margin + rule.gap;
    let budget = 0.5 * rule.relaxation * reach;
    let dt = parts.settings.dt;
    let mut u: Vec<DVec3> = y.iter().zip(x_start).map(|(y, x)| *y - *x).collect();
    let toward: Vec<DVec3> =
        u.iter().zip(x_start).map(|(u, x)| *x + u.clamp_length_max(budget)).collect();
    let way = u.iter().fold(0.0_f64, |way, u| way.max(u.length()));
    // What the sweeps need as long as their corrections are short.
    let short = Need { way: SMALL * rule.gap, margin: law.margin, later: 0.0 };
    if schedule == Schedule::PrePostInit {
        // The first detection serves the inertial start alone, of which the length is known.
        let later = if way > budget { reach } else { short.reach(0.0) };
        parts.detect_for(x_start, &toward, reach, Need { way, margin: 0.0, later })?;
    } else {
        parts.detect(x_start, &toward, reach)?;
    }
    parts.truncate(budget, None, &mut u)?;
    parts.put(&u, x);
    if schedule == Schedule::PrePostInit {
        let here = x.clone();
        if way > budget {
            // What goes too far for its planes has long corrections coming.
            parts.detect(&here, &here, reach)?;
        } else {
            parts.detect_for(&here, &here, reach, short)?;
        }
        u.fill(DVec3::ZERO);
    }
    parts.record.budget = budget;
    for iteration in 0..parts.settings.iterations {
        if let Schedule::Iterations(every) = schedule
            && iteration > 0
            && every > 0
            && iteration % every == 0
        {
            let here = x.clone();
            parts.detect(&here, &here, reach)?;
            u.fill(DVec3::ZERO);
        }
        let mut largest = parts.follow_timeline(&mut u, x, y, budget)?;
        for colour in 0..parts.colouring.colours.len() {
            let begin = Instant::now();
            let vertices = &parts.colouring.colours[colour];
            let at = StepState { x, x_start, v_start, dt };
            let detection = &*parts.detection;
            let found =
                parts.sweep.visit(vertices, parts.terms, &at, parts.settings.ratio, |v, block| {
                    penalty(detection, &law, &at, v, block);
                });
            let steps = &parts.sweep.steps;
            let fraction = allowed(parts.terms, x, vertices, steps, parts.scratch);
            for (&v, step) in vertices.iter().zip(steps) {
                u[v as usize] += *step * fraction;
            }
            largest = largest.max(found);
            parts.seconds.assembly += begin.elapsed().as_secs_f64();
            if parts.truncate(budget, Some(colour), &mut u)? {
                parts.put(&u, x);
            } else {
                for &v in &parts.colouring.colours[colour] {
                    x[v as usize] = parts.detection.reference[v as usize] + u[v as usize];
                }
            }
        }
        if parts.iterated(largest) {
            break;
        }
    }
    Ok(())
}

/// One step without contact.
pub(crate) fn free_step(
    parts: &mut Parts<'_>,
    x_start: &[DVec3],
    v_start: &[DVec3],
    y: &[DVec3],
    x: &mut [DVec3],
) {
    x.copy_from_slice(y);
    let dt = parts.settings.dt;
    for _ in 0..parts.settings.iterations {
        let mut largest = Largest::default();
        for vertices in &parts.colouring.colours {
            let begin = Instant::now();
            let at = StepState { x, x_start, v_start, dt };
            let found =
                parts.sweep.visit(vertices, parts.terms, &at, parts.settings.ratio, |_, _| ());
            let steps = &parts.sweep.steps;
            let fraction = allowed(parts.terms, x, vertices, steps, parts.scratch);
            for (&v, step) in vertices.iter().zip(steps) {
                x[v as usize] += *step * fraction;
            }
            largest = largest.max(found);
            parts.seconds.assembly += begin.elapsed().as_secs_f64();
        }
        if parts.iterated(largest) {
            break;
        }
    }
}
