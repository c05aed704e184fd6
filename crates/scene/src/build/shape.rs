//! Shapes to meshes, in SI and in place.

use crate::config::{
    BodyConfig, FoldFrame, GridOrigin, GridPattern, RoleName, Rotate, Scale, ShapeConfig,
};
use crate::section::{Problems, Section};
use glam::{DQuat, DVec2, DVec3};
use gusset_mesh::{Mesh, MeshError, Problem, SlabShape, generate, read};
use gusset_units::{Length, Units};
use std::path::Path;

/// A shape in its place.
pub(crate) struct Geometry {
    /// Stress-free positions, elements and groups.
    pub(crate) mesh: Mesh,
    /// Positions at the start.
    pub(crate) start: Vec<DVec3>,
    /// Radii of spheres.
    pub(crate) radius: Vec<f64>,
    /// The plate of a slab.
    pub(crate) slab: Option<SlabShape>,
    /// What such a shape is where the scene doesn't say.
    pub(crate) role: RoleName,
}

impl Geometry {
    fn of_mesh(mesh: Mesh, role: RoleName) -> Self {
        Self { start: mesh.positions.clone(), mesh, radius: Vec::new(), slab: None, role }
    }

    fn of_spheres(spheres: generate::Spheres) -> Self {
        let mesh = Mesh { positions: spheres.centres, ..Mesh::default() };
        Self { radius: spheres.radii, ..Self::of_mesh(mesh, RoleName::Spheres) }
    }
}

/// What a shape is made with.
pub(crate) struct Workshop<'a> {
    /// Units of bare numbers.
    pub(crate) units: &'a Units,
    /// Folder that file names are relative to.
    pub(crate) folder: &'a Path,
}

