//! What holds for throws that the article does not make.

use gusset_ball_wall::plan::{KAPPA, WALL};
use gusset_ball_wall::{Method, Throw, ThrowError, Verdict, Wall, steps_allowed};

fn throw(method: Method, speed: f64, dt: f64) -> Throw {
    let steps = steps_allowed(dt).unwrap();
    Throw { method, speed, dt, mass: 1.0, wall: WALL, steps }
}

#[test]
fn the_barrier_holds_whatever_is_thrown() {
    for speed in [0.7, 3.3, 17.0, 123.0, 1e4] {
        for dt in [0.02, 0.0033] {
            for (stiffness, dhat) in [(1e2, 1e-2), (KAPPA, 1e-3), (1e7, 1e-5)] {
                let flight = throw(Method::Barrier { stiffness, dhat }, speed, dt).run().unwrap();
                assert_eq!(flight.verdict, Verdict::Stopped);
                assert!(flight.steps.iter().all(|s| s.x < WALL.face), "{speed} {dt} {dhat}");
            }
        }
    }
}

#[test]
fn a_step_longer_than_the_wall_leaps_over_any_penalty() {
    for stiffness in [1e2, 1e8, 1e12] {
        let flight = throw(Method::Penalty { stiffness }, 5.0, 0.01).run().unwrap();
        assert_eq!(flight.verdict, Verdict::Through);
        assert!(flight.steps.iter().all(|s| s.record.iterations == 2));
    }
}

#[test]
fn a_ball_in_the_very_middle_is_pushed_back_to_the_front() {
    // The second step of 1/4 m ends exactly half way through the wall, in binary as well.
    let wall = Wall { face: 0.375, thickness: 0.25 };
    let method = Method::Penalty { stiffness: 1e6 };
    let throw = Throw { method, speed: 16.0, dt: 1.0 / 64.0, mass: 1.0, wall, steps: 40 };
    let flight = throw.run().unwrap();
    assert_eq!(flight.verdict, Verdict::Stopped);
}

#[test]
fn heavier_and_wider_scales_with_the_units() {
    // The same throw in units of 10 m and 1000 kg: lengths and speeds x 10, stiffnesses x 1000.
    let small = throw(Method::Barrier { stiffness: 1e4, dhat: 1e-3 }, 5.0, 0.01);
    let large = Throw {
        method: Method::Barrier { stiffness: 1e7, dhat: 1e-2 },
        speed: 50.0,
        mass: 1e3,
        wall: Wall { face: 10.0 * WALL.face, thickness: 10.0 * WALL.thickness },
        ..small
    };
    let gap = |throw: &Throw| throw.wall.face - throw.run().unwrap().furthest;
    let (small, large) = (gap(&small), gap(&large));
    assert!((large - 10.0 * small).abs() < 1e-9 * large, "{small} {large}");
}

#[test]
fn nonsense_is_refused_by_name() {
    let good = throw(Method::Barrier { stiffness: 1e4, dhat: 1e-3 }, 5.0, 0.01);
    let cases = [
        (Throw { dt: 0.0, ..good }, "--h"),
        (Throw { dt: f64::NAN, ..good }, "--h"),
        (Throw { speed: -1.0, ..good }, "--v0"),
        (Throw { mass: f64::INFINITY, ..good }, "--mass"),
        (Throw { wall: Wall { thickness: 0.0, ..WALL }, ..good }, "--thickness"),
        (Throw { wall: Wall { face: -0.1, ..WALL }, ..good }, "--wall"),
        (Throw { method: Method::Penalty { stiffness: -1.0 }, ..good }, "--k"),
        (Throw { method: Method::Barrier { stiffness: 1.0, dhat: 0.0 }, ..good }, "--dhat"),
        (Throw { steps: 0, ..good }, "--steps"),
    ];
    for (bad, name) in cases {
        match bad.run() {
            Err(ThrowError::Input { option, .. }) => assert_eq!(option, name),
            other => panic!("{name}: {other:?}"),
        }
    }
    assert!(matches!(steps_allowed(1e-12), Err(ThrowError::Input { option: "--h", .. })));
}
