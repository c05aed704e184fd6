//! USD as text (`.usda`) with a time sample for each frame: Blender, usdview, Houdini and others play it.
//!
//! One second is 24 time codes, so the run plays in real time; frames lie between whole codes where there are more.
//! Specification: Pixar, "Universal Scene Description", `usdGeom`.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use glam::DVec3;

use crate::body::{BodyInfo, Role, Source};
use crate::bounds::Bounds;
use crate::colour::{body_colours, to_linear};
use crate::error::{At, OutputError, Result};

/// Time codes in a second.
const CODES: f64 = 24.0;

/// Writes the frames `shown` of a run; lengths are metres, z is up. The file is there whole or not at all.
pub(crate) fn write_usd(source: &dyn Source, shown: &[usize], path: &Path) -> Result<()> {
    let temporary = path.with_extension("usda.tmp");
    let mut out = BufWriter::new(File::create(&temporary).at("create the USD file", &temporary)?);
    let written = write(source, shown, &mut out)
        .and_then(|()| out.flush().at("write the USD file", &temporary));
    if let Err(error) = written {
        std::fs::remove_file(&temporary).ok();
        return Err(error);
    }
    std::fs::rename(&temporary, path).at("write the USD file", path)
}

fn write(source: &dyn Source, shown: &[usize], out: &mut impl Write) -> Result<()> {
    let begin = source.times()[shown[0]];
    let codes: Vec<f64> = shown.iter().map(|k| (source.times()[*k] - begin) * CODES).collect();
    let end = codes[codes.len() - 1];
    let mut put =
        |text: &dyn Display| write!(out, "{text}").at("write the USD file", Path::new(""));
    put(&format_args!(
        "#usda 1.0\n(\n    defaultPrim = \"run\"\n    doc = \"Gusset {}: {}\"\n    metersPerUnit = 1\n    \
         upAxis = \"Z\"\n    startTimeCode = 0\n    endTimeCode = {end}\n    timeCodesPerSecond = {CODES}\n    \
         framesPerSecond = {CODES}\n)\n\ndef Xform \"run\" (\n    kind = \"component\"\n)\n{{\n",
        env!("CARGO_PKG_VERSION"),
        escape(source.title()),
    ))?;
    let names = prim_names(source.bodies());
    let bodies = source.bodies().iter().zip(body_colours(source.bodies())).zip(&names);
    for (b, ((body, colour), name)) in bodies.enumerate().filter(|(_, ((b, _), _))| b.vertices > 0)
    {
        let linear = colour.map(|c| to_linear(f32::from(c) / 255.0));
        let colour = format!(
            "        color3f[] primvars:displayColor = [({}, {}, {})]\n",
            linear[0], linear[1], linear[2]
        );
        let frames = if body.moving { shown } else { &shown[..1] };
        let mut samples = Vec::with_capacity(frames.len());
        for k in frames {
            let points = source.frame(*k)?.swap_remove(b);
            finite(body, *k, &points)?;
            samples.push(points);
        }
        if body.role == Role::Spheres {
            put(&format_args!("    def Xform \"{name}\"\n    {{\n"))?;
            for v in 0..body.vertices {
                let centres = samples.iter().map(|points| tuple(points[v]));
                let (radius, r) = (body.radii[v], DVec3::splat(body.radii[v]));
                put(&format_args!(
                    "    def Sphere \"sphere_{v}\"\n    {{\n        double radius = {radius}\n        \
                     float3[] extent = [{}, {}]\n{colour}        double3 xformOp:translate{}        \
                     uniform token[] xformOpOrder = [\"xformOp:translate\"]\n    }}\n",
                    tuple(-r),
                    tuple(r),
                    value(&codes, centres)
                ))?;
            }
            put(&"    }\n")?;
            continue;
        }
        let mesh = !body.faces.is_empty();
        let kind = if mesh { "Mesh" } else { "Points" };
        put(&format_args!("    def {kind} \"{name}\"\n    {{\n"))?;
        if mesh {
            let counts = vec!["3"; body.faces.len()].join(", ");
            let indices: Vec<String> = body.faces.iter().flatten().map(u32::to_string).collect();
            put(&format_args!(
                "        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = {}\n        \
                 int[] faceVertexCounts = [{counts}]\n        int[] faceVertexIndices = [{}]\n",
                u8::from(body.role == Role::Film),
                indices.join(", ")
            ))?;
        }
        put(&colour)?;
        let extents = samples.iter().map(|points| {
            let mut bounds = Bounds::EMPTY;
            bounds.add(body, points);
            format!("[{}, {}]", tuple(bounds.low), tuple(bounds.high))
        });
        put(&format_args!("        float3[] extent{}", value(&codes, extents)))?;
        let points = samples.iter().map(|points| {
            let points: Vec<String> = points.iter().map(|p| tuple(*p)).collect();
            format!("[{}]", points.join(", "))
        });
        put(&format_args!("        point3f[] points{}    }}\n", value(&codes, points)))?;
    }
    put(&"}\n")
}

fn finite(body: &BodyInfo, k: usize, points: &[DVec3]) -> Result<()> {
    match points.iter().position(|p| !p.is_finite()) {
        None => Ok(()),
        Some(v) => Err(OutputError::Shape(format!(
            "vertex {v} of body `{}` in frame {k} is {}; glTF and USD hold numbers only",
            body.name, points[v]
        ))),
    }
}

/// An attribute's value: one, or one for each time code.
fn value(codes: &[f64], samples: impl ExactSizeIterator<Item = String>) -> String {
    if samples.len() == 1 {
        return samples.fold(String::new(), |text, sample| text + " = " + &sample + "\n");
    }
    let mut text = ".timeSamples = {\n".to_owned();
    for (code, sample) in codes.iter().zip(samples) {
        text += &["            ", &code.to_string(), ": ", &sample, ",\n"].concat();
    }
    text + "        }\n"
}

/// Single precision, as few digits as bring back the same bits.
fn tuple(p: DVec3) -> String {
    let p = p.as_vec3();
    format!("({}, {}, {})", p.x, p.y, p.z)
}

/// Names that USD allows, each different: letters, digits and underscores.
fn prim_names(bodies: &[BodyInfo]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(bodies.len());
    for body in bodies {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut name: String = body.name.chars().map(plain).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        let base = name.clone();
        let mut copy = 1;
        while names.contains(&name) {
            copy += 1;
            name = format!("{base}_{copy}");
        }
        names.push(name);
    }
    names
}

fn escape(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_distinct() {
        let names = ["cloth", "two balls", "two_balls", "3d", "", "a<b"];
        let bodies: Vec<BodyInfo> =
            names.iter().map(|n| BodyInfo::new(*n, Role::Film, 0, Vec::new())).collect();
        assert_eq!(prim_names(&bodies), ["cloth", "two_balls", "two_balls_2", "_3d", "_", "a_b"]);
        assert_eq!(escape("a \"b\" \\ \n"), "a \\\"b\\\" \\\\  ");
    }
}
