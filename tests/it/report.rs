//! Reports: what is run for them, what they say, and what is wrong with a report file.

use crate::tool::{Said, gusset};
use gusset_cli::Exit;
use std::path::Path;
use tempfile::TempDir;

/// A point that falls 0.4 s, with its probes.
const FALL: &str = "dt = 0.01\nduration = 0.4\ngravity = [0, 0, -10]\n\
    [[body]]\nname = \"stone\"\nshape = { kind = \"points\", positions = [[0, 0, 1]] }\nmass = 1\n\
    [[probe]]\nname = \"height\"\nkind = \"mean\"\nbody = \"stone\"\naxis = \"z\"\n\
    [[probe]]\nname = \"speed\"\nkind = \"speed\"\nbody = \"stone\"\ntarget = { at = 0.4, at_least = 3.9 }\n\
    [[probe]]\nname = \"sliding\"\nkind = \"speed\"\nbody = \"stone\"\nacross = \"z\"\n";

/// Two runs, one of which begins 5 cm/s sideways.
const REPORT: &str = "title = \"Stones\"\nreference = \"Galilei\"\n\
    [[section]]\ntitle = \"Falling\"\n\
    [[section.run]]\nname = \"straight\"\nscene = \"fall.toml\"\n\
    [[section.run]]\nname = \"sideways\"\nscene = \"sideways.toml\"\n\
    [[section.curve]]\ntitle = \"Heights\"\nof = { probe = \"h*\" }\nunit = \"cm\"\n\
    [[section.number]]\nname = \"speed\"\nof = { probe = \"speed\", frames = true }\nat = 0.4\nunit = \"cm/s\"\nreference = 400\n\
    within = { straight = 0.1 }\n\
    [[section.number]]\nname = \"slide\"\nof = { probe = \"sliding\" }\nstatistic = \"max\"\nunit = \"mm/s\"\n\
    reference = { sideways = 60 }\nwithin = 1\nat_most = { straight = 0 }\nnote = { sideways = \"It was pushed less.\" }\n\
    [[section.number]]\nname = \"halfway\"\nof = { probe = \"height\" }\nstatistic = \"first-below\"\nlevel = \"50 cm\"\n\
    [[section.number]]\nname = \"landing\"\nof = { probe = \"height\" }\nstatistic = \"first-below\"\nlevel = 0\n\
    [[section.number]]\nname = \"crossings\"\nof = { intersecting = \"frames\" }\nstatistic = \"sum\"\nat_most = 0\n";

struct Folder {
    dir: TempDir,
}

impl Folder {
    fn new(report: Option<&str>) -> Self {
        let dir = TempDir::new().unwrap();
        let folder = Self { dir };
        std::fs::create_dir(folder.path("stones")).unwrap();
        folder.write("fall.toml", FALL);
        folder.write(
            "sideways.toml",
            "base = \"fall.toml\"\n[[body]]\nname = \"stone\"\nvelocity = [\"5 cm/s\", 0, 0]\n",
        );
        if let Some(report) = report {
            folder.write("report.toml", report);
        }
        folder
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path("stones").join(name), text).unwrap();
    }

    fn report(&self, more: &[&str]) -> Said {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (folder, runs) = (text(&self.path("stones")), text(&self.path("runs")));
        let args = ["report", &folder, "--runs", &runs, "--jobs", "2"];
        gusset(&args.into_iter().chain(more.iter().copied()).collect::<Vec<_>>())
    }
}

