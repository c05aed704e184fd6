//! Every scene file is read, starts without an intersection, and makes its first steps.

use crate::play::{Play, load, scenes};
use std::path::{Path, PathBuf};

/// Invalid on purpose.
const REFUSED: [&str; 2] = ["reference/overlap-start.toml", "reference/edge-through-face.toml"];

/// With a warning that is right: cells as small as the contact distance that all sizes share, a step longer than the wall is
/// thick, and spheres that fall more than half a film edge in a step.
const WARNED: [&str; 3] = ["bag/neck-4.toml", "bench/drape-256.toml", "reference/ball-wall.toml"];

/// Crosses on purpose: the article's settings let pairs that are near on the mesh through, here while crushed creases spring back.
const CROSSING: [&str; 1] = ["rest-on-contact/fold-a-alm-compat-wide.toml"];

/// Read and checked only: a step of them is no test but a benchmark.
const LARGE: [&str; 5] = [
    "bag/bag-fine-4.toml",
    "bag/neck-4.toml",
    "bench/drape-128.toml",
    "bench/drape-256.toml",
    "bench/drape-vbd-128.toml",
];

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|e| e == "toml") && !path.ends_with("report.toml") {
            out.push(path.strip_prefix(scenes()).unwrap().to_owned());
        }
    }
}

#[test]
fn every_scene_makes_its_first_steps() {
    let mut found = Vec::new();
    files(&scenes(), &mut found);
    found.sort();
    let names: Vec<&str> = found.iter().map(|p| p.to_str().unwrap()).collect();
    assert!(names.len() >= 16, "{names:?}");
    for listed in REFUSED.iter().chain(&LARGE).chain(&WARNED).chain(&CROSSING) {
        assert!(names.contains(listed), "{listed} has gone");
    }
    for name in names {
        if REFUSED.contains(&name) {
            continue;
        }
        let scene = load(name, &[]);
        assert!(!scene.title.is_empty() && scene.steps > 0, "{name}");
        assert_eq!(
            scene.warnings.is_empty(),
            !WARNED.contains(&name),
            "{name}: {:?}",
            scene.warnings
        );
        let steps = if LARGE.contains(&name) { 0 } else { scene.steps.min(3) };
        // The ball-and-wall article accepts a step whose iterations run out.
        let limit = scene.settings.max_iterations;
        let tolerant = scene.settings.accept_exhausted;
        let mut play = Play::new(scene);
        for _ in 0..steps {
            let record = play.step();
            assert_eq!(record.retries, 0, "{name}: {:?}", record.failures);
            assert!(tolerant || record.descent.is_some() || record.iterations < limit, "{name}");
        }
        assert!(play.state.x.iter().chain(&play.state.v).all(|x| x.is_finite()), "{name}");
        let clean = play.intersections(gusset_contact::Search::Sweep).is_clean();
        assert_eq!(clean, !CROSSING.contains(&name), "{name}");
    }
}
