//! The article's table: what the wall does at each speed.

use std::fmt::Write as _;

use crate::flight::Verdict;
use crate::plan::Plan;
use crate::row::{Mode, Row};
use crate::throw::{Method, ThrowError};

/// Width of a column.
const WIDTH: usize = 13;

/// The table of every step length of a plan, a row a speed and a column a method.
pub fn print(plan: &Plan) -> Result<String, ThrowError> {
    let throws = plan.throws()?;
    let mut text = String::new();
    let per_table = plan.speeds.len() * plan.methods.len();
    for (table, &dt) in throws.chunks(per_table).zip(&plan.dts) {
        if !text.is_empty() {
            text.push('\n');
        }
        let (face, thickness) = (plan.wall.face, short(plan.wall.thickness * 1e3));
        let _ = writeln!(
            text,
            "wall at {face} m, thickness {thickness} mm, h = {} ms",
            short(dt * 1e3)
        );
        let headings: Vec<String> = plan.methods.iter().map(heading).collect();
        let _ = writeln!(text, " v0[m/s] | {}", headings.join(" | ").trim_end());
        for row in table.chunks(plan.methods.len()) {
            let cells = row.iter().map(|throw| Row::of(throw).map(|row| cell(&row)));
            let cells = cells.collect::<Result<Vec<_>, _>>()?;
            let _ = writeln!(text, " {:>7} | {}", short(row[0].speed), cells.join(" | "));
        }
    }
    Ok(text)
}

fn heading(method: &Method) -> String {
    let text = match method {
        Method::Penalty { stiffness } => format!("pen k={stiffness:e}"),
        Method::Barrier { dhat, .. } => format!("IPC d^={}mm", short(dhat * 1e3)),
    };
    format!("{text:<WIDTH$}")
}

fn cell(row: &Row) -> String {
    let text = match (row.mode, row.result) {
        (_, Verdict::Through) => "through".to_owned(),
        (Mode::Pen, Verdict::Stopped) => format!("stop {:5.2} mm", row.xmax_minus_wall_m * 1e3),
        (Mode::Ipc, Verdict::Stopped) => {
            let gap = -row.xmax_minus_wall_m * 1e6;
            format!("gap {gap:6.1} um, newton {:2}", row.max_newton_iterations)
        }
    };
    format!("{text:<WIDTH$}")
}

/// A number in up to ten digits, without the tail that a change of units leaves.
pub(crate) fn short(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}
