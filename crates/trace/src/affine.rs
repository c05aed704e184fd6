//! Second derivatives in the space where a function stops being affine.
//!
//! With `z = A x + a` and `E(x) = F(z)`, the Hessian is `A^T H A` of a smaller, or at least simpler, `H`. Two such maps are
//! looked for: one with literal entries, whose rank tells how many coordinates are enough (positions that enter as
//! differences: all but one point's), and one whose entries are any expressions that don't depend on `x` (a
//! deformation gradient, a slip).

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::{forward, packed, reverse, second};
use crate::graph::{Binary, Id, Node, Nodes, Unary};

/// Upper triangle of the second derivatives of `output` by `inputs`: the cheapest of the candidates.
pub(crate) fn hessian(nodes: &mut Nodes, output: Id, inputs: &[Id]) -> Vec<Id> {
    let gradient = reverse(nodes, output, inputs);
    let mut candidates = vec![second(nodes, &gradient, inputs)];

    let reduction = Reduction::of(nodes, output, inputs);
    let enough = match &reduction {
        Some(reduction) => reduction.coordinates.iter().map(|&place| inputs[place]).collect(),
        None => inputs.to_vec(),
    };
    let expand = |nodes: &mut Nodes, upper: Vec<Id>| match &reduction {
        Some(reduction) => congruence(nodes, &upper, &reduction.rows),
        None => upper,
    };
    if let Some(reduction) = &reduction {
        let gradient: Vec<_> = reduction.coordinates.iter().map(|&place| gradient[place]).collect();
        let upper = second(nodes, &gradient, &enough);
        candidates.push(expand(nodes, upper));
    }

    let layers = layers(nodes, output, inputs);
    for top in 0..layers.len() {
        let mut upper = opaque_hessian(nodes, output, &layers[top]);
        for pair in layers[top..].windows(2) {
            let rows = opaque_jacobian(nodes, &pair[0], &pair[1]);
            upper = congruence(nodes, &upper, &rows);
        }
        let last = &layers[layers.len() - 1];
        let columns: Vec<_> = enough.iter().map(|&input| forward(nodes, last, input)).collect();
        let upper = congruence(nodes, &upper, &transpose(&columns));
        candidates.push(expand(nodes, upper));
    }
    let cost = |upper: &Vec<Id>| nodes.live(upper).into_iter().filter(|&live| live).count();
    candidates.into_iter().min_by_key(cost).expect("there is the direct candidate")
}

/// What a coefficient of an affine map may be.
#[derive(Clone, Copy, PartialEq)]
enum Coefficients {
    Literal,
    /// Anything that does not depend on the inputs.
    Fixed,
}

/// The affine functions of `inputs` that others than affine functions read: together they determine `output`.
fn frontier(nodes: &Nodes, output: Id, inputs: &[Id], coefficients: Coefficients) -> Vec<Id> {
    let depends = nodes.dependents(inputs);
    let live = nodes.live(&[output]);
    let mut affine = vec![false; live.len()];
    let mut read = vec![false; live.len()];
    for id in (0..=output).filter(|&id| live[id as usize] && depends[id as usize]) {
        let is_affine = |x: Id| affine[x as usize] || !depends[x as usize];
        let fixed = |x: Id| match coefficients {
            Coefficients::Literal => nodes.literal(x).is_some(),
            Coefficients::Fixed => !depends[x as usize],
        };
        affine[id as usize] = inputs.contains(&id)
            || match nodes.get(id) {
                Node::Unary(Unary::Neg, x) => is_affine(x),
                Node::Binary(Binary::Add | Binary::Sub, a, b) => is_affine(a) && is_affine(b),
                Node::Binary(Binary::Mul, a, b) => {
                    (fixed(a) && is_affine(b)) || (is_affine(a) && fixed(b))
                }
                Node::Binary(Binary::Div, a, b) => is_affine(a) && fixed(b),
                _ => false,
            };
        if !affine[id as usize] {
            nodes.get(id).operands(|x| read[x as usize] |= affine[x as usize]);
        }
    }
    read[output as usize] |= affine[output as usize];
    (0..=output).filter(|&id| read[id as usize]).collect()
}

