//! Derivatives and programs against independent evaluations: plain `f64`, jets, finite differences.

use gusset_scalar::{Scalar, Vec3};
use proptest::prelude::*;

use crate::jet::Jet;
use crate::samples::{EdgeEdgeBarrier, Friction, Hinge, NeoHookeanTet, Sample, StVKTriangle};
use crate::{Graph, LANES, Registers, Sym, Tape};

/// Energy, gradient and upper triangle by the first `n` inputs.
fn derivatives<'g>(graph: &'g Graph, energy: Sym<'g>, n: usize) -> Vec<Sym<'g>> {
    let inputs = graph.inputs(n as u32);
    let gradient = graph.gradient(energy, &inputs);
    let hessian = graph.hessian(energy, &inputs);
    [&[energy], &gradient[..], &hessian[..]].concat()
}

/// The same numbers in the same order, from jets.
fn jet_derivatives<const N: usize>(energy: Jet<N>) -> Vec<f64> {
    let mut all = vec![energy.value];
    all.extend(energy.gradient);
    for i in 0..N {
        all.extend(&energy.hessian[i][i..]);
    }
    all
}

/// Runs a tape on one element in every lane and returns lane 0.
fn run(tape: &Tape, inputs: &[f64]) -> Vec<f64> {
    let inputs: Vec<_> = inputs.iter().map(|&x| [x; LANES]).collect();
    let mut outputs = vec![[f64::NAN; LANES]; tape.outputs()];
    tape.run(&inputs, &mut Registers::new(), &mut outputs);
    outputs.iter().map(|lanes| lanes[0]).collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!((f - e).abs() <= tolerance * scale, "output {k}: {f}, expected {e}");
    }
}

/// The bits of numbers, with one pattern for every NaN: the sign of a NaN is not defined by IEEE 754.
fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|&x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect()
}

fn sample_agrees_with_jet<E: Sample, const N: usize>() {
    assert_eq!(N, E::dofs());
    let state = E::state();
    let graph = Graph::new();
    let energy = E::of(&graph.inputs(E::inputs() as u32));
    let outputs = derivatives(&graph, energy, N);
    let found = run(&Tape::new(&graph, &outputs), &state);

    assert_eq!(bits(&found), bits(&graph.eval(&outputs, &state)), "{}", E::NAME);
    assert_eq!(found[0], E::of(&state), "{}", E::NAME);
    let variable = |(i, &x): (usize, &f64)| {
        if i < N { Jet::<N>::variable(x, i) } else { Jet::lit(x) }
    };
    let jets: Vec<_> = state.iter().enumerate().map(variable).collect();
    assert_close(&found, &jet_derivatives(E::of(&jets)), 1e-12);
}

#[test]
fn element_derivatives_agree_with_jets() {
    sample_agrees_with_jet::<NeoHookeanTet, 12>();
    sample_agrees_with_jet::<StVKTriangle, 9>();
    sample_agrees_with_jet::<Hinge, 12>();
    sample_agrees_with_jet::<EdgeEdgeBarrier, 12>();
    sample_agrees_with_jet::<Friction, 12>();
}

/// A random program on a stack of values: each entry appends a function of two earlier ones. Domains are kept by
/// construction (`ln(1 + x^2)`), so that every value is finite.
#[derive(Clone, Debug)]
struct Program(Vec<(u8, usize, usize, f64)>);

const SMOOTH: u8 = 13;
const KINDS: u8 = 18;

impl Program {
    fn random(kinds: u8) -> impl Strategy<Value = Self> {
        let entry = (0..kinds, any::<usize>(), any::<usize>(), -2.0..2.0);
        prop::collection::vec(entry, 1..24).prop_map(Self)
    }

