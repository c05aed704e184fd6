//! Scenes with mistakes in them, and exactly what is said about each: `bad/*.toml` beside `bad/*.txt`.
//!
//! Lines `#! path=value` are overrides of the command line. `UPDATE_EXPECT=1` rewrites the texts.

use gusset_energy::{BuildError, Energy, Motion, OneOrEach, Selection, Site, Terms, register};
use gusset_units::{Stiffness, Time};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;

/// Kinds that read keys like the real ones and build nothing, so that the texts don't depend on what is linked.
macro_rules! kind {
    ($name:ident, $kind:literal, { $($(#[$meta:meta])* $key:ident: $type:ty),* }, $build:expr) => {
        /// A kind for tests.
        #[derive(Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        struct $name { $($(#[$meta])* $key: $type),* }

        impl Energy for $name {
            const KIND: &'static str = $kind;
            const ABOUT: &'static str = "A kind for tests";
            fn build(self, site: &Site<'_>, _: &mut Terms) -> Result<(), BuildError> {
                let build: fn(Self, &Site<'_>) -> Result<(), BuildError> = $build;
                build(self, site)
            }
        }

        register!($name);
    };
}

kind!(Inertia, "inertia", { gravity_from: Option<OneOrEach<Time>> }, |me, site| {
    let count = site.body()?.vertex_count();
    me.gravity_from.map(|t| t.each(count, "gravity_from")).transpose().map(|_| ())
});
kind!(Barrier, "barrier", {}, |_, site| site.contact().map(|_| ()));
kind!(Friction, "friction", {}, |_, site| site.contact().map(|_| ()));
kind!(Support, "support", { vertices: Selection, stiffness: Stiffness, motion: Option<Motion> }, |me, site| {
    me.vertices.resolve(site.body()?, site.units, "vertices")?;
    me.motion.map(|m| m.path(site.units, "motion")).transpose()?;
    if me.stiffness.si(site.units) < 0.0 {
        return Err(BuildError::value("stiffness", "must be 0 or more"));
    }
    Ok(())
});

/// How a hinge follows from bending.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Law {
    Article,
    Consistent,
}

kind!(Hinge, "hinge", { law: Option<Law>, #[serde(default)] stiffness: Option<Stiffness> }, |me, _| {
    let _ = (me.law.map(|law| match law { Law::Article => 6, Law::Consistent => 1 }), me.stiffness);
    Ok(())
});

fn say(name: &str, text: &str, folder: &Path) -> String {
    let overrides: Vec<String> =
        text.lines().filter_map(|l| l.strip_prefix("#! ")).map(str::to_owned).collect();
    match gusset_scene::read(name, text, folder, &overrides) {
        Err(error) => error.to_string() + "\n",
        Ok(scene) => {
            let warnings: Vec<String> = scene.warnings.iter().map(ToString::to_string).collect();
            format!("{}\n\nloads, {} steps\n", warnings.join("\n\n"), scene.steps)
        }
    }
}

#[test]
fn every_mistake_is_said_where_it_is() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "only {} scenes", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let said = say(&name, &text, Path::new("bad"));
        let expected = path.with_extension("txt");
        if update {
            std::fs::write(&expected, &said).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != said {
            wrong.push(format!("{name} says:\n{said}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_file_is_said() {
    let error = gusset_scene::load(Path::new("no/such.toml"), &[]).err().unwrap().to_string();
    assert!(error.contains("the scene file can't be read"), "{error}");
    assert!(error.contains("--> no/such.toml"), "{error}");
}

#[test]
fn a_mesh_file_without_a_mesh_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let scene = "dt = 0.01\nduration = 0\n[[body]]\nname = 'wall'\nrole = 'obstacle'\n\
                 shape = { kind = 'file', path = 'wall.obj' }\n";
    for (mesh, lacks) in [("not a mesh\n", "vertices"), ("v 0 0 0\nv 1 0 0\nv 0 1 0\n", "faces")] {
        std::fs::write(folder.path().join("wall.obj"), mesh).unwrap();
        let error = gusset_scene::read("s.toml", scene, folder.path(), &[]).err().unwrap();
        assert!(error.to_string().contains(&format!("wall.obj has no {lacks}")), "{error}");
    }
}

#[test]
fn any_cut_of_a_scene_is_read_or_refused() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad/good.toml"))
            .unwrap();
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        let _ = gusset_scene::read("cut.toml", &text[..end], Path::new("."), &[]);
    }
}
