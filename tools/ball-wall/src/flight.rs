//! A throw from start to end.

use gusset_solve::{State, StepRecord};
use serde::{Deserialize, Serialize};

use crate::throw::{Throw, ThrowError};

/// How a throw ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The ball never left by the back face.
    Stopped,
    /// The ball left by the back face.
    Through,
}

/// One step of a throw.
#[derive(Clone, Debug)]
pub struct FlightStep {
    /// Where the step began (m).
    pub start: f64,
    /// Where the ball would go without a wall (m).
    pub target: f64,
    /// Where it went (m).
    pub x: f64,
    /// Its speed then (m/s).
    pub v: f64,
    /// The step certificate.
    pub record: StepRecord,
}

/// A throw, step by step.
#[derive(Clone, Debug)]
pub struct Flight {
    /// How it ended.
    pub verdict: Verdict,
    /// Every step made; a throw ends with the step that leaves by the back face.
    pub steps: Vec<FlightStep>,
    /// Furthest position (m); a step that leaves by the back face does not count.
    pub furthest: f64,
    /// Most Newton iterations of a step, the check that ends the loop included; same steps as for [`Self::furthest`].
    pub most_iterations: u32,
    /// The first step, from 0, that took so many; `None` when no step counts.
    pub impact_step: Option<u32>,
}

impl Flight {
    /// The last step.
    pub fn last(&self) -> &FlightStep {
        self.steps.last().expect("a throw has at least one step")
    }
}

impl Throw {
    /// Throws the ball: steps until it leaves the wall by its back face or all steps are made.
    pub fn run(&self) -> Result<Flight, ThrowError> {
        self.check()?;
        let mut solver = self.solver()?;
        let mut state = State::start(&solver.model().world);
        solver.check_start(&state)?;
        let back = self.wall.face + self.wall.thickness;
        let mut next = State::default();
        let mut flight = Flight {
            verdict: Verdict::Stopped,
            steps: Vec::new(),
            furthest: state.x[0].x,
            most_iterations: 0,
            impact_step: None,
        };
        for step in 0..self.steps {
            let record = solver.step(&state, &mut next)?;
            let (start, target) = (state.x[0].x, state.x[0].x + self.dt * state.v[0].x);
            std::mem::swap(&mut state, &mut next);
            let (x, v, iterations) = (state.x[0].x, state.v[0].x, record.iterations);
            flight.steps.push(FlightStep { start, target, x, v, record });
            if x > back {
                flight.verdict = Verdict::Through;
                break;
            }
            flight.furthest = flight.furthest.max(x);
            if iterations > flight.most_iterations {
                flight.most_iterations = iterations;
                flight.impact_step = Some(step);
            }
        }
        Ok(flight)
    }
}
