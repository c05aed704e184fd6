//! A run that was killed, stopped or made on other threads ends in the same bits.

use crate::tool::{Bench, assert_same_bits, gusset, spawn};
use gusset_cli::Exit;
use std::path::Path;
use std::time::{Duration, Instant};

/// Waits until a run has made `steps` steps.
fn wait_for_steps(run: &Path, steps: usize) {
    let begin = Instant::now();
    while std::fs::read_to_string(run.join("steps.jsonl")).map_or(0, |t| t.lines().count()) < steps
    {
        assert!(begin.elapsed() < Duration::from_mins(2), "the run does not get on");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn kill_9_and_resume_end_in_the_same_bits() {
    let bench = Bench::new();
    let (scene, whole, killed) = (bench.scene(), bench.text("whole"), bench.text("killed"));
    gusset(&["run", &scene, "--out", &whole, "--no-view", "--threads", "2"]).done();

    let mut child = spawn(&["run", &scene, "--out", &killed, "--no-view", "--threads", "2"]);
    wait_for_steps(&bench.path("killed"), 15);
    child.kill().unwrap(); // SIGKILL
    assert!(!child.wait().unwrap().success(), "it was killed, not done");
    // What is there can be read.
    let check = gusset(&["check", &killed, "--json"]).done().json();
    assert!(check["frames"].as_u64().unwrap() >= 15);

    let resumed =
        gusset(&["run", &scene, "--out", &killed, "--no-view", "--resume", "--json"]).done();
    let json = resumed.json();
    let from = json["resumed_from"].as_u64().unwrap();
    assert!(
        (12..40).contains(&from) && from.is_multiple_of(6),
        "from the last checkpoint, not step {from}"
    );
    assert_eq!(json["steps"], 40);
    assert_same_bits(&bench.path("whole"), &bench.path("killed"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_checkpoint() {
    let bench = Bench::new();
    let (scene, whole, stopped) = (bench.scene(), bench.text("whole"), bench.text("stopped"));
    let mut child = spawn(&["run", &scene, "--out", &stopped, "--no-view"]);
    wait_for_steps(&bench.path("stopped"), 7);
    let signal =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(1));

    let done = std::fs::read_to_string(bench.path("stopped/steps.jsonl")).unwrap().lines().count();
    // The run folder knows its own scene.
    let resumed = gusset(&["run", &stopped, "--no-view", "--resume", "--json"]).done().json();
    assert_eq!(resumed["resumed_from"], done, "no finished step is lost");
    gusset(&["run", &scene, "--out", &whole, "--no-view"]).done();
    assert_same_bits(&bench.path("whole"), &bench.path("stopped"));
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let bench = Bench::new();
    for threads in ["1", "2", "3"] {
        let out = bench.text(threads);
        let args = ["run", &bench.scene(), "--out", &out, "--no-view", "--threads", threads];
        gusset(&args).done();
    }
    assert_same_bits(&bench.path("1"), &bench.path("2"));
    assert_same_bits(&bench.path("1"), &bench.path("3"));
}

#[test]
fn a_run_in_pieces_is_the_run() {
    let bench = Bench::new();
    let (scene, whole, pieces) = (bench.scene(), bench.text("whole"), bench.text("pieces"));
    gusset(&["run", &scene, "--out", &whole, "--no-view", "--steps", "20"]).done();
    gusset(&["run", &scene, "--out", &pieces, "--no-view", "--until", "0.05"]).done();
    for steps in ["11", "20"] {
        let args = ["run", &scene, "--out", &pieces, "--no-view", "--steps", steps, "--resume"];
        gusset(&args).done();
    }
    assert_same_bits(&bench.path("whole"), &bench.path("pieces"));
    // Nothing is left to do, and nothing is done.
    let again =
        gusset(&["run", &scene, "--out", &pieces, "--no-view", "--steps", "20", "--resume"]).done();
    assert!(again.messages.contains("nothing to do"), "{}", again.messages);
    assert_same_bits(&bench.path("whole"), &bench.path("pieces"));
}

#[test]
fn another_scene_does_not_continue_a_run() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    gusset(&["run", &scene, "--out", &out, "--no-view", "--steps", "3"]).done();
    let text = std::fs::read_to_string(&scene).unwrap();
    let other = bench.write("other.toml", &text.replace("friction = 0.3", "friction = 0.2"));
    let said = gusset(&["run", &other, "--out", &out, "--resume"]);
    assert_eq!(said.exit, Exit::BadInput);
    for part in ["friction = 0.3", "friction = 0.2", "other.toml", "--force"] {
        assert!(said.messages.contains(part), "{part}: {}", said.messages);
    }
    let said = gusset(&["run", &scene, "--out", &out, "--resume", "--set", "contact.friction=0.1"]);
    assert_eq!(said.exit, Exit::BadInput);
    gusset(&["run", &scene, "--out", &out, "--no-view", "--steps", "5", "--resume"]).done();
}

/// What `run.json` says of scenes that changed.
fn noted(run: &Path) -> serde_json::Value {
    let text = std::fs::read_to_string(run.join("run.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["restarts"].clone()
}

#[test]
fn a_run_goes_back_with_a_changed_scene() {
    let bench = Bench::new();
    let (scene, whole, out) = (bench.scene(), bench.text("whole"), bench.text("out"));
    gusset(&["run", &scene, "--out", &whole, "--no-view"]).done();
    gusset(&["run", &scene, "--out", &out, "--no-view"]).done();

    // The same scene from the middle makes the same end, and there is nothing to note.
    let json = gusset(&["run", &scene, "--out", &out, "--no-view", "--from", "0.2", "--json"]);
    assert_eq!(json.done().json()["resumed_from"], 18, "of 0, 6, 12, 18, 24, ...");
    assert_same_bits(&bench.path("whole"), &bench.path("out"));
    assert!(noted(&bench.path("out")).is_null());

    // Another scene, with another probe, from the same time on.
    let text = std::fs::read_to_string(&scene).unwrap();
    let text = text.replace("friction = 0.3", "friction = 0.0")
        + "\n[[probe]]\nkind = \"max\"\nname = \"highest\"\nbody = \"cloth\"\naxis = \"z\"\n";
    let other = bench.write("other.toml", &text);
    let said = gusset(&["run", &other, "--out", &out, "--resume"]);
    assert_eq!(said.exit, Exit::BadInput);
    assert!(said.messages.contains("--from SECONDS"), "{}", said.messages);
    let said =
        gusset(&["run", &other, "--out", &out, "--no-view", "--resume", "--from", "0.2"]).done();
    assert!(said.messages.contains("`contact.friction` was 0.3 and is 0.0"), "{}", said.messages);
    let restart = &noted(&bench.path("out"))[0];
    assert_eq!((&restart["step"], restart["changes"].as_array().unwrap().len()), (&18.into(), 2));
    let before = bench.path("out").join(restart["scene_before"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(before).unwrap(), std::fs::read_to_string(&scene).unwrap());

    let frames = |run: &str| std::fs::read(bench.path(run).join("cloth.npy")).unwrap();
    let (old, new) = (frames("whole"), frames("out"));
    let at = |step: usize| 128 + step * 169 * 24;
    assert_eq!((old.len(), &old[..at(19)]), (new.len(), &new[..at(19)]), "the past is as it was");
    assert!(old[at(40)..] != new[at(40)..], "without friction it slides");
    let probes = std::fs::read_to_string(bench.path("out/probes.csv")).unwrap();
    let lines: Vec<&str> = probes.lines().collect();
    assert_eq!(lines.len(), 42);
    assert!(
        lines[19].ends_with("NaN") && !lines[20].ends_with("NaN"),
        "{}\n{}",
        lines[19],
        lines[20]
    );
    gusset(&["check", &out]).done();

    // Back to before the change with the first scene: all is as if nothing had been.
    gusset(&["run", &scene, "--out", &out, "--no-view", "--from", "0.1"]).done();
    assert_same_bits(&bench.path("whole"), &bench.path("out"));
    assert!(noted(&bench.path("out")).is_null());
}

#[test]
fn kill_9_after_going_back_resumes_with_the_changed_scene() {
    let bench = Bench::new();
    let (scene, whole, killed) = (bench.scene(), bench.text("whole"), bench.text("killed"));
    let change = ["--set", "contact.friction=0.1"];
    for out in [&whole, &killed] {
        gusset(&["run", &scene, "--out", out, "--no-view", "--steps", "30"]).done();
    }
    let from = ["run", &scene, "--no-view", "--from", "0.1", "--out"];
    gusset(&[&from[..], &[&*whole], &change].concat()).done();
    let mut child = spawn(&[&from[..], &[&*killed], &change].concat());
    let begin = Instant::now();
    while noted(&bench.path("killed")).is_null() {
        assert!(begin.elapsed() < Duration::from_mins(2), "the run does not begin");
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    gusset(&[&["run", &scene, "--out", &killed, "--no-view", "--resume"][..], &change].concat())
        .done();
    assert_same_bits(&bench.path("whole"), &bench.path("killed"));
}

#[test]
fn going_back_says_what_is_wrong() {
    let bench = Bench::new();
    let (scene, out) = (bench.scene(), bench.text("out"));
    let refused = |more: &[&str]| {
        let said = gusset(&[&["run", &scene, "--out", &out, "--no-view"], more].concat());
        assert_eq!(said.exit, Exit::BadInput, "{}", said.messages);
        said.messages
    };
    assert!(refused(&["--from", "0.1"]).contains("no such folder"));
    gusset(&["run", &scene, "--out", &out, "--no-view", "--steps", "10"]).done();
    for time in ["-1", "nan", "7"] {
        assert!(refused(&["--from", time]).contains("from 0 to 0.4"));
    }
    assert!(refused(&["--from", "0.1", "--set", "dt=0.005"]).contains("`dt` was 0.01 s"));
    assert!(refused(&["--from", "0.1", "--set", "output.every=2"]).contains("every 1 steps"));
    let finer = refused(&["--from", "0.1", "--set", "body.cloth.shape.cells=[6, 6]"]);
    assert!(finer.contains("vertices"), "{finer}");
    // Nothing was touched by all that.
    gusset(&["run", &scene, "--out", &out, "--no-view", "--resume", "--steps", "12"]).done();
}
