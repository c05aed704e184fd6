//! What a stage has to move and compute at least: the cost model.
//!
//! Every array counts once, in the direction in which it is used; caches may make vertices and blocks that several stencils
//! share cost no more than that. Numbers are 8 bytes, indices 4.

use crate::sheet::Sheet;
use gusset_contact::CollisionMesh;
use gusset_energy::block_count;
use gusset_system::System;
use std::collections::BTreeMap;

/// Bytes and floating-point operations by stage.
pub(crate) struct Cost {
    stages: BTreeMap<String, (f64, f64)>,
}

impl Cost {
    pub(crate) fn of(sheet: &Sheet, system: &System) -> Self {
        let vertices = sheet.x.len() as f64;
        let (rows, blocks) = (system.pattern.len() as f64, system.pattern.block_count() as f64);
        let mut stages = BTreeMap::new();
        let (mut contributions, mut corners) = (0.0, 0.0);
        for term in &sheet.terms {
            let (count, n) = (term.count() as f64, term.arity() as f64);
            let hessian = block_count(term.arity()) as f64;
            let read = count * (4.0 * n + 8.0 * term.params().1 as f64) + 24.0 * vertices;
            let name = term.kind().replace('-', "_");
            // Statements of the kernels: one operation each.
            let shader = term.shader();
            let statements = |text: &str| text.matches("precise double").count() as f64;
            let derivatives = shader.closed_form.as_deref().unwrap_or(&shader.hessian);
            let written = count * (24.0 * n + 72.0 * hessian);
            let flops = count * statements(derivatives);
            let form = if shader.closed_form.is_some() { "closed_form" } else { "exact" };
            // A kind may have several terms, one for each body.
            let mut add = |form: &str, bytes: f64, flops: f64| {
                let stage = stages.entry(format!("{name}.{form}")).or_insert((0.0, 0.0));
                *stage = (stage.0 + bytes, stage.1 + flops);
            };
            add(form, read + written, flops);
            add("energy", read + 8.0 * count, count * statements(&shader.energy));
            contributions += count * hessian;
            corners += count * n;
        }
        // A contribution's place and block; a target's number, list, and block read and written.
        let gather = contributions * 76.0 + blocks * (8.0 + 144.0);
        stages.insert("gather Hessian".to_owned(), (gather, 9.0 * contributions));
        let gather = corners * 28.0 + rows * (8.0 + 48.0);
        stages.insert("gather gradient".to_owned(), (gather, 3.0 * corners));
        // Each block off the diagonal serves two rows and is read for both; column and block number of each entry.
        let entries = 2.0 * blocks - rows;
        stages.insert(
            "H p".to_owned(),
            (entries * 80.0 + rows * (24.0 + 24.0 + 4.0), 18.0 * entries),
        );
        stages.insert("download".to_owned(), (72.0 * blocks + 24.0 * rows, 0.0));
        Self { stages }
    }

    /// Adds a query for candidates: boxes and trees of vertices, edges and triangles are written and read once, each vertex and
    /// each edge goes down a tree once, and so many pairs are written.
    pub(crate) fn add_candidates(&mut self, mesh: &CollisionMesh, pairs: usize) {
        const BOX: f64 = 24.0;
        let counts = [(mesh.vertices.len(), 1), (mesh.edges.len(), 2), (mesh.triangles.len(), 3)];
        let (mut bytes, mut flops) = (8.0 * pairs as f64, 0.0);
        for (count, corners) in counts.map(|(n, c)| (n as f64, f64::from(c))) {
            // Two positions and a number for each corner; a box, and two nodes of a tree.
            bytes += count * (corners * (48.0 + 4.0) + 3.0 * 2.0 * BOX);
            flops += count * (corners * 12.0 + 12.0);
        }
        for (queries, leaves) in [(counts[0].0, counts[2].0), (counts[1].0, counts[1].0)] {
            let visited = queries as f64 * (leaves as f64).log2().ceil().max(1.0);
            bytes += visited * BOX;
            flops += visited * 6.0;
        }
        self.stages.insert("candidates".to_owned(), (bytes, flops));
    }

    /// Bytes and operations; 0 where the model has nothing to say.
    pub(crate) fn stage(&self, name: &str) -> (f64, f64) {
        self.stages.get(name).copied().unwrap_or_default()
    }
}