impl Workshop<'_> {
    fn point(&self, p: [Length; 3]) -> DVec3 {
        DVec3::from_array(Length::si_all(p, self.units))
    }

    fn points(&self, list: &[[Length; 3]]) -> Vec<DVec3> {
        list.iter().map(|p| self.point(*p)).collect()
    }

    /// Builds the shape of a body and puts it in its place. `table` is the shape's own table.
    pub(crate) fn geometry(
        &self,
        shape: &ShapeConfig,
        body: &BodyConfig,
        table: &Section<'_>,
        section: &Section<'_>,
        problems: &mut Problems<'_>,
    ) -> Option<Geometry> {
        let errors = problems.errors();
        let mut geometry = match self.build(shape, table, problems) {
            Ok(geometry) => geometry?,
            Err(error) => {
                report(&error, table, problems);
                return None;
            }
        };
        if let ShapeConfig::File(file) = shape {
            let mesh = &geometry.mesh;
            let bare = mesh.triangles.is_empty() && mesh.tets.is_empty();
            let points = body.role == Some(RoleName::Points);
            if mesh.positions.is_empty() || (bare && !points) {
                let what = if mesh.positions.is_empty() { "vertices" } else { "faces" };
                let message = format!("{} has no {what}", self.folder.join(&file.path).display());
                let help = "a mesh file with triangles or tetrahedra is needed; is it whole?";
                problems.error_help(&table.span_of("path"), message, Some(help.to_owned()));
                return None;
            }
        }
        let fold = |frame: FoldFrame, start: &mut [DVec3]| {
            if let Some(fold) = body.fold.filter(|fold| fold.frame == frame) {
                fold_over(start, fold.lift.si(self.units));
            }
        };
        fold(FoldFrame::Body, &mut geometry.start);
        self.place(&mut geometry, body, section, problems);
        fold(FoldFrame::World, &mut geometry.start);
        if !geometry.mesh.triangles.is_empty() || !geometry.mesh.tets.is_empty() {
            let checked = geometry.mesh.check().and_then(|()| geometry.mesh.check_coincident());
            if let Err(error) = checked {
                report(&error, table, problems);
            } else if geometry.start != geometry.mesh.positions {
                let start = Mesh { positions: geometry.start.clone(), ..geometry.mesh.clone() };
                if let Err(error) = start.check().and_then(|()| start.check_coincident()) {
                    report(&error, table, problems);
                }
            }
        }
        (problems.errors() == errors).then_some(geometry)
    }

    fn build(
        &self,
        shape: &ShapeConfig,
        table: &Section<'_>,
        problems: &mut Problems<'_>,
    ) -> Result<Option<Geometry>, MeshError> {
        let si = |length: Length| length.si(self.units);
        let surface = |mesh: Mesh, role| Ok(Some(Geometry::of_mesh(mesh, role)));
        match shape {
            ShapeConfig::Grid(g) => {
                let size = DVec2::from_array(Length::si_all(g.size, self.units));
                let pattern = match g.pattern {
                    GridPattern::Alternating => generate::Pattern::Alternating,
                    GridPattern::Regular => generate::Pattern::Regular,
                };
                let origin = match g.origin {
                    GridOrigin::Centre => generate::Origin::Centre,
                    GridOrigin::Corner => generate::Origin::Corner,
                };
                surface(generate::grid(size, g.cells, pattern, origin)?, RoleName::Film)
            }
            ShapeConfig::Disc(d) => {
                surface(generate::disc(si(d.radius), d.rings, d.segments)?, RoleName::Film)
            }
            ShapeConfig::Cylinder(c) => {
                let mesh = generate::cylinder(si(c.radius), si(c.height), c.cells, c.closed)?;
                surface(mesh, RoleName::Film)
            }
            ShapeConfig::Bag(b) => {
                let rings = match &b.rings {
                    None => generate::bag_rings(),
                    Some(rings) => rings
                        .iter()
                        .map(|r| generate::Ring {
                            radius: si(r.radius),
                            z: si(r.z),
                            start_z: si(r.start_z.unwrap_or(r.z)),
                            name: r.name.clone(),
                        })
                        .collect(),
                };
                let bag = generate::bag(&rings, b.columns, b.refine)?;
                let start = bag.start;
                Ok(Some(Geometry { start, ..Geometry::of_mesh(bag.mesh, RoleName::Film) }))
            }
            ShapeConfig::Bin(b) => {
                let mesh = generate::bin(
                    si(b.outer),
                    si(b.inner),
                    si(b.bottom),
                    si(b.floor),
                    si(b.top),
                    b.columns,
                )?;
                surface(mesh, RoleName::Obstacle)
            }
            ShapeConfig::Box(b) => {
                surface(generate::soft_box(self.point(b.size), b.cells)?, RoleName::Solid)
            }
            ShapeConfig::BoxSurface(b) => {
                surface(generate::box_surface(self.point(b.size), b.cells)?, RoleName::Obstacle)
            }
            ShapeConfig::Icosphere(s) => {
                let mesh = generate::icosphere(si(s.radius), s.subdivisions)?;
                surface(mesh, RoleName::Obstacle)
            }
            ShapeConfig::Triangles(t) => {
                let start = self.points(&t.vertices);
                let rest = t.rest.as_ref().map_or_else(|| start.clone(), |r| self.points(r));
                let mesh = Mesh {
                    positions: rest,
                    triangles: t.triangles.clone(),
                    groups: t.groups.clone(),
                    ..Mesh::default()
                };
                let geometry = Geometry { start, ..Geometry::of_mesh(mesh, RoleName::Film) };
                Ok(explicit(geometry, t.rest.is_some(), table, problems))
            }
            ShapeConfig::Tets(t) => {
                let start = self.points(&t.vertices);
                let rest = t.rest.as_ref().map_or_else(|| start.clone(), |r| self.points(r));
                let mesh =
                    Mesh { groups: t.groups.clone(), ..Mesh::from_tets(rest, t.tets.clone())? };
                let geometry = Geometry { start, ..Geometry::of_mesh(mesh, RoleName::Solid) };
                Ok(explicit(geometry, t.rest.is_some(), table, problems))
            }
            ShapeConfig::Spheres(s) => {
                let centres = self.points(&s.centres);
                let radii: Vec<f64> = match s.radii.as_slice() {
                    [one] => vec![si(*one); centres.len()],
                    many => many.iter().map(|r| si(*r)).collect(),
                };
                if radii.len() != centres.len() || centres.is_empty() {
                    problems.error(
                        &table.span_of("radii"),
                        format!(
                            "{} radii for {} centres; give one for each, or one",
                            radii.len(),
                            centres.len()
                        ),
                    );
                    return Ok(None);
                }
                if let Some(k) = radii.iter().position(|r| *r <= 0.0) {
                    problems.error(
                        &table.span_of("radii"),
                        format!("the radius of sphere {k} is {} m; it must be above 0", radii[k]),
                    );
                    return Ok(None);
                }
                Ok(Some(Geometry::of_spheres(generate::Spheres { centres, radii })))
            }
            ShapeConfig::SphereLattice(l) => generate::sphere_lattice(
                l.counts,
                self.point(l.spacing),
                si(l.radius),
                si(l.jitter),
                l.seed,
            )
            .map(|spheres| Some(Geometry::of_spheres(spheres))),
            ShapeConfig::SpherePacking(p) => generate::sphere_packing(
                p.count,
                p.radius.map(si),
                self.point(p.low),
                self.point(p.high),
                si(p.gap),
                p.seed,
            )
            .map(|spheres| Some(Geometry::of_spheres(spheres))),
            ShapeConfig::Points(p) => {
                if p.positions.is_empty() {
                    problems.error(&table.span_of("positions"), "`positions` holds no point");
                    return Ok(None);
                }
                let mesh = Mesh { positions: self.points(&p.positions), ..Mesh::default() };
                surface(mesh, RoleName::Points)
            }
            ShapeConfig::Slab(s) => {
                let Some(normal) = DVec3::from_array(s.normal).try_normalize() else {
                    let message = format!("the normal {:?} has no direction", s.normal);
                    problems.error(&table.span_of("normal"), message);
                    return Ok(None);
                };
                let thickness = si(s.thickness);
                if thickness <= 0.0 {
                    let message = format!("`thickness` is {thickness} m; it must be above 0");
                    problems.error(&table.span_of("thickness"), message);
                    return Ok(None);
                }
                let slab = Some(SlabShape { point: self.point(s.point), normal, thickness });
                Ok(Some(Geometry { slab, ..Geometry::of_mesh(Mesh::default(), RoleName::Slab) }))
            }
            ShapeConfig::File(f) => Ok(self.file(&f.path, table, problems)),
        }
    }

    fn file(
        &self,
        path: &str,
        table: &Section<'_>,
        problems: &mut Problems<'_>,
    ) -> Option<Geometry> {
        let full = self.folder.join(path);
        match read::mesh(&full) {
            Ok(mut mesh) => {
                for p in &mut mesh.positions {
                    *p = self.point(p.to_array().map(Length::written));
                }
                let role = if mesh.tets.is_empty() { RoleName::Film } else { RoleName::Solid };
                Some(Geometry::of_mesh(mesh, role))
            }
            Err(error) => {
                let missing = matches!(&error, read::ReadError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound);
                let message = if missing {
                    format!("there is no file {}", full.display())
                } else {
                    error.to_string()
                };
                let help = missing
                    .then(|| "paths are relative to the folder of the scene file".to_owned());
                problems.error_help(&table.span_of("path"), message, help);
                None
            }
        }
    }

    /// Scales, rotates and moves.
    fn place(
        &self,
        geometry: &mut Geometry,
        body: &BodyConfig,
        section: &Section<'_>,
        problems: &mut Problems<'_>,
    ) {
        if let Some(scale) = body.scale {
            scale_geometry(geometry, scale, section, problems);
        }
        let rotations = body.rotate.as_ref().map_or(&[][..], |Rotate(list)| list);
        for rotation in rotations {
            let Some(axis) = DVec3::from_array(rotation.axis).try_normalize() else {
                let message = format!("the axis {:?} has no direction", rotation.axis);
                problems.error(&section.span_of("rotate"), message);
                continue;
            };
            let turn = DQuat::from_axis_angle(axis, rotation.angle.radians);
            each_point(geometry, |p| turn * p);
            if let Some(slab) = &mut geometry.slab {
                slab.normal = (turn * slab.normal).normalize();
            }
        }
        let by = self.point(body.translate);
        if by != DVec3::ZERO {
            each_point(geometry, |p| p + by);
        }
    }
}

