//! What can run but may surprise.

use super::body::Built;
use crate::section::Problems;
use glam::DVec3;
use gusset_mesh::{Body, Mobility, Role};

/// Warns where something moves further in one step than half the thinnest thing it could meet: contact then needs many
/// short iterations, and a penalty may push it out on the far side (ball-and-wall article).
pub(crate) fn fast_motion(
    built: &[Built<'_>],
    gravity: DVec3,
    dt: f64,
    problems: &mut Problems<'_>,
) {
    for b in built {
        let others = built.iter().filter(|other| other.body.name != b.body.name);
        let thinnest = others.filter_map(|b| thickness(&b.body)).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((thin, thickness)) = thinnest else { continue };
        // What falls later only has no weight in its first step.
        let gravity = if b.section.has("gravity_from") { DVec3::ZERO } else { gravity };
        let free = b.body.velocity.iter().zip(&b.body.mobility);
        let fastest = free
            .filter(|(_, m)| **m == Mobility::Free)
            .map(|(v, _)| (*v + gravity * dt).length())
            .fold(0.0, f64::max);
        let prescribed = b.moving.iter().filter_map(|m| {
            let first = m.vertices.first().map(|v| b.body.start[*v as usize]);
            first.map(|x| m.path.at(dt, x).distance(m.path.at(0.0, x)) / dt)
        });
        let fastest = prescribed.fold(fastest, f64::max);
        if fastest * dt > 0.5 * thickness {
            let key =
                ["velocity", "moves"].into_iter().find(|k| b.section.has(k)).unwrap_or("name");
            problems.warn(
                &b.section.span_of(key),
                format!(
                    "`{}` moves {:.3e} m in the first step, more than half the {:.3e} m of {thin}",
                    b.body.name,
                    fastest * dt,
                    thickness
                ),
                format!("a dt below {:.3e} s avoids this", 0.5 * thickness / fastest),
            );
        }
    }
}

/// The thinnest part of a body and what it is, where thin means anything.
fn thickness(body: &Body) -> Option<(String, f64)> {
    match body.role {
        Role::Slab => Some((format!("slab `{}`", body.name), body.slab?.thickness)),
        Role::Film => {
            let shortest = body
                .topology
                .edges
                .iter()
                .map(|e| body.rest[e[0] as usize].distance(body.rest[e[1] as usize]))
                .fold(f64::INFINITY, f64::min);
            shortest
                .is_finite()
                .then(|| (format!("the shortest edge of `{}`", body.name), shortest))
        }
        _ => None,
    }
}
