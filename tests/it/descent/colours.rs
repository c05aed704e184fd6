//! No element has two vertices of one colour, whatever energies a scene names (case A30).

use crate::play::{Play, read};
use gusset_energy::Term;
use gusset_mesh::Mobility;
use gusset_solve::Stepper as _;
use gusset_vbd::{Colouring, Descent};

fn scene(energies: &str) -> String {
    format!(
        "dt = 0.01\nduration = 1\n[solver]\nkind = \"vbd\"\n[[body]]\nname = \"cloth\"\n\
         shape = {{ kind = \"grid\", size = [2, 2], cells = [20, 20] }}\n\
         material = {{ area_density = 0.2 }}\n{energies}"
    )
}

const STRETCH: &str =
    "[[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 1e4\nlambda = 0\n";
const AREA: &str = "[[energy]]\nkind = \"neo-hookean\"\nbody = \"cloth\"\nmu = 1e-9\nlambda = 1e4\nlaw = \"stable\"\n";
const BENDING: &str = "[[energy]]\nkind = \"hinge\"\nbody = \"cloth\"\nper_length = 0.1\n";
const TIE: &str =
    "[[energy]]\nkind = \"tie\"\nbody = \"cloth\"\nstiffness = 100\npairs = [[0, 440]]\n";
const SPRING: &str = "[[energy]]\nkind = \"spring\"\nbody = \"cloth\"\nstiffness = 100\n";

fn colour_of(colouring: &Colouring, count: usize) -> Vec<usize> {
    let mut of = vec![usize::MAX; count];
    for (colour, vertices) in colouring.colours.iter().enumerate() {
        for &v in vertices {
            assert_eq!(of[v as usize], usize::MAX, "a vertex has one colour");
            of[v as usize] = colour;
        }
    }
    of
}

fn assert_proper(terms: &[Box<dyn Term>], of: &[usize]) {
    for term in terms {
        for stencil in term.stencils().chunks_exact(term.arity()) {
            for (k, &a) in stencil.iter().enumerate() {
                for &b in &stencil[k + 1..] {
                    let label = term.label();
                    assert_ne!(of[a as usize], of[b as usize], "{a} and {b} of {label}");
                }
            }
        }
    }
}

#[test]
fn every_element_has_as_many_colours_as_vertices() {
    for (energies, least) in [(STRETCH, 3), (AREA, 3), (BENDING, 4), (SPRING, 3), ("", 1)] {
        let scene = read(&scene(energies));
        let descent = Descent::new(scene.model, scene.descent.unwrap());
        let of = colour_of(descent.colouring(), 441);
        assert!(of.iter().all(|&c| c != usize::MAX), "every free vertex is visited");
        assert_proper(&descent.model().terms, &of);
        let sizes: Vec<usize> = descent.colouring().colours.iter().map(Vec::len).collect();
        assert!(sizes.len() >= least && sizes.len() <= 8, "{energies}: {sizes:?}");
    }
}

/// Each colour is as much parallel work as the others, where the mesh leaves a choice.
#[test]
fn colours_are_balanced() {
    let text =
        scene(BENDING).replace("cells = [20, 20]", "cells = [20, 20], pattern = \"regular\"");
    let scene = read(&text);
    let descent = Descent::new(scene.model, scene.descent.unwrap());
    let sizes: Vec<usize> = descent.colouring().colours.iter().map(Vec::len).collect();
    let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(*high as f64 <= 1.25 * *low as f64, "{sizes:?}");
}

#[test]
fn fixed_vertices_are_not_visited() {
    let text = scene(STRETCH).replace("material =", "fixed = \"left\"\nmaterial =");
    let scene = read(&text);
    let mobility = scene.model.world.bodies[0].mobility.clone();
    let descent = Descent::new(scene.model, scene.descent.unwrap());
    let of = colour_of(descent.colouring(), 441);
    for (colour, mobility) in of.iter().zip(mobility) {
        assert_eq!(*colour != usize::MAX, mobility == Mobility::Free);
    }
}

#[test]
fn a_tie_separates_the_colours_of_its_ends() {
    let scene = read(&scene(&format!("{STRETCH}{TIE}")));
    let descent = Descent::new(scene.model, scene.descent.unwrap());
    let of = colour_of(descent.colouring(), 441);
    assert_proper(&descent.model().terms, &of);
}

/// The same bits for any number of threads: a cloth that falls onto another, over all laws.
#[test]
fn threads_change_nothing() {
    for contact in ["penalty-dat", "alm-dat"] {
        let text = format!(
            "dt = 0.002\nduration = 1\n[contact]\ndhat = 0.02\nstiffness = 100\nfriction = 0.3\n\
             [solver]\nkind = \"vbd\"\ncontact = \"{contact}\"\ngap = 0.02\niterations = 4\n\
             [[body]]\nname = \"floor\"\nrole = \"obstacle\"\n\
             shape = {{ kind = \"grid\", size = [2, 2], cells = [9, 9] }}\n\
             [[body]]\nname = \"cloth\"\nshape = {{ kind = \"grid\", size = [1, 1], cells = [24, 24] }}\n\
             translate = [0, 0, 0.03]\nrotate = {{ axis = [1, 2, 3], angle = 1 }}\nvelocity = [0, 0, -15]\n\
             material = {{ area_density = 0.2 }}\n{STRETCH}{BENDING}"
        );
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut play = Play::read(&text);
                play.steps(30);
                assert!(play.records.iter().any(|r| r.descent.as_ref().unwrap().truncated > 0));
                play.state
            })
        };
        assert_eq!(run(1), run(3), "{contact}");
    }
}
