//! `[[body]]` tables to bodies.

use super::motion::{self, Moving};
use super::shape::{Geometry, Workshop};
use crate::config::{BodyConfig, MaterialConfig, MaterialRef, RoleName, ShapeConfig};
use crate::section::{Problems, Section};
use crate::suggest;
use glam::DVec3;
use gusset_mesh::{Body, Material, Mobility, Role, Topology, measure};
use gusset_units::{Rate, Units, Velocity};
use std::collections::BTreeMap;
use std::path::Path;

/// A body with what the scene says about it besides.
pub(crate) struct Built<'i> {
    /// The body.
    pub(crate) body: Body,
    /// Its prescribed motion.
    pub(crate) moving: Vec<Moving>,
    /// sRGB colour.
    pub(crate) colour: Option<[u8; 3]>,
    /// Its table.
    pub(crate) section: Section<'i>,
}

/// Builds all bodies; `None` for those that have an error.
pub(crate) fn bodies<'i>(
    tables: Vec<Section<'i>>,
    materials: &BTreeMap<String, MaterialConfig>,
    units: &Units,
    folder: &Path,
    problems: &mut Problems<'_>,
) -> Vec<Option<Built<'i>>> {
    let workshop = Workshop { units, folder };
    tables.into_iter().map(|section| build(section, materials, &workshop, problems)).collect()
}

fn build<'i>(
    section: Section<'i>,
    materials: &BTreeMap<String, MaterialConfig>,
    workshop: &Workshop<'_>,
    problems: &mut Problems<'_>,
) -> Option<Built<'i>> {
    let errors = problems.errors();
    let shape = section.table.get("shape").cloned().and_then(|value| {
        let what = format!("`shape` of {}", section.what);
        let table = Section::new(value, what, problems)?;
        Some((ShapeConfig::read(table.clone(), &[], problems)?.0, table))
    });
    // Values are checked even where another key is wrong, so that all mistakes come at once.
    let config: Option<BodyConfig> = section.read_partly(problems);
    let all_read = problems.errors() == errors;
    let (config, (shape, shape_table)) = (config?, shape?);
    let units = workshop.units;

    let material = material(&config, materials, units, &section, problems);
    let colour = config.colour.as_deref().and_then(|text| {
        let colour = parse_colour(text);
        if colour.is_none() {
            let message =
                format!("`{text}` is not a colour; write six hexadecimal digits: \"#c8553d\"");
            problems.error(&section.span_of("colour"), message);
        }
        colour
    });
    let geometry = workshop.geometry(&shape, &config, &shape_table, &section, problems)?;
    let role = role(&config, &geometry, &section, problems)?;
    let mut body = assemble(&config.name, role, geometry, material?)?;
    let moving = motion::mobility(
        &mut body,
        config.fixed.as_ref(),
        &config.moves,
        units,
        &section,
        problems,
    );
    if role == Role::Obstacle {
        // Nothing else could move it.
        for m in &mut body.mobility {
            if *m == Mobility::Free {
                *m = Mobility::Fixed;
            }
        }
    }
    // A missing mass may be the key that was misspelt.
    if all_read || section.has("mass") || section.has("vertex_mass") {
        masses(&mut body, &config, units, &section, problems);
    }
    velocities(&mut body, &config, units);
    (problems.errors() == errors).then_some(Built { body, moving, colour, section })
}

fn material(
    config: &BodyConfig,
    materials: &BTreeMap<String, MaterialConfig>,
    units: &Units,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<Material> {
    let span = section.span_of("material");
    match &config.material {
        None => Some(Material::default()),
        Some(MaterialRef::Named(name)) => {
            let found = materials.get(name).map(|m| m.si(units));
            if found.is_none() {
                let help = suggest::help(name, materials.keys().map(String::as_str))
                    .unwrap_or_else(|| "this scene has no `[[material]]`".to_owned());
                problems.error_help(&span, format!("there is no material `{name}`"), help);
            }
            found
        }
        Some(MaterialRef::Inline(constants)) => {
            let senseless = constants.senseless();
            let table = section.table.get("material").and_then(|v| v.get_ref().as_table());
            for (key, message) in &senseless {
                let at = table
                    .and_then(|t| t.get(*key))
                    .map_or_else(|| span.clone(), toml::Spanned::span);
                problems.error(&at, message);
            }
            senseless.is_empty().then(|| constants.si(units))
        }
    }
}

fn role(
    config: &BodyConfig,
    geometry: &Geometry,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) -> Option<Role> {
    let wanted = config.role.unwrap_or(geometry.role);
    let surface = [RoleName::Film, RoleName::Obstacle];
    let fits = wanted == geometry.role
        || (surface.contains(&wanted) && surface.contains(&geometry.role))
        || (wanted == RoleName::Obstacle && geometry.role == RoleName::Solid);
    if !fits {
        let message =
            format!("this shape can't be {}; it is {}", describe(wanted), describe(geometry.role));
        problems.error(&section.span_of("role"), message);
        return None;
    }
    Some(match wanted {
        RoleName::Film => Role::Film,
        RoleName::Solid => Role::Solid,
        RoleName::Obstacle => Role::Obstacle,
        RoleName::Spheres => Role::Spheres,
        RoleName::Points => Role::Points,
        RoleName::Slab => Role::Slab,
    })
}

fn describe(role: RoleName) -> &'static str {
    match role {
        RoleName::Film => "a film",
        RoleName::Solid => "a solid",
        RoleName::Obstacle => "an obstacle",
        RoleName::Spheres => "spheres",
        RoleName::Points => "points",
        RoleName::Slab => "a slab",
    }
}

