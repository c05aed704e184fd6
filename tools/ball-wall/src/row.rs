//! Results at full precision, a row a throw.

use serde::{Deserialize, Serialize};

use crate::flight::Verdict;
use crate::throw::{Method, Throw, ThrowError};

/// Which method a row is about, by the names that the article's code uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Penalty.
    Pen,
    /// Barrier.
    Ipc,
}

/// One throw and its result; SI units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Method.
    pub mode: Mode,
    /// Speed of the throw (m/s).
    pub v0: f64,
    /// Length of a step (s).
    pub h_s: f64,
    /// Penalty stiffness (N/m).
    pub k_pen: Option<f64>,
    /// Barrier stiffness (N/m).
    pub kappa: Option<f64>,
    /// Distance at which the barrier sets in (m).
    pub dhat: Option<f64>,
    /// Steps after which the ball counts as stopped.
    pub steps_allowed: u32,
    /// How it ended.
    pub result: Verdict,
    /// Furthest position minus front face (m); negative: a gap.
    pub xmax_minus_wall_m: f64,
    /// Most Newton iterations of a step.
    pub max_newton_iterations: u32,
    /// The first step, from 0, that took so many.
    pub impact_step_index: Option<u32>,
    /// Position at the end (m).
    pub x_final_m: f64,
    /// Speed at the end (m/s).
    pub v_final_m_s: f64,
}

/// Units of the columns whose names do not end in one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ColumnUnits {
    v0: &'static str,
    h_s: &'static str,
    k_pen: &'static str,
    kappa: &'static str,
    dhat: &'static str,
}

/// Rows as they are printed.
#[derive(Clone, Debug, Serialize)]
pub struct Rows {
    /// Units of the columns.
    pub units: ColumnUnits,
    /// A row a throw.
    pub rows: Vec<Row>,
}

impl Rows {
    /// Runs every throw.
    pub fn of(throws: &[Throw]) -> Result<Self, ThrowError> {
        let units = ColumnUnits { v0: "m/s", h_s: "s", k_pen: "N/m", kappa: "N/m", dhat: "m" };
        let rows = throws.iter().map(Row::of).collect::<Result<_, _>>()?;
        Ok(Self { units, rows })
    }
}

impl Row {
    /// Runs a throw.
    pub fn of(throw: &Throw) -> Result<Self, ThrowError> {
        let flight = throw.run()?;
        let (mode, k_pen, kappa, dhat) = match throw.method {
            Method::Penalty { stiffness } => (Mode::Pen, Some(stiffness), None, None),
            Method::Barrier { stiffness, dhat } => (Mode::Ipc, None, Some(stiffness), Some(dhat)),
        };
        let last = flight.last();
        Ok(Self {
            mode,
            v0: throw.speed,
            h_s: throw.dt,
            k_pen,
            kappa,
            dhat,
            steps_allowed: throw.steps,
            result: flight.verdict,
            xmax_minus_wall_m: flight.furthest - throw.wall.face,
            max_newton_iterations: flight.most_iterations,
            impact_step_index: flight.impact_step,
            x_final_m: last.x,
            v_final_m_s: last.v,
        })
    }
}
