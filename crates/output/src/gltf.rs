//! Binary glTF 2.0: one `.glb` that Blender, browsers and most viewers open and play.
//!
//! A mesh that deforms is its first frame and one morph target for each further frame, blended from one to the next
//! by an animation of the weights; spheres are one mesh each, moved by their translation. With `n` shapes a mesh has
//! `n` times `n` weights, and programs keep every shape in memory, which is why long runs are thinned.
//! Specification: Khronos, "glTF 2.0" (2021).

use std::path::Path;

use glam::DVec3;
use serde_json::{Value, json};

use crate::body::{BodyInfo, Role, Source};
use crate::colour::{body_colours, to_linear};
use crate::error::{At, OutputError, Result};
use crate::mesh_files::icosphere;

/// Numbers of the specification.
const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const POINTS: u32 = 0;
const TRIANGLES: u32 = 4;
/// Chunk types of a `.glb`: "JSON" and "BIN".
const JSON_CHUNK: u32 = 0x4e4f_534a;
const BIN_CHUNK: u32 = 0x004e_4942;

/// Writes the frames `shown` of a run. Lengths are metres, z is up in the run and turned to glTF's y by the root node.
pub(crate) fn write_glb(
    source: &dyn Source,
    shown: &[usize],
    sphere_levels: Option<u32>,
    path: &Path,
) -> Result<()> {
    let mut file = Glb::default();
    let begin = source.times()[shown[0]];
    let times: Vec<f32> = shown.iter().map(|k| (source.times()[*k] - begin) as f32).collect();
    let frames = read(source, shown)?;
    let clock = (times.len() > 1).then(|| file.scalars(&times, true));
    let sphere = sphere_levels.map(|levels| file.sphere(levels));
    let mut children = Vec::new();
    for (b, (body, colour)) in source.bodies().iter().zip(body_colours(source.bodies())).enumerate()
    {
        let material = file.material(body, colour);
        let positions: Vec<&[DVec3]> = frames.iter().map(|frame| &frame[b][..]).collect();
        if body.role == Role::Spheres {
            let Some(sphere) = &sphere else { continue };
            let mesh = file.ball(body, sphere, material);
            children.extend(file.spheres(body, &positions, mesh, clock));
        } else if body.vertices > 0 {
            children.push(file.deforming(body, &positions, material, clock));
        }
    }
    // z up to y up: a quarter turn about x.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    file.nodes.push(
        json!({ "name": source.title(), "rotation": [-half, 0, 0, half], "children": children }),
    );
    let bytes = file.bytes(source.title())?;
    std::fs::write(path, bytes).at("write the GLB file", path)
}

/// The frames, all of which must be numbers.
fn read(source: &dyn Source, shown: &[usize]) -> Result<Vec<Vec<Vec<DVec3>>>> {
    let mut frames = Vec::with_capacity(shown.len());
    for (i, k) in shown.iter().enumerate() {
        let mut frame = source.frame(*k)?;
        for (body, points) in source.bodies().iter().zip(&mut frame) {
            if let Some(v) = points.iter().position(|p| !p.is_finite()) {
                let name = &body.name;
                return Err(OutputError::Shape(format!(
                    "vertex {v} of body `{name}` in frame {k} is {}; glTF and USD hold numbers only",
                    points[v]
                )));
            }
            // One frame says all of a body that stands still.
            if i > 0 && !body.moving {
                points.clear();
            }
        }
        frames.push(frame);
    }
    Ok(frames)
}

