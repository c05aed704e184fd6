//! The GLSL text of a graph.

use std::fmt::Write as _;

use crate::graph::{Binary, Node, Unary};
use crate::{Graph, Sym};

/// Declarations of the double-precision functions that GLSL lacks and that [`glsl`] calls. Put them before the
/// generated text; the definitions may follow it.
pub const GLSL_PRELUDE_DECLARATIONS: &str = "\
double gusset_log(double x);
double gusset_log1p(double x);
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
                    Unary::Ln1p => format!("gusset_log1p({x})"),
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    use gusset_scalar::Scalar;

    use super::*;
    use crate::samples::{EdgeEdgeBarrier, Friction, Hinge, NeoHookeanTet, Sample, StVKTriangle};

    /// A compute shader that calls `function` once, with the prelude's functions given any body: this is about syntax.
    fn shader(function: &str, name: &str, inputs: usize, outputs: usize) -> String {
        let bodies = GLSL_PRELUDE_DECLARATIONS.replace("x);", "x) { return x; }");
        format!(
            "#version 450\n\
             layout(local_size_x = 1) in;\n\
             layout(std430, binding = 0) readonly buffer In {{ double data_in[]; }};\n\
             layout(std430, binding = 1) writeonly buffer Out {{ double data_out[]; }};\n\
             {GLSL_PRELUDE_DECLARATIONS}{function}{bodies}\
             void main() {{\n\
             double v[{inputs}]; double r[{outputs}];\n\
             for (int i = 0; i < {inputs}; ++i) v[i] = data_in[i];\n\
             {name}(v, r);\n\
             for (int i = 0; i < {outputs}; ++i) data_out[i] = r[i];\n}}\n"
        )
    }

    /// SPIR-V assembly of a compute shader, or `None` where there is no `glslc` to ask.
    fn compile(source: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let (path, out) = (folder.path().join("shader.comp"), folder.path().join("shader.spvasm"));
        std::fs::write(&path, source).unwrap();
        let run = Command::new("glslc")
            .args(["-fshader-stage=compute", "--target-env=vulkan1.2", "-S", "-O0", "-o"])
            .args([&out, &path])
            .output();
        let Ok(run) = run else {
            eprintln!(
                "skipped: there is no `glslc` on the path, so generated GLSL was not compiled"
            );
            return None;
        };
        let message = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{message}\n{source}");
        Some(std::fs::read_to_string(out).unwrap())
    }

    fn element_compiles<E: Sample>() {
        let graph = Graph::new();
        let inputs = graph.inputs(E::inputs() as u32);
        let energy = E::of(&inputs);
        let gradient = graph.gradient(energy, &inputs[..E::dofs()]);
        let hessian = graph.hessian(energy, &inputs[..E::dofs()]);
        let outputs = [&[energy], &gradient[..], &hessian[..]].concat();
        let text = glsl(&graph, "element", inputs.len(), &outputs);
        let Some(assembly) = compile(&shader(&text, "element", inputs.len(), outputs.len())) else {
            return;
        };
        // Every operation is there, and none may be contracted.
        let statements = text.matches("precise double").count();
        assert_eq!(statements, graph.count_ops(&outputs), "{}", E::NAME);
        assert!(assembly.matches("NoContraction").count() > statements / 2, "{}", E::NAME);
    }

    #[test]
    fn elements_compile() {
        element_compiles::<NeoHookeanTet>();
        element_compiles::<StVKTriangle>();
        element_compiles::<Hinge>();
        element_compiles::<EdgeEdgeBarrier>();
        element_compiles::<Friction>();
    }

    #[test]
    fn every_operation_and_odd_literal_compiles() {
        let graph = Graph::new();
        let [x, y]: [Sym<'_>; 2] = graph.inputs(2).try_into().unwrap();
        let odd = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, -1e-310, -0.0, -7.0];
        let mut outputs = vec![
            x.sqrt().ln().ln_1p().exp().sin().cos().atan2(y).abs(),
            -x,
            x / y - y,
            Scalar::select_lt(x, y, y, Sym::Lit(-1.5)),
            x,
        ];
        outputs.extend(odd.map(|value| Sym::Lit(value) - x));
        outputs.extend(odd.map(Sym::Lit));
        let text = glsl(&graph, "odd", 2, &outputs);
        compile(&shader(&text, "odd", 2, outputs.len()));
        // A function of nothing is still a function.
        compile(&shader(&glsl(&graph, "none", 0, &[]), "none", 1, 1));
    }

    /// The compiler's own reading of literals, taken from the constants of the module.
    #[test]
    fn literals_keep_their_bits_through_the_compiler() {
        let mut values = vec![
            0.1,
            1.0 / 3.0,
            1e22,
            1e23,
            4_503_599_627_370_497.5,
            9_007_199_254_740_993.0,
            f64::MAX,
            2.5e-308,
            f64::MIN_POSITIVE,
            f64::EPSILON,
            std::f64::consts::PI,
            6.626_070_15e-34,
            123_456_789.0,
            3.0,
        ];
        // A fixed sequence over the whole range of normal numbers.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        while values.len() < 500 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits((state ^ (state >> 29)) & (u64::MAX >> 1));
            if value.is_normal() {
                values.push(value);
            }
        }
        let graph = Graph::new();
        let outputs: Vec<_> = values.iter().map(|&value| graph.input(0) + value).collect();
        let text = glsl(&graph, "literals", 1, &outputs);
        let Some(assembly) = compile(&shader(&text, "literals", 1, outputs.len())) else { return };
        let constants: Vec<u64> = assembly
            .lines()
            .filter_map(|line| line.split_once("OpConstant %double "))
            .map(|(_, number)| number.trim().parse::<f64>().unwrap().to_bits())
            .collect();
        for value in values {
            assert!(constants.contains(&value.to_bits()), "{value:e} did not survive");
        }
    }

    #[test]
    fn text_is_in_node_order_and_reads_like_the_expression() {
        let graph = Graph::new();
        let [x, y]: [Sym<'_>; 2] = graph.inputs(2).try_into().unwrap();
        let text = glsl(&graph, "f", 2, &[(x - y) * 0.5, x]);
        let expected = "\
void f(in double v[2], out double r[2]) {
    precise double t2 = v[0] - v[1];
    precise double t4 = t2 * 5e-1lf;
    r[0] = t4;
    r[1] = v[0];
}
";
        assert_eq!(text, expected);
    }
}
