//! What mechanics asks of any scene: momentum, balance of forces, energy, free fall.

use crate::play::{Play, gradient, read};
use glam::{DVec3, dvec3};
use gusset_contact::{Candidates, CollisionMesh};
use gusset_energy::{Contacts, Lagged, StepState, Term, registry};
use gusset_scene::Scene;

/// A cloth that turns and flies freely, stretched at the start.
fn flight(dt: f64, tolerance: f64) -> String {
    format!(
        r#"
        dt = {dt}
        duration = 1
        gravity = [0, 0, 0]
        [solver]
        tolerance = {tolerance}
        [[body]]
        name = "cloth"
        shape = {{ kind = "grid", size = [0.4, 0.3], cells = [6, 5] }}
        velocity = [1, -2, 0.5]
        angular_velocity = [3, 1, -2]
        material = {{ young = 1e5, poisson = 0.3, thickness = 1e-3, area_density = 0.2 }}
        [[energy]]
        kind = "neo-hookean"
        body = "cloth"
        [[energy]]
        kind = "hinge"
        body = "cloth"
        stiffness = 1e-4
        "#
    )
}

struct Momenta {
    mass: f64,
    linear: DVec3,
    /// About the origin.
    angular: DVec3,
}

fn momenta(play: &Play) -> Momenta {
    let mut sum = Momenta { mass: 0.0, linear: DVec3::ZERO, angular: DVec3::ZERO };
    let mass = play.solver.model().world.gather(|b| &b.mass);
    for ((x, v), m) in play.state.x.iter().zip(&play.state.v).zip(mass) {
        sum.mass += m;
        sum.linear += *v * m;
        sum.angular += x.cross(*v * m);
    }
    sum
}

#[test]
fn linear_momentum_is_kept() {
    let (dt, tolerance) = (0.01, 1e-9);
    let mut play = Play::read(&flight(dt, tolerance));
    let start = momenta(&play);
    for step in 1..=50 {
        play.step();
        let now = momenta(&play);
        let drift = now.linear.distance(start.linear);
        // Each step may leave every vertex where it is wrong by the tolerance.
        let explained = f64::from(step) * start.mass * tolerance / dt;
        assert!(drift < explained, "{step}: {drift} {explained}");
        // In fact forces cancel in pairs, so that only rounding is left.
        assert!(drift < 1e-11 * start.linear.length(), "{step}: {drift}");
    }
}

#[test]
fn the_error_of_angular_momentum_shrinks_with_dt() {
    let errors = [0.02, 0.01, 0.005, 0.0025].map(|dt| {
        let mut play = Play::read(&flight(dt, 1e-10));
        let start = momenta(&play).angular;
        play.steps((0.2 / dt).round() as usize);
        momenta(&play).angular.distance(start) / start.length()
    });
    // Backward Euler loses it at first order.
    for pair in errors.windows(2) {
        assert!(pair[1] < 0.65 * pair[0] && pair[1] > 0.3 * pair[0], "{errors:?}");
    }
    assert!(errors[3] < 0.1, "{errors:?}");
}

#[test]
fn free_fall_is_that_of_backward_euler() {
    let mut play = Play::read(
        r#"
        dt = 0.004
        duration = 1
        gravity = [0.5, -9.81, 0.25]
        [solver]
        tolerance = 1e-10
        [[body]]
        name = "lump"
        shape = { kind = "box", size = [0.2, 0.1, 0.1], cells = [2, 1, 1] }
        material = { young = 1e5, poisson = 0.3, density = 500 }
        [[body]]
        name = "balls"
        shape = { kind = "sphere-lattice", counts = [2, 1, 1], spacing = [1, 1, 1], radius = 0.1 }
        translate = [0, 5, 0]
        material = { density = 300 }
        [[energy]]
        kind = "tet-neo-hookean"
        body = "lump"
        "#,
    );
    let (start, h, g) = (play.state.x.clone(), 0.004, dvec3(0.5, -9.81, 0.25));
    for n in 1..=60 {
        play.step();
        let n = f64::from(n);
        for ((x, v), start) in play.state.x.iter().zip(&play.state.v).zip(&start) {
            let way = g * (h * h * n * (n + 1.0) / 2.0);
            assert!((*x - *start).distance(way) < 1e-11, "{n}: {x}");
            assert!(v.distance(g * (h * n)) < 1e-8, "{n}: {v}");
        }
    }
}

