//! Who evaluates terms, and on how many threads.

use crate::arguments::{BackendName, Machine};
use crate::failure::Failure;
use gusset_energy::Term;
use gusset_mesh::{Mobility, World};
use gusset_scene::{Backend as Wish, Scene};
use gusset_solve::Backends;

/// A backend, and in words why it is this one.
pub(crate) struct Chosen {
    pub(crate) backends: Backends,
    /// `cpu`, or `vulkan` and the device.
    pub(crate) name: String,
    pub(crate) why: String,
}

impl Chosen {
    fn cpu(why: impl Into<String>) -> Self {
        Self { backends: Backends::default(), name: "cpu".to_owned(), why: why.into() }
    }
}

/// What the command line or the scene asks for.
pub(crate) fn choose(machine: &Machine, scene: &Scene) -> Result<Chosen, Failure> {
    let (model, descent) = (&scene.model, scene.descent.is_some());
    choose_for(machine, scene.backend, &model.world, &model.terms, descent)
}

/// What fits that wish, for a scene that is solved by block descent or not.
fn choose_for(
    machine: &Machine,
    scene: Wish,
    world: &World,
    terms: &[Box<dyn Term>],
    descent: bool,
) -> Result<Chosen, Failure> {
    let wanted = match (machine.backend, scene) {
        (Some(name), _) => name,
        (None, _) if machine.device.is_some() => BackendName::Vulkan,
        (None, Wish::Auto) => BackendName::Auto,
        (None, Wish::Cpu) => BackendName::Cpu,
        (None, Wish::Vulkan) => BackendName::Vulkan,
    };
    if wanted == BackendName::Cpu && machine.device.is_some() {
        return Err(Failure::bad_input(
            "`--device` names a Vulkan device; it needs `--backend vulkan`",
        ));
    }
    let free = world.bodies.iter().flat_map(|b| &b.mobility);
    let free = free.filter(|m| **m == Mobility::Free).count();
    match wanted {
        BackendName::Cpu => Ok(Chosen::cpu("as asked for")),
        BackendName::Auto if descent => Ok(Chosen::cpu("auto: block descent runs on the CPU")),
        BackendName::Auto => Ok(vulkan::auto(free, terms)),
        BackendName::Vulkan if descent => Err(Failure::bad_input(
            "block descent runs on the CPU only; use the Newton solver, or `--backend cpu`",
        )),
        BackendName::Vulkan => vulkan::open(machine.device.as_deref(), terms),
    }
}

#[cfg(feature = "vulkan")]
pub(crate) mod vulkan {
    use super::{Backends, Chosen, Failure, Term};
    use gusset_gpu::{DeviceKind, GpuError, Instance, VulkanBackend};
    use gusset_system::Backend as _;

    /// Free vertices from which a graphics processor is taken without being asked for. Below, one Newton iteration costs
    /// the CPU no more than a few round trips to a device.
    const WORTH_IT: usize = 20_000;

    /// The device of that number or name, or the most wanted one.
    pub(super) fn open(device: Option<&str>, terms: &[Box<dyn Term>]) -> Result<Chosen, Failure> {
        let opened = VulkanBackend::open(device)
            .and_then(|mut backend| backend.prepare(terms).map(|()| backend));
        let backend = opened.map_err(|error| match error {
            // What was asked for is not on this machine.
            GpuError::NoLoader(_)
            | GpuError::NoDevice(_)
            | GpuError::NoneUsable(_)
            | GpuError::NoSuchDevice { .. }
            | GpuError::NotUsable { .. } => Failure::bad_input(error),
            _ => Failure::failed(error),
        })?;
        Ok(chosen(backend, false, "as asked for".to_owned()))
    }

