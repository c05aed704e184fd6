//! One throw step by step.

use std::fmt::Write as _;

use crate::flight::{Flight, FlightStep, Verdict};
use crate::table::short;
use crate::throw::{Method, Throw, ThrowError};

/// Runs a throw and tells every step, the Newton iterations of the impact step, and the end.
pub fn print(throw: &Throw) -> Result<String, ThrowError> {
    let flight = throw.run()?;
    let mut text = String::new();
    let method = match throw.method {
        Method::Penalty { stiffness } => format!("penalty, k = {stiffness:e} N/m"),
        Method::Barrier { stiffness, dhat } => {
            format!("barrier, kappa = {stiffness:e} N/m, dhat = {} mm", short(dhat * 1e3))
        }
    };
    let _ = writeln!(
        text,
        "{method}: {} kg at {} m/s, h = {} ms, wall at {} m, {} mm thick",
        throw.mass,
        throw.speed,
        short(throw.dt * 1e3),
        throw.wall.face,
        short(throw.wall.thickness * 1e3)
    );
    let _ = writeln!(
        text,
        "  step    t [ms]  target-wall [mm]       x-wall [mm]       v [m/s]  newton  least share"
    );
    for (n, step) in flight.steps.iter().enumerate() {
        let mark = if flight.impact_step == Some(n as u32) { '*' } else { ' ' };
        let _ = writeln!(
            text,
            "{mark}{n:5} {:9.3} {:17.6} {:17.6} {:13.6} {:7} {:12.4}",
            (n + 1) as f64 * throw.dt * 1e3,
            (step.target - throw.wall.face) * 1e3,
            (step.x - throw.wall.face) * 1e3,
            step.v,
            step.record.iterations,
            step.record.step_bounds.iter().fold(1.0_f64, |a, b| b.min(a)),
        );
    }
    iterations(&mut text, &flight);
    end(&mut text, throw, &flight);
    Ok(text)
}

/// The step with the most iterations, one by one.
fn iterations(text: &mut String, flight: &Flight) {
    let Some(n) = flight.impact_step else { return };
    let FlightStep { record, .. } = &flight.steps[n as usize];
    let _ = writeln!(text, "* step {n}, Newton:   |dx| [m]   share allowed");
    for (i, direction) in record.directions.iter().enumerate() {
        let share = record.step_bounds.get(i);
        let share = share.map_or_else(|| "done".to_owned(), |share| format!("{share:.4}"));
        let _ = writeln!(text, "  {:>17} {direction:10.3e} {share:>15}", i + 1);
    }
}

/// The verdict, and what a step length has to do with it.
fn end(text: &mut String, throw: &Throw, flight: &Flight) {
    let past = flight.furthest - throw.wall.face;
    let _ = match (flight.verdict, throw.method) {
        (Verdict::Through, _) => writeln!(
            text,
            "passed through in step {}, {:.3} mm behind the front face",
            flight.steps.len() - 1,
            (flight.last().x - throw.wall.face) * 1e3
        ),
        (Verdict::Stopped, _) if past < -1e-2 => writeln!(
            text,
            "did not get closer than {:.3} mm to the wall in {} steps; at most {} Newton iterations",
            -past * 1e3,
            flight.steps.len(),
            flight.most_iterations
        ),
        (Verdict::Stopped, _) if past <= 0.0 => writeln!(
            text,
            "stopped, never closer than {:.3} um to the wall; at most {} Newton iterations",
            -past * 1e6,
            flight.most_iterations
        ),
        (Verdict::Stopped, _) => writeln!(
            text,
            "stopped, at most {:.3} mm deep; at most {} Newton iterations",
            past * 1e3,
            flight.most_iterations
        ),
    };
    if matches!(throw.method, Method::Penalty { .. }) && throw.penalty_margin() < 1.0 {
        let _ = writeln!(
            text,
            "note: one step travels {} mm, more than half the wall; a penalty may let the ball through however stiff it is",
            short(throw.speed * throw.dt * 1e3)
        );
    }
}