/// The affine functions of the inputs that determine `output`, then those that determine these, and so on: a layer
/// is a literal map of products of the next one with fixed factors. The inputs themselves are not among the layers.
fn layers(nodes: &Nodes, output: Id, inputs: &[Id]) -> Vec<Vec<Id>> {
    let depends = nodes.dependents(inputs);
    let mut layers = Vec::new();
    let mut layer = frontier(nodes, output, inputs, Coefficients::Fixed);
    while layer.iter().any(|id| !inputs.contains(id)) {
        let mut below = BTreeSet::new();
        let mut open = layer.clone();
        while let Some(id) = open.pop() {
            if inputs.contains(&id) {
                below.insert(id);
                continue;
            }
            match nodes.get(id) {
                Node::Binary(Binary::Mul | Binary::Div, a, b) => {
                    let (factor, fixed) = if depends[a as usize] { (a, b) } else { (b, a) };
                    if nodes.literal(fixed).is_some() {
                        open.push(factor);
                    } else {
                        below.insert(factor);
                    }
                }
                node => node.operands(|x| {
                    if depends[x as usize] {
                        open.push(x);
                    }
                }),
            }
        }
        layers.push(layer);
        layer = below.into_iter().collect();
    }
    layers
}

/// A function of a literal map `A x` of rank `r < n` changes only with `r` of its coordinates: with `B` the reduced
/// row echelon form of `A`, `x` and the point with the pivot coordinates `B x` and zeros elsewhere have the same value.
/// The full Hessian is `B^T H B` of the one by the pivot coordinates.
struct Reduction {
    /// Places of the pivot coordinates among the inputs.
    coordinates: Vec<usize>,
    /// `B`, as nodes.
    rows: Vec<Vec<Id>>,
}

impl Reduction {
    /// `None` if all coordinates matter, if none does, or if `B` can't be had without rounding.
    fn of(nodes: &mut Nodes, output: Id, inputs: &[Id]) -> Option<Self> {
        let differences = frontier(nodes, output, inputs, Coefficients::Literal);
        let columns: Vec<_> = inputs.iter().map(|&x| forward(nodes, &differences, x)).collect();
        let value = |row: &Vec<Id>| row.iter().map(|&entry| nodes.literal(entry)).collect();
        let map: Vec<Vec<f64>> = transpose(&columns).iter().map(value).collect::<Option<_>>()?;

        // Coordinates that enter the most differences last: they make the longest derivatives, and the last ones are
        // left without a pivot.
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        order.sort_by_key(|&j| map.iter().filter(|row| row[j] != 0.0).count());
        let mut rest = map;
        let mut pivots: Vec<(usize, Vec<f64>)> = Vec::new();
        for &j in &order {
            let Some(place) = rest.iter().position(|row| row[j] != 0.0) else { continue };
            let mut row = rest.swap_remove(place);
            let scale = 1.0 / row[j];
            for entry in &mut row {
                *entry *= scale;
            }
            let others = rest.iter_mut().chain(pivots.iter_mut().map(|(_, row)| row));
            for other in others {
                let factor = other[j];
                other.iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
            }
            pivots.push((j, row));
        }
        // Small whole numbers are exact throughout; anything else may have been rounded.
        let exact =
            pivots.iter().flat_map(|(_, row)| row).all(|x| x.fract() == 0.0 && x.abs() < 64.0);
        if pivots.is_empty() || pivots.len() >= inputs.len() || !exact {
            return None;
        }
        pivots.sort_by_key(|&(j, _)| j);
        let (coordinates, rows): (_, Vec<Vec<f64>>) = pivots.into_iter().unzip();
        let rows = rows.iter().map(|row| row.iter().map(|&x| nodes.lit(x)).collect()).collect();
        Some(Self { coordinates, rows })
    }
}