#[test]
fn a_report_runs_what_is_missing_and_compares_numbers() {
    let folder = Folder::new(Some(REPORT));
    let said = folder.report(&["--json"]).done();
    assert!(said.messages.contains("2 scenes of 2 to run"), "{}", said.messages);
    let json = said.json();
    let lines = json["sections"][0]["numbers"].as_array().unwrap();
    let line = |number: &str, run: &str| {
        lines.iter().find(|l| l["number"] == number && l["run"] == run).unwrap().clone()
    };
    let value = |number: &str, run: &str| line(number, run)["value"].as_f64().unwrap();
    assert!((value("speed", "straight") - 400.0).abs() < 1e-9);
    assert_eq!(line("speed", "straight")["good"], true);
    assert!((value("slide", "sideways") - 50.0).abs() < 1e-9);
    assert_eq!(line("slide", "sideways")["good"], false);
    assert_eq!(line("slide", "straight")["good"], true);
    // Implicit Euler falls by g dt^2 k (k + 1) / 2: half a metre after 32 steps.
    assert!((value("halfway", "straight") - 0.32).abs() < 1e-12);
    assert_eq!(
        (&line("landing", "straight")["never"], value("crossings", "sideways")),
        (&true.into(), 0.0)
    );

    let page = std::fs::read_to_string(folder.path("runs/stones.html")).unwrap();
    for part in [
        "<title>Stones</title>",
        "<h2>Falling</h2>",
        "slide, sideways: 50 mm/s where the Galilei has 60 mm/s, 10 mm/s less (16.7 %), beyond the 1 mm/s that count as \
         none. It was pushed less.",
        "Targets of the scenes",
        "0 / 41",
        "<svg",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<figure class=\"run\">").count(), 2);

    // Nothing is run twice; a scene that has changed is.
    let said = folder.report(&[]).done();
    assert!(said.messages.contains("all 2 runs are there"), "{}", said.messages);
    assert!(said.out.contains("halfway [s]"), "{}", said.out);
    let base = std::fs::read_to_string(folder.path("stones/sideways.toml")).unwrap();
    folder.write("sideways.toml", &base.replace("5 cm/s", "6 cm/s"));
    let said = folder.report(&["--output", folder.path("other.html").to_str().unwrap()]).done();
    assert!(said.messages.contains("1 scene of 2 to run"), "{}", said.messages);
    let page = std::fs::read_to_string(folder.path("other.html")).unwrap();
    assert!(page.contains("slide, sideways: 60 mm/s, as the Galilei. It was pushed less."));
    // So is one whose run was broken off.
    let out = folder.path("runs/fall");
    let scene = folder.path("stones/fall.toml");
    let args =
        ["run", scene.to_str().unwrap(), "--out", out.to_str().unwrap(), "--force", "--steps", "7"];
    gusset(&[&args[..], &["--no-view"]].concat()).done();
    let said = folder.report(&[]).done();
    assert!(said.messages.contains("1 scene of 2 to run"), "{}", said.messages);
    assert_eq!(gusset_output_frames(&out), 41);
}

fn gusset_output_frames(run: &Path) -> usize {
    gusset_output::RunReader::open(run).unwrap().frame_count()
}

#[test]
fn a_folder_without_a_report_file_gets_a_report() {
    let folder = Folder::new(None);
    folder.report(&[]).done();
    let page = std::fs::read_to_string(folder.path("runs/stones.html")).unwrap();
    assert_eq!(page.matches("<figure class=\"run\">").count(), 2);
    assert!(page.contains("<h2>fall</h2>") && page.contains("<h2>sideways</h2>"));
    let said = folder.report(&["--no-run", "--runs", folder.path("nowhere").to_str().unwrap()]);
    assert_eq!(said.exit, Exit::BadInput, "--runs twice");
}

