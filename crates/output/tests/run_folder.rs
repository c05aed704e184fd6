//! A run folder under kills, torn files, resumption and replacement.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::Path;

use glam::DVec3;
use gusset_output::{
    BodyInfo, Checkpoint, OutputError, Phase, Plane, Precision, Role, RunInfo, RunReader,
    RunWriter, Source, finish_restart, restart, scene_at, usable_checkpoint,
};

const SCENE: &str = "name = \"test\"\n";

fn info() -> RunInfo {
    let mut spheres = BodyInfo::new("spheres", Role::Spheres, 2, Vec::new());
    spheres.radii = vec![0.026, 0.012];
    let mut slab = BodyInfo::new("ground", Role::Slab, 0, Vec::new());
    slab.plane = Some(Plane { point: DVec3::ZERO, normal: DVec3::Z });
    RunInfo {
        scene: "test".to_owned(),
        dt: 0.01,
        frame_interval: 1,
        precision: Precision::F32,
        checkpoint_interval: 0,
        restarts: Vec::new(),
        phases: vec![Phase { start: 0.0, name: "fall".to_owned() }],
        bodies: vec![
            BodyInfo::new("cloth", Role::Film, 4, vec![[0, 1, 2], [0, 2, 3]]),
            spheres,
            BodyInfo::new("bin", Role::Obstacle, 3, vec![[0, 1, 2]]),
            slab,
        ],
    }
}

/// A stand-in for a solver: each step is a function of the state before it.
fn advance(x: &mut [DVec3]) {
    for (i, p) in x.iter_mut().enumerate() {
        *p = DVec3::new(p.y * 0.9 + 0.01, p.x - 0.3 * p.z, (p.z + i as f64).sin());
    }
}

fn start() -> Vec<DVec3> {
    (0..6).map(|i| DVec3::splat(f64::from(i)) / 7.0).collect()
}

/// Positions after so many steps.
fn after(count: u64) -> Vec<DVec3> {
    let mut x = start();
    (0..count).for_each(|_| advance(&mut x));
    x
}

fn state(step: u64, x: &[DVec3]) -> Checkpoint {
    let v = x.iter().map(|p| *p * 3.0).collect();
    Checkpoint { step, time: step as f64 * 0.01, x: x.to_vec(), v, extra: vec![step as u8; 5] }
}

fn frame(writer: &mut RunWriter, step: u64, x: &[DVec3]) {
    let bin = [DVec3::X, DVec3::Y, DVec3::Z];
    writer.write_frame(&[&x[..4], &x[4..], &bin, &[]], step as f64 * 0.01).unwrap();
}

fn steps(writer: &mut RunWriter, from: u64, to: u64, x: &mut [DVec3], checkpoint_last: bool) {
    for step in from + 1..=to {
        advance(x);
        writer.write_step(&serde_json::json!({"step": step, "gap": x[0].x})).unwrap();
        writer.write_probes(&[step as f64 * 0.01, x[1].z]).unwrap();
        frame(writer, step, x);
        if step % 2 == 0 && (step < to || checkpoint_last) {
            writer.write_checkpoint(&state(step, x)).unwrap();
        }
    }
}

fn run(dir: &Path, to: u64, checkpoint_last: bool) {
    let mut writer = RunWriter::create(dir, &info(), SCENE, false).unwrap();
    let mut x = start();
    writer.write_probes_header(&["time [s]", "height [m]"]).unwrap();
    writer.write_probes(&[0.0, x[1].z]).unwrap();
    frame(&mut writer, 0, &x);
    steps(&mut writer, 0, to, &mut x, checkpoint_last);
    writer.finish(None).unwrap();
}

fn resume(dir: &Path, to: u64) -> u64 {
    let (mut writer, state) = RunWriter::resume(dir).unwrap();
    let mut x = state.x;
    steps(&mut writer, state.step, to, &mut x, true);
    writer.finish(None).unwrap();
    state.step
}

fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in dir.read_dir().unwrap().chain(dir.join("checkpoints").read_dir().unwrap()) {
        let path = entry.unwrap().path();
        if path.is_file() {
            let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            files.insert(name, std::fs::read(&path).unwrap());
        }
    }
    files
}

fn restore(dir: &Path, files: &BTreeMap<String, Vec<u8>>) {
    if dir.exists() {
        std::fs::remove_dir_all(dir).unwrap();
    }
    std::fs::create_dir_all(dir.join("checkpoints")).unwrap();
    for (name, bytes) in files {
        std::fs::write(dir.join(name), bytes).unwrap();
    }
}