    fn of<S: Scalar>(&self, inputs: &[S]) -> S {
        let mut values = inputs.to_vec();
        for &(kind, i, j, c) in &self.0 {
            // The latest value first, so that long programs are deep.
            let a = values[values.len() - 1 - i % 3.min(values.len())];
            let b = values[j % values.len()];
            values.push(match kind {
                0 => a + b,
                1 => a - b,
                2 => a.sin() * b,
                3 => a / (b.square() + 1.5),
                4 => (a.square() + 0.5).sqrt(),
                5 if i % 2 == 0 => a.square().ln_1p(),
                5 => (a.square() + 0.25).ln(),
                6 => a.sin().exp(),
                7 => a.cos() - b.sin(),
                8 => a.atan2(b.square() + 0.5),
                9 => -a,
                10 => a * c,
                11 => a + c,
                12 => (a.cos() + 2.0).recip() - b,
                13 => a.abs(),
                14 => a.min(b),
                15 => a.max(b),
                16 => S::select_lt(a, b, a.sin(), b.cos()),
                _ => S::select_lt(a, S::lit(c), a.square().sqrt(), b - a),
            });
        }
        values.into_iter().reduce(|sum, value| sum + value.sin()).expect("there are inputs")
    }
}

const INPUTS: usize = 3;

fn state() -> impl Strategy<Value = [f64; INPUTS]> {
    prop::array::uniform3(-1.5..1.5)
}

proptest! {
    #[test]
    fn programs_agree_with_plain_values_and_jets(program in Program::random(KINDS), x in state()) {
        let graph = Graph::new();
        let outputs = derivatives(&graph, program.of(&graph.inputs(3)), INPUTS);
        let found = run(&Tape::new(&graph, &outputs), &x);
        prop_assert_eq!(bits(&found), bits(&graph.eval(&outputs, &x)));
        // Equal, not the same bits: folding may turn the sign of a zero.
        prop_assert_eq!(found[0], program.of(&x));
        let jets: [_; INPUTS] = std::array::from_fn(|i| Jet::<INPUTS>::variable(x[i], i));
        let jet = jet_derivatives(program.of(&jets));
        if jet.iter().all(|value| value.is_finite()) {
            assert_close(&found, &jet, 1e-9);
        }
    }

    #[test]
    fn gradients_agree_with_central_differences(program in Program::random(SMOOTH), x in state()) {
        let graph = Graph::new();
        let outputs = derivatives(&graph, program.of(&graph.inputs(3)), INPUTS);
        let found = run(&Tape::new(&graph, &outputs), &x);
        let h = 1e-4;
        let shifted = |i: usize, step: f64| {
            let mut y = x;
            y[i] += step;
            program.of(&y)
        };
        // Fourth order, so that the step may be large against rounding.
        let difference = |i: usize| {
            let wide = shifted(i, 2.0 * h) - shifted(i, -2.0 * h);
            (8.0 * (shifted(i, h) - shifted(i, -h)) - wide) / (12.0 * h)
        };
        let differences: [_; INPUTS] = std::array::from_fn(difference);
        // Truncation is h^4 times a fifth derivative; nested functions make that large where the gradient is.
        let scale = found.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        prop_assume!(scale < 30.0);
        for i in 0..INPUTS {
            prop_assert!((found[1 + i] - differences[i]).abs() < 1e-6 * scale);
        }
    }

    #[test]
    fn a_lane_does_not_depend_on_its_place_or_company(
        program in Program::random(KINDS),
        states in prop::array::uniform8(state()),
    ) {
        let graph = Graph::new();
        let tape = Tape::new(&graph, &derivatives(&graph, program.of(&graph.inputs(3)), INPUTS));
        let mut scratch = Registers::new();
        let mut evaluate = |order: [usize; LANES]| {
            let inputs: [[f64; LANES]; INPUTS] =
                std::array::from_fn(|i| order.map(|element| states[element][i]));
            let mut outputs = vec![[0.0; LANES]; tape.outputs()];
            tape.run(&inputs, &mut scratch, &mut outputs);
            outputs
        };
        let straight = evaluate([0, 1, 2, 3, 4, 5, 6, 7]);
        let reversed = evaluate([7, 6, 5, 4, 3, 2, 1, 0]);
        for element in 0..LANES {
            let alone = evaluate([element; LANES]);
            for k in 0..straight.len() {
                let lanes = [alone[k][0], straight[k][element], reversed[k][LANES - 1 - element]];
                let [alone, straight, reversed] = bits(&lanes).try_into().unwrap();
                prop_assert_eq!((straight, reversed), (alone, alone));
            }
        }
    }
}

