//! The benchmark's cloth: a square grid with Neo-Hookean triangles, hinges and inertia, waved.

use glam::DVec3;
use gusset_energy::{StepState, Term};
use std::error::Error;
use std::path::Path;

/// A cloth under way.
pub(crate) struct Sheet {
    pub(crate) triangles: usize,
    pub(crate) terms: Vec<Box<dyn Term>>,
    pub(crate) x: Vec<DVec3>,
    x_start: Vec<DVec3>,
    v_start: Vec<DVec3>,
}

impl Sheet {
    /// About that many triangles.
    pub(crate) fn new(triangles: usize) -> Result<Self, Box<dyn Error>> {
        let cells = ((triangles as f64 / 2.0).sqrt().round() as usize).max(2);
        let text = format!(
            "title = \"sheet\"\ndt = 0.01\nduration = 0.01\n\
             [[body]]\nname = \"cloth\"\n\
             shape = {{ kind = \"grid\", size = [1, 1], cells = [{cells}, {cells}], pattern = \"alternating\" }}\n\
             material = {{ young = 2.5e7, poisson = 0.25, thickness = 0.001, area_density = 0.2 }}\n\
             [[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\n\
             [[energy]]\nkind = \"hinge\"\nbody = \"cloth\"\n"
        );
        let scene = gusset_scene::read("sheet.toml", &text, Path::new("."), &[])
            .map_err(|error| error.to_string())?;
        let (x_start, v_start) = (scene.state.x, scene.state.v);
        let cell = 1.0 / cells as f64;
        let wave = |p: &DVec3| {
            *p + DVec3::Z * (0.2 * cell * (p.x / cell).sin() * (1.3 * p.y / cell).cos())
        };
        Ok(Self {
            triangles: 2 * cells * cells,
            terms: scene.model.terms,
            x: x_start.iter().map(wave).collect(),
            x_start,
            v_start,
        })
    }

    pub(crate) fn state(&self) -> StepState<'_> {
        StepState { x: &self.x, x_start: &self.x_start, v_start: &self.v_start, dt: 0.01 }
    }
}