/// The parts of a file while it is put together.
#[derive(Default)]
struct Glb {
    binary: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    materials: Vec<Value>,
    meshes: Vec<Value>,
    nodes: Vec<Value>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Glb {
    /// Appends bytes as a buffer view; `target` says what for.
    fn view(&mut self, bytes: impl IntoIterator<Item = u8>, target: Option<u32>) -> usize {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let offset = self.binary.len();
        self.binary.extend(bytes);
        let mut view =
            json!({ "buffer": 0, "byteOffset": offset, "byteLength": self.binary.len() - offset });
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, value: Value) -> usize {
        self.accessors.push(value);
        self.accessors.len() - 1
    }

    /// One number a key. Times need their range.
    fn scalars(&mut self, values: &[f32], range: bool) -> usize {
        let view = self.view(values.iter().flat_map(|v| v.to_le_bytes()), None);
        let mut accessor = json!({
            "bufferView": view, "componentType": FLOAT, "count": values.len(), "type": "SCALAR",
        });
        if range {
            accessor["min"] = json!([values.iter().copied().fold(f32::INFINITY, f32::min)]);
            accessor["max"] = json!([values.iter().copied().fold(f32::NEG_INFINITY, f32::max)]);
        }
        self.accessor(accessor)
    }

    fn points(&mut self, points: &[[f32; 3]], target: Option<u32>) -> usize {
        let view = self.view(points.iter().flatten().flat_map(|v| v.to_le_bytes()), target);
        let bound = |pick: fn(f32, f32) -> f32| -> Vec<f32> {
            (0..3).map(|c| points.iter().map(|p| p[c]).reduce(pick).unwrap_or(0.0)).collect()
        };
        self.accessor(json!({
            "bufferView": view, "componentType": FLOAT, "count": points.len(), "type": "VEC3",
            "min": bound(f32::min), "max": bound(f32::max),
        }))
    }

    fn indices(&mut self, faces: &[[u32; 3]]) -> usize {
        let bytes = faces.iter().flatten().flat_map(|i| i.to_le_bytes());
        let view = self.view(bytes, Some(ELEMENT_ARRAY_BUFFER));
        self.accessor(json!({
            "bufferView": view, "componentType": UNSIGNED_INT, "count": faces.len() * 3, "type": "SCALAR",
        }))
    }

    fn material(&mut self, body: &BodyInfo, colour: [u8; 3]) -> usize {
        let linear = colour.map(|c| to_linear(f32::from(c) / 255.0));
        self.materials.push(json!({
            "name": body.name,
            "doubleSided": body.role == Role::Film,
            "pbrMetallicRoughness": {
                "baseColorFactor": [linear[0], linear[1], linear[2], 1.0],
                "metallicFactor": 0.0,
                "roughnessFactor": 0.7,
            },
        }));
        self.materials.len() - 1
    }

    /// Accessors of a unit sphere: points, which are its normals too, and triangles.
    fn sphere(&mut self, levels: u32) -> [usize; 2] {
        let (points, faces) = icosphere(levels);
        let points: Vec<[f32; 3]> = points.iter().map(|p| single(*p)).collect();
        [self.points(&points, Some(ARRAY_BUFFER)), self.indices(&faces)]
    }

    fn ball(&mut self, body: &BodyInfo, [points, faces]: &[usize; 2], material: usize) -> usize {
        let attributes = json!({ "POSITION": points, "NORMAL": points });
        let primitive = json!({ "attributes": attributes, "indices": faces, "material": material });
        self.meshes.push(json!({ "name": body.name, "primitives": [primitive] }));
        self.meshes.len() - 1
    }

    /// A node for each sphere, scaled to its radius and moved by its translation.
    fn spheres(
        &mut self,
        body: &BodyInfo,
        frames: &[&[DVec3]],
        mesh: usize,
        clock: Option<usize>,
    ) -> Vec<usize> {
        (0..body.vertices)
            .map(|v| {
                let radius = body.radii[v];
                self.nodes.push(json!({
                    "name": format!("{} {v}", body.name), "mesh": mesh,
                    "scale": [radius, radius, radius], "translation": single(frames[0][v]),
                }));
                let node = self.nodes.len() - 1;
                if let (true, Some(clock)) = (body.moving, clock) {
                    let path: Vec<[f32; 3]> = frames.iter().map(|frame| single(frame[v])).collect();
                    let output = self.points(&path, None);
                    self.animate(node, "translation", clock, output);
                }
                node
            })
            .collect()
    }

    /// A mesh with a morph target for each frame after the first, or a cloud of points.
    fn deforming(
        &mut self,
        body: &BodyInfo,
        frames: &[&[DVec3]],
        material: usize,
        clock: Option<usize>,
    ) -> usize {
        let base: Vec<[f32; 3]> = frames[0].iter().map(|p| single(*p)).collect();
        let points = self.points(&base, Some(ARRAY_BUFFER));
        let mut primitive = json!({ "attributes": { "POSITION": points }, "material": material });
        if body.faces.is_empty() {
            primitive["mode"] = json!(POINTS);
        } else {
            primitive["mode"] = json!(TRIANGLES);
            primitive["indices"] = json!(self.indices(&body.faces));
        }
        let shapes = if body.moving && clock.is_some() { &frames[1..] } else { &[] };
        let targets: Vec<Value> = shapes
            .iter()
            .map(|frame| {
                let moved = frame.iter().zip(&base).map(|(p, base)| {
                    let p = single(*p);
                    [p[0] - base[0], p[1] - base[1], p[2] - base[2]]
                });
                json!({ "POSITION": self.points(&moved.collect::<Vec<_>>(), Some(ARRAY_BUFFER)) })
            })
            .collect();
        let mut mesh = json!({ "name": body.name });
        if !targets.is_empty() {
            primitive["targets"] = json!(targets);
            mesh["weights"] = json!(vec![0; targets.len()]);
        }
        mesh["primitives"] = json!([primitive]);
        self.meshes.push(mesh);
        self.nodes.push(json!({ "name": body.name, "mesh": self.meshes.len() - 1 }));
        let node = self.nodes.len() - 1;
        if let (false, Some(clock)) = (shapes.is_empty(), clock) {
            // Key k: only the shape of frame k counts; none at the first.
            let weights: Vec<f32> = (0..frames.len())
                .flat_map(|k| (1..frames.len()).map(move |shape| f32::from(u8::from(shape == k))))
                .collect();
            let output = self.scalars(&weights, false);
            self.animate(node, "weights", clock, output);
        }
        node
    }

    fn animate(&mut self, node: usize, path: &str, input: usize, output: usize) {
        let sampler = json!({ "input": input, "output": output, "interpolation": "LINEAR" });
        self.samplers.push(sampler);
        let target = json!({ "node": node, "path": path });
        self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": target }));
    }

    /// The file: header, JSON chunk, binary chunk.
    fn bytes(mut self, title: &str) -> Result<Vec<u8>> {
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        let generator = format!("Gusset {}", env!("CARGO_PKG_VERSION"));
        let mut root = json!({
            "asset": { "version": "2.0", "generator": generator },
            "scene": 0,
            "scenes": [{ "name": title, "nodes": [self.nodes.len() - 1] }],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{ "byteLength": self.binary.len() }],
        });
        if !self.channels.is_empty() {
            root["animations"] =
                json!([{ "name": "run", "samplers": self.samplers, "channels": self.channels }]);
        }
        // Lists that are there must not be empty.
        if let Value::Object(root) = &mut root {
            root.retain(|_, value| value.as_array().is_none_or(|list| !list.is_empty()));
        }
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 12 + 8 + text.len() + 8 + self.binary.len();
        let Ok(length) = u32::try_from(length) else {
            return Err(OutputError::Shape(
                "the GLB file would be larger than 4 GB; write fewer frames with --every, or USD"
                    .to_owned(),
            ));
        };
        let mut bytes = Vec::with_capacity(length as usize);
        let words = |bytes: &mut Vec<u8>, words: &[u32]| {
            bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        };
        bytes.extend_from_slice(b"glTF");
        words(&mut bytes, &[2, length, text.len() as u32, JSON_CHUNK]);
        bytes.append(&mut text);
        words(&mut bytes, &[self.binary.len() as u32, BIN_CHUNK]);
        bytes.append(&mut self.binary);
        Ok(bytes)
    }
}

fn single(p: DVec3) -> [f32; 3] {
    p.as_vec3().to_array()
}