#[test]
fn a_run_reads_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("run");
    run(&dir, 6, true);
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!(reader.info(), &info());
    assert_eq!(reader.frame_count(), 7);
    assert_eq!(reader.times()[3], 0.03);
    let x = after(5);
    let found = reader.frame(5).unwrap();
    let rounded: Vec<DVec3> = x.iter().map(|p| p.as_vec3().as_dvec3()).collect();
    assert_eq!(found[..2].concat(), rounded);
    assert_eq!(found[2], [DVec3::X, DVec3::Y, DVec3::Z]);
    assert!(reader.frame(7).is_err());
    assert_eq!(reader.steps().unwrap()[5]["step"], 6);
    let probes = reader.probes().unwrap().unwrap();
    assert_eq!(probes.rows.len(), 7);
    assert_eq!(probes.rows[5][1], x[1].z);
    assert_eq!(std::fs::read_to_string(reader.scene_path()).unwrap(), SCENE);
}

#[test]
fn nothing_is_left_before_the_first_step() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("out/run");
    let mut writer = RunWriter::create(&dir, &info(), SCENE, false).unwrap();
    writer.write_probes_header(&["time [s]"]).unwrap();
    frame(&mut writer, 0, &start());
    writer.write_checkpoint(&state(0, &start())).unwrap();
    drop(writer);
    assert!(!root.path().join("out").exists());

    // A failing run with --force leaves the old one untouched as well.
    run(&dir, 3, true);
    let before = contents(&dir);
    let mut writer = RunWriter::create(&dir, &info(), SCENE, true).unwrap();
    frame(&mut writer, 0, &start());
    drop(writer);
    assert_eq!(contents(&dir), before);
}

#[test]
fn force_replaces_a_run_and_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    run(&dir, 6, true);
    let fresh = contents(&dir);
    std::fs::write(dir.join("notes.txt"), "mine").unwrap();
    let refused = RunWriter::create(&dir, &info(), SCENE, false).unwrap_err().to_string();
    assert!(refused.contains("--force") && refused.contains(dir.to_str().unwrap()), "{refused}");

    let mut other = info();
    other.bodies[0].name = "sheet".to_owned();
    let mut writer = RunWriter::create(&dir, &other, SCENE, true).unwrap();
    writer.write_step(&1).unwrap();
    assert!(!dir.join("cloth.npy").exists() && dir.join("sheet.npy").exists());
    assert!(!dir.join("probes.csv").exists());
    assert!(dir.join("notes.txt").exists());
    let busy = RunWriter::create(&dir, &info(), SCENE, true).unwrap_err();
    assert!(matches!(busy, OutputError::Locked { .. }), "{busy}");
    drop(writer);

    std::fs::remove_file(dir.join("notes.txt")).unwrap();
    let mut writer = RunWriter::create(&dir, &info(), SCENE, true).unwrap();
    let mut x = start();
    writer.write_probes_header(&["time [s]", "height [m]"]).unwrap();
    writer.write_probes(&[0.0, x[1].z]).unwrap();
    frame(&mut writer, 0, &x);
    steps(&mut writer, 0, 6, &mut x, true);
    writer.finish(None).unwrap();
    assert_eq!(contents(&dir), fresh);

    // A folder that is no run is never emptied.
    let foreign = root.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("scene.toml"), "mine").unwrap();
    let error = RunWriter::create(&foreign, &info(), SCENE, true).unwrap_err();
    assert!(matches!(error, OutputError::ForeignFolder { .. }), "{error}");
    assert_eq!(std::fs::read(foreign.join("scene.toml")).unwrap(), b"mine");
}