/// Value, first and second derivative of a function of one variable.
fn at(f: impl for<'g> Fn(Sym<'g>) -> Sym<'g>, x: f64) -> [f64; 3] {
    let graph = Graph::new();
    let outputs = derivatives(&graph, f(graph.input(0)), 1);
    let found = run(&Tape::new(&graph, &outputs), &[x]);
    [found[0], found[1], found[2]]
}

#[test]
fn closed_forms() {
    let x = 0.7_f64;
    let (s, c) = x.sin_cos();
    let cases: [([f64; 3], [f64; 3]); 10] = [
        (at(|x| x.cube(), x), [x * x * x, 3.0 * x * x, 6.0 * x]),
        (at(|x| x.recip(), x), [1.0 / x, -x.powi(-2), 2.0 * x.powi(-3)]),
        (at(|x| x.sqrt(), x), [x.sqrt(), 0.5 * x.powf(-0.5), -0.25 * x.powf(-1.5)]),
        (at(|x| x.ln(), x), [x.ln(), 1.0 / x, -x.powi(-2)]),
        (at(|x| x.ln_1p(), x), [x.ln_1p(), 1.0 / (1.0 + x), -(1.0 + x).powi(-2)]),
        (at(|x| x.exp(), x), [x.exp(); 3]),
        (at(|x| x.sin(), x), [s, c, -s]),
        (at(|x| x.cos(), x), [c, -s, -c]),
        (at(|x| -x / 3.0 + 1.0, x), [1.0 - x / 3.0, -1.0 / 3.0, 0.0]),
        (at(|x| (x * x - 2.0).abs(), x), [2.0 - x * x, -2.0 * x, -2.0]),
    ];
    for (k, (found, expected)) in cases.iter().enumerate() {
        for order in 0..3 {
            assert!((found[order] - expected[order]).abs() < 1e-14, "case {k} order {order}");
        }
    }
}

#[test]
fn angle_of_a_rotating_vector_is_linear_in_every_quadrant() {
    for angle in [-3.1, -2.0, -1.0, -0.1, 0.1, 1.0, 2.0, 3.1_f64] {
        let [value, slope, curvature] = at(|t| (t.sin() * 2.0).atan2(t.cos() * 2.0), angle);
        assert!((value - angle).abs() < 1e-15);
        assert!((slope - 1.0).abs() < 1e-15 && curvature.abs() < 1e-15);
    }
    // The branch cut: the value jumps, the derivative does not.
    let on_cut = |y: f64| at(|y| y.atan2(Sym::Lit(-2.0)), y);
    assert_eq!(on_cut(0.0)[0], std::f64::consts::PI);
    assert_eq!(on_cut(-1e-300)[0], -std::f64::consts::PI);
    assert_eq!((on_cut(0.0)[1], on_cut(-1e-300)[1]), (-0.5, -0.5));
}

#[test]
fn select_switches_at_its_bound_and_not_an_ulp_off() {
    let f = |x| at(|x| Scalar::select_lt(x, Sym::Lit(2.0), x * x, x * 5.0), x);
    assert_eq!(f(2.0_f64.next_down())[2], 2.0);
    assert_eq!(f(2.0), [10.0, 5.0, 0.0]);
    assert_eq!(f(2.0_f64.next_up())[1], 5.0);
    // A tie of min and max takes the second and the first operand.
    assert_eq!(at(|x| x.min(x * x), 1.0), [1.0, 2.0, 2.0]);
    assert_eq!(at(|x| x.max(x * x), 1.0), [1.0, 1.0, 0.0]);
    assert_eq!(at(|x| x.abs(), 0.0), [0.0, 1.0, 0.0]);
}

