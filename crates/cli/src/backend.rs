//! Who evaluates terms, and on how many threads.

use crate::arguments::{BackendName, Machine};
use crate::failure::Failure;
use gusset_scene::Backend;

/// What the command line or the scene asks for, as what this build has; in words why.
pub(crate) fn choose(machine: &Machine, scene: Backend) -> Result<String, Failure> {
    let wanted = match (machine.backend, scene) {
        (Some(name), _) => name,
        (None, Backend::Auto) => BackendName::Auto,
        (None, Backend::Cpu) => BackendName::Cpu,
        (None, Backend::Vulkan) => BackendName::Vulkan,
    };
    match wanted {
        BackendName::Cpu => Ok("as asked for".to_owned()),
        BackendName::Auto => Ok("auto: this build has no other".to_owned()),
        BackendName::Vulkan => Err(Failure::bad_input(if machine.backend.is_some() {
            "this build has no Vulkan backend yet; run with `--backend cpu`, or leave `--backend` out"
        } else {
            "the scene asks for `backend = \"vulkan\"` and this build has no Vulkan backend yet; \
             run with `--backend cpu`, or take the key out of [solver]"
        })),
    }
}

/// Does `work` on a pool of the wanted number of threads, all of its parallel loops included.
pub(crate) fn on_threads<R: Send>(
    machine: &Machine,
    work: impl FnOnce() -> R + Send,
) -> Result<R, Failure> {
    // 0 is rayon's own choice: RAYON_NUM_THREADS, else the number of cores.
    let threads = machine.threads.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("gusset-{i}"))
        .build()
        .map_err(|error| Failure::failed(format_args!("no threads can be started: {error}")))?;
    Ok(pool.install(work))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_outvotes_the_scene() {
        let machine = |backend| Machine { threads: None, backend };
        assert!(choose(&machine(None), Backend::Vulkan).is_err());
        assert!(choose(&machine(Some(BackendName::Cpu)), Backend::Vulkan).is_ok());
        let refusal = choose(&machine(Some(BackendName::Vulkan)), Backend::Cpu).unwrap_err();
        assert!(refusal.message.contains("--backend cpu"), "{}", refusal.message);
        assert!(choose(&machine(None), Backend::Auto).unwrap().contains("auto"));
    }

    #[test]
    fn the_pool_has_the_wanted_size() {
        let machine = Machine { threads: Some(3), backend: None };
        assert_eq!(on_threads(&machine, rayon::current_num_threads).unwrap(), 3);
    }
}