/// Killed at any byte of what was written after the last checkpoint, a run resumes to the same bytes.
#[test]
fn a_kill_at_any_byte_resumes_to_the_same_bytes() {
    let root = tempfile::tempdir().unwrap();
    let (whole, dir) = (root.path().join("whole"), root.path().join("run"));
    run(&whole, 8, true);
    let expected = contents(&whole);
    // The folder right after the checkpoint of step 4, and with steps 5 and 6 but no checkpoint of 6.
    run(&dir, 4, true);
    let at_checkpoint = contents(&dir);
    std::fs::remove_dir_all(&dir).unwrap();
    run(&dir, 6, false);
    let killed = contents(&dir);
    let growing = ["times.npy", "cloth.npy", "spheres.npy", "steps.jsonl", "probes.csv"];
    for name in growing {
        let (short, long) = (&at_checkpoint[name], &killed[name]);
        assert!(short.len() < long.len());
        for cut in short.len()..=long.len() {
            let mut files = killed.clone();
            // Frames are appended before the header counts them, so either header may stand there.
            let mut bytes = long[..cut].to_vec();
            if cut % 2 == 1 && name.contains(".npy") {
                bytes[..128].copy_from_slice(&short[..128]);
            }
            files.insert(name.to_owned(), bytes);
            restore(&dir, &files);
            RunReader::open(&dir).unwrap();
            assert_eq!(RunWriter::resume(&dir).unwrap().1, state(4, &after(4)));
            assert!(contents(&dir) == at_checkpoint, "{name} cut at {cut}");
        }
        // What is cut back to the checkpoint goes on to the same end.
        assert_eq!(resume(&dir, 8), 4);
        assert!(contents(&dir) == expected, "{name}");
    }
}

/// A checkpoint torn at any byte: the one before it is used; with none left, resuming refuses.
#[test]
fn a_torn_checkpoint_falls_back() {
    let root = tempfile::tempdir().unwrap();
    let (whole, dir) = (root.path().join("whole"), root.path().join("run"));
    run(&whole, 8, true);
    let expected = contents(&whole);
    run(&dir, 6, true);
    let good = contents(&dir);
    let newest = "checkpoints/step-000000000006.ckpt";
    let mut at_four = None;
    for cut in 0..good[newest].len() {
        let mut files = good.clone();
        files.insert(newest.to_owned(), good[newest][..cut].to_vec());
        restore(&dir, &files);
        assert_eq!(RunWriter::resume(&dir).unwrap().1, state(4, &after(4)));
        let cut_back = contents(&dir);
        assert_eq!(&cut_back, at_four.get_or_insert_with(|| cut_back.clone()), "cut at {cut}");
        // Killed before the rename: only the temporary name is there.
        let torn = files.remove(newest).unwrap();
        files.insert(format!("{newest}.tmp"), torn);
        restore(&dir, &files);
        assert_eq!(RunWriter::resume(&dir).unwrap().1, state(4, &after(4)));
        assert_eq!(&contents(&dir), at_four.as_ref().unwrap(), "temporary file cut at {cut}");
    }
    assert_eq!(resume(&dir, 8), 4);
    assert!(contents(&dir) == expected);
    // Frames lost behind the newest checkpoint (a disk that lied): the one before it again.
    let mut files = good.clone();
    let cloth = files.get_mut("cloth.npy").unwrap();
    cloth.truncate(cloth.len() - 1);
    restore(&dir, &files);
    assert_eq!(resume(&dir, 8), 4);
    assert!(contents(&dir) == expected);

    files = good.clone();
    files.get_mut("steps.jsonl").unwrap().truncate(10);
    restore(&dir, &files);
    let before = contents(&dir);
    let error = RunWriter::resume(&dir).unwrap_err();
    assert!(matches!(error, OutputError::NoCheckpoint { .. }), "{error}");
    assert!(error.to_string().contains("holds 0 whole lines"), "{error}");
    assert_eq!(contents(&dir), before);

    files = good;
    files.retain(|name, _| !name.starts_with("checkpoints"));
    restore(&dir, &files);
    let error = RunWriter::resume(&dir).unwrap_err().to_string();
    assert!(error.contains("before its first checkpoint") && error.contains("--force"), "{error}");
}

#[test]
fn a_run_without_steps_and_a_checkpoint_at_the_start() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    let mut writer = RunWriter::create(&dir, &info(), SCENE, false).unwrap();
    frame(&mut writer, 0, &start());
    writer.write_checkpoint(&state(0, &start())).unwrap();
    writer.finish(None).unwrap();
    assert_eq!(RunReader::open(&dir).unwrap().frame_count(), 1);
    let (writer, found) = RunWriter::resume(&dir).unwrap();
    assert_eq!(found, state(0, &start()));
    assert_eq!(writer.frames(), 1);
    assert!(matches!(RunWriter::resume(&dir), Err(OutputError::Locked { .. })));
}

