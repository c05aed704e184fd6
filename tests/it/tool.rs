//! The tool as these tests use it: in this process, or in another one that can be killed.

use gusset_cli::Exit;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// What a command said.
pub(crate) struct Said {
    pub(crate) exit: Exit,
    pub(crate) out: String,
    pub(crate) messages: String,
}

impl Said {
    /// Its JSON object.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.messages))
    }

    /// Itself, if the command did what it was asked to.
    pub(crate) fn done(self) -> Self {
        assert_eq!(self.exit, Exit::Done, "{}\n{}", self.out, self.messages);
        self
    }
}

/// Runs `gusset` with these arguments in this process.
pub(crate) fn gusset(args: &[&str]) -> Said {
    let (mut out, mut messages) = (Vec::new(), Vec::new());
    let args = std::iter::once("gusset").chain(args.iter().copied());
    let exit = gusset_cli::main_with(args, &mut out, &mut messages);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Said { exit, out: text(out), messages: text(messages) }
}

/// Tells what a test could not do, where nobody can miss it: not by `eprintln!`, which the test harness keeps to itself.
pub(crate) fn skip(why: &str) {
    use std::io::Write as _;
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stderr(), "SKIPPED in {test}: {why}");
}

/// Separates arguments in the environment of a child.
const SEPARATOR: char = '\u{1f}';
const ARGUMENTS: &str = "GUSSET_TEST_ARGUMENTS";

/// `gusset` with these arguments in a process of its own: this test binary again, where [`child`] takes over.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "tool::child", "--nocapture", "--test-threads=1"])
        .env(ARGUMENTS, args.join(&SEPARATOR.to_string()))
        .stdout(Stdio::null());
    command
}

/// Starts it and says nothing of what it says.
pub(crate) fn spawn(args: &[&str]) -> Child {
    command(args).stderr(Stdio::null()).spawn().unwrap()
}

/// Not a test of its own: the process that [`spawn`] starts.
#[test]
fn child() {
    let Ok(args) = std::env::var(ARGUMENTS) else { return };
    let args = std::iter::once("gusset").chain(args.split(SEPARATOR)).map(OsString::from);
    let exit = gusset_cli::main_with(args, &mut std::io::sink(), &mut std::io::stderr());
    std::process::exit(i32::from(exit.code()));
}

/// A folder with a small scene: a cloth on a ball above a floor.
pub(crate) struct Bench {
    dir: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("cloth.toml"), CLOTH).unwrap();
        Self { dir }
    }

    /// A path in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The same as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).unwrap();
        self.text(name)
    }

    /// The cloth scene.
    pub(crate) fn scene(&self) -> String {
        self.text("cloth.toml")
    }
}

/// Contents of the files of a run that must not depend on how it came about.
pub(crate) fn bits(run: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<(String, Vec<u8>)> = std::fs::read_dir(run)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "npy" || e == "csv" || e == "toml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(&path).unwrap())
        })
        .collect();
    files.sort();
    files
}

/// Two runs have the same frames, times and probes, bit for bit.
#[track_caller]
pub(crate) fn assert_same_bits(a: &Path, b: &Path) {
    let (a, b) = (bits(a), bits(b));
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|f| f.0.clone()).collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    assert!(a.iter().any(|f| f.0 == "cloth.npy"));
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        assert!(a == b, "{name} differs: {} and {} bytes", a.len(), b.len());
    }
}

const CLOTH: &str = r#"
title = "cloth on a ball"
dt = 0.01
duration = 0.4

[[body]]
name = "cloth"
shape = { kind = "grid", size = [0.5, 0.5], cells = [12, 12] }
rotate = { axis = [0, 0, 1], angle = "0.1 rad" }
translate = [0, 0, 0.105]
velocity = [0, 0, -1]
material = { young = 2.5e7, poisson = 0.25, thickness = 1e-3, area_density = 0.2 }

[[body]]
name = "ball"
shape = { kind = "icosphere", radius = 0.1, subdivisions = 2 }

[[body]]
name = "floor"
role = "obstacle"
shape = { kind = "grid", size = [1, 1], cells = [4, 4] }
translate = [0, 0, -0.15]

[[energy]]
kind = "neo-hookean"
body = "cloth"

[[energy]]
kind = "hinge"
body = "cloth"
stiffness = 5e-4

[contact]
dhat = 3e-3
friction = 0.3

[output]
checkpoint_every = 6

[[probe]]
kind = "min"
name = "lowest"
body = "cloth"
axis = "z"

[[probe]]
kind = "gap"
name = "clearance"
between = ["cloth", "ball"]

[[probe]]
kind = "contact-force"
name = "on-ball"
body = "ball"

[[probe]]
kind = "energy"
name = "total"
"#;