/// Kinetic, elastic and contact energy; that of inertia is no energy of the state.
fn total(play: &Play) -> f64 {
    let mass = play.solver.model().world.gather(|b| &b.mass);
    let kinetic: f64 =
        play.state.v.iter().zip(mass).map(|(v, m)| 0.5 * m * v.length_squared()).sum();
    let terms = &play.records.last().unwrap().energies;
    let stored = terms.iter().filter(|(label, _)| !label.starts_with("inertia"));
    kinetic + stored.map(|(_, energy)| energy).sum::<f64>()
}

#[test]
fn energy_decays() {
    // A ball of cloth thrown at a wall, without gravity: stretch, bending, contact.
    let text = flight(0.01, 1e-8)
        + r#"
        [[body]]
        name = "wall"
        role = "obstacle"
        shape = { kind = "grid", size = [4, 4], cells = [1, 1] }
        translate = [0, 0, 0.3]
        [contact]
        dhat = 0.005
        "#;
    for text in [flight(0.01, 1e-8), text] {
        let mut play = Play::read(&text);
        play.step();
        let first = total(&play);
        let (mut last, mut touched) = (first, false);
        for _ in 0..60 {
            touched |= play.step().active > 0;
            let now = total(&play);
            assert!(now <= last + 1e-9 * first, "{last} {now}");
            last = now;
        }
        assert!(last < first, "{first} {last}");
        assert_eq!(touched, text.contains("[contact]"));
    }
}

/// Kinds that act between points of the scene alone, so that nothing outside feels a force.
const INTERNAL: [&str; 8] =
    ["barrier", "friction", "hinge", "neo-hookean", "penalty", "spring", "stvk", "tie"];
/// With two laws.
const SOLID: &str = "tet-neo-hookean";
/// Kinds that act from outside: the frame of reference, hands, air.
const EXTERNAL: [&str; 3] = ["drag", "inertia", "support"];

/// Two sheets, one above the other at an angle, close enough to touch, with two balls on them.
fn sheets(contact: &str, energy: &str) -> String {
    format!(
        r#"
        dt = 0.01
        duration = 1
        gravity = [0, 0, 0]
        [[body]]
        name = "low"
        shape = {{ kind = "grid", size = [0.3, 0.3], cells = [4, 4] }}
        material = {{ young = 1e5, poisson = 0.3, thickness = 1e-3, area_density = 0.2 }}
        [[body]]
        name = "high"
        shape = {{ kind = "grid", size = [0.3, 0.3], cells = [4, 4] }}
        rotate = {{ axis = [0, 0, 1], angle = 20 }}
        translate = [0.01, 0.02, 0.004]
        velocity = [0.3, -0.1, -0.05]
        material = {{ young = 1e5, poisson = 0.3, thickness = 1e-3, area_density = 0.2 }}
        [[body]]
        name = "balls"
        shape = {{ kind = "spheres", centres = [[0, 0, 0.058], [0.104, 0, 0.058]], radii = [0.05] }}
        material = {{ density = 300 }}
        {contact}
        {energy}
        "#
    )
}

fn scene_of(kind: &str) -> Scene {
    let contact = |law: &str| {
        format!("[contact]\ndhat = 0.01\nstiffness = 100\nfriction = 0.5\nlaw = \"{law}\"\n")
    };
    let text = match kind {
        "barrier" | "friction" => sheets(&contact("barrier"), ""),
        "penalty" => sheets(&contact("penalty"), ""),
        "tie" => sheets(
            "",
            "[[energy]]\nkind = \"tie\"\nbody = \"low\"\nother = \"high\"\n\
             pairs = [[0, 3], [7, 20], [12, 12]]\nlength = 0.02\n",
        ),
        "hinge" | "spring" => sheets(
            "",
            &format!("[[energy]]\nkind = \"{kind}\"\nbody = \"high\"\nstiffness = 0.7\n"),
        ),
        _ => sheets("", &format!("[[energy]]\nkind = \"{kind}\"\nbody = \"high\"\n")),
    };
    read(&text)
}

