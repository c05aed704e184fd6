use super::*;
use glam::DVec3;
use gusset_energy::check::Check;
use gusset_energy::{Term, fixture};
use gusset_mesh::{Role, World};

fn world() -> World {
    let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
    World::new(vec![fixture::body("cloth", Role::Points, &positions, &[])])
}

fn build(keys: &str) -> Result<Box<dyn Term>, String> {
    let world = world();
    fixture::build::<Support>(keys, &fixture::site(&world))
        .map(|mut terms| terms.remove(0))
        .map_err(|error| error.to_string())
}

/// Forces on the three vertices at their start positions, in the step that ends at `t`.
fn forces(term: &mut dyn Term, t: f64) -> Vec<DVec3> {
    term.at_time(t);
    let start = world().bodies[0].start.clone();
    fixture::forces(term, &start, &start, 0.01).1
}

#[test]
fn derivatives() {
    Check::<Support, 1>::new(|random| {
        let target = random.vector(1.0);
        (random.at(1.0), Spring { stiffness: random.within(0.1, 300.0), target })
    })
    .run();
}

#[test]
fn a_hand_carries_and_lets_go() {
    let keys = "
        vertices = [2, 0]
        stiffness = [300, '20 N/m']
        from = 1.0
        release = 3.0
        [motion]
        keys = [{ time = 1.0 }, { time = 2.0, translate = [0, 0, '100 mm'] }]
    ";
    let mut hand = build(keys).unwrap();
    assert_eq!(hand.stencils(), [2, 0]);
    let mut lift = |t: f64| forces(&mut *hand, t).iter().map(|f| f.z).collect::<Vec<_>>();
    assert_eq!(lift(1.0), [0.0; 3]);
    for (t, height) in [(1.5, 0.05), (2.5, 0.1), (3.0, 0.1)] {
        let expected = [20.0 * height, 0.0, 300.0 * height];
        assert!(lift(t).iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12), "{t}");
    }
    assert_eq!(lift(3.01), [0.0; 3]);
}

#[test]
fn keyed_targets_may_end_in_one_point() {
    let keys = "
        vertices = 'all'
        stiffness_keys = [{ time = 0, stiffness = 10 }, { time = 1, stiffness = 0 }]
        targets = [
            { time = 0, positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] },
            { time = 1, positions = [[0, 0, 1]] },
        ]
    ";
    let mut star = build(keys).unwrap();
    let halfway = forces(&mut *star, 0.5);
    let expected =
        [DVec3::new(0.0, 0.0, 0.5), DVec3::new(-0.5, 0.0, 0.5), DVec3::new(0.0, -0.5, 0.5)];
    assert!(
        halfway.iter().zip(expected).all(|(f, e)| (*f - e * 5.0).length() < 1e-12),
        "{halfway:?}"
    );
    assert_eq!(forces(&mut *star, 2.0), [DVec3::ZERO; 3]);
}

#[test]
fn targets_on_a_circle_keep_the_directions_of_the_start() {
    // Directions as seen from the middle of the body, (1/3, 1/3).
    let keys = "
        vertices = [1, 2]
        stiffness = 10
        targets = [{ time = 0, circle = { centre = [5, 6], radius = [2, 1], height = '500 mm' } }]
    ";
    let mut ring = build(keys).unwrap();
    let found = forces(&mut *ring, 0.0);
    let middle = DVec3::new(1.0 / 3.0, 1.0 / 3.0, 0.0);
    for (v, radius, start) in [(1, 2.0, DVec3::X), (2, 1.0, DVec3::Y)] {
        let target = DVec3::new(5.0, 6.0, 0.5) + (start - middle).normalize() * radius;
        assert!((found[v] - (target - start) * 10.0).length() < 1e-12, "{v}: {}", found[v]);
    }
}

#[test]
fn hands_may_act_one_after_the_other() {
    let keys = "
        vertices = 'all'
        stiffness_keys = [{ time = 0, stiffness = 0 }, { time = 1, stiffness = 10 }]
        targets = [{ time = 0, positions = [[0, 0, 1]] }, { time = 1, positions = [[0, 0, 3]] }]
        delay = [0, 0.5, '1 s']
    ";
    let mut hands = build(keys).unwrap();
    let lift: Vec<f64> = forces(&mut *hands, 1.0).iter().map(|f| f.z).collect();
    assert_eq!(lift, [30.0, 10.0, 0.0]);
}

#[test]
fn mistakes_are_named() {
    let error = |keys: &str| build(keys).err().unwrap();
    assert!(error("vertices = 'all'").contains("either `stiffness` or `stiffness_keys`"));
    assert!(error("vertices = 'all'\nstiffness = [1, 2]").contains("2 values where 3 are needed"));
    assert!(error("vertices = 'all'\nstiffness = -1").contains("must be 0 or more"));
    assert!(error("vertices = 'rim'\nstiffness = 1").contains("no group `rim`"));
    let late = "vertices = 'all'\nstiffness = 1\nfrom = 2\nrelease = 1";
    assert!(error(late).contains("ends at 1 s, not after its start at 2 s"));
    let few =
        "vertices = 'all'\nstiffness = 1\ntargets = [{ time = 0, positions = [[0,0,0],[1,0,0]] }]";
    assert!(error(few).contains("at 0 s: 2 positions where 3 are needed"));
    let target =
        |t: &str| format!("vertices = 'all'\nstiffness = 1\ntargets = [{{ time = 1, {t} }}]");
    let circle = "circle = { radius = [1, 2], height = 0 }";
    assert!(
        error(&target(circle)).contains("`radius` has 2 values, which can't be repeated along 3")
    );
    let both = "circle = { radius = 1, height = 0 }, positions = [[0, 0, 0]]";
    assert!(error(&target(both)).contains("at 1 s: give either `positions` or a `circle`"));
    assert!(error(&target("")).contains("neither `positions` nor a `circle`"));
    let delay = "vertices = 'all'\nstiffness = 1\ndelay = [1, 2]";
    assert!(error(delay).contains("has 2 values, which can't be repeated along 3"));
}
