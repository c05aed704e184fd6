//! Which throws are made.

use crate::throw::{Method, Throw, ThrowError, Wall, steps_allowed};

/// Penalty stiffnesses of the article (N/m).
pub const STIFFNESSES: [f64; 3] = [1e4, 1e6, 1e8];

/// Barrier stiffness of the article (N/m).
pub const KAPPA: f64 = 1e4;

/// Distance at which the article's barrier sets in (m).
pub const DHAT: f64 = 1e-3;

/// The wall of the article.
pub const WALL: Wall = Wall { face: 0.503, thickness: 0.02 };

/// Every combination of speeds, steps and methods.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Speeds (m/s).
    pub speeds: Vec<f64>,
    /// Lengths of a step (s).
    pub dts: Vec<f64>,
    /// Methods.
    pub methods: Vec<Method>,
    /// Mass of the ball (kg).
    pub mass: f64,
    /// The wall.
    pub wall: Wall,
    /// Steps after which the ball counts as stopped; `None`: as many as cover 0.8 s.
    pub steps: Option<u32>,
}

impl Plan {
    /// The article's throws: h = 10, 5 and 1 ms, penalty of 1e4, 1e6 and 1e8 N/m, and the barrier.
    pub fn article() -> Self {
        let barrier = Method::Barrier { stiffness: KAPPA, dhat: DHAT };
        let penalties = STIFFNESSES.map(|stiffness| Method::Penalty { stiffness });
        Self {
            speeds: vec![1.0, 2.0, 5.0, 10.0, 20.0, 50.0],
            dts: vec![0.01, 0.005, 0.001],
            methods: penalties.into_iter().chain([barrier]).collect(),
            mass: 1.0,
            wall: WALL,
            steps: None,
        }
    }

    /// The throws: by step length, then by speed, then by method.
    pub fn throws(&self) -> Result<Vec<Throw>, ThrowError> {
        let mut throws = Vec::new();
        for &dt in &self.dts {
            let steps = self.steps.map_or_else(|| steps_allowed(dt), Ok)?;
            for &speed in &self.speeds {
                for &method in &self.methods {
                    let (mass, wall) = (self.mass, self.wall);
                    let throw = Throw { method, speed, dt, mass, wall, steps };
                    throw.check()?;
                    throws.push(throw);
                }
            }
        }
        Ok(throws)
    }
}
