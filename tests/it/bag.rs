//! The bag: the beginning of the task, and what stops it. The whole task is a run of its own: scenes/bag/README.md.

use crate::play::{load, scenes};
use crate::tool::gusset;
use gusset_cli::Exit;
use gusset_output::Table;
use gusset_scene::Scene;
use std::path::Path;

fn scene_file(name: &str) -> String {
    scenes().join("bag").join(name).display().to_string()
}

fn table(run: &Path) -> Table {
    Table::parse(&std::fs::read_to_string(run.join("probes.csv")).unwrap()).unwrap()
}

/// Places of a probe's columns in the table, after that of the time.
fn columns(scene: &Scene, name: &str) -> std::ops::Range<usize> {
    let mut first = 1;
    for probe in &scene.probes.list {
        let count = probe.columns().len();
        if probe.name == name {
            return first..first + count;
        }
        first += count;
    }
    panic!("there is no probe `{name}`");
}

#[test]
fn hands_carry_the_bag_before_it_is_filled() {
    let dir = tempfile::TempDir::new().unwrap();
    let out = dir.path().join("run");
    let path = out.display().to_string();
    gusset(&["run", &scene_file("bag.toml"), "--until", "0.89", "--out", &path, "--no-view"])
        .done();
    let (scene, table) = (load("bag/bag.toml", &[]), table(&out));
    let judge = |name: &str| {
        let (columns, probe) = (
            columns(&scene, name),
            scene.probes.list.iter().find(|probe| probe.name == name).unwrap(),
        );
        let rows = table.rows.iter().map(|row| (row[0], &row[columns.clone()]));
        probe.targets[0].judge(rows)
    };
    let carried = judge("hands carry").unwrap();
    assert!(carried.met, "{} N of 0.02152 N", carried.value);
    assert!(judge("intersecting pairs").unwrap().met);
    assert_eq!(judge("neck width x"), None, "the run does not get so far");
}

#[test]
fn a_condition_stops_the_run_and_names_the_columns() {
    let dir = tempfile::TempDir::new().unwrap();
    let text = std::fs::read_to_string(scene_file("smoke.toml")).unwrap();
    let folded = dir.path().join("folded.toml");
    let condition = "\n[[require]]\nname = \"unfolded\"\nat = \"1/240 s\"\nbody = \"film\"\n\
                     rising = [\"ring-11\", \"ring-13\", \"ring-15\"]\n";
    std::fs::write(&folded, text.clone() + condition).unwrap();
    let out = dir.path().join("run").display().to_string();
    let said = gusset(&["run", folded.to_str().unwrap(), "--out", &out, "--no-view"]);
    assert_eq!(said.exit, Exit::Failed);
    for part in [
        "`unfolded` does not hold at t = 0.0042 s: 32 of 32 columns do not rise along z: column 0 (`film` vertex 385 \
         is -15.000 mm above `film` vertex 321)",
        "columns 8, 9, 10",
        "the run up to step 1 (t = 0.004167 s) is kept",
    ] {
        assert!(said.messages.contains(part), "{}", said.messages);
    }
    // Without the condition the run goes on from where it was.
    std::fs::write(&folded, text).unwrap();
    gusset(&["run", folded.to_str().unwrap(), "--out", &out, "--from", "0", "--no-view"]).done();
    assert_eq!(table(Path::new(&out)).rows.len(), 3);
}
