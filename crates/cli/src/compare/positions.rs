//! How far apart two runs of one scene put their vertices.

use super::Run;
use crate::console::{count, metres};
use crate::failure::Failure;
use crate::run::short;
use gusset_output::Source as _;
use serde::Serialize;

/// The largest distance between two positions of one vertex at one time.
#[derive(Debug, Serialize)]
pub(super) struct Farthest {
    /// Metres.
    pub(super) distance: f64,
    body: String,
    /// Vertex of that body.
    vertex: usize,
    /// Seconds.
    time: f64,
    /// Frames that both runs have.
    frames: usize,
    /// Whether all positions are equal to the bit.
    same_bits: bool,
}

impl Farthest {
    pub(super) fn text(&self) -> String {
        let frames = count(self.frames as u64, "frame");
        if self.same_bits {
            return format!("positions: the same bits in {frames}");
        }
        let distance = if self.distance < 1e-9 {
            format!("{:.1e} m", self.distance)
        } else {
            metres(self.distance)
        };
        format!(
            "positions: {distance} apart at most, vertex {} of `{}` at {} s, over {frames}",
            self.vertex,
            self.body,
            short(self.time)
        )
    }
}

/// Compares all frames that both runs have; in words why that can't be done.
pub(super) fn farthest(runs: &[Run; 2]) -> Result<Result<Farthest, String>, Failure> {
    let [a, b] = [&runs[0].reader, &runs[1].reader];
    let shape = |run: &Run| -> Vec<(String, usize)> {
        run.reader.bodies().iter().map(|body| (body.name.clone(), body.vertices)).collect()
    };
    if shape(&runs[0]) != shape(&runs[1]) {
        return Ok(Err("their bodies differ".to_owned()));
    }
    let mut most = Farthest {
        distance: 0.0,
        body: String::new(),
        vertex: 0,
        time: 0.0,
        frames: 0,
        same_bits: true,
    };
    let mut k = 0;
    for (i, &time) in a.times().iter().enumerate() {
        let apart = 0.5 * a.info().dt;
        while b.times().get(k).is_some_and(|t| *t < time - apart) {
            k += 1;
        }
        if b.times().get(k).is_none_or(|t| *t > time + apart) {
            continue;
        }
        most.frames += 1;
        let frames = a.frame(i)?.into_iter().zip(b.frame(k)?);
        for (body, (first, second)) in a.bodies().iter().zip(frames) {
            for (vertex, (p, q)) in first.iter().zip(&second).enumerate() {
                let bits = |v: &glam::DVec3| v.to_array().map(f64::to_bits);
                most.same_bits &= bits(p) == bits(q);
                let distance = p.distance(*q);
                // Not `>`: what is no number is far.
                if distance <= most.distance || most.distance.is_nan() {
                    continue;
                }
                most = Farthest { distance, body: body.name.clone(), vertex, time, ..most };
            }
        }
    }
    Ok(if most.frames == 0 {
        Err("they have no frame at the same time".to_owned())
    } else {
        Ok(most)
    })
}
