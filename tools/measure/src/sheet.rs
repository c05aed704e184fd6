//! The benchmark's cloth: a square grid with Neo-Hookean triangles, hinges and inertia, waved, under a second one that is near
//! enough to touch.

use glam::DVec3;
use gusset_contact::CollisionMesh;
use gusset_energy::{StepState, Term};
use gusset_mesh::World;
use std::error::Error;
use std::path::Path;

/// Two layers of cloth under way.
pub(crate) struct Sheet {
    pub(crate) triangles: usize,
    pub(crate) terms: Vec<Box<dyn Term>>,
    pub(crate) x: Vec<DVec3>,
    /// Edge of a cell (m).
    pub(crate) cell: f64,
    world: World,
    x_start: Vec<DVec3>,
    v_start: Vec<DVec3>,
}

impl Sheet {
    /// About that many triangles in both layers together.
    pub(crate) fn new(triangles: usize) -> Result<Self, Box<dyn Error>> {
        let cells = ((triangles as f64 / 4.0).sqrt().round() as usize).max(2);
        let cell = 1.0 / cells as f64;
        let layer = |name: &str, z: f64| {
            format!(
                "[[body]]\nname = \"{name}\"\ntranslate = [0, 0, {z:?}]\n\
                 shape = {{ kind = \"grid\", size = [1, 1], cells = [{cells}, {cells}], pattern = \"alternating\" }}\n\
                 material = {{ young = 2.5e7, poisson = 0.25, thickness = 0.001, area_density = 0.2 }}\n\
                 [[energy]]\nkind = \"neo-hookean\"\nbody = \"{name}\"\n\
                 [[energy]]\nkind = \"hinge\"\nbody = \"{name}\"\n"
            )
        };
        let text = format!(
            "title = \"sheet\"\ndt = 0.01\nduration = 0.01\n{}{}",
            layer("lower", 0.0),
            layer("upper", 0.5 * cell)
        );
        let scene = gusset_scene::read("sheet.toml", &text, Path::new("."), &[])
            .map_err(|error| error.to_string())?;
        let (x_start, v_start) = (scene.state.x, scene.state.v);
        let wave = |p: &DVec3| {
            *p + DVec3::Z * (0.2 * cell * (p.x / cell).sin() * (1.3 * p.y / cell).cos())
        };
        Ok(Self {
            triangles: 4 * cells * cells,
            terms: scene.model.terms,
            x: x_start.iter().map(wave).collect(),
            cell,
            world: scene.model.world,
            x_start,
            v_start,
        })
    }

    pub(crate) fn state(&self) -> StepState<'_> {
        StepState { x: &self.x, x_start: &self.x_start, v_start: &self.v_start, dt: 0.01 }
    }

    pub(crate) fn collision_mesh(&self) -> CollisionMesh {
        CollisionMesh::from_world(&self.world, 0.05 * self.cell)
    }

    /// Where a step would take the vertices (m).
    pub(crate) fn end(&self) -> Vec<DVec3> {
        self.x.iter().map(|p| *p - DVec3::Z * (0.1 * self.cell)).collect()
    }
}
