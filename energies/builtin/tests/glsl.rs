//! The GLSL text of every kind compiles.

use gusset_builtin::{
    barrier, drag, friction, hinge, inertia, neo_hookean, penalty, stvk, support, tet_neo_hookean,
    tie,
};
use gusset_energy::{Program, Shader};
use gusset_trace::GLSL_PRELUDE_DECLARATIONS;
use std::process::Command;

fn shaders() -> Vec<Shader> {
    vec![
        Program::shared::<inertia::Inertia, 1>().shader("inertia"),
        Program::shared::<drag::Drag, 1>().shader("drag"),
        Program::shared::<support::Support, 1>().shader("support"),
        Program::shared::<tie::Tie, 2>().shader("tie"),
        Program::shared::<neo_hookean::NeoHookean, 3>().shader("neo-hookean"),
        Program::shared::<stvk::StVK, 3>().shader("stvk"),
        Program::shared::<hinge::Hinge, 4>().shader("hinge"),
        Program::shared::<tet_neo_hookean::Stable, 4>().shader("tet-neo-hookean"),
        Program::shared::<tet_neo_hookean::Log, 4>().shader("tet-neo-hookean-log"),
        Program::shared::<barrier::RowBarrier, 4>().shader("barrier"),
        Program::shared::<barrier::SlabBarrier, 1>().shader("barrier-slab"),
        Program::shared::<penalty::RowPenalty, 4>().shader("penalty"),
        Program::shared::<penalty::SlabPenalty, 1>().shader("penalty-slab"),
        Program::shared::<friction::RowFriction, 4>().shader("friction"),
        Program::shared::<friction::SlabFriction, 1>().shader("friction-slab"),
    ]
}

/// A compute shader that calls both functions; the mathematics that GLSL lacks is left unfinished on purpose.
fn compute_shader(shader: &Shader) -> String {
    let name = shader.identifier();
    let outputs = shader.derivatives();
    let definitions: String = GLSL_PRELUDE_DECLARATIONS
        .lines()
        .filter(|line| line.starts_with("double"))
        .map(|line| line.replace(';', " { return 0.0lf; }\n"))
        .collect();
    let closed_form = match shader.closed_form {
        Some(_) => format!("{name}_closed_form(v, hessian);"),
        None => String::new(),
    };
    format!(
        "#version 450\n\
         layout(local_size_x = 64) in;\n\
         layout(set = 0, binding = 0) buffer Values {{ double values[]; }};\n\
         {GLSL_PRELUDE_DECLARATIONS}\n{}\n{}\n{}\n{definitions}\n\
         void main() {{\n\
             double v[{inputs}];\n\
             for (int k = 0; k < {inputs}; k++) v[k] = values[k];\n\
             double energy[1]; double hessian[{outputs}];\n\
             {name}_energy(v, energy);\n\
             {name}_hessian(v, hessian);\n\
             values[0] = energy[0];\n\
             for (int k = 0; k < {outputs}; k++) values[k] = hessian[k];\n\
             {closed_form}\n\
             for (int k = 0; k < {outputs}; k++) values[k] += hessian[k];\n\
         }}\n",
        shader.energy,
        shader.hessian,
        shader.closed_form.as_deref().unwrap_or_default(),
        inputs = shader.inputs,
    )
}

/// Tells what was not tested, where nobody can miss it: not by `eprintln!`, which the test harness keeps to itself.
fn skip(why: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

#[test]
fn shaders_compile() {
    if Command::new("glslc").arg("--version").output().is_err() {
        skip("`glslc` (shaderc) is not installed, so no shader was compiled");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let shaders = shaders();
    for shader in &shaders {
        let source = folder.path().join(format!("{}.comp", shader.identifier()));
        std::fs::write(&source, compute_shader(shader)).unwrap();
        let run = Command::new("glslc")
            .args(["--target-env=vulkan1.2", "-o"])
            .arg(source.with_extension("spv"))
            .arg(&source)
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{} does not compile:\n{messages}", shader.kind);
    }
    let names: std::collections::BTreeSet<String> =
        shaders.iter().map(Shader::identifier).collect();
    assert_eq!(names.len(), shaders.len(), "function names differ");
}