    /// A graphics processor where there is one and the scene is large enough.
    pub(super) fn auto(free: usize, terms: &[Box<dyn Term>]) -> Chosen {
        if free < WORTH_IT {
            return Chosen::cpu(format!("auto: {free} free vertices gain nothing from a GPU"));
        }
        let opened = graphics_processor().and_then(|mut backend| {
            backend.prepare(terms).map_err(|e| e.to_string())?;
            Ok(backend)
        });
        match opened {
            Ok(backend) => {
                let why = format!("auto: {free} free vertices; the CPU takes over if it fails");
                chosen(backend, true, why)
            }
            // A compiler's complaint has more lines; `--backend vulkan` shows them.
            Err(why) => Chosen::cpu(format!("auto: {}", why.lines().next().unwrap_or_default())),
        }
    }

    fn chosen(backend: VulkanBackend, fallback: bool, why: String) -> Chosen {
        let (name, contact) = (backend.name(), Box::new(backend.contact()));
        Chosen { name, why, backends: Backends { terms: Box::new(backend), contact, fallback } }
    }

    fn graphics_processor() -> Result<VulkanBackend, String> {
        let instance = Instance::new(false).map_err(|e| match e {
            GpuError::NoLoader(_) => "no Vulkan on this machine".to_owned(),
            GpuError::NoDevice(_) => "no Vulkan device on this machine".to_owned(),
            other => other.to_string(),
        })?;
        let devices = instance.devices().map_err(|e| e.to_string())?;
        let real = devices.iter().filter(|d| d.kind != DeviceKind::Software);
        let Some(best) = real.clone().filter(|d| d.unusable.is_none()).min_by_key(|d| d.kind)
        else {
            return Err(match real.clone().next() {
                Some(d) => {
                    format!("`{}` {}", d.name, d.unusable.as_deref().unwrap_or_default())
                }
                None => "no Vulkan device but software".to_owned(),
            });
        };
        VulkanBackend::open(Some(&best.index.to_string())).map_err(|e| e.to_string())
    }
}

#[cfg(not(feature = "vulkan"))]
pub(crate) mod vulkan {
    use super::{Chosen, Failure, Term};

    pub(super) fn open(_: Option<&str>, _: &[Box<dyn Term>]) -> Result<Chosen, Failure> {
        Err(Failure::bad_input(
            "this program was built without Vulkan; build it with `--features vulkan`, or run with `--backend cpu`",
        ))
    }

    pub(super) fn auto(_: usize, _: &[Box<dyn Term>]) -> Chosen {
        Chosen::cpu("auto: this program was built without Vulkan")
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

    fn machine(backend: Option<BackendName>, device: Option<&str>) -> Machine {
        Machine { threads: None, backend, device: device.map(str::to_owned) }
    }

    #[test]
    fn the_command_line_outvotes_the_scene() {
        let world = World::new(Vec::new());
        let cpu =
            choose_for(&machine(Some(BackendName::Cpu), None), Wish::Vulkan, &world, &[], false)
                .unwrap();
        assert_eq!((cpu.name.as_str(), cpu.why.as_str()), ("cpu", "as asked for"));
        let auto = choose_for(&machine(None, None), Wish::Auto, &world, &[], false).unwrap();
        assert!(auto.name == "cpu" && auto.why.starts_with("auto: "), "{}", auto.why);
    }

    #[test]
    fn a_device_needs_vulkan() {
        let world = World::new(Vec::new());
        let cpu = machine(Some(BackendName::Cpu), Some("0"));
        assert!(
            choose_for(&cpu, Wish::Auto, &world, &[], false)
                .err()
                .unwrap()
                .message
                .contains("--device")
        );
        let absent = machine(None, Some("no such device"));
        let error = choose_for(&absent, Wish::Cpu, &world, &[], false).err().unwrap();
        assert!(
            error.message.contains("no such device") || error.message.contains("--backend cpu")
        );
    }

    #[test]
    fn the_pool_has_the_wanted_size() {
        let machine = Machine { threads: Some(3), backend: None, device: None };
        assert_eq!(on_threads(&machine, rayon::current_num_threads).unwrap(), 3);
    }
}
