//! The HTML view in a real browser: it starts, reports no error, and shows other pictures for other frames.
//! Skipped, loudly, where no Chromium is installed.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use glam::DVec3;
use gusset_output::{BodyInfo, Frames, HtmlOptions, Phase, Plane, Role, Source, Table, write_html};

/// Driven from inside the page: what it finds ends up as JSON in the title, which `--dump-dom` prints.
const DRIVER: &str = include_str!("html_view_driver.js");

/// A box open at the top.
const BIN: [[u32; 3]; 10] = [
    [0, 2, 1],
    [1, 2, 3],
    [0, 1, 4],
    [1, 5, 4],
    [2, 6, 3],
    [3, 6, 7],
    [0, 4, 2],
    [2, 4, 6],
    [1, 3, 5],
    [3, 7, 5],
];

/// A sheet that bends, two spheres that fall, a bin around them, a fixed box and a slab.
fn source() -> Frames {
    let n = 20;
    let side = n + 1;
    let index = |i: usize, j: usize| (i * side + j) as u32;
    let mut faces = Vec::new();
    for i in 0..n {
        for j in 0..n {
            faces.push([index(i, j), index(i + 1, j), index(i + 1, j + 1)]);
            faces.push([index(i, j), index(i + 1, j + 1), index(i, j + 1)]);
        }
    }
    let mut balls = BodyInfo::new("balls", Role::Spheres, 2, Vec::new());
    balls.radii = vec![0.1, 0.06];
    let mut bin = BodyInfo::new("bin", Role::Obstacle, 8, BIN.to_vec());
    bin.colour = Some([120, 130, 140]);
    let box_faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let mut slab = BodyInfo::new("ground", Role::Slab, 0, Vec::new());
    slab.plane = Some(Plane { point: DVec3::new(0.0, 0.0, -0.2), normal: DVec3::Z });
    let sheet = |k: usize| {
        let point = |v: usize| {
            let (x, y) = ((v / side) as f64 / n as f64 - 0.5, (v % side) as f64 / n as f64 - 0.5);
            DVec3::new(x, y, 0.03 * k as f64 * (x * x - 0.3 * y))
        };
        (0..side * side).map(point).collect()
    };
    let mut film = BodyInfo::new("sheet", Role::Film, side * side, faces);
    film.rest = sheet(0);
    Frames {
        title: "a <test>".to_owned(),
        bodies: vec![film, balls, bin, BodyInfo::new("box", Role::Obstacle, 4, box_faces), slab],
        times: (0..11).map(|k| f64::from(k) * 0.05).collect(),
        phases: vec![
            Phase { start: 0.0, name: "fall".to_owned() },
            Phase { start: 0.3, name: "rest".to_owned() },
        ],
        positions: (0..11)
            .map(|k| {
                let z = 0.5 - 0.03 * k as f64;
                let balls = vec![DVec3::new(0.2, 0.0, z), DVec3::new(-0.2, 0.1, z)];
                let fixed = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| p * 0.15);
                let bin = (0..8).map(|i| {
                    let side = |bit: u32| if i >> bit & 1 == 0 { -0.7 } else { 0.7 };
                    DVec3::new(side(0), side(1), side(2))
                });
                vec![sheet(k), balls, bin.collect(), fixed.to_vec(), Vec::new()]
            })
            .collect(),
    }
}

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|candidate| candidate.is_file())
}

/// Loads a page and returns the document when the time budget is over.
fn dump(browser: &Path, page: &Path, profile: &Path) -> String {
    let out = profile.join("dom.html");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--use-gl=angle"])
        .args(["--use-angle=swiftshader", "--enable-unsafe-swiftshader"])
        .args(["--no-first-run", "--disable-extensions", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--window-size=900,600"])
        .args(["--virtual-time-budget=10000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .stdout(std::fs::File::create(&out).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_mins(3) {
            child.kill().unwrap();
            panic!("the browser did not finish within three minutes");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    std::fs::read_to_string(out).unwrap()
}

/// Tells what was not tested, where nobody can miss it: not by `eprintln!`, which the test harness keeps to itself.
fn skip(why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

#[test]
fn the_view_runs_in_a_browser() {
    let Some(browser) = chromium() else {
        skip("the HTML view was not tested, Chromium is not installed");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("view.html");
    let source = source();
    let rows = source.times.iter().map(|t| vec![*t, t * t, if *t > 0.4 { f64::NAN } else { 1.0 }]);
    let columns = ["time [s]", "height [mm]", "constant"].map(str::to_owned).to_vec();
    let probes = Table { columns, rows: rows.collect() };
    let mut gaps = |_: usize, positions: &[Vec<DVec3>]| {
        let sheet = positions[0].iter().map(|p| (p.z.abs() * 0.1) as f32).collect();
        Ok(vec![Some(sheet), Some(vec![1e-3, f32::INFINITY]), None, None, None])
    };
    let options = HtmlOptions { gap_range: Some(0.01), ..HtmlOptions::default() };
    let report = write_html(&source, Some(&probes), Some(&mut gaps), &options, &page).unwrap();
    assert_eq!((report.stride, report.frames), (1, source.times().len()));
    let text = std::fs::read_to_string(&page).unwrap();
    assert_eq!(text.len(), report.bytes);
    // Before the page's own scripts, so that their errors are caught.
    std::fs::write(
        &page,
        text.replacen("<script type", &format!("<script>{DRIVER}</script>\n<script type"), 1),
    )
    .unwrap();

    let dom = dump(&browser, &page, dir.path());
    let found = dom.split_once("RESULT").and_then(|(_, rest)| rest.split_once("END"));
    let (found, _) = found.expect("the page sets its result");
    let json = found.replace("&quot;", "\"").replace("&lt;", "<").replace("&amp;", "&");
    let result: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!({
        "errors": [],
        "ready": true,
        "frames": 11,
        "scrubbed": true,
        "lastFrame": 10,
        "lastPhase": "rest",
        "lastTime": "0.500 s",
        "same": true,
        "fields": ["", "speed", "gap", "stretch"],
        "legend": ["stretch", "-4.37", "4.37 %"],
        "clicked": 8,
        "phases": ["fall", "rest"],
        "phaseClicked": 6,
        "phaseNow": "fall",
        "pages": [6, 10, 6, 0],
        "seeThrough": true,
        "coloured": true,
        "slider": 5,
        "arrows": 6,
        "plays": true,
        "pauses": true,
        "hidden": true,
        "lines": true,
        "plots": 2,
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key}: {result}");
    }
    assert!(result["colours"].as_u64().unwrap() > 50, "the picture is empty: {result}");
    assert!(result["theme"].is_string());
}

#[test]
fn the_bundle_is_built_from_the_sources() {
    let viewer = Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer");
    let mut names: Vec<PathBuf> = viewer
        .join("src")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "js"))
        .collect();
    names.sort();
    // FNV-1a, as `viewer/build.js` writes it into the banner.
    let mut sum = 0x811c_9dc5_u32;
    for byte in names.iter().flat_map(|name| std::fs::read(name).unwrap()) {
        sum = (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    let bundle = std::fs::read_to_string(viewer.join("dist/viewer.js")).unwrap();
    let banner = bundle.lines().next().unwrap();
    assert!(
        banner.contains(&format!("sources {sum:08x};")),
        "viewer/dist/viewer.js is older than viewer/src: run `npm ci && npm run build` in viewer/"
    );
    assert!(bundle.len() < 600_000);
}
