//! The GLSL of kernels: files of `shaders/`, and the shell around traced energies.

use gusset_energy::{Psd, Shader, block_count, block_index};
use gusset_trace::GLSL_PRELUDE_DECLARATIONS;
use std::fmt::Write as _;

/// Files of `shaders/` by the name that `#include` gives.
const FILES: [(&str, &str); 31] = [
    ("element.comp", include_str!("../../../shaders/element.comp")),
    ("lib/scalars.glsl", include_str!("../../../shaders/lib/scalars.glsl")),
    ("lib/distance.glsl", include_str!("../../../shaders/lib/distance.glsl")),
    ("lib/math.glsl", include_str!("../../../shaders/lib/math.glsl")),
    ("lib/psd.glsl", include_str!("../../../shaders/lib/psd.glsl")),
    ("lib/sum.glsl", include_str!("../../../shaders/lib/sum.glsl")),
    ("lib/thread.glsl", include_str!("../../../shaders/lib/thread.glsl")),
    ("kernels/add_diagonal.comp", include_str!("../../../shaders/kernels/add_diagonal.comp")),
    ("kernels/cg_direction.comp", include_str!("../../../shaders/kernels/cg_direction.comp")),
    ("kernels/cg_dots.comp", include_str!("../../../shaders/kernels/cg_dots.comp")),
    ("kernels/cg_multiply.comp", include_str!("../../../shaders/kernels/cg_multiply.comp")),
    ("kernels/cg_scalar.comp", include_str!("../../../shaders/kernels/cg_scalar.comp")),
    ("kernels/cg_step.comp", include_str!("../../../shaders/kernels/cg_step.comp")),
    ("kernels/schwarz_apply.comp", include_str!("../../../shaders/kernels/schwarz_apply.comp")),
    ("kernels/schwarz_factor.comp", include_str!("../../../shaders/kernels/schwarz_factor.comp")),
    (
        "kernels/schwarz_restrict.comp",
        include_str!("../../../shaders/kernels/schwarz_restrict.comp"),
    ),
    ("kernels/contact_bound.comp", include_str!("../../../shaders/kernels/contact_bound.comp")),
    ("kernels/contact_boxes.comp", include_str!("../../../shaders/kernels/contact_boxes.comp")),
    ("kernels/contact_query.comp", include_str!("../../../shaders/kernels/contact_query.comp")),
    ("kernels/contact_refit.comp", include_str!("../../../shaders/kernels/contact_refit.comp")),
    ("kernels/contact_rows.comp", include_str!("../../../shaders/kernels/contact_rows.comp")),
    ("kernels/contact_sort.comp", include_str!("../../../shaders/kernels/contact_sort.comp")),
    ("kernels/dense_factor.comp", include_str!("../../../shaders/kernels/dense_factor.comp")),
    ("kernels/dense_fill.comp", include_str!("../../../shaders/kernels/dense_fill.comp")),
    ("kernels/dense_panel.comp", include_str!("../../../shaders/kernels/dense_panel.comp")),
    ("kernels/dense_scale.comp", include_str!("../../../shaders/kernels/dense_scale.comp")),
    ("kernels/dense_solve.comp", include_str!("../../../shaders/kernels/dense_solve.comp")),
    ("kernels/dense_update.comp", include_str!("../../../shaders/kernels/dense_update.comp")),
    ("kernels/gather_blocks.comp", include_str!("../../../shaders/kernels/gather_blocks.comp")),
    ("kernels/gather_vertices.comp", include_str!("../../../shaders/kernels/gather_vertices.comp")),
    ("kernels/math.comp", include_str!("../../../shaders/kernels/math.comp")),
];

/// What a kernel of an energy computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Energy of each stencil, and sums of them.
    Energy,
    /// Gradients and exact Hessians, which the kernel may project.
    Exact,
    /// Gradients and Hessians in closed form.
    ClosedForm,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Self::Energy => "energy",
            Self::Exact => "exact",
            Self::ClosedForm => "closed_form",
        }
    }
}

/// A whole compute shader.
#[derive(Clone, Debug)]
pub struct Source {
    /// `hinge.energy`, `kernels.gather_blocks`: part of file names and messages.
    pub name: String,
    /// GLSL without anything left to include.
    pub text: String,
}

/// How a stencil's Hessian is projected: the value of the shell's constant `PSD`.
pub fn projection(psd: Psd) -> u32 {
    match psd {
        Psd::Exact => 0,
        Psd::Clamp => 1,
        Psd::Absolute => 2,
    }
}

/// A kernel of `shaders/kernels/`.
///
/// # Panics
/// If there is none of that name.
pub fn kernel(name: &str) -> Source {
    let text = assemble(file(&format!("kernels/{name}.comp")), "");
    Source { name: format!("kernels.{name}"), text }
}

