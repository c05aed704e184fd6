//! `[contact]` to settings, and what the meshes say about it.

use crate::config::{ContactConfig, StepBound, StiffnessOrAuto};
use crate::defaults;
use crate::section::{Problems, Section};
use glam::DVec3;
use gusset_contact::{CollisionMesh, smallest_gap};
use gusset_energy::ContactParameters;
use gusset_mesh::{Mobility, Role, World};
use gusset_solve::{ContactSettings, StepBoundMethod};
use gusset_units::Units;

/// Checks and converts. `dt` (s), `gravity` (m/s^2) and the masses of `world` give an automatic stiffness.
pub(crate) fn contact(
    config: &ContactConfig,
    section: &Section<'_>,
    units: &Units,
    dt: f64,
    gravity: DVec3,
    world: &World,
    problems: &mut Problems<'_>,
) -> Option<ContactSettings> {
    let errors = problems.errors();
    let dhat = config.dhat.si(units);
    let min_gap = config.min_gap.si(units);
    let friction = config.friction.si(units);
    let friction_speed = config.friction_speed.si(units);
    let skin = config.skin.map_or(dhat * defaults::SKIN_OF_DHAT, |skin| skin.si(units));
    let mut above = |key: &str, value: f64, unit: &str, zero_too: bool| {
        if value < 0.0 || (value == 0.0 && !zero_too) {
            let least = if zero_too { "0 or more" } else { "above 0" };
            problems.error(
                &section.span_of(key),
                format!("`{key}` is {value}{unit}; it must be {least}"),
            );
        }
    };
    above("dhat", dhat, " m", false);
    above("min_gap", min_gap, " m", true);
    above("friction", friction, "", true);
    above("friction_speed", friction_speed, " m/s", false);
    if config.skin.is_some() {
        above("skin", skin, " m", false);
    }
    let stiffness = match config.stiffness {
        StiffnessOrAuto::Given(k) => {
            let k = k.si(units);
            above("stiffness", k, " N/m", false);
            k
        }
        StiffnessOrAuto::Auto => automatic_stiffness(world, dt, gravity, dhat),
    };
    (problems.errors() == errors).then_some(ContactSettings {
        parameters: ContactParameters {
            dhat,
            stiffness,
            friction,
            friction_speed,
            mollify: config.mollify,
        },
        min_gap,
        skin,
        step_bound: match config.step_bound {
            StepBound::SeparatingNormal => StepBoundMethod::SeparatingNormal,
            StepBound::Accd => StepBoundMethod::Additive,
        },
        slack: defaults::SLACK,
        feasible: config.law != "penalty",
    })
}

/// `10 m (1/dt^2 + |g|/dhat)` (N/m) with the mean mass `m` of the vertices that move freely.
fn automatic_stiffness(world: &World, dt: f64, gravity: DVec3, dhat: f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u32);
    for body in &world.bodies {
        for (mass, mobility) in body.mass.iter().zip(&body.mobility) {
            if *mobility == Mobility::Free {
                sum += mass;
                count += 1;
            }
        }
    }
    let mean = if count > 0 { sum / f64::from(count) } else { 1.0 };
    defaults::AUTO_STIFFNESS * mean * (1.0 / (dt * dt) + gravity.length() / dhat)
}

/// Compares the contact distances with the meshes at rest: surfaces that touch in the stress-free shape are an error,
/// surfaces that push each other apart in it are a warning.
pub(crate) fn spacing(
    settings: &ContactSettings,
    section: &Section<'_>,
    world: &World,
    problems: &mut Problems<'_>,
) {
    let (min_gap, dhat) = (settings.min_gap, settings.parameters.dhat);
    for body in &world.bodies {
        if !matches!(body.role, Role::Film | Role::Solid) {
            continue;
        }
        let mut mesh = CollisionMesh::new(vec![true; body.vertex_count()], 0.0);
        mesh.add_surface(&body.name, 0, &body.triangles);
        let Some(closest) = smallest_gap(&mesh, &body.rest) else { continue };
        let (distance, pair) = (closest.gap, mesh.describe(closest.pair));
        let apart = format!("{pair} are {distance:.5e} m apart in the stress-free shape");
        if distance <= min_gap {
            problems.error_help(
                &section.span_of("min_gap"),
                format!("`min_gap` is {min_gap} m, but {apart}: they touch from the start"),
                format!("take `min_gap` below {distance:.5e} m, or a coarser mesh"),
            );
        } else if distance < min_gap + dhat {
            let room = distance - min_gap;
            problems.warn(
                &section.span_of("dhat"),
                format!("`dhat` is {dhat} m, but {apart}: contact pushes on them at rest"),
                format!("a `dhat` below {room:.5e} m, or a coarser mesh, avoids this"),
            );
        }
    }
}