#[test]
fn what_is_wrong_with_a_report_file_is_said_with_its_place() {
    for (from, to, parts) in [
        (
            "scene = \"fall.toml\"",
            "scene = \"fal.toml\"",
            &["no scene `fal.toml`", "report.toml:7:9", "did you mean `fall.toml`?"][..],
        ),
        (
            "probe = \"speed\"",
            "probe = \"sped\"",
            &["no run has a probe `sped`", "did you mean `speed`?"],
        ),
        (
            "statistic = \"max\"",
            "statistic = \"maximum\"",
            &["`maximum` is not one of its values", "did you mean `max`?"],
        ),
        ("sideways = 60", "sidewards = 60", &["no run `sidewards`", "did you mean `sideways`?"]),
        ("unit = \"cm/s\"", "unit = \"cm\"", &["`unit`", "wrong dimension"]),
        ("level = 0\n", "", &["needs a `level`"]),
        (
            "of = { probe = \"h*\" }",
            "off = { probe = \"h*\" }",
            &["unknown key `off`", "[[curve]] `Heights`"],
        ),
        (
            "of = { probe = \"h*\" }",
            "of = { step = \"clipped\" }",
            &["no number `clipped`", "descent.clipped"],
        ),
        (
            "of = { probe = \"h*\" }",
            "of = { jitter = \"ston\" }",
            &["no run has a body `ston`", "did you mean `stone`?"],
        ),
        ("of = { probe = \"h*\" }", "of = { minus = \"height\" }", &["needs one of `probe`"]),
        (
            "name = \"sideways\"",
            "name = \"straight\"",
            &["two runs of the section are called `straight`"],
        ),
        ("reference = 400", "reference = \"much\"", &["`reference`", "much"]),
        ("title = \"Stones\"", "title = \"Stones", &["report.toml:1"]),
        ("[[section]]", "[section]", &["`section` must be a list of tables"]),
    ] {
        assert!(REPORT.contains(from), "{from}");
        let folder = Folder::new(Some(&REPORT.replacen(from, to, 1)));
        let said = folder.report(&[]);
        assert_eq!(said.exit, Exit::BadInput, "{to}: {}", said.messages);
        for part in parts {
            assert!(said.messages.contains(part), "{to}: {part}: {}", said.messages);
        }
        assert!(said.messages.contains("report.toml"), "{}", said.messages);
        assert!(!folder.path("runs").exists(), "nothing was run");
    }
    let folder = Folder::new(Some(REPORT));
    folder.write("fall.toml", &FALL.replace("duration", "duratoin"));
    let said = folder.report(&[]);
    assert!(said.messages.contains("did you mean `duration`?"), "{}", said.messages);
    assert_eq!(gusset(&["report", "no-such-folder"]).exit, Exit::BadInput);
}

#[test]
fn a_base_scene_that_is_not_there_or_stands_on_itself_is_refused() {
    let folder = Folder::new(None);
    let scene = folder.path("stones/sideways.toml");
    for (base, wanted) in [
        ("nothing.toml", "can't be read"),
        ("sideways.toml", "stands on this scene itself"),
        ("../fall.toml", "is no file name"),
    ] {
        folder.write("sideways.toml", &format!("base = \"{base}\"\n"));
        let said = gusset(&["run", scene.to_str().unwrap()]);
        assert_eq!(said.exit, Exit::BadInput);
        assert!(
            said.messages.contains(wanted) && said.messages.contains("sideways.toml:1:8"),
            "{}",
            said.messages
        );
    }
    // A mistake in the base is shown there.
    folder.write("fall.toml", &FALL.replace("kind = \"mean\"", "kind = \"meen\""));
    folder.write("sideways.toml", "base = \"fall.toml\"\n");
    let said = gusset(&["run", scene.to_str().unwrap()]);
    assert!(
        said.messages.contains("fall.toml:10:8") && said.messages.contains("`mean`"),
        "{}",
        said.messages
    );
}

#[test]
fn the_schema_of_reports_knows_their_keys() {
    let schema = gusset(&["schema", "report"]).done().json();
    let section = &schema["properties"]["section"]["items"]["properties"];
    assert!(section["number"]["items"]["properties"]["at_most"].is_object());
    assert!(section["curve"]["items"]["properties"]["of"].is_object());
    assert!(section["run"].is_object() && schema["properties"]["reference"].is_object());
}

#[test]
fn the_reports_beside_the_scenes_name_what_is_there() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("scenes");
    for (folder, sections, runs) in [("rest-on-contact", 9, 28), ("bag", 2, 3)] {
        let report = gusset_scene::load_report(&scenes.join(folder)).unwrap();
        assert!(report.sections.len() >= sections, "{folder}");
        assert!(report.scenes.len() >= runs, "{folder}: {}", report.scenes.len());
        let wanted = |wanted: &gusset_scene::Wanted| wanted.reference.is_some();
        let numbers = report.sections.iter().flat_map(|s| &s.numbers);
        assert!(
            numbers.flat_map(|n| n.wanted.values()).filter(|w| wanted(w)).count() > 4,
            "{folder}"
        );
    }
}
