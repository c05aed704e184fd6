//! The GLSL text of a graph.

use std::fmt::Write as _;

use crate::graph::{Binary, Node, Unary};
use crate::{Graph, Sym};

/// Declarations of the double-precision functions that GLSL lacks and that [`glsl`] calls. Put them before the
/// generated text; the definitions may follow it.
pub const GLSL_PRELUDE_DECLARATIONS: &str = "\
double gusset_log(double x);
double gusset_exp(double x);
double gusset_sin(double x);
double gusset_cos(double x);
double gusset_atan2(double y, double x);
";

/// A GLSL function `void name(in double v[INPUTS], out double r[OUTPUTS])` that computes `outputs`, in their order, from
/// the graph's inputs. `inputs` is the size of `v`, at least one more than the largest input index read.
///
/// It performs the operations of the [`Tape`](crate::Tape) of the same outputs, each rounded once (`precise`, so that a
/// driver may not contract a product and a sum), and needs `GL_ARB_gpu_shader_fp64` or GLSL 4.00 and the functions of
/// [`GLSL_PRELUDE_DECLARATIONS`].
pub fn glsl(graph: &Graph, name: &str, inputs: usize, outputs: &[Sym<'_>]) -> String {
    let roots = graph.ids(outputs);
    let nodes = graph.nodes();
    let live = nodes.live(&roots);
    let operand = |id: u32| match nodes.get(id) {
        Node::Lit(bits) => literal(f64::from_bits(bits)),
        Node::Input(index) => format!("v[{index}]"),
        _ => format!("t{id}"),
    };
    let mut text = format!(
        "void {name}(in double v[{}], out double r[{}]) {{\n",
        inputs.max(1),
        outputs.len().max(1)
    );
    for id in (0..nodes.len()).filter(|&id| live[id]) {
        let value = match nodes.get(id as u32) {
            Node::Lit(_) | Node::Input(_) => continue,
            Node::Unary(op, x) => {
                let x = operand(x);
                match op {
                    Unary::Neg => format!("-{x}"),
                    Unary::Abs => format!("abs({x})"),
                    Unary::Sqrt => format!("sqrt({x})"),
                    Unary::Ln => format!("gusset_log({x})"),
                    Unary::Exp => format!("gusset_exp({x})"),
                    Unary::Sin => format!("gusset_sin({x})"),
                    Unary::Cos => format!("gusset_cos({x})"),
                }
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (operand(a), operand(b));
                match op {
                    Binary::Add => format!("{a} + {b}"),
                    Binary::Sub => format!("{a} - {b}"),
                    Binary::Mul => format!("{a} * {b}"),
                    Binary::Div => format!("{a} / {b}"),
                    Binary::Atan2 => format!("gusset_atan2({a}, {b})"),
                }
            }
            Node::Select([a, b, then, otherwise]) => {
                let [a, b, then, otherwise] = [a, b, then, otherwise].map(operand);
                format!("{a} < {b} ? {then} : {otherwise}")
            }
        };
        writeln!(text, "    precise double t{id} = {value};").expect("a String takes any text");
    }
    for (index, &root) in roots.iter().enumerate() {
        writeln!(text, "    r[{index}] = {};", operand(root)).expect("a String takes any text");
    }
    text.push_str("}\n");
    text
}

/// A GLSL expression of type double with exactly the value of `x`.
fn literal(x: f64) -> String {
    if x.is_normal() || x == 0.0 {
        // The shortest decimal that reads back to the same bits; parenthesised so that `a - -1` can't become `a--1`.
        let digits = format!("{x:e}lf");
        if x.is_sign_negative() { format!("({digits})") } else { digits }
    } else {
        // Infinities, NaN and subnormal numbers have no portable spelling in decimal.
        let bits = x.to_bits();
        format!("packDouble2x32(uvec2({:#x}u, {:#x}u))", bits & 0xffff_ffff, bits >> 32)
    }
}
