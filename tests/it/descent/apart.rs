//! Whatever moves however fast, nothing passes through anything: random clothes thrown at each other.

use crate::play::Play;
use gusset_energy::check::Random;

fn thrown(contact: &str, random: &mut Random) -> String {
    let mut vector =
        |size: f64| random.vector(size).to_array().map(|c| format!("{c:.3}")).join(", ");
    let cloth = |name: &str, height: f64, axis: String, velocity: String, spin: String| {
        format!(
            "[[body]]\nname = \"{name}\"\nshape = {{ kind = \"grid\", size = [1, 1], cells = [5, 5] }}\n\
             rotate = {{ axis = [{axis}], angle = \"0.6 rad\" }}\ntranslate = [0, 0, {height}]\n\
             velocity = [{velocity}]\nangular_velocity = [{spin}]\nmaterial = {{ area_density = 0.2 }}\n\
             [[energy]]\nkind = \"neo-hookean\"\nbody = \"{name}\"\nmu = 200\nlambda = 100\nlaw = \"stable\"\n\
             [[energy]]\nkind = \"hinge\"\nbody = \"{name}\"\nper_length = 0.05\n"
        )
    };
    format!(
        "dt = 0.01\nduration = 1\n[contact]\ndhat = 0.03\nstiffness = 50\nfriction = 0.4\n\
         [solver]\nkind = \"vbd\"\niterations = 3\ngap = 0.05\n{contact}\n{}{}",
        cloth("lower", 0.0, vector(1.0), vector(8.0), vector(20.0)),
        cloth("upper", 0.7, vector(1.0), vector(8.0), vector(20.0)),
    )
}

#[test]
fn nothing_passes_through_anything() {
    for contact in [
        "",
        "schedule = \"pre-init\"",
        "schedule = \"iterations\"\ndetection_interval = 2",
        "contact = \"alm-dat\"",
    ] {
        let (mut random, mut truncated) = (Random::new(11), 0);
        for _ in 0..6 {
            let mut play = Play::read(&thrown(contact, &mut random));
            for _ in 0..15 {
                let record = play.step().descent.clone().unwrap();
                truncated += record.truncated;
                assert_eq!(record.unseparated, 0, "{contact}");
                play.assert_sound();
            }
        }
        assert!(truncated > 0, "{contact}: nothing came near");
    }
}