/// Upper triangle of the second derivatives of `output` by nodes that are taken for variables, however they are
/// computed.
fn opaque_hessian(nodes: &mut Nodes, output: Id, variables: &[Id]) -> Vec<Id> {
    let stand_ins = stand_ins(nodes, variables.len());
    let output = substitute(nodes, &[output], variables, &stand_ins)[0];
    let gradient = reverse(nodes, output, &stand_ins);
    let upper = second(nodes, &gradient, &stand_ins);
    substitute(nodes, &upper, &stand_ins, variables)
}

/// Derivatives of `outputs` by nodes that are taken for variables: a row per output.
fn opaque_jacobian(nodes: &mut Nodes, outputs: &[Id], variables: &[Id]) -> Vec<Vec<Id>> {
    let stand_ins = stand_ins(nodes, variables.len());
    let outputs = substitute(nodes, outputs, variables, &stand_ins);
    // The outputs are affine, so that nothing is left to put back.
    let columns: Vec<_> = stand_ins.iter().map(|&x| forward(nodes, &outputs, x)).collect();
    transpose(&columns)
}

/// Inputs that nobody else has: folding can't look into them as it could into the nodes they stand for.
fn stand_ins(nodes: &mut Nodes, count: usize) -> Vec<Id> {
    (0..count as u32).map(|k| nodes.input(u32::MAX - k)).collect()
}

/// `roots` with every node of `from` replaced by its counterpart in `to`.
fn substitute(nodes: &mut Nodes, roots: &[Id], from: &[Id], to: &[Id]) -> Vec<Id> {
    let mut replaced: BTreeMap<Id, Id> = from.iter().copied().zip(to.iter().copied()).collect();
    let live = nodes.live(roots);
    for id in (0..live.len() as Id).filter(|&id| live[id as usize]) {
        if replaced.contains_key(&id) {
            continue;
        }
        let new = |x: Id| replaced[&x];
        let copy = match nodes.get(id) {
            Node::Lit(_) | Node::Input(_) => id,
            Node::Unary(op, x) => nodes.unary(op, new(x)),
            Node::Binary(op, a, b) => nodes.binary(op, new(a), new(b)),
            Node::Select([a, b, then, otherwise]) => {
                nodes.select(new(a), new(b), new(then), new(otherwise))
            }
        };
        replaced.insert(id, copy);
    }
    roots.iter().map(|root| replaced[root]).collect()
}

