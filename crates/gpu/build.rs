//! Lists the SPIR-V that is checked in, so that it becomes part of the program.

use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let folder = Path::new(&root).join("../../shaders/spirv");
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut rows = Vec::new();
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        // `hinge.energy.<key>.spv`
        let parts: Vec<&str> = name.split('.').collect();
        if let [.., key, "spv"] = parts[..] {
            let path = entry.path().canonicalize().expect("the folder lists it");
            rows.push(format!("({key:?}, include_bytes!({:?})),", path.display().to_string()));
        }
    }
    rows.sort();
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("builtin.rs");
    let text = format!("&[\n{}\n]", rows.join("\n"));
    fs::write(out, text).expect("the output folder can be written");
}
