//! What runs of block descent leave: contact forces as probes, and checkpoints that end in the same bits.

use crate::tool::{Bench, gusset, spawn};
use std::path::Path;
use std::time::{Duration, Instant};

/// A scene of the resting contact, with more at its end.
fn scene(bench: &Bench, name: &str, more: &str) -> String {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("scenes");
    let path = scenes.join(format!("rest-on-contact/{name}.toml"));
    bench.write(&format!("{name}.toml"), &(std::fs::read_to_string(path).unwrap() + more))
}

/// A column of the probes.
fn column(run: &Path, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(run.join("probes.csv")).unwrap();
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|head| head == name).unwrap();
    lines.map(|line| line.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn what_rests_is_carried_by_contact_forces() {
    const CARRIES: &str = "\n[[probe]]\nname = \"cube\"\nkind = \"contact-force\"\nbody = \"cube\"\naxis = \"z\"\n\
        [[probe]]\nname = \"table\"\nkind = \"contact-force\"\nbody = \"table\"\naxis = \"z\"\n";
    let bench = Bench::new();
    for name in ["cube-penalty", "cube-alm"] {
        let (scene, out) = (scene(&bench, name, CARRIES), bench.text(name));
        let said = gusset(&["run", &scene, "--out", &out, "--steps", "480", "--no-view"]).done();
        assert!(said.out.contains("2400 sweeps (5 at most in a step)"), "{}", said.out);
        let (cube, table) =
            (column(Path::new(&out), "cube [N]"), column(Path::new(&out), "table [N]"));
        assert!(cube[..20].iter().all(|f| *f == 0.0), "{name}: it falls freely at first");
        // Over a time in which it stays where it is, contact carries its weight: 125 g.
        let mean = cube[360..].iter().sum::<f64>() / cube[360..].len() as f64;
        assert!((mean / (0.125 * 9.81) - 1.0).abs() < 0.02, "{name}: {mean} N");
        for (cube, table) in cube.iter().zip(&table) {
            assert!((cube + table).abs() <= 1e-9 * cube.abs().max(1.0), "{name}: {cube} {table}");
        }
    }
}

#[test]
fn a_run_with_multipliers_goes_on_to_the_same_bits() {
    let bench = Bench::new();
    let scene = scene(&bench, "stack-alm", "");
    let (whole, parts) = (bench.text("whole"), bench.text("parts"));
    let run = |out: &str, more: &[&str]| {
        let args = ["run", &scene, "--out", out, "--no-view"];
        gusset(&args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>()).done();
    };
    run(&whole, &["--steps", "90", "--threads", "1"]);
    // In the middle of the impact, on other numbers of threads.
    run(&parts, &["--steps", "41", "--threads", "2"]);
    run(&parts, &["--resume", "--steps", "60", "--threads", "3"]);
    run(&parts, &["--resume", "--steps", "90", "--threads", "1"]);
    same(&whole, &parts);
}

/// Frames, times, probes and the last checkpoint.
fn same(a: &str, b: &str) {
    let (a, b) = (Path::new(a), Path::new(b));
    let mut compared = 0;
    for entry in
        std::fs::read_dir(a).unwrap().chain(std::fs::read_dir(a.join("checkpoints")).unwrap())
    {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(a).unwrap();
        let last = name.to_string_lossy().contains("90.ckpt");
        if last || path.extension().is_some_and(|e| e == "npy" || e == "csv") {
            assert!(
                std::fs::read(&path).unwrap() == std::fs::read(b.join(name)).unwrap(),
                "{}",
                name.display()
            );
            compared += 1;
        }
    }
    assert!(compared >= 6, "{compared}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_run_with_multipliers_that_goes_on_to_the_same_bits() {
    let bench = Bench::new();
    let scene = scene(&bench, "stack-alm", "");
    let (whole, stopped) = (bench.text("whole"), bench.text("stopped"));
    let mut child = spawn(&["run", &scene, "--out", &stopped, "--no-view", "--steps", "90"]);
    let begin = Instant::now();
    let steps =
        || std::fs::read_to_string(Path::new(&stopped).join("steps.jsonl")).unwrap_or_default();
    while steps().lines().count() < 20 {
        assert!(begin.elapsed() < Duration::from_mins(2), "the run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.unwrap().success());
    let code = child.wait().unwrap().code();
    // A machine that is fast enough may be done before the signal comes.
    assert!(code == Some(1) || steps().lines().count() == 90, "{code:?}");
    gusset(&["run", &scene, "--out", &stopped, "--no-view", "--steps", "90", "--resume"]).done();
    gusset(&["run", &scene, "--out", &whole, "--no-view", "--steps", "90"]).done();
    same(&whole, &stopped);
}