fn assemble(name: &str, role: Role, geometry: Geometry, material: Material) -> Option<Body> {
    let count = geometry.start.len();
    let mesh = geometry.mesh;
    // The mesh was checked, so its topology exists.
    let topology =
        if mesh.triangles.is_empty() { Topology::default() } else { mesh.topology().ok()? };
    let tets = if role == Role::Solid { mesh.tets } else { Vec::new() };
    Some(Body {
        name: name.to_owned(),
        role,
        first: 0,
        rest: mesh.positions,
        start: geometry.start,
        velocity: vec![DVec3::ZERO; count],
        mass: vec![0.0; count],
        radius: geometry.radius,
        mobility: vec![Mobility::Free; count],
        triangles: mesh.triangles,
        tets,
        topology,
        groups: mesh.groups,
        material,
        slab: geometry.slab,
    })
}

/// Mass of each vertex. A body none of whose vertices is free needs none.
fn masses(
    body: &mut Body,
    config: &BodyConfig,
    units: &Units,
    section: &Section<'_>,
    problems: &mut Problems<'_>,
) {
    if config.mass.is_some() && config.vertex_mass.is_some() {
        let message = "a body has `mass` or `vertex_mass`, not both";
        problems.error(&section.span_of("vertex_mass"), message);
        return;
    }
    for (key, value) in [("mass", config.mass), ("vertex_mass", config.vertex_mass)] {
        if let Some(mass) = value.map(|m| m.si(units)).filter(|m| *m <= 0.0) {
            let message = format!("`{key}` is {mass} kg; it must be above 0");
            problems.error(&section.span_of(key), message);
            return;
        }
    }
    // Mass per unit of density: what the geometry alone says.
    let by_density = |body: &Body, density: f64| match body.role {
        Role::Film => measure::film_mass(&body.rest, &body.triangles, density),
        Role::Solid => measure::solid_mass(&body.rest, &body.tets, density),
        Role::Spheres => measure::sphere_mass(&body.radius, density),
        _ => measure::uniform_mass(body.vertex_count(), density),
    };
    if matches!(body.role, Role::Obstacle | Role::Slab) {
        if let Some(key) = ["mass", "vertex_mass"].into_iter().find(|k| section.has(k)) {
            let message = format!("`{}` never moves freely, so its mass means nothing", body.name);
            problems.warn(&section.span_of(key), message, None);
        }
        return;
    }
    body.mass = if let Some(mass) = config.vertex_mass {
        measure::uniform_mass(body.vertex_count(), mass.si(units))
    } else if let Some(mass) = config.mass {
        let shares = by_density(body, 1.0);
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| mass.si(units) * share / sum).collect()
    } else {
        let density = match body.role {
            Role::Film => body.material.surface_density().map_err(|e| e.to_string()),
            Role::Points => Err("points have no size, so no density gives them a mass".to_owned()),
            Role::Spheres => {
                body.material.volume_density("the mass of a sphere").map_err(|e| e.to_string())
            }
            _ => body.material.volume_density("the mass of a solid").map_err(|e| e.to_string()),
        };
        match density {
            Ok(density) => by_density(body, density),
            Err(message) => {
                if body.mobility.contains(&Mobility::Free) {
                    problems.error_help(
                        &section.span_of("material"),
                        format!(
                            "`{}` has vertices that move freely but no mass: {message}",
                            body.name
                        ),
                        "give `mass` or `vertex_mass`, or a density in its `material`".to_owned(),
                    );
                }
                return;
            }
        }
    };
    let massless = |v: &usize| body.mobility[*v] == Mobility::Free && body.mass[*v] <= 0.0;
    if let Some(v) = (0..body.vertex_count()).find(massless) {
        let message = format!("vertex {v} of `{}` moves freely but has no mass", body.name);
        problems.error(&section.span, message);
    }
}

fn velocities(body: &mut Body, config: &BodyConfig, units: &Units) {
    let linear = config.velocity.map(|v| DVec3::from_array(Velocity::si_all(v, units)));
    let spin = config.angular_velocity.map(|w| DVec3::from_array(Rate::si_all(w, units)));
    let total: f64 = body.mass.iter().sum();
    let weighted: DVec3 = body.start.iter().zip(&body.mass).map(|(x, m)| *x * *m).sum();
    let centre = if total > 0.0 { weighted / total } else { DVec3::ZERO };
    for ((v, x), mobility) in body.velocity.iter_mut().zip(&body.start).zip(&body.mobility) {
        if *mobility == Mobility::Free {
            *v = linear.unwrap_or_default() + spin.map_or(DVec3::ZERO, |w| w.cross(*x - centre));
        }
    }
}

/// "#rrggbb".
fn parse_colour(text: &str) -> Option<[u8; 3]> {
    let digits = text.strip_prefix('#')?;
    if digits.len() != 6 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |k: usize| u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).ok();
    Some([byte(0)?, byte(1)?, byte(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_six_digits() {
        assert_eq!(parse_colour("#c8553d"), Some([0xc8, 0x55, 0x3d]));
        for bad in ["c8553d", "#c8553", "#c8553g", "#é8553"] {
            assert_eq!(parse_colour(bad), None, "{bad}");
        }
    }
}