#[test]
fn the_side_not_chosen_may_be_infinite() {
    // A barrier that ends at 1 and is NaN below zero, beside a function that is NaN above zero.
    let barrier =
        |x| at(|x| Scalar::select_lt(x, Sym::Lit(0.0), (-x).sqrt(), x.ln() * x.sqrt()), x);
    assert_eq!(barrier(-4.0), [2.0, -0.25, -0.03125 * 1.0]);
    assert!(barrier(4.0).iter().all(|value| value.is_finite()));
    // Nested: at zero the slopes of ln and sqrt are infinite and belong to sides not chosen.
    let nested = |x| {
        at(
            |x| {
                let inner = Scalar::select_lt(x, Sym::Lit(1.0), x * x, x.ln() + x.sqrt());
                Scalar::select_lt(x, Sym::Lit(0.0), (-x).sqrt() * inner, inner)
            },
            x,
        )
    };
    assert_eq!(nested(0.0), [0.0, 0.0, 2.0]);
    // Sides that share a subexpression with each other and with the outside.
    let shared = |x| {
        at(
            |x| {
                let root = (x * x + 1.0).sqrt();
                let side = Scalar::select_lt(x, Sym::Lit(0.0), root * root, root * 3.0);
                side * root
            },
            x,
        )
    };
    let r = 2.0_f64.sqrt();
    assert_close(&shared(-1.0), &[r * r * r, -3.0 * r, 3.0 * (r + 1.0 / r)], 1e-14);
    assert_close(&shared(1.0), &[6.0, 6.0, 6.0], 1e-14);
}

#[test]
fn a_regularised_norm_has_derivatives_at_zero() {
    let graph = Graph::new();
    let v = graph.inputs(3);
    let norm = Vec3::new(v[0], v[1], v[2]).norm_eps(Sym::Lit(0.5));
    let found = run(&Tape::new(&graph, &derivatives(&graph, norm, 3)), &[0.0; 3]);
    assert_eq!(found, [0.5, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 2.0, 0.0, 2.0]);
}

