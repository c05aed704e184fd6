//! What must hold before the first step.

use crate::model::State;
use crate::record::{Failure, PairReport, Times};
use crate::settings::Storage;
use crate::solver::Solver;
use thiserror::Error;

/// Why a start is refused. Nothing was written.
#[derive(Debug, Error)]
pub enum StartError {
    /// Primitives intersect.
    #[error("the start is invalid: {} intersecting pair{}{}", .pairs.len(), if .pairs.len() == 1 { "" } else { "s" }, list(.pairs))]
    Intersecting {
        /// The pairs in words, all of them.
        pairs: Vec<String>,
    },
    /// A gap is not positive.
    #[error(
        "the start is invalid: {0}; every gap must be positive (distance above min_gap, radii included): move the objects apart or lower `min_gap`"
    )]
    Gap(PairReport),
    /// Positions are kept in single precision, which can't tell the gaps of contact where the scene is.
    #[error(
        "the start is invalid: single precision has steps of {spacing:.3e} m at {who}, {coordinate:.6} m from the origin along an axis, and `dhat` = {dhat:e} m needs {:.3e} m or less: move the scene to the origin, or keep positions with storage = \"f64\"",
        SPACING_OF_DHAT * .dhat
    )]
    Precision {
        /// The vertex with the largest coordinate.
        who: String,
        /// That coordinate (m).
        coordinate: f64,
        /// Distance of two single-precision numbers there (m).
        spacing: f64,
        /// Gap below which contact acts (m).
        dhat: f64,
    },
    /// A position or velocity is not finite.
    #[error("the start is invalid: {0}")]
    NotFinite(String),
    /// A device can't judge it.
    #[error("{0}")]
    Device(String),
}

/// Single precision has to divide `dhat` into so many parts at least, so that rounding changes no gap by more than 1 %.
const SPACING_OF_DHAT: f64 = 0.01;

fn list(pairs: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for pair in pairs.iter().take(SHOWN) {
        text += "\n  ";
        text += pair;
    }
    if pairs.len() > SHOWN {
        text.push_str("\n  ... and ");
        text += &(pairs.len() - SHOWN).to_string();
        text += " more";
    }
    text
}

impl Solver {
    /// Checks a start: finite, representable in the storage, no intersecting pair by the independent checker, every gap
    /// positive.
    pub fn check_start(&mut self, state: &State) -> Result<(), StartError> {
        let finite = |v: &glam::DVec3| v.is_finite();
        if let Some(v) = state.x.iter().position(|x| !finite(x)) {
            let who = self.model().world.describe(v as u32);
            return Err(StartError::NotFinite(format!("the position of {who} is not finite")));
        }
        if let Some(v) = state.v.iter().position(|v| !finite(v)) {
            let who = self.model().world.describe(v as u32);
            return Err(StartError::NotFinite(format!("the velocity of {who} is not finite")));
        }
        self.check_precision(state)?;
        let Some(collision) = self.collision_mut() else { return Ok(()) };
        let check = gusset_contact::IntersectionCheck::default();
        let report = gusset_contact::intersections(&collision.mesh, &state.x, &check);
        if !report.pairs.is_empty() {
            let pairs = report.pairs.iter().map(|p| collision.mesh.describe(*p)).collect();
            return Err(StartError::Intersecting { pairs });
        }
        let smallest = match collision.rows_anywhere(&state.x, &mut Times::default()) {
            Ok(smallest) => smallest,
            Err(failure) if self.take_over(&failure) => return self.check_start(state),
            Err(Failure::Device(why)) => return Err(StartError::Device(why)),
            Err(failure) => return Err(StartError::NotFinite(failure.to_string())),
        };
        if collision.lost(smallest).is_some() {
            let gap = smallest.expect("a lost gap is a gap");
            return Err(StartError::Gap(collision.report(gap)));
        }
        Ok(())
    }

    fn check_precision(&self, state: &State) -> Result<(), StartError> {
        let (Some(contact), Storage::F32) = (self.model().contact, self.settings().storage) else {
            return Ok(());
        };
        let sizes = state.x.iter().map(|x| x.abs().max_element());
        let Some((v, coordinate)) = sizes.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(());
        };
        let near = coordinate as f32;
        let spacing = f64::from(near.next_up() - near);
        let dhat = contact.parameters.dhat;
        if spacing <= SPACING_OF_DHAT * dhat {
            return Ok(());
        }
        let who = self.model().world.describe(v as u32);
        Err(StartError::Precision { who, coordinate, spacing, dhat })
    }
}
