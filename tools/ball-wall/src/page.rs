//! The interactive page: one file without anything to fetch.

use serde::Serialize;

const FRAME: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/style.css");
const SCRIPTS: [&str; 4] = [
    include_str!("../page/solver.js"),
    include_str!("../page/landscape.js"),
    include_str!("../page/motion.js"),
    include_str!("../page/app.js"),
];

/// What the page shows when it is opened; SI units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Start {
    /// Speed of the throw (m/s).
    pub v0: f64,
    /// Length of a step (s).
    pub h: f64,
    /// Penalty stiffness (N/m).
    pub k: f64,
    /// Barrier stiffness (N/m).
    pub kappa: f64,
    /// Distance at which the barrier sets in (m).
    pub dhat: f64,
    /// Mass of the ball (kg).
    pub mass: f64,
    /// Front face (m).
    pub wall: f64,
    /// Thickness of the wall (m).
    pub thickness: f64,
}

/// The page as text.
pub fn render(start: &Start) -> String {
    let start = serde_json::to_string(start).expect("plain numbers are JSON");
    FRAME
        .replace("/*STYLE*/", STYLE)
        .replace("/*SCRIPT*/", &SCRIPTS.concat())
        .replace("/*START*/", &start)
}
