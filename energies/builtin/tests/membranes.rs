//! What the laws of films have in common.

use glam::{DMat2, DVec2, DVec3, dvec3};
use gusset_builtin::{neo_hookean, stvk};
use gusset_energy::membrane::Film;
use gusset_energy::{At, Element, vec3};

const REST: [DVec3; 3] = [DVec3::ZERO, dvec3(0.02, 0.001, 0.0), dvec3(0.004, 0.015, 0.0)];

/// The triangle after the in-plane deformation `I + small`.
fn deformed(small: DMat2) -> At<f64, 3> {
    let x = REST.map(|p| {
        let q = DVec2::new(p.x, p.y) + small * DVec2::new(p.x, p.y);
        vec3(dvec3(q.x, q.y, 0.0))
    });
    At { x, x_start: x, v_start: x, dt: 0.01 }
}

/// Saint Venant-Kirchhoff and both Neo-Hookean laws are the same plate in plane stress: stretched, squeezed, sheared.
#[test]
fn all_laws_agree_for_small_strains() {
    let (mu, lambda) = (3258.62, 5332.29);
    let rest = Film::at_rest(REST);
    let nonlinear = stvk::Triangle { rest, mu, lambda };
    let film = neo_hookean::Triangle { rest, mu, lambda };
    let e = 1e-5;
    for columns in [[e, 0.0, 0.0, 0.0], [0.0, e, e, 0.0], [-e, 0.0, 0.0, -e], [e, 2.0 * e, 0.0, -e]]
    {
        let at = deformed(DMat2::from_cols_array(&columns));
        let expected = stvk::StVK::energy(&at, &nonlinear);
        assert!(expected > 0.0);
        for energy in
            [neo_hookean::NeoHookean::energy(&at, &film), neo_hookean::Stable::energy(&at, &film)]
        {
            assert!((energy / expected - 1.0).abs() < 20.0 * e, "{columns:?}: {energy} {expected}");
        }
    }
}
