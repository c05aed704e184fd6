//! The SPIR-V in `shaders/spirv` is what the sources give.

use crate::kinds;
use gusset_gpu::compile;
use gusset_gpu::sources;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shaders/spirv")
}

/// Regenerates it all where the pinned shaderc is there; `GUSSET_UPDATE=1` keeps what comes out.
#[test]
fn built_in_kernels_are_what_the_sources_give() {
    let update = std::env::var_os("GUSSET_UPDATE").is_some();
    let mut wanted = BTreeMap::new();
    for source in sources(&kinds::shaders()) {
        wanted.insert(format!("{}.{}.spv", source.name, compile::key(&source)), source);
    }
    if update {
        fs::create_dir_all(folder()).unwrap();
        for entry in fs::read_dir(folder()).unwrap() {
            let entry = entry.unwrap();
            if !wanted.contains_key(entry.file_name().to_str().unwrap()) {
                fs::remove_file(entry.path()).unwrap();
            }
        }
    }
    let compiler = compile::compiler();
    let pinned = compiler.as_ref().is_ok_and(|c| c.starts_with(compile::PINNED));
    if !pinned {
        crate::skip(&format!(
            "not {}, so SPIR-V was not compared byte for byte ({compiler:?})",
            compile::PINNED
        ));
    }
    wanted.par_iter().for_each(|(name, source)| {
        let path = folder().join(name);
        if update && !path.exists() {
            let words = compile::compile(source).unwrap();
            fs::write(&path, bytes(&words)).unwrap();
        }
        let kept = fs::read(&path).unwrap_or_else(|_| {
            panic!(
                "shaders/spirv lacks {name}: regenerate with GUSSET_UPDATE=1 and {}",
                compile::PINNED
            )
        });
        if pinned {
            assert!(
                kept == bytes(&compile::compile(source).unwrap()),
                "{name} is not what its source gives"
            );
        }
    });
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(wanted.contains_key(&name), "shaders/spirv has {name}, which nothing asks for");
    }
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