#[test]
fn errors_say_what_is_wrong() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    let open = || RunReader::open(&dir).unwrap_err().to_string();
    assert!(open().contains("no such folder"));
    std::fs::create_dir(&dir).unwrap();
    assert!(open().contains("no `run.json`"));
    std::fs::write(dir.join("run.json"), "{}").unwrap();
    assert!(open().contains("names no format"));
    std::fs::write(dir.join("run.json"), "{\"format\": 99, \"gusset\": \"7.0.0\"}").unwrap();
    assert!(open().contains("format 99 (written by Gusset 7.0.0)"));
    std::fs::write(dir.join("run.json"), "{\"format\": 1, ").unwrap();
    assert!(open().contains("damaged"));
    std::fs::remove_dir_all(&dir).unwrap();

    run(&dir, 2, true);
    let good = contents(&dir);
    std::fs::remove_file(dir.join("cloth.npy")).unwrap();
    assert!(open().contains("the frames of body `cloth`"));
    let mut files = good.clone();
    files.insert("cloth.npy".to_owned(), good["spheres.npy"].clone());
    restore(&dir, &files);
    assert!(open().contains("body `cloth` needs (frames, 4, 3)"));
    let text = String::from_utf8(good["run.json"].clone()).unwrap();
    files = good.clone();
    files.insert("run.json".to_owned(), text.replace("cloth.npy", "../cloth.npy").into_bytes());
    restore(&dir, &files);
    assert!(open().contains("points out of the folder"));

    let mut bad = info();
    bad.bodies[0].faces[1][2] = 4;
    let error = RunWriter::create(&root.path().join("b"), &bad, SCENE, false).unwrap_err();
    assert!(error.to_string().contains("face 1 refers to vertex 4"), "{error}");
    bad = info();
    bad.bodies[1].radii.pop();
    assert!(RunWriter::create(&root.path().join("b"), &bad, SCENE, false).is_err());
    let mut writer = RunWriter::create(&root.path().join("b"), &info(), SCENE, false).unwrap();
    assert!(writer.write_frame(&[&[]], 0.0).is_err());
    assert!(writer.write_probes(&[0.0]).is_err());
}

/// Probes from here on with a second column; `NaN` before.
const HEAD: [&str; 3] = ["time [s]", "speed [m/s]", "height [m]"];

fn go_back(dir: &Path, from: f64, scene: &str) -> u64 {
    let step = usable_checkpoint(dir, from).unwrap().step;
    let changes = vec!["`name` was \"test\"".to_owned()];
    restart(dir, step, &lasting(), scene, &HEAD.map(str::to_owned), changes).unwrap();
    step
}

fn lasting() -> RunInfo {
    RunInfo { checkpoint_interval: 2, ..info() }
}

fn lasting_run(dir: &Path, to: u64) {
    let mut writer = RunWriter::create(dir, &lasting(), SCENE, false).unwrap();
    let mut x = start();
    writer.write_probes_header(&["time [s]", "height [m]"]).unwrap();
    writer.write_probes(&[0.0, x[1].z]).unwrap();
    frame(&mut writer, 0, &x);
    writer.write_checkpoint(&state(0, &x)).unwrap();
    steps(&mut writer, 0, to, &mut x, true);
    writer.finish(None).unwrap();
}

#[test]
fn going_back_replaces_what_came_after_and_keeps_the_scene_before() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    lasting_run(&dir, 9);
    assert_eq!(go_back(&dir, 0.055, "second"), 4);
    let (writer, found) = RunWriter::resume(&dir).unwrap();
    assert_eq!((&found, writer.frames()), (&state(4, &after(4)), 5));
    drop(writer);
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!((reader.frame_count(), reader.steps().unwrap().len()), (5, 4));
    let probes = reader.probes().unwrap().unwrap();
    assert_eq!(probes.columns, HEAD);
    assert_eq!(probes.rows.len(), 5);
    assert!(probes.rows.iter().all(|row| row[1].is_nan() && row[2].is_finite()));
    let [noted] = &reader.info().restarts[..] else { panic!("{:?}", reader.info().restarts) };
    assert_eq!((noted.step, noted.time, noted.changes.len()), (4, 0.04, 1));
    assert_eq!(std::fs::read_to_string(reader.scene_path()).unwrap(), "second");
    assert_eq!(
        (scene_at(&dir, 4).unwrap(), scene_at(&dir, 5).unwrap()),
        (SCENE.into(), "second".into())
    );

    // Further back: what was noted is gone with its frames, and the scene before is still the first.
    assert_eq!(go_back(&dir, 0.03, "third"), 2);
    RunWriter::resume(&dir).unwrap();
    let reader = RunReader::open(&dir).unwrap();
    let noted: Vec<u64> = reader.info().restarts.iter().map(|r| r.step).collect();
    assert_eq!((noted, scene_at(&dir, 1).unwrap()), (vec![2], SCENE.into()));
    assert!(!dir.join("scene-until-4.toml").exists());
    // And back to the start with the first scene: nothing is left to note.
    go_back(&dir, 0.0, SCENE);
    RunWriter::resume(&dir).unwrap();
    assert!(RunReader::open(&dir).unwrap().info().restarts.is_empty());
    assert!(!dir.join("scene-until-2.toml").exists());
}

