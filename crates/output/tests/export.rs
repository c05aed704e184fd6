//! Exports read back: by small parsers here, and by NumPy, meshio and trimesh where they are installed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use glam::DVec3;
use gusset_output::{
    BodyInfo, ExportFormat, ExportOptions, Frames, Precision, Role, RunInfo, RunReader, RunWriter,
    export,
};

fn source() -> Frames {
    let mut balls = BodyInfo::new("two balls", Role::Spheres, 2, Vec::new());
    balls.radii = vec![0.5, 0.25];
    let cloth = |k: usize| {
        let p = |x: f64, y: f64| DVec3::new(x, y, 0.1 * k as f64 + x * y / 3.0);
        vec![p(0.0, 0.0), p(1.0, 0.0), p(1.0, 1.0), p(0.0, 1.0)]
    };
    Frames {
        title: "export".to_owned(),
        bodies: vec![
            BodyInfo::new("cloth", Role::Film, 4, vec![[0, 1, 2], [0, 2, 3]]),
            balls,
            BodyInfo::new("a<b", Role::Obstacle, 3, vec![[0, 1, 2]]),
            BodyInfo::new("dust", Role::Points, 1, Vec::new()),
        ],
        times: vec![0.0, 0.5, 1.0],
        phases: Vec::new(),
        positions: (0..3)
            .map(|k| {
                let balls = vec![DVec3::new(3.0, 0.0, k as f64), DVec3::new(3.0, 2.0, 0.0)];
                let fixed = vec![DVec3::X, DVec3::Y, DVec3::Z];
                vec![cloth(k), balls, fixed, vec![DVec3::splat(k as f64)]]
            })
            .collect(),
    }
}

fn attribute(tag: &str, name: &str) -> String {
    let at = tag.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
    tag[at..].split('"').next().unwrap().to_owned()
}

/// The bytes of a named array of a VTU file, checked against its length.
fn vtu_array(xml: &str, name: &str) -> Vec<u8> {
    let tag = xml.split("<DataArray").find(|t| t.contains(&format!("Name=\"{name}\""))).unwrap();
    let data = tag.split_once('>').unwrap().1.split('<').next().unwrap();
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert_eq!(length as usize, bytes.len() - 8);
    bytes[8..].to_vec()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
}

fn singles(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn vtk_files_hold_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let source = source();
    let files = export(&source, dir.path(), &ExportOptions::default()).unwrap();
    // The collection; three moving bodies in three frames; one that stands still.
    assert_eq!(files.len(), 1 + 3 * 3 + 1);
    let pvd = std::fs::read_to_string(&files[0]).unwrap();
    let sets: Vec<&str> = pvd.split("<DataSet").skip(1).collect();
    assert_eq!(sets.len(), 12);
    assert!(pvd.contains("name=\"a&lt;b\""));
    for set in &sets {
        assert!(dir.path().join(attribute(set, "file")).is_file());
    }
    let last = sets.iter().rfind(|s| attribute(s, "part") == "0").unwrap();
    assert_eq!(attribute(last, "timestep"), "1");
    let xml = std::fs::read_to_string(dir.path().join(attribute(last, "file"))).unwrap();
    assert_eq!(attribute(&xml, "NumberOfPoints"), "4");
    let points: Vec<f64> = source.positions[2][0].iter().flat_map(DVec3::to_array).collect();
    assert_eq!(doubles(&vtu_array(&xml, "Points")), points);
    let corners: Vec<u64> = vtu_array(&xml, "connectivity")
        .chunks_exact(8)
        .map(|c| u64::from_le_bytes(c.try_into().unwrap()))
        .collect();
    assert_eq!(corners, [0, 1, 2, 0, 2, 3]);
    assert_eq!(vtu_array(&xml, "types"), [5, 5]);
    for speed in singles(&vtu_array(&xml, "speed")) {
        assert!((speed - 0.2).abs() < 1e-6);
    }
    let balls = std::fs::read_to_string(dir.path().join("body01-00000.vtu")).unwrap();
    assert_eq!(singles(&vtu_array(&balls, "radius")), [0.5, 0.25]);
    assert_eq!(vtu_array(&balls, "types"), [1, 1]);
}

