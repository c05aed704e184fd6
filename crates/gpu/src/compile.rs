//! From GLSL to SPIR-V: what is checked in, else what an earlier run has compiled, else shaderc.

use crate::source::Source;
use crate::vulkan::GpuError;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::{env, fs};

/// Compiled kernels that come with the program, by their key.
const BUILTIN: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

/// What the compiler is asked for; part of every key.
const TARGET: &str = "vulkan1.2 performance";

/// The version of shaderc that the SPIR-V in `shaders/spirv` is from.
pub const PINNED: &str = "shaderc 2023.2";

/// What identifies a kernel: a hash of its source and of what the compiler is asked for.
pub fn key(source: &Source) -> String {
    hash(&[source.text.as_bytes(), TARGET.as_bytes()])
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(12).fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes any text");
        text
    })
}

/// Whether the kernel comes with the program.
pub fn is_builtin(source: &Source) -> bool {
    let key = key(source);
    BUILTIN.iter().any(|b| b.0 == key)
}

/// SPIR-V of a kernel, for a device of that name.
pub fn spirv(source: &Source, device: &str) -> Result<Vec<u32>, GpuError> {
    let key = key(source);
    if let Some((_, bytes)) = BUILTIN.iter().find(|b| b.0 == key) {
        return Ok(words(bytes));
    }
    let compiler = compiler().map_err(|why| GpuError::NoCompiler {
        kind: source.name.clone(),
        why: format!(
            "does not come with this program and can't be compiled: {why}; install shaderc's `glslc` (Debian: `glslc`), \
             or build with `--features shaderc`"
        ),
    })?;
    let key = hash(&[key.as_bytes(), compiler.as_bytes(), device.as_bytes()]);
    let cached = cache_folder().map(|folder| folder.join(format!("{}.{key}.spv", source.name)));
    if let Some(bytes) = cached.as_ref().and_then(|path| fs::read(path).ok())
        && let [0x03, 0x02, 0x23, 0x07, ..] = bytes[..]
    {
        return Ok(words(&bytes));
    }
    let words = compile(source)?;
    if let Some(path) = cached {
        keep(&path, bytemuck::cast_slice(&words));
    }
    Ok(words)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("four bytes"));
    bytes.chunks_exact(4).map(word).collect()
}

/// Where compiled kernels are kept: `GUSSET_KERNEL_CACHE`, else the user's cache folder.
pub fn cache_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    set("GUSSET_KERNEL_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|p| p.join("gusset/kernels")))
        .or_else(|| set("HOME").map(|p| p.join(".cache/gusset/kernels")))
}

/// Writes whole or not at all. A cache that can't be written only costs time.
fn keep(path: &std::path::Path, bytes: &[u8]) {
    let written = path.with_extension(format!("{}.new", std::process::id()));
    let kept = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
        fs::write(&written, bytes)?;
        fs::rename(&written, path)
    });
    if kept.is_err() {
        fs::remove_file(&written).ok();
    }
}

/// Compiles with shaderc; the error shows the line it is about.
pub fn compile(source: &Source) -> Result<Vec<u32>, GpuError> {
    run(source).map_err(|message| GpuError::Kernel {
        kind: source.name.clone(),
        message: explain(source, &message),
    })
}

/// The compiler's message with each line of GLSL that it names.
fn explain(source: &Source, message: &str) -> String {
    let mut text = String::from("shaderc refuses it:");
    for line in message.lines().filter(|line| !line.trim().is_empty()) {
        // `hinge.energy:12: error: ...`
        let number = line.split(':').nth(1).and_then(|n| n.trim().parse::<usize>().ok());
        write!(text, "\n  {line}").expect("a String takes any text");
        let shown = number.and_then(|n| Some((n, source.text.lines().nth(n.checked_sub(1)?)?)));
        if let Some((n, glsl)) = shown {
            write!(text, "\n  {n:>5} | {}", glsl.trim_end()).expect("a String takes any text");
        }
    }
    text
}

