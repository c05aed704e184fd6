//! Bodies as what is drawn: triangles with normals, spheres, planes.

use glam::{DVec3, Vec3};

use crate::body::{BodyInfo, Role};
use crate::colour::{ColourMap, body_colours, to_linear};

/// A corner of a drawn triangle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corner {
    pub(crate) position: Vec3,
    pub(crate) normal: Vec3,
    /// Position in the colour map, NaN for the body's own colour.
    pub(crate) scalar: f32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub(crate) corners: [Corner; 3],
    pub(crate) body: u16,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub(crate) centre: Vec3,
    pub(crate) radius: f32,
    pub(crate) scalar: f32,
    pub(crate) body: u16,
}

/// How a body takes light; colours in linear light.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Material {
    pub(crate) colour: Vec3,
    /// Colour of the side that faces against the triangles' orientation.
    pub(crate) back: Vec3,
    /// Strength of the highlight.
    pub(crate) gloss: f32,
    /// Share of the light on the far side that shines through.
    pub(crate) translucent: f32,
    /// Whether mesh lines are drawn.
    pub(crate) lines: bool,
    /// Whether what is behind shows; such a surface casts no shadow.
    pub(crate) see_through: bool,
}

/// Everything drawn in one picture, relative to `origin`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surfaces {
    pub(crate) triangles: Vec<Triangle>,
    pub(crate) balls: Vec<Ball>,
    pub(crate) materials: Vec<Material>,
    pub(crate) map: ColourMap,
}

/// Angle between a face and a vertex normal beyond which the edge is drawn sharp: cos 40 degrees.
const CREASE: f32 = 0.766;

impl Surfaces {
    /// `scalars[b][v]` in 0..1 colours vertex `v` of body `b`; an empty list leaves the body its colour.
    pub(crate) fn new(
        bodies: &[BodyInfo],
        positions: &[Vec<DVec3>],
        scalars: &[Vec<f32>],
        map: ColourMap,
        see_through: &[bool],
        origin: DVec3,
        point_radius: f64,
    ) -> Surfaces {
        let mut surfaces = Surfaces { map, ..Surfaces::default() };
        for (b, (body, colour)) in bodies.iter().zip(body_colours(bodies)).enumerate() {
            let colour = Vec3::from_array(colour.map(|c| to_linear(f32::from(c) / 255.0)));
            let film = body.role == Role::Film;
            let round = matches!(body.role, Role::Spheres | Role::Points);
            surfaces.materials.push(Material {
                colour,
                back: if film { colour * 0.72 + Vec3::splat(0.03) } else { colour },
                gloss: if round { 0.22 } else { 0.05 },
                translucent: if film { 0.22 } else { 0.0 },
                lines: matches!(body.role, Role::Film | Role::Solid),
                see_through: see_through.get(b).copied().unwrap_or(false),
            });
            let points: Vec<Vec3> = positions[b].iter().map(|p| (*p - origin).as_vec3()).collect();
            let scalar =
                |v: usize| scalars.get(b).and_then(|s| s.get(v)).copied().unwrap_or(f32::NAN);
            let body_index = b as u16;
            if round {
                for (v, centre) in points.iter().enumerate() {
                    let radius = body.radii.get(v).copied().unwrap_or(point_radius) as f32;
                    if centre.is_finite() {
                        let ball =
                            Ball { centre: *centre, radius, scalar: scalar(v), body: body_index };
                        surfaces.balls.push(ball);
                    }
                }
                continue;
            }
            let normals = vertex_normals(&points, &body.faces);
            for face in &body.faces {
                let p = face.map(|v| points[v as usize]);
                let flat = (p[1] - p[0]).cross(p[2] - p[0]).normalize_or_zero();
                if !p.iter().all(|p| p.is_finite()) {
                    continue;
                }
                let corners = std::array::from_fn(|i| {
                    let v = face[i] as usize;
                    let sharp = normals[v].dot(flat) < CREASE && !film;
                    let normal = if sharp { flat } else { normals[v] };
                    Corner { position: p[i], normal, scalar: scalar(v) }
                });
                surfaces.triangles.push(Triangle { corners, body: body_index });
            }
        }
        surfaces
    }
}

/// Unit normals at the vertices, weighted by area.
pub(crate) fn vertex_normals(points: &[Vec3], faces: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; points.len()];
    for face in faces {
        let [a, b, c] = face.map(|v| points[v as usize]);
        let n = (b - a).cross(c - a);
        if n.is_finite() {
            for v in face {
                normals[*v as usize] += n;
            }
        }
    }
    normals.into_iter().map(Vec3::normalize_or_zero).collect()
}