/// Rows of the positions at hand into all terms, with those positions as the start of a step.
fn touch(scene: &mut Scene, x: &[DVec3]) -> usize {
    let Some(contact) = scene.model.contact else { return 0 };
    let mesh = CollisionMesh::from_world(&scene.model.world, contact.min_gap);
    let dhat = contact.parameters.dhat;
    let mut candidates = Candidates::new(&mesh);
    candidates.query(&mesh, x, x, 0.0, dhat, usize::MAX).unwrap();
    let mut contacts = Contacts::default();
    candidates.rows(&mesh, x, dhat, &mut contacts);
    let mut lagged = Lagged::default();
    lagged.normal_force.resize(contacts.rows.len(), 0.0);
    for term in &scene.model.terms {
        term.publish(&contacts, &mut lagged);
    }
    for term in &mut scene.model.terms {
        term.lag(&contacts, &lagged);
        term.refresh(&contacts);
    }
    contacts.rows.len()
}

/// Largest force of one stencil, and the largest torque that such a force may have.
fn scale(term: &dyn Term, at: &StepState<'_>) -> (f64, f64) {
    let mut local = gusset_energy::Local::default();
    local.eval(term, at, gusset_energy::Want::Gradient);
    let largest = local.gradient.chunks(3).map(|g| DVec3::from_slice(g).length());
    let largest = largest.fold(0.0, f64::max);
    let reach = at.x.iter().map(|x| x.length()).fold(0.0, f64::max);
    (largest, largest * reach)
}

/// The sheets bent and stretched without coming closer than they are, and shifted off the origin.
fn deformed(start: &[DVec3]) -> Vec<DVec3> {
    let bend = |x: &DVec3| dvec3(1.07 * x.x, 0.96 * x.y, x.z + 0.4 * x.x * x.x + 0.1 * x.x * x.y);
    start.iter().map(|x| bend(x) + dvec3(0.2, -0.1, 0.3)).collect()
}

#[test]
fn internal_forces_and_their_torques_cancel() {
    for kind in INTERNAL.into_iter().chain([SOLID]) {
        let mut scenes = if kind == SOLID {
            let solid = |law: &str| {
                read(&format!(
                    "dt = 0.01\nduration = 1\n[[body]]\nname = \"lump\"\n\
                     shape = {{ kind = \"box\", size = [0.3, 0.2, 0.1], cells = [3, 2, 1] }}\n\
                     material = {{ young = 1e5, poisson = 0.3, density = 500 }}\n\
                     [[energy]]\nkind = \"{SOLID}\"\nbody = \"lump\"\nlaw = \"{law}\"\n"
                ))
            };
            vec![solid("stable"), solid("log")]
        } else {
            vec![scene_of(kind)]
        };
        for scene in &mut scenes {
            let x = deformed(&scene.state.x);
            let touching = touch(scene, &x);
            assert_eq!(touching > 20, scene.model.contact.is_some(), "{kind}: {touching} rows");
            // Friction acts against motion within the step.
            let x_start: Vec<DVec3> =
                x.iter().zip(&scene.state.v).map(|(x, v)| *x - *v * 0.01).collect();
            let v_start = vec![DVec3::ZERO; x.len()];
            let at = StepState { x: &x, x_start: &x_start, v_start: &v_start, dt: 0.01 };
            let terms = scene.model.terms.iter().filter(|t| t.kind() == kind);
            let mut seen = 0;
            for term in terms {
                seen += term.count();
                let (force, _) = gradient(&**term, &at);
                let (largest, most) = scale(&**term, &at);
                assert!(largest > 0.0, "{kind} does nothing here");
                let sum: DVec3 = force.iter().sum();
                assert!(sum.length() <= 1e-12 * largest, "{kind}: {sum} of {largest}");
                let torque: DVec3 = x.iter().zip(&force).map(|(x, f)| x.cross(*f)).sum();
                if kind == "friction" {
                    // Its two forces act at two points, a gap apart: their couple is no more than that.
                    let couple = term.count() as f64 * largest * 0.2;
                    assert!(torque.length() < couple, "{torque} {couple}");
                } else {
                    assert!(torque.length() <= 1e-12 * most, "{kind}: {torque} of {most}");
                }
            }
            assert!(seen > 0, "{kind}");
        }
    }
}

#[test]
fn every_kind_is_internal_or_external() {
    let mut listed: Vec<&str> = INTERNAL.into_iter().chain([SOLID]).chain(EXTERNAL).collect();
    listed.sort_unstable();
    assert_eq!(registry().names().collect::<Vec<_>>(), listed);
}