#[test]
fn ply_and_obj_hold_the_surfaces() {
    let dir = tempfile::tempdir().unwrap();
    let source = source();
    for (format, sphere_levels) in
        [(ExportFormat::Ply, Some(2)), (ExportFormat::Obj, Some(2)), (ExportFormat::Obj, None)]
    {
        let options = ExportOptions { format, stride: 2, sphere_levels };
        let files = export(&source, dir.path(), &options).unwrap();
        assert_eq!(files.len(), 2);
        let round = if sphere_levels.is_some() { 2 } else { 0 };
        let (vertices, triangles) = (7 + round * 162, 3 + round * 320);
        let bytes = std::fs::read(&files[1]).unwrap();
        let (points, faces) = if format == ExportFormat::Ply {
            parse_ply(&bytes)
        } else {
            parse_obj(std::str::from_utf8(&bytes).unwrap())
        };
        assert_eq!((points.len(), faces.len()), (vertices, triangles));
        assert_eq!(points[..4], source.positions[2][0]);
        assert_eq!(faces[1], [0, 2, 3]);
        if round > 0 {
            let centre = source.positions[2][1][0];
            assert!(points[4..166].iter().all(|p| (p.distance(centre) - 0.5).abs() < 1e-12));
            assert!(faces[2..322].iter().flatten().all(|v| (4..166).contains(v)));
        }
        assert_eq!(faces[triangles - 1].map(|v| points[v]), [DVec3::X, DVec3::Y, DVec3::Z]);
    }
}

fn parse_ply(bytes: &[u8]) -> (Vec<DVec3>, Vec<[usize; 3]>) {
    let end = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    let header = std::str::from_utf8(&bytes[..end]).unwrap();
    let count = |what: &str| -> usize {
        let line = header.lines().find(|l| l.starts_with(&format!("element {what} "))).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let split = end + count("vertex") * 24;
    let points = doubles(&bytes[end..split]).chunks_exact(3).map(DVec3::from_slice).collect();
    assert_eq!(bytes.len() - split, count("face") * 13);
    let face = |c: &[u8]| {
        assert_eq!(c[0], 3);
        [1, 5, 9].map(|i| u32::from_le_bytes(c[i..i + 4].try_into().unwrap()) as usize)
    };
    (points, bytes[split..].chunks_exact(13).map(face).collect())
}

fn parse_obj(text: &str) -> (Vec<DVec3>, Vec<[usize; 3]>) {
    let numbers =
        |line: &str| -> Vec<f64> { line.split(' ').skip(1).map(|n| n.parse().unwrap()).collect() };
    let points = text.lines().filter(|l| l.starts_with("v ")).map(numbers);
    let faces = text.lines().filter(|l| l.starts_with("f ")).map(numbers);
    (
        points.map(|p| DVec3::from_slice(&p)).collect(),
        faces.map(|f| [f[0] as usize - 1, f[1] as usize - 1, f[2] as usize - 1]).collect(),
    )
}

#[test]
fn impossible_exports_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let bad = [
        ExportOptions { stride: 0, ..ExportOptions::default() },
        ExportOptions { sphere_levels: Some(20), ..ExportOptions::default() },
    ];
    for options in bad {
        assert!(export(&source(), &out, &options).is_err());
    }
    assert!(export(&Frames::default(), &out, &ExportOptions::default()).is_err());
    assert!(!out.exists());
}

/// A run folder and its exports, opened by the programs that people will use.
#[test]
fn python_reads_everything() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
    let python = std::env::var_os("GUSSET_PYTHON").unwrap_or_else(|| "python3".into());
    let probe = Command::new(&python).args(["-c", "import numpy, meshio, trimesh"]).output();
    if !probe.is_ok_and(|p| p.status.success()) {
        println!(
            "SKIPPED: exports were not read by NumPy, meshio and trimesh, which {} does not have \
             (name another Python in GUSSET_PYTHON)",
            python.display()
        );
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let source = source();
    let run = dir.path().join("run");
    let info = RunInfo {
        scene: "export".to_owned(),
        dt: 0.5,
        frame_interval: 1,
        precision: Precision::F32,
        checkpoint_interval: 0,
        restarts: Vec::new(),
        phases: Vec::new(),
        bodies: source.bodies.clone(),
    };
    let mut writer = RunWriter::create(&run, &info, "", false).unwrap();
    writer.write_step(&1).unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    std::fs::copy(run.join("cloth.npy"), dir.path().join("empty/cloth.npy")).unwrap();
    for (time, frame) in source.times.iter().zip(&source.positions) {
        let frame: Vec<&[DVec3]> = frame.iter().map(Vec::as_slice).collect();
        writer.write_frame(&frame, *time).unwrap();
    }
    drop(writer);
    // As a kill in the middle of a frame leaves it.
    let mut torn = std::fs::read(run.join("cloth.npy")).unwrap();
    torn.extend([7; 17]);
    std::fs::write(run.join("cloth.npy"), torn).unwrap();
    let reader = RunReader::open(&run).unwrap();
    assert_eq!(reader.frame_count(), 3);
    for (format, name) in
        [(ExportFormat::Vtk, "vtk"), (ExportFormat::Ply, "ply"), (ExportFormat::Obj, "obj")]
    {
        let options = ExportOptions { format, ..ExportOptions::default() };
        export(&reader, &dir.path().join(name), &options).unwrap();
    }
    let output = Command::new(&python).arg(script).arg(dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