/// Killed between any two of its changes, in whatever order they reached the disk, going back is done in the end.
#[test]
fn a_kill_while_going_back_leaves_it_done_or_not_begun() {
    let root = tempfile::tempdir().unwrap();
    let (dir, aside) = (root.path().join("run"), root.path().join("aside"));
    lasting_run(&dir, 9);
    go_back(&dir, 0.065, "second");
    RunWriter::resume(&dir).unwrap();
    let before = contents(&dir);
    go_back(&dir, 0.025, "third");
    let done = contents(&dir);
    // The journal is found by stopping at the first thing that can't be done.
    restore(&aside, &before);
    std::fs::create_dir(aside.join("scene.tmp")).unwrap();
    let step = usable_checkpoint(&aside, 0.025).unwrap().step;
    let columns = HEAD.map(str::to_owned);
    let changes = vec!["`name` was \"test\"".to_owned()];
    assert!(restart(&aside, step, &lasting(), "third", &columns, changes).is_err());
    let journal = std::fs::read(aside.join("restart.json")).unwrap();

    let names: Vec<&String> = before.keys().chain(done.keys()).collect();
    for mask in 0..64_u64 {
        let mut files = before.clone();
        for (i, name) in names.iter().enumerate() {
            if mask.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 * 7) % 2 == 0 {
                match done.get(*name) {
                    Some(bytes) => files.insert((*name).clone(), bytes.clone()),
                    None => files.remove(*name),
                };
            }
        }
        files.insert("restart.json".to_owned(), journal.clone());
        restore(&dir, &files);
        finish_restart(&dir).unwrap();
        assert_eq!(contents(&dir), done, "{mask}");
    }
}

#[test]
fn a_summary_is_part_of_the_record_until_the_run_goes_on() {
    let root = tempfile::tempdir().unwrap();
    let (whole, dir) = (root.path().join("whole"), root.path().join("run"));
    lasting_run(&whole, 8);
    lasting_run(&dir, 6);
    let (writer, state) = RunWriter::resume(&dir).unwrap();
    assert_eq!(state.step, 6);
    writer.finish(Some(serde_json::json!({ "steps": 6 }))).unwrap();
    let reader = RunReader::open(&dir).unwrap();
    assert_eq!((reader.summary().unwrap()["steps"].as_u64(), reader.info()), (Some(6), &lasting()));
    let (mut writer, state) = RunWriter::resume(&dir).unwrap();
    assert!(RunReader::open(&dir).unwrap().summary().is_none());
    let busy = RunWriter::resume(&dir).unwrap_err();
    assert!(matches!(busy, OutputError::Locked { .. }), "the new run.json is locked too: {busy}");
    let mut x = state.x;
    steps(&mut writer, 6, 8, &mut x, true);
    writer.finish(None).unwrap();
    assert_eq!(contents(&dir), contents(&whole));
}

#[test]
fn going_back_refuses_what_frames_can_not_follow() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("run");
    lasting_run(&dir, 5);
    let before = contents(&dir);
    let refused = |change: &dyn Fn(&mut RunInfo)| {
        let mut info = lasting();
        change(&mut info);
        restart(&dir, 4, &info, SCENE, &[], Vec::new()).unwrap_err().to_string()
    };
    assert!(refused(&|info| info.dt = 0.02).contains("`dt` was 0.01 s and is 0.02 s"));
    assert!(refused(&|info| info.frame_interval = 2).contains("every 1 steps"));
    assert!(refused(&|info| info.precision = Precision::F64).contains("f32"));
    assert!(refused(&|info| info.bodies[2].moving = true).contains("`bin` has another part"));
    assert!(refused(&|info| info.bodies[0].name = "net".into()).contains("`net`"));
    assert_eq!(contents(&dir), before);
    std::fs::remove_file(dir.join("checkpoints/step-000000000000.ckpt")).unwrap();
    let error = usable_checkpoint(&dir, 0.01).unwrap_err().to_string();
    assert!(error.contains("0.0200 s, 0.0400 s"), "{error}");
}
