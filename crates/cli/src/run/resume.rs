//! Which run goes on with which scene, and from when.

use super::changes::changes;
use super::recorder::{Plan, head};
use crate::failure::Failure;
use glam::DVec3;
use gusset_output::{
    Checkpoint, RunReader, Source as _, finish_restart, restart, scene_at, usable_checkpoint,
};
use gusset_scene::Probes;
use gusset_solve::{State, Stepper};
use std::path::Path;

/// Refuses a state of another model.
pub(super) fn as_many_vertices(x: &[DVec3], start: &State, out: &Path) -> Result<(), Failure> {
    let (found, wanted) = (x.len(), start.x.len());
    if found == wanted {
        return Ok(());
    }
    Err(Failure::bad_input(format_args!(
        "the checkpoint has {found} vertices and the scene {wanted}; start again with --force: {}",
        out.display()
    )))
}

/// Takes the run in `out` back to its last checkpoint at or before `from` (s), to go on with this scene, which need not
/// be the one before. Returns in words what was done.
pub(super) fn go_back(
    out: &Path,
    from: f64,
    plan: &Plan<'_>,
    start: &State,
    probes: &Probes,
    solver: &dyn Stepper,
) -> Result<String, Failure> {
    finish_restart(out)?;
    let checkpoint = usable_checkpoint(out, from)?;
    as_many_vertices(&checkpoint.x, start, out)?;
    let Checkpoint { step, time, .. } = checkpoint;
    let changes = changes(&scene_at(out, step)?, plan.resolved);
    let mut lines = vec![format!(
        "going back to t = {time:.6} s (step {step}), the last checkpoint at or before {from} s; what was there after it \
         is replaced"
    )];
    if changes.is_empty() {
        lines.push("the scene is the same".to_owned());
    } else {
        lines.push("from there on, which run.json notes:".to_owned());
        lines.extend(changes.iter().map(|change| format!("  {change}")));
    }
    restart(out, step, &plan.info(solver.model()), plan.resolved, &head(probes), changes)?;
    Ok(lines.join("\n"))
}

/// Refuses to continue a run with another scene.
pub(super) fn same_scene(
    out: &Path,
    plan: &Plan<'_>,
    start: &State,
    solver: &dyn Stepper,
    scene_path: &Path,
) -> Result<(), Failure> {
    finish_restart(out)?;
    let reader = RunReader::open(out)?;
    let path = reader.scene_path();
    let stored = std::fs::read_to_string(&path).map_err(|error| {
        Failure::failed(format_args!("cannot read {}: {error}", path.display()))
    })?;
    let differs = |what: &str| {
        Failure::bad_input(format_args!(
            "the scene is not the one that the run was started with: {what}\n\
             scene: {}\nrun: {}\n\
             give the scene and --set values of the first start, or start again with --force, or continue with \
             the run's own scene: gusset run {} --resume\n\
             to go on with the changed scene, say from when: gusset run {} --out {} --from SECONDS",
            scene_path.display(),
            out.display(),
            out.display(),
            scene_path.display(),
            out.display()
        ))
    };
    if let Some(what) = first_difference(&stored, plan.resolved) {
        return Err(differs(&what));
    }
    // The text may be the same and a mesh file another.
    let (info, now) = (reader.info(), plan.info(solver.model()));
    let changed = info.bodies.iter().zip(&now.bodies).find(|(old, new)| old != new);
    if let Some((old, _)) = changed {
        return Err(differs(&format!("body `{}` has changed, a mesh file perhaps", old.name)));
    }
    if info.precision == gusset_output::Precision::F64 && reader.frame_count() > 0 {
        let first = reader.frame(0)?;
        for (body, positions) in solver.model().world.bodies.iter().zip(&first) {
            if start.x[body.range()] != positions[..] {
                let what =
                    format!("the start of body `{}` has changed, a mesh file perhaps", body.name);
                return Err(differs(&what));
            }
        }
    }
    Ok(())
}

/// The first line in which two texts differ, in words.
fn first_difference(stored: &str, now: &str) -> Option<String> {
    if stored == now {
        return None;
    }
    let (mut old, mut new) = (stored.lines(), now.lines());
    for number in 1.. {
        match (old.next(), new.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                let quote =
                    |line: Option<&str>| line.map_or("nothing".to_owned(), |l| format!("`{l}`"));
                return Some(format!("line {number} was {} and is {}", quote(a), quote(b)));
            }
        }
    }
    Some("the line ends differ".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
        let found = first_difference("dt = 1\nx = 2\n", "dt = 1\nx = 3\n").unwrap();
        assert_eq!(found, "line 2 was `x = 2` and is `x = 3`");
        let found = first_difference("a\n", "a\nb\n").unwrap();
        assert_eq!(found, "line 2 was nothing and is `b`");
        assert!(first_difference("a\n", "a\r\n").is_some());
    }
}
