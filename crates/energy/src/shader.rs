//! The GLSL of an element type.

use crate::element::{Blocks, Element, Fields, Psd};
use crate::program::symbols;
use gusset_trace::{Graph, Sym, glsl};

/// GLSL of one stencil, without the shell that loads and stores.
///
/// Every function takes the inputs in the order of [`Program`](crate::Program). Derivatives are the gradient (3 N
/// numbers), then the upper triangle of the Hessian row by row.
#[derive(Clone, Debug)]
pub struct Shader {
    /// Name of the kind; part of the function names.
    pub kind: String,
    /// Vertices per stencil.
    pub arity: usize,
    /// Doubles a stencil needs: positions, start positions, start velocities, dt, constants.
    pub inputs: usize,
    /// What makes the exact Hessian safe for a Newton direction, where there is no closed form.
    pub psd: Psd,
    /// `void NAME_energy(in double v[inputs], out double r[1])`.
    pub energy: String,
    /// `void NAME_hessian(...)`: gradient and exact Hessian.
    pub hessian: String,
    /// `void NAME_closed_form(...)`: gradient and the Hessian that is assembled, where the element has it in closed form.
    pub closed_form: Option<String>,
}

impl Shader {
    /// The kind as an identifier: `neo_hookean`.
    pub fn identifier(&self) -> String {
        identifier(&self.kind)
    }

    /// Numbers per stencil that the derivatives' functions return.
    pub fn derivatives(&self) -> usize {
        let d = 3 * self.arity;
        d + d * (d + 1) / 2
    }

    /// Traces an element type under the kind's name.
    pub(crate) fn trace<E: Element<N>, const N: usize>(kind: &str) -> Self {
        let name = identifier(kind);
        let inputs = 9 * N + 1 + E::Params::<f64>::COUNT;
        let graph = Graph::new();
        let v = graph.inputs(inputs as u32);
        let (at, params) = symbols::<E, N>(&v);
        let energy = E::energy(&at, &params);
        let x = &v[..3 * N];
        let exact = [graph.gradient(energy, x), graph.hessian(energy, x)].concat();
        Self {
            kind: kind.to_owned(),
            arity: N,
            inputs,
            psd: E::PSD,
            energy: glsl(&graph, &format!("{name}_energy"), inputs, &[energy]),
            hessian: glsl(&graph, &format!("{name}_hessian"), inputs, &exact),
            closed_form: E::CLOSED_FORM.then(|| {
                let graph = Graph::new();
                let outputs = closed_form::<E, N>(&graph.inputs(inputs as u32));
                glsl(&graph, &format!("{name}_closed_form"), inputs, &outputs)
            }),
        }
    }
}

fn identifier(kind: &str) -> String {
    kind.replace('-', "_")
}

/// Gradient and packed upper triangle of an element's closed form.
fn closed_form<'g, E: Element<N>, const N: usize>(v: &[Sym<'g>]) -> Vec<Sym<'g>> {
    let (at, params) = symbols::<E, N>(v);
    let mut blocks = Blocks::<N, Sym<'g>>::zero();
    E::closed_form(&at, &params, &mut blocks);
    let mut out: Vec<_> = blocks.gradient.iter().flat_map(|g| g.to_array()).collect();
    for r in 0..3 * N {
        for c in r..3 * N {
            let (i, j) = (r / 3, c / 3);
            // Of a diagonal block the lower triangle, which is what assembly reads.
            let (a, b) = if i == j { (c % 3, r % 3) } else { (r % 3, c % 3) };
            out.push(blocks.hessian[i][j].entry(a, b));
        }
    }
    out
}