/// Checks what only shapes that are given one by one can have wrong.
fn explicit(
    geometry: Geometry,
    has_rest: bool,
    table: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<Geometry> {
    let (start, rest) = (geometry.start.len(), geometry.mesh.positions.len());
    if has_rest && start != rest {
        let message = format!("`rest` has {rest} positions and `vertices` {start}");
        problems.error(&table.span_of("rest"), message);
        return None;
    }
    for (name, group) in &geometry.mesh.groups {
        if let Some(v) = group.iter().find(|v| **v as usize >= start) {
            let message =
                format!("group `{name}` names vertex {v}, but there are {start} vertices");
            problems.error(&table.span_of("groups"), message);
            return None;
        }
    }
    Some(geometry)
}

fn each_point(geometry: &mut Geometry, change: impl Fn(DVec3) -> DVec3) {
    let slab = geometry.slab.iter_mut().map(|slab| &mut slab.point);
    for p in geometry.mesh.positions.iter_mut().chain(&mut geometry.start).chain(slab) {
        *p = change(*p);
    }
}

fn scale_geometry(
    geometry: &mut Geometry,
    scale: Scale,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) {
    let span = section.span_of("scale");
    if let Some(bad) = scale.bad() {
        problems.error(&span, format!("a factor of `scale` is {bad}; it must be above 0"));
        return;
    }
    let factors = DVec3::from_array(scale.0);
    let uniform = factors.max_element() == factors.min_element();
    if !uniform && (!geometry.radius.is_empty() || geometry.slab.is_some()) {
        problems.error(&span, "spheres and slabs stay what they are only with one factor");
        return;
    }
    each_point(geometry, |p| p * factors);
    geometry.radius.iter_mut().for_each(|r| *r *= factors.x);
    if let Some(slab) = &mut geometry.slab {
        slab.thickness *= factors.x;
    }
}

/// Points at the element of an explicit shape that is wrong; at the shape where it has no such list.
fn report(error: &MeshError, table: &Section<'_>, problems: &mut Problems<'_>) {
    const SHOWN: usize = 12;
    for problem in error.problems.iter().take(SHOWN) {
        let (key, index) = match problem {
            Problem::NonFinite { vertex, .. } | Problem::Unreferenced { vertex } => {
                ("vertices", *vertex)
            }
            Problem::CoincidentVertices { second, .. } => ("vertices", *second),
            Problem::IndexOutOfRange { element, index, .. }
            | Problem::RepeatedIndex { element, index, .. } => {
                (if *element == "tet" { "tets" } else { "triangles" }, *index)
            }
            Problem::DegenerateTriangle { triangle, .. } => ("triangles", *triangle),
            Problem::DuplicateFace { second, .. } => ("triangles", *second),
            Problem::CrowdedEdge { faces, .. } => {
                ("triangles", faces.last().copied().unwrap_or_default())
            }
            Problem::Winding { faces, .. } => ("triangles", faces[1]),
            Problem::InvertedTet { tet, .. } | Problem::FlatTet { tet, .. } => ("tets", *tet),
            _ => ("", 0),
        };
        let span = table
            .table
            .get(key)
            .and_then(|list| list.get_ref().as_array()?.get(index as usize))
            .map_or_else(|| table.span.clone(), toml::Spanned::span);
        problems.error(&span, problem.to_string());
    }
    if let Some(more) = error.problems.len().checked_sub(SHOWN).filter(|n| *n > 0) {
        problems.error(&table.span, format!("and {more} more defects of this mesh"));
    }
}

/// Reflects what is right of the middle in x, by more than a thousandth of the width, and lifts it along z.
fn fold_over(points: &mut [DVec3], lift: f64) {
    let (low, high) = points
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), p| (low.min(p.x), high.max(p.x)));
    let (middle, tolerance) = (0.5 * (low + high), 1e-3 * (high - low));
    for p in points.iter_mut().filter(|p| p.x > middle + tolerance) {
        p.x = 2.0 * middle - p.x;
        p.z += lift;
    }
}