/// The compiler at hand, in words that change when its output may.
pub fn compiler() -> Result<String, String> {
    static COMPILER: OnceLock<Result<String, String>> = OnceLock::new();
    COMPILER.get_or_init(version).clone()
}

#[cfg(feature = "shaderc")]
mod library {
    use super::Source;

    /// The library does not tell its version, so what it makes of one kernel stands for it.
    pub(super) fn version() -> Result<String, String> {
        let probe = crate::source::kernel("gather_blocks");
        let words = run(&probe)?;
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let key = super::key(&probe);
        Ok(match super::BUILTIN.iter().find(|b| b.0 == key) {
            Some((_, pinned)) if *pinned == bytes => format!("{}, linked", super::PINNED),
            _ => format!("a linked shaderc that writes {}", super::hash(&[bytes])),
        })
    }

    pub(super) fn run(source: &Source) -> Result<Vec<u32>, String> {
        use shaderc::{Compiler, EnvVersion, OptimizationLevel, ShaderKind, TargetEnv};
        let compiler = Compiler::new().map_err(|e| e.to_string())?;
        let mut options = shaderc::CompileOptions::new().map_err(|e| e.to_string())?;
        options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_2 as u32);
        options.set_optimization_level(OptimizationLevel::Performance);
        let (text, name) = (&source.text, &source.name);
        compiler
            .compile_into_spirv(text, ShaderKind::Compute, name, "main", Some(&options))
            .map(|artifact| artifact.as_binary().to_vec())
            .map_err(|e| match e {
                shaderc::Error::CompilationError(_, message) => message,
                other => other.to_string(),
            })
    }
}

#[cfg(feature = "shaderc")]
use library::{run, version};

#[cfg(not(feature = "shaderc"))]
mod program {
    use super::Source;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    pub(super) fn version() -> Result<String, String> {
        let run = Command::new("glslc").arg("--version").output();
        let run = run.map_err(|e| format!("this build links no shaderc, and `glslc`: {e}"))?;
        let text = String::from_utf8_lossy(&run.stdout);
        Ok(text.lines().take(3).collect::<Vec<_>>().join(", "))
    }

    pub(super) fn run(source: &Source) -> Result<Vec<u32>, String> {
        let mut child = Command::new("glslc")
            .args(["-O", "--target-env=vulkan1.2", "-fshader-stage=compute", "-o", "-", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("`glslc`: {e}"))?;
        let mut input = child.stdin.take().expect("it is piped");
        let text = source.text.clone();
        // From a thread of its own, so that neither side waits for the other's pipe.
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
        let run = child.wait_with_output().map_err(|e| format!("`glslc`: {e}"))?;
        writer.join().ok();
        if run.status.success() {
            return Ok(super::words(&run.stdout));
        }
        Err(String::from_utf8_lossy(&run.stderr).replace("<stdin>", &source.name))
    }
}

#[cfg(not(feature = "shaderc"))]
use program::{run, version};

#[cfg(test)]
mod tests {
    use super::*;

    fn broken() -> Source {
        let text = "#version 460\nvoid main() {\n    double y = logarithm(2.0);\n}\n".to_owned();
        Source { name: "spring.energy".to_owned(), text }
    }

    #[test]
    fn errors_name_the_energy_and_show_the_line() {
        if let Err(why) = compiler() {
            eprintln!("SKIPPED: no shaderc, so nothing was compiled ({why})");
            return;
        }
        let error = compile(&broken()).unwrap_err().to_string();
        assert!(error.contains("`spring.energy`"), "{error}");
        assert!(error.contains("    3 |     double y = logarithm(2.0);"), "{error}");
    }

    #[test]
    fn keys_depend_on_the_source() {
        let (a, mut b) = (broken(), broken());
        b.text.push(' ');
        assert_eq!(key(&a), key(&broken()));
        assert_ne!(key(&a), key(&b));
        assert_eq!(key(&a).len(), 24);
    }
}