#[test]
fn equal_expressions_are_one_node() {
    let graph = Graph::new();
    let [x, y]: [Sym<'_>; 2] = graph.inputs(2).try_into().unwrap();
    let before = graph.len();
    let first = (x + y) * (y - x).sqrt();
    let recorded = graph.len() - before;
    assert_eq!(recorded, 4);
    let second = (y + x) * (y - x).sqrt();
    let third = (y - x).sqrt() * (x + y);
    assert_eq!(graph.len() - before, recorded);
    assert_eq!(graph.count_ops(&[first, second, third]), 4);
    assert_eq!(Tape::new(&graph, &[first, second, third]).instructions(), 4);
}

#[test]
fn folding() {
    let graph = Graph::new();
    let [x, y]: [Sym<'_>; 2] = graph.inputs(2).try_into().unwrap();
    let same = |a: Sym<'_>, b: Sym<'_>| graph.ids(&[a]) == graph.ids(&[b]);
    assert!(same(x + 0.0, x) && same(x - 0.0, x) && same(x * 1.0, x) && same(x / 1.0, x));
    assert!(same(Sym::Lit(0.0) - x, -x) && same(x * -1.0, -x) && same(-(-x), x));
    assert!(same(x + x, x * 2.0) && same(x / 4.0, x * 0.25));
    assert!(same(x + -y, x - y) && same(x - -y, x + y) && same(-(x - y), y - x));
    assert!(same(-x * -y, x * y) && same(-x * y, -(x * y)) && same(-x / -y, x / y));
    assert!(same((-x).cos(), x.cos()) && same((-x).sin(), -x.sin()) && same((-x).abs(), x.abs()));
    assert_eq!((x * 0.0).literal(), Some(0.0));
    assert_eq!((x - x).literal(), Some(0.0));
    assert_eq!((Sym::Lit(9.0).sqrt() * 2.0 + 1.0).literal(), Some(7.0));
    assert_eq!(Scalar::select_lt(x, x, x, Sym::Lit(3.0)).literal(), Some(3.0));
    // Not the same bits, so not folded: a third, and a sum of constants about a symbol.
    assert!(!same(x / 3.0, x * (1.0 / 3.0)));
    assert!(!same((x + 0.1) + 0.2, x + (0.1 + 0.2)));
}

#[test]
fn literals_that_are_not_numbers_pass_through() {
    let graph = Graph::new();
    let x = graph.input(0);
    let outputs = [x * f64::INFINITY, x + f64::NAN, Sym::Lit(f64::NAN), Sym::Lit(-0.0)];
    let found = run(&Tape::new(&graph, &outputs), &[-1.0]);
    assert_eq!(found[0], f64::NEG_INFINITY);
    assert!(found[1].is_nan() && found[2].is_nan());
    assert_eq!(found[3].to_bits(), (-0.0_f64).to_bits());
}

#[test]
fn outputs_may_be_inputs_literals_and_repeated() {
    let graph = Graph::new();
    let v = graph.inputs(5);
    let sum = v[1] + v[4];
    let tape = Tape::new(&graph, &[v[4], sum, Sym::Lit(2.5), sum, v[4]]);
    assert_eq!((tape.inputs(), tape.outputs(), tape.instructions()), (5, 5, 1));
    assert_eq!(tape.reads(), [1, 4]);
    assert_eq!(run(&tape, &[0.0, 1.0, 0.0, 0.0, 4.0]), [4.0, 5.0, 2.5, 5.0, 4.0]);
    let empty = Tape::new(&graph, &[]);
    assert_eq!(run(&empty, &[]), []);
}

fn sines<'g>(symbols: &[Sym<'g>]) -> Vec<Sym<'g>> {
    symbols.iter().map(|x| x.sin()).collect()
}

#[test]
fn scratch_is_shared_between_tapes_of_all_sizes() {
    let graph = Graph::new();
    let v = graph.inputs(400);
    let large = Tape::new(&graph, &sines(&v));
    let small = Tape::new(&graph, &sines(&v[..3]));
    let huge_inputs = graph.inputs(3000);
    let huge = Tape::new(&graph, &sines(&huge_inputs));
    let inputs: Vec<_> = (0..3000).map(|i| [f64::from(i); LANES]).collect();
    let mut scratch = Registers::new();
    for tape in [&small, &huge, &large, &small] {
        let mut outputs = vec![[0.0; LANES]; tape.outputs()];
        tape.run(&inputs, &mut scratch, &mut outputs);
        for (i, lanes) in outputs.iter().enumerate() {
            assert_eq!(*lanes, [(i as f64).sin(); LANES]);
        }
    }
}

#[test]
fn what_is_not_needed_is_dropped() {
    let graph = Graph::new();
    let inputs = graph.inputs(NeoHookeanTet::inputs() as u32);
    let energy = NeoHookeanTet::of(&inputs);
    let outputs = derivatives(&graph, energy, 12);
    let all = graph.count_ops(&outputs);
    // One vertex: three gradient entries and six of the Hessian.
    let gradient = graph.gradient(energy, &inputs[3..6]);
    let block = graph.hessian(energy, &inputs[3..6]);
    assert_eq!((gradient.len(), block.len()), (3, 6));
    let corner = graph.count_ops(&[gradient, block].concat());
    let alone = graph.count_ops(&[energy]);
    assert!(alone < 110 && corner < all / 3, "{alone} {corner} {all}");
}
