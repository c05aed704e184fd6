//! Bodies of a world as the run folder knows them, and back to what can touch.

use glam::DVec3;
use gusset_contact::CollisionMesh;
use gusset_mesh::{Body, Mobility, Role, SlabShape, World};
use gusset_output::{BodyInfo, Plane};

/// What no frame changes of the bodies.
pub(crate) fn infos(world: &World, colours: &[Option<[u8; 3]>]) -> Vec<BodyInfo> {
    let colour = |i: usize| colours.get(i).copied().flatten();
    world.bodies.iter().enumerate().map(|(i, body)| info(body, colour(i))).collect()
}

fn info(body: &Body, colour: Option<[u8; 3]>) -> BodyInfo {
    let role = match body.role {
        Role::Film => gusset_output::Role::Film,
        Role::Solid => gusset_output::Role::Solid,
        Role::Spheres => gusset_output::Role::Spheres,
        Role::Obstacle => gusset_output::Role::Obstacle,
        Role::Slab => gusset_output::Role::Slab,
        Role::Points => gusset_output::Role::Points,
    };
    let mut info = BodyInfo::new(&*body.name, role, body.vertex_count(), body.triangles.clone());
    info.moving = body.mobility.iter().any(|m| *m != Mobility::Fixed);
    info.radii.clone_from(&body.radius);
    info.colour = colour;
    if body.role == Role::Film {
        info.rest.clone_from(&body.rest);
    }
    info.thickness = body.slab.map(|s| s.thickness).or(body.material.thickness);
    info.plane = body.slab.map(|s| Plane { point: s.point, normal: s.normal });
    info
}

/// What can touch in a run folder, by its own arrays alone: surfaces without an offset.
pub(crate) fn collision_mesh(bodies: &[BodyInfo]) -> CollisionMesh {
    let movable = bodies.iter().flat_map(|b| std::iter::repeat_n(b.moving, b.vertices)).collect();
    let mut mesh = CollisionMesh::new(movable, 0.0);
    let mut first = 0;
    for body in bodies {
        match body.role {
            gusset_output::Role::Film
            | gusset_output::Role::Solid
            | gusset_output::Role::Obstacle => mesh.add_surface(&body.name, first, &body.faces),
            gusset_output::Role::Spheres => mesh.add_spheres(&body.name, first, &body.radii),
            gusset_output::Role::Points => mesh.add_points(&body.name, first, body.vertices),
            gusset_output::Role::Slab => {
                if let Some(Plane { point, normal }) = body.plane {
                    // Without a thickness, everything behind the plane.
                    let thickness = body.thickness.unwrap_or(f64::INFINITY);
                    mesh.add_slab(&body.name, SlabShape { point, normal, thickness });
                }
            }
        }
        first += body.vertices as u32;
    }
    mesh
}

/// One body after the other in one array, as the collision mesh counts vertices.
pub(crate) fn flat(frame: &[Vec<DVec3>]) -> Vec<DVec3> {
    frame.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_enough_to_look_for_contact() {
        let cloth = BodyInfo::new("cloth", gusset_output::Role::Film, 3, vec![[0, 1, 2]]);
        let mut floor = BodyInfo::new("floor", gusset_output::Role::Slab, 0, Vec::new());
        floor.plane = Some(Plane { point: DVec3::ZERO, normal: DVec3::Z });
        let mut balls = BodyInfo::new("balls", gusset_output::Role::Spheres, 1, Vec::new());
        balls.radii = vec![0.5];
        let mesh = collision_mesh(&[cloth, floor, balls]);
        assert_eq!(mesh.spheres[0].vertex, 3);
        let triangle = vec![DVec3::Z, DVec3::Z + DVec3::X, DVec3::Z + DVec3::Y];
        let gap = |height: f64| {
            let x = flat(&[triangle.clone(), Vec::new(), vec![DVec3::Z * height]]);
            let check = gusset_contact::IntersectionCheck::default();
            let found = gusset_contact::intersections(&mesh, &x, &check);
            (found.pairs.len(), gusset_contact::smallest_gap(&mesh, &x).map(|g| g.gap))
        };
        assert_eq!(gap(2.0).0, 0);
        assert!((gap(2.0).1.unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(gap(1.25).0, 1, "the ball is in the cloth");
        assert_eq!(gap(0.25).0, 1, "the ball is in the floor");
    }
}