fn transpose(columns: &[Vec<Id>]) -> Vec<Vec<Id>> {
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

/// Sum of products, zeros left out.
fn dot(nodes: &mut Nodes, a: &[Id], b: &[Id]) -> Id {
    let mut sum = nodes.lit(0.0);
    for (&a, &b) in a.iter().zip(b) {
        let product = nodes.mul(a, b);
        sum = nodes.add(sum, product);
    }
    sum
}

/// Upper triangle of `A^T H A`, from the upper triangle of `H` and the rows of `A`.
fn congruence(nodes: &mut Nodes, upper: &[Id], rows: &[Vec<Id>]) -> Vec<Id> {
    let m = rows.len();
    let columns = transpose(rows);
    let row =
        |k: usize| -> Vec<Id> { (0..m).map(|l| upper[packed(m, k.min(l), k.max(l))]).collect() };
    let half =
        |column: &Vec<Id>| -> Vec<Id> { (0..m).map(|k| dot(nodes, &row(k), column)).collect() };
    let product: Vec<_> = columns.iter().map(half).collect();
    let mut result = Vec::new();
    for (i, column) in columns.iter().enumerate() {
        result.extend(product[i..].iter().map(|half| dot(nodes, column, half)));
    }
    result
}

#[cfg(test)]
mod tests {
    use gusset_scalar::{Scalar, Vec3};

    use crate::samples::{Friction, Hinge, NeoHookeanTet, Sample, StVKTriangle};
    use crate::{Graph, Sym};

    /// Upper triangle by forward mode along each input, without any reduction.
    fn direct<'g>(graph: &'g Graph, output: Sym<'g>, inputs: &[Sym<'g>]) -> Vec<Sym<'g>> {
        let gradient = graph.gradient(output, inputs);
        let row = |i: usize| graph.tangent(&gradient, inputs[i])[i..].to_vec();
        (0..inputs.len()).flat_map(row).collect()
    }

    fn assert_same(outputs: &[Vec<f64>; 2]) {
        let [found, expected] = outputs;
        let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
        for (f, e) in found.iter().zip(expected) {
            assert!((f - e).abs() < 1e-13 * scale, "{f}, expected {e}");
        }
    }

    /// Operations with and without reduction; values agree.
    fn costs<E: Sample>() -> [usize; 2] {
        let graph = Graph::new();
        let inputs = graph.inputs(E::inputs() as u32);
        let energy = E::of(&inputs);
        let x = &inputs[..E::dofs()];
        let both = [graph.hessian(energy, x), direct(&graph, energy, x)];
        assert_same(&both.each_ref().map(|outputs| graph.eval(outputs, &E::state())));
        both.map(|outputs| graph.count_ops(&outputs))
    }

    #[test]
    fn elements_cost_less_in_their_own_space() {
        for ([reduced, direct], percent) in [
            (costs::<NeoHookeanTet>(), 80),
            (costs::<StVKTriangle>(), 70),
            (costs::<Hinge>(), 80),
            (costs::<Friction>(), 45),
        ] {
            assert!(100 * reduced < percent * direct, "{reduced} of {direct}");
        }
    }

    #[test]
    fn forces_of_a_translated_element_stay_exactly() {
        // The last point's block is the negative sum of the others', not a value of its own.
        let graph = Graph::new();
        let inputs = graph.inputs(StVKTriangle::inputs() as u32);
        let upper = graph.hessian(StVKTriangle::of(&inputs), &inputs[..9]);
        let h = graph.eval(&upper, &StVKTriangle::state());
        let entry = |i: usize, j: usize| {
            let (i, j) = (i.min(j), i.max(j));
            h[super::packed(9, i, j)]
        };
        for i in 0..9 {
            for axis in 0..3 {
                let sum = entry(i, axis) + entry(i, 3 + axis) + entry(i, 6 + axis);
                assert!(sum.abs() < 1e-14, "{sum:e}");
            }
        }
    }

    /// Functions of three inputs and two parameters with every kind of map.
    fn maps(v: &[Sym<'_>]) -> Vec<[f64; 2]> {
        let [x, y, z, p, q] = <[Sym<'_>; 5]>::try_from(v).unwrap();
        let Sym::Node(graph, _) = x else { panic!("an input is a node") };
        let functions = [
            // Of one whole combination, of fractions, of an inexact one.
            (x * 2.0 - y).sin() * (y - x * 2.0).exp(),
            ((x + y) * 0.5 - z * 0.25).cube(),
            (x / 3.0 + y / 3.0 - z / 1.5).exp(),
            // Fixed factors in layers, with negations that folding moves about.
            ((-(x * p - y * q)) * q + z / p).sin() * (y * q - x * p),
            ((x - y) * p - (y - z) * q).square() + (z - x).cos(),
            // Affine, constant, and a plain function of inputs.
            x * 3.0 - y + p,
            p * q,
            x * y * z,
            // The output of a map by itself is read, and by another map too.
            (x - y).sin() + ((x - y) * p + z).sin() + (x - y) * (x - y),
            Sym::select_lt(x, y, (x - y) * p, (y - x).square()),
            Vec3::new(x - y, y - z, z - x).norm_eps(p),
        ];
        let state = [0.3, -0.7, 1.1, 0.8, -1.3];
        functions
            .into_iter()
            .flat_map(|f| {
                let both = [graph.hessian(f, &v[..3]), direct(graph, f, &v[..3])];
                let values = both.map(|outputs| graph.eval(&outputs, &state));
                (0..6).map(|k| [values[0][k], values[1][k]]).collect::<Vec<_>>()
            })
            .collect()
    }

    #[test]
    fn any_map_gives_the_same_derivatives() {
        let graph = Graph::new();
        for (k, [found, expected]) in maps(&graph.inputs(5)).into_iter().enumerate() {
            let (function, entry) = (k / 6, k % 6);
            let error = (found - expected).abs();
            assert!(error < 1e-14 * (1.0 + expected.abs()), "function {function}, entry {entry}");
        }
    }
}