/// The shell around one of an energy's functions; `None` where it has no closed form.
pub fn element(shader: &Shader, stage: Stage) -> Option<Source> {
    let (function, outputs) = match stage {
        Stage::Energy => (&shader.energy, 1),
        Stage::Exact => (&shader.hessian, shader.derivatives()),
        Stage::ClosedForm => (shader.closed_form.as_ref()?, shader.derivatives()),
    };
    let mut text = String::new();
    if stage == Stage::Energy {
        text.push_str("#define ENERGY\n");
    }
    let (arity, inputs) = (shader.arity, shader.inputs);
    let called = format!("{}_{}", shader.identifier(), function_suffix(stage));
    let mathematics = if function.contains("gusset_") {
        format!("{GLSL_PRELUDE_DECLARATIONS}#include \"lib/math.glsl\"\n")
    } else {
        String::new()
    };
    write!(
        text,
        "#define ARITY {arity}u\n#define BLOCKS {}u\n#define INPUTS {inputs}\n#define OUTPUTS {outputs}\n\
         {mathematics}\n{function}\n#define evaluate {called}\n\n{}\n",
        block_count(arity),
        load(shader, function),
    )
    .expect("a String takes any text");
    if stage != Stage::Energy {
        text.push_str(&store(arity));
    }
    let text = assemble(file("element.comp"), &text);
    Some(Source { name: format!("{}.{}", shader.identifier(), stage.name()), text })
}

fn function_suffix(stage: Stage) -> &'static str {
    match stage {
        Stage::Energy => "energy",
        Stage::Exact => "hessian",
        Stage::ClosedForm => "closed_form",
    }
}

/// Reads those inputs of a stencil that the function reads.
fn load(shader: &Shader, function: &str) -> String {
    let (n, params) = (shader.arity, shader.inputs - 9 * shader.arity - 1);
    let mut text = format!("void load(uint k, out double v[{}]) {{\n", shader.inputs);
    for i in 0..n {
        writeln!(text, "    uint p{i} = 3u * stencils[{n}u * k + {i}u];").expect("a String");
    }
    for input in 0..shader.inputs {
        if !function.contains(&format!("v[{input}]")) {
            continue;
        }
        let (i, axis) = (input % (3 * n) / 3, input % 3);
        let value = match input / (3 * n) {
            0 => format!("x[p{i} + {axis}u]"),
            1 => format!("x_start[p{i} + {axis}u]"),
            2 => format!("v_start[p{i} + {axis}u]"),
            _ if input == 9 * n => "dt".to_owned(),
            _ => format!("params[{params}u * k + {}u]", input - 9 * n - 1),
        };
        writeln!(text, "    v[{input}] = {value};").expect("a String takes any text");
    }
    text.push_str("}\n");
    text
}

/// Writes gradient and row-major upper blocks.
fn store(arity: usize) -> String {
    let d = 3 * arity;
    let packed = |r: usize, c: usize| {
        let (a, b) = (r.min(c), r.max(c));
        d + a * (2 * d - a + 1) / 2 + (b - a)
    };
    let mut text = "void store(uint gradient, uint hessian, in double r[OUTPUTS]) {\n".to_owned();
    for k in 0..d {
        writeln!(text, "    first[gradient + {k}u] = r[{k}];").expect("a String takes any text");
    }
    for i in 0..arity {
        for j in i..arity {
            for k in 0..9 {
                let to = 9 * block_index(arity, i, j) + k;
                let from = packed(3 * i + k / 3, 3 * j + k % 3);
                writeln!(text, "    second[hessian + {to}u] = r[{from}];").expect("a String");
            }
        }
    }
    text.push_str("}\n");
    text
}

fn file(name: &str) -> &'static str {
    let found = FILES.iter().find(|f| f.0 == name);
    found.unwrap_or_else(|| panic!("there is no shaders/{name}")).1
}

/// The text with all it includes, each file once; `element` stands for the generated part.
fn assemble(text: &str, element: &str) -> String {
    let mut out = "#version 460\n".to_owned();
    include(text, element, &mut Vec::new(), &mut out);
    out
}

fn include<'a>(text: &'a str, element: &'a str, seen: &mut Vec<&'a str>, out: &mut String) {
    for line in text.lines() {
        let name = line.strip_prefix("#include \"").and_then(|rest| rest.strip_suffix('"'));
        match name {
            Some(name) if seen.contains(&name) => {}
            Some("element") => include(element, "", seen, out),
            Some(name) => {
                seen.push(name);
                include(file(name), element, seen, out);
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_come_once_and_leave_nothing_behind() {
        let text = kernel("math").text;
        assert!(!text.contains("#include"));
        assert_eq!(text.matches("uint thread_index()").count(), 1);
        assert!(text.starts_with("#version 460\n"));
    }
}
