//! Exports read back: by small parsers here, and by NumPy, meshio, trimesh, USD and assimp where
//! they are installed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use base64::Engine as _;
use glam::DVec3;
use gusset_output::{
    BodyInfo, ExportFormat, ExportOptions, Frames, Precision, Role, RunInfo, RunReader, RunWriter,
    export, glb_stride, npy,
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

/// Tells what was not tested, where nobody can miss it: not by `eprintln!`, which the test harness keeps to itself.
fn skip(why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
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
        let options =
            ExportOptions { format, stride: 2, sphere_levels, ..ExportOptions::default() };
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

/// The chunks of a `.glb`: its JSON and its numbers.
fn parse_glb(bytes: &[u8]) -> (serde_json::Value, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
    let text = word(12);
    assert_eq!((word(16), text % 4), (0x4e4f_534a, 0));
    let binary = 20 + text;
    assert_eq!((word(binary + 4), binary + 8 + word(binary)), (0x004e_4942, bytes.len()));
    (serde_json::from_slice(&bytes[20..20 + text]).unwrap(), bytes[binary + 8..].to_vec())
}

/// The single-precision numbers of an accessor.
fn accessor(root: &serde_json::Value, binary: &[u8], index: &serde_json::Value) -> Vec<f32> {
    let accessor = &root["accessors"][index.as_u64().unwrap() as usize];
    let view = &root["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let (start, length) =
        (view["byteOffset"].as_u64().unwrap(), view["byteLength"].as_u64().unwrap());
    let values = singles(&binary[start as usize..(start + length) as usize]);
    let width = if accessor["type"] == "VEC3" { 3 } else { 1 };
    assert_eq!(values.len() as u64, accessor["count"].as_u64().unwrap() * width);
    values
}

#[test]
fn gltf_plays_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let source = source();
    let options = ExportOptions { format: ExportFormat::Glb, ..ExportOptions::default() };
    let files = export(&source, dir.path(), &options).unwrap();
    let (root, binary) = parse_glb(&std::fs::read(&files[0]).unwrap());
    let cloth = &root["meshes"][0]["primitives"][0];
    let base = accessor(&root, &binary, &cloth["attributes"]["POSITION"]);
    let channels = root["animations"][0]["channels"].as_array().unwrap();
    let sampler = |node: &str, path: &str| {
        let channel = channels.iter().find(|c| {
            let target = c["target"]["node"].as_u64().unwrap() as usize;
            c["target"]["path"] == path && root["nodes"][target]["name"] == node
        });
        let sampler = channel.unwrap()["sampler"].as_u64().unwrap() as usize;
        let sampler = &root["animations"][0]["samplers"][sampler];
        (accessor(&root, &binary, &sampler["input"]), accessor(&root, &binary, &sampler["output"]))
    };
    // At each key the weighted sum of the shapes is the frame.
    let (times, weights) = sampler("cloth", "weights");
    assert_eq!((times, weights.len()), (vec![0.0, 0.5, 1.0], 3 * 2));
    let targets = cloth["targets"].as_array().unwrap();
    for k in 0..3 {
        let mut shape = base.clone();
        for (target, weight) in targets.iter().zip(&weights[2 * k..]) {
            let moved = accessor(&root, &binary, &target["POSITION"]);
            shape.iter_mut().zip(moved).for_each(|(x, d)| *x += weight * d);
        }
        for (found, wanted) in shape.chunks(3).zip(&source.positions[k][0]) {
            let found = DVec3::new(found[0].into(), found[1].into(), found[2].into());
            assert!(found.distance(*wanted) < 1e-6, "frame {k}: {found} {wanted}");
        }
    }
    let (_, path) = sampler("two balls 0", "translation");
    assert_eq!(path, [3.0, 0.0, 0.0, 3.0, 0.0, 1.0, 3.0, 0.0, 2.0]);
    // A still body has one shape; the root turns z up to y up.
    let fixed = root["meshes"].as_array().unwrap().iter().find(|m| m["name"] == "a<b").unwrap();
    assert!(fixed["primitives"][0]["targets"].is_null());
    let last = root["nodes"].as_array().unwrap().last().unwrap();
    assert_eq!(last["children"].as_array().unwrap().len(), 5);
    let turn: Vec<f64> =
        last["rotation"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let up = glam::DQuat::from_slice(&turn) * DVec3::Z;
    assert!(up.distance(DVec3::Y) < 1e-12);
    assert_eq!([1, 201, 202, 2521].map(glb_stride), [1, 1, 2, 13]);
}

#[test]
fn usd_has_a_sample_for_every_frame() {
    let dir = tempfile::tempdir().unwrap();
    let options = ExportOptions { format: ExportFormat::Usd, ..ExportOptions::default() };
    let files = export(&source(), dir.path(), &options).unwrap();
    let text = std::fs::read_to_string(&files[0]).unwrap();
    assert!(text.starts_with("#usda 1.0\n") && text.contains("endTimeCode = 24\n"));
    let after = |what: &str| text.split_once(what).unwrap_or_else(|| panic!("no {what}")).1;
    let cloth = after("def Mesh \"cloth\"");
    assert!(cloth.contains("faceVertexIndices = [0, 1, 2, 0, 2, 3]"));
    let points: Vec<&str> = after("point3f[] points.timeSamples = {\n").lines().take(3).collect();
    assert_eq!(
        points[1].trim(),
        "12: [(0, 0, 0.1), (1, 0, 0.1), (1, 1, 0.43333334), (0, 1, 0.1)],"
    );
    let ball = after("def Sphere \"sphere_0\"");
    assert!(ball.contains("double radius = 0.5") && ball.contains("24: (3, 0, 2),"));
    assert!(
        after("def Mesh \"a_b\"").contains("point3f[] points = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]")
    );
    assert!(after("def Points \"dust\"").contains("24: [(2, 2, 2)],"));
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    assert!(!dir.path().join("run.usda.tmp").exists());
}

#[test]
fn arrays_gather_bodies_by_role() {
    let dir = tempfile::tempdir().unwrap();
    let mut source = source();
    // A second film, of which the first comes second in the arrays.
    source.bodies.insert(0, BodyInfo::new("net", Role::Film, 3, vec![[2, 1, 0]]));
    source.positions.iter_mut().for_each(|frame| frame.insert(0, vec![DVec3::NEG_X; 3]));
    let options = ExportOptions {
        format: ExportFormat::Npy,
        stride: 2,
        precision: Precision::F32,
        ..ExportOptions::default()
    };
    export(&source, dir.path(), &options).unwrap();
    let open = |name: &str| npy::NpyFile::open(&dir.path().join(name)).unwrap();
    let film = open("film.npy");
    assert_eq!((film.shape(), film.element()), (&[2, 7, 3][..], npy::Element::F32));
    let rounded = source.positions[2][1].iter().map(|p| p.as_vec3().as_dvec3());
    assert_eq!(film.points(1).unwrap()[3..], rounded.collect::<Vec<_>>());
    let faces = open("faces.npy");
    assert_eq!(faces.element(), npy::Element::I32);
    assert_eq!(faces.faces().unwrap(), [[2, 1, 0], [3, 4, 5], [3, 5, 6]]);
    assert_eq!(open("spheres.npy").shape(), [2, 2, 3]);
    assert_eq!(open("radii.npy").read(0, 2).unwrap(), [0.5, 0.25]);
    assert_eq!(open("times.npy").read(0, 2).unwrap(), [0.0, 1.0]);
    assert_eq!(open("obstacle.npy").shape(), [1, 3, 3]);
    let text = std::fs::read_to_string(dir.path().join("bodies.json")).unwrap();
    let bodies: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        bodies[1],
        serde_json::json!({"body": "cloth", "array": "film.npy", "first": 3, "vertices": 4})
    );
}

#[test]
fn what_is_no_number_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut source = source();
    source.positions[1][0][2].y = f64::NAN;
    for format in [ExportFormat::Glb, ExportFormat::Usd] {
        let options = ExportOptions { format, ..ExportOptions::default() };
        let error = export(&source, dir.path(), &options).unwrap_err().to_string();
        assert!(error.contains("vertex 2 of body `cloth` in frame 1"), "{error}");
    }
    assert_eq!(dir.path().read_dir().unwrap().count(), 0, "no half-written file");
}

/// A run folder and its exports, opened by the programs that people will use.
#[test]
fn python_reads_everything() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_back.py");
    let python = std::env::var_os("GUSSET_PYTHON").unwrap_or_else(|| "python3".into());
    let has = |module: &str| {
        let probe = Command::new(&python).args(["-c", &format!("import {module}")]).output();
        probe.is_ok_and(|p| p.status.success())
    };
    let modules = [
        ("numpy", "array"),
        ("meshio", "VTK and PLY file"),
        ("trimesh", "PLY, OBJ and glTF file"),
        ("pxr", "USD file"),
    ];
    let (there, missing): (Vec<_>, Vec<_>) = modules.into_iter().partition(|(m, _)| has(m));
    for (module, what) in missing {
        skip(&format!(
            "no {what} was read back by {module}, which {} does not have \
             (name another Python in GUSSET_PYTHON)",
            python.display()
        ));
    }
    if !there.iter().any(|(module, _)| *module == "numpy") {
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
    for (format, name) in [
        (ExportFormat::Vtk, "vtk"),
        (ExportFormat::Ply, "ply"),
        (ExportFormat::Obj, "obj"),
        (ExportFormat::Glb, "glb"),
        (ExportFormat::Usd, "usd"),
        (ExportFormat::Npy, "npy"),
    ] {
        let options = ExportOptions { format, ..ExportOptions::default() };
        export(&reader, &dir.path().join(name), &options).unwrap();
    }
    let mut command = Command::new(&python);
    command.arg(script).arg(dir.path()).args(there.iter().map(|(module, _)| module));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Assimp, the reader behind many programs, sees everything in the glTF file.
#[test]
fn assimp_reads_gltf() {
    if !Command::new("assimp").arg("version").output().is_ok_and(|o| o.status.success()) {
        skip("glTF was not read by assimp, which is not installed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let options = ExportOptions {
        format: ExportFormat::Glb,
        sphere_levels: Some(2),
        ..ExportOptions::default()
    };
    let files = export(&source(), dir.path(), &options).unwrap();
    let output = Command::new("assimp").arg("info").arg(&files[0]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let number = |what: &str| -> usize {
        let line = said.lines().find(|l| l.starts_with(what)).unwrap_or_else(|| panic!("{said}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    // Cloth, the mesh that both balls share, the still triangle and the point.
    assert_eq!((number("Meshes:"), number("Animations:")), (4, 1), "{said}");
    assert_eq!(
        (number("Vertices:"), number("Faces:")),
        (4 + 162 + 3 + 1, 2 + 320 + 1 + 1),
        "{said}"
    );
    assert_eq!(number("Nodes:"), 1 + 1 + 2 + 1 + 1, "{said}");
}
