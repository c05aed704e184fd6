//! How near each vertex of a frame is to other surfaces, for pictures.

use crate::bodies;
use glam::DVec3;
use gusset_contact::{Candidates, CollisionMesh};
use gusset_energy::Contacts;
use gusset_output::BodyInfo;
use std::ops::Range;

/// Distances of a run's vertices to other surfaces, frame after frame.
pub(crate) struct VertexGaps {
    mesh: CollisionMesh,
    candidates: Candidates,
    contacts: Contacts,
    ranges: Vec<Range<usize>>,
    /// Distances are known up to here (m).
    pub(crate) reach: f64,
}

impl VertexGaps {
    /// For a run with these bodies, one frame of which is `frame`; `None` where nothing has a size.
    pub(crate) fn new(bodies: &[BodyInfo], frame: &[Vec<DVec3>]) -> Option<Self> {
        let mesh = bodies::collision_mesh(bodies);
        let mut first = 0;
        let ranges = bodies
            .iter()
            .map(|body| {
                let range = first..first + body.vertices;
                first = range.end;
                range
            })
            .collect();
        let reach = 0.5 * size(bodies, frame)?;
        Some(Self {
            candidates: Candidates::new(&mesh),
            contacts: Contacts::default(),
            ranges,
            mesh,
            reach,
        })
    }

    /// Per body and vertex the distance to the nearest other surface (m); NaN beyond the reach. `None` for a body that
    /// nothing is near.
    pub(crate) fn of(&mut self, frame: &[Vec<DVec3>]) -> Vec<Option<Vec<f32>>> {
        let x = bodies::flat(frame);
        let query = self.candidates.query(&self.mesh, &x, &x, 0.0, self.reach, usize::MAX);
        if query.is_err() {
            return vec![None; self.ranges.len()];
        }
        self.candidates.rows(&self.mesh, &x, self.reach, &mut self.contacts);
        let mut gaps = vec![f32::NAN; x.len()];
        let mut note = |vertex: u32, gap: f64| {
            let entry = &mut gaps[vertex as usize];
            *entry = entry.min(gap.max(0.0) as f32);
        };
        for row in &self.contacts.rows {
            // A vertex that the closest points don't lean on is not what is near.
            let leaning = row.vertices.iter().zip(row.weights).filter(|(_, w)| w.abs() > 1e-9);
            leaning.for_each(|(v, _)| note(*v, row.gap));
        }
        for row in &self.contacts.slabs {
            note(row.vertex, row.gap);
        }
        let near = |range: &Range<usize>| {
            let gaps = &gaps[range.clone()];
            gaps.iter().any(|gap| gap.is_finite()).then(|| gaps.to_vec())
        };
        self.ranges.iter().map(near).collect()
    }
}

/// Mean length of the edges of what moves; where there are none, mean radius of its spheres.
fn size(bodies: &[BodyInfo], frame: &[Vec<DVec3>]) -> Option<f64> {
    let moving = || bodies.iter().zip(frame).filter(|(body, _)| body.moving);
    let lengths = moving().flat_map(|(body, x)| {
        let sides = body.faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        sides.map(|[a, b]| x[a as usize].distance(x[b as usize]))
    });
    let radii = || moving().flat_map(|(body, _)| body.radii.iter().copied());
    let size = mean(lengths).or_else(|| mean(radii()))?;
    (size.is_finite() && size > 0.0).then_some(size)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), v| (sum + v, count + 1));
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gusset_output::Role;

    #[test]
    fn only_what_is_near_has_a_gap() {
        let triangle =
            |z: f64| vec![DVec3::Z * z, DVec3::X + DVec3::Z * z, DVec3::Y + DVec3::Z * z];
        let body = |name: &str| BodyInfo::new(name, Role::Film, 3, vec![[0, 1, 2]]);
        let bodies = [body("low"), body("high"), body("far")];
        let frame = [triangle(0.0), triangle(0.1), triangle(9.0)];
        let mut gaps = VertexGaps::new(&bodies, &frame).unwrap();
        let found = gaps.of(&frame);
        for near in &found[..2] {
            assert!(near.as_ref().unwrap().iter().all(|gap| (gap - 0.1).abs() < 1e-6), "{near:?}");
        }
        assert!(found[2].is_none());
    }
}
