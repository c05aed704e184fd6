//! The loader, and what devices there are.

use super::GpuError;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use vulkano::VulkanLibrary;
use vulkano::device::physical::{PhysicalDevice, PhysicalDeviceType};
use vulkano::device::{DeviceFeatures, QueueFlags};
use vulkano::instance::debug::{
    DebugUtilsMessageSeverity, DebugUtilsMessageType, DebugUtilsMessenger,
    DebugUtilsMessengerCallback, DebugUtilsMessengerCreateInfo,
};
use vulkano::instance::{InstanceCreateFlags, InstanceCreateInfo, InstanceExtensions};
use vulkano::memory::MemoryHeapFlags;

/// The layer that checks every call.
const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";

/// What sort of device it is, the most wanted first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceKind {
    /// A graphics processor with memory of its own.
    Discrete,
    /// A graphics processor that shares the machine's memory.
    Integrated,
    /// A share of a graphics processor.
    Virtual,
    /// A program that plays one.
    Software,
    /// Something else.
    Other,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Software => "software",
            Self::Other => "other",
        })
    }
}

/// One device of this machine.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Its number, for `--device`.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// What sort it is.
    pub kind: DeviceKind,
    /// Driver and version.
    pub driver: String,
    /// Vulkan version it speaks.
    pub version: String,
    /// Whether kernels can compute in double precision.
    pub fp64: bool,
    /// Memory of its own (bytes).
    pub memory: u64,
    /// Why it can't be used, if it can't.
    pub unusable: Option<String>,
}

impl DeviceInfo {
    /// The device as step records and messages name it: "vulkan (llvmpipe, software)".
    pub fn backend_name(&self) -> String {
        let software = if self.kind == DeviceKind::Software { ", software" } else { "" };
        format!("vulkan ({}{software})", self.name)
    }
}

/// The loader.
#[derive(Clone)]
pub struct Instance {
    pub(super) inner: Arc<vulkano::instance::Instance>,
    /// Alive for as long as the instance: without it the layer prints to the standard output and nobody counts.
    messenger: Option<Arc<DebugUtilsMessenger>>,
    messages: Arc<Mutex<Vec<String>>>,
}

impl Instance {
    /// Loads Vulkan. With `validation`, every call is checked by the Khronos layer if it is installed; see
    /// [`Instance::complaints`] and [`Instance::validates`].
    pub fn new(validation: bool) -> Result<Self, GpuError> {
        let library = VulkanLibrary::new().map_err(|e| GpuError::NoLoader(e.to_string()))?;
        let layers = library.layer_properties().map_err(|e| GpuError::NoDevice(e.to_string()))?;
        let validation = validation && layers.into_iter().any(|l| l.name() == VALIDATION);
        let info = InstanceCreateInfo {
            flags: InstanceCreateFlags::ENUMERATE_PORTABILITY,
            application_name: Some("Gusset".to_owned()),
            enabled_layers: validation.then(|| VALIDATION.to_owned()).into_iter().collect(),
            enabled_extensions: InstanceExtensions {
                ext_debug_utils: validation,
                ..InstanceExtensions::empty()
            },
            ..InstanceCreateInfo::application_from_cargo_toml()
        };
        let inner = vulkano::instance::Instance::new(library, info)
            .map_err(|e| GpuError::NoDevice(format!("{e:?}")))?;
        let messages = Arc::new(Mutex::new(Vec::new()));
        let messenger = validation.then(|| listen(&inner, Arc::clone(&messages))).transpose()?;
        Ok(Self { inner, messenger, messages })
    }

    /// Whether the validation layer listens.
    pub fn validates(&self) -> bool {
        self.messenger.is_some()
    }

    /// What the validation layer has complained about so far.
    pub fn complaints(&self) -> Vec<String> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn physical(&self) -> Result<Vec<Arc<PhysicalDevice>>, GpuError> {
        let devices =
            self.inner.enumerate_physical_devices().map_err(|e| GpuError::of(e.into()))?;
        Ok(devices.collect())
    }

    /// All devices, in the loader's order.
    pub fn devices(&self) -> Result<Vec<DeviceInfo>, GpuError> {
        Ok(self.physical()?.iter().enumerate().map(|(index, p)| describe(index, p)).collect())
    }

    /// The device with that number or name (part of it is enough), or the most wanted one that can be used.
    pub(super) fn choose(
        &self,
        wanted: Option<&str>,
    ) -> Result<(Arc<PhysicalDevice>, DeviceInfo), GpuError> {
        let physical = self.physical()?;
        let infos = self.devices()?;
        if infos.is_empty() {
            return Err(GpuError::NoDevice("it lists none".to_owned()));
        }
        let info = if let Some(wanted) = wanted {
            let info = find(&infos, wanted).ok_or_else(|| GpuError::NoSuchDevice {
                asked: wanted.to_owned(),
                found: list(&infos, |d| format!("{} `{}`", d.index, d.name)),
            })?;
            if let Some(why) = &info.unusable {
                let (name, why) = (info.name.clone(), why.clone());
                return Err(GpuError::NotUsable { name, why });
            }
            info
        } else {
            let usable = infos.iter().filter(|d| d.unusable.is_none());
            usable.min_by_key(|d| (d.kind, d.index)).ok_or_else(|| {
                GpuError::NoneUsable(list(&infos, |d| {
                    format!("`{}` {}", d.name, d.unusable.as_deref().unwrap_or_default())
                }))
            })?
        };
        Ok((Arc::clone(&physical[info.index]), info.clone()))
    }
}

fn list(infos: &[DeviceInfo], text: impl Fn(&DeviceInfo) -> String) -> String {
    infos.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// By number, else by name.
fn find<'a>(infos: &'a [DeviceInfo], wanted: &str) -> Option<&'a DeviceInfo> {
    if let Ok(index) = wanted.parse::<usize>() {
        return infos.get(index);
    }
    let wanted = wanted.trim().to_lowercase();
    let named = |d: &&DeviceInfo| !wanted.is_empty() && d.name.to_lowercase().contains(&wanted);
    infos.iter().find(named)
}

fn listen(
    instance: &Arc<vulkano::instance::Instance>,
    messages: Arc<Mutex<Vec<String>>>,
) -> Result<Arc<DebugUtilsMessenger>, GpuError> {
    // SAFETY: the callback touches a list of texts and makes no call to Vulkan.
    let callback = unsafe {
        DebugUtilsMessengerCallback::new(move |severity, _, data| {
            let text = format!("{severity:?}: {}", data.message);
            messages.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        })
    };
    let info = DebugUtilsMessengerCreateInfo {
        message_severity: DebugUtilsMessageSeverity::ERROR | DebugUtilsMessageSeverity::WARNING,
        message_type: DebugUtilsMessageType::VALIDATION | DebugUtilsMessageType::GENERAL,
        ..DebugUtilsMessengerCreateInfo::user_callback(callback)
    };
    let messenger = DebugUtilsMessenger::new(Arc::clone(instance), info).map_err(GpuError::of)?;
    Ok(Arc::new(messenger))
}

/// What the kernels need of a device.
pub(super) fn features() -> DeviceFeatures {
    DeviceFeatures { shader_float64: true, ..DeviceFeatures::empty() }
}

/// A family of queues that can compute.
pub(super) fn queue_family(device: &PhysicalDevice) -> Option<u32> {
    let families = device.queue_family_properties();
    let compute = families.iter().position(|f| f.queue_flags.contains(QueueFlags::COMPUTE));
    compute.map(|family| family as u32)
}

fn describe(index: usize, device: &PhysicalDevice) -> DeviceInfo {
    let properties = device.properties();
    let fp64 = device.supported_features().shader_float64;
    let heaps = &device.memory_properties().memory_heaps;
    let local = heaps.iter().filter(|h| h.flags.contains(MemoryHeapFlags::DEVICE_LOCAL));
    let version = device.api_version();
    let unusable = if !fp64 {
        Some("computes in single precision only (no shaderFloat64)".to_owned())
    } else if version < vulkano::Version::V1_2 {
        Some(format!("speaks Vulkan {version}; 1.2 is needed"))
    } else if queue_family(device).is_none() {
        Some("has no compute queue".to_owned())
    } else {
        None
    };
    DeviceInfo {
        index,
        name: properties.device_name.clone(),
        kind: match properties.device_type {
            PhysicalDeviceType::DiscreteGpu => DeviceKind::Discrete,
            PhysicalDeviceType::IntegratedGpu => DeviceKind::Integrated,
            PhysicalDeviceType::VirtualGpu => DeviceKind::Virtual,
            PhysicalDeviceType::Cpu => DeviceKind::Software,
            _ => DeviceKind::Other,
        },
        driver: match (&properties.driver_name, &properties.driver_info) {
            (Some(name), Some(info)) => format!("{name} {info}"),
            (Some(name), None) => name.clone(),
            _ => format!("version {}", properties.driver_version),
        },
        version: version.to_string(),
        fp64,
        memory: local.map(|h| h.size).sum(),
        unusable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vulkano::VulkanObject as _;

    fn device(index: usize, name: &str) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.to_owned(),
            kind: DeviceKind::Discrete,
            driver: String::new(),
            version: "1.3.0".to_owned(),
            fp64: true,
            memory: 0,
            unusable: None,
        }
    }

    #[test]
    fn a_device_is_found_by_number_and_by_name() {
        let devices = [device(0, "Fast GPU 9000"), device(1, "llvmpipe (LLVM 15)")];
        assert_eq!(find(&devices, "1").unwrap().index, 1);
        assert_eq!(find(&devices, "LLVMpipe").unwrap().index, 1);
        assert_eq!(find(&devices, "gpu").unwrap().index, 0);
        for none in ["2", "radeon", "", " ", "-1", "1.0"] {
            assert!(find(&devices, none).is_none(), "{none}");
        }
    }

    /// The listening itself is tested: what no driver may be asked for is complained about.
    #[test]
    fn the_validation_layer_is_heard() {
        let opened =
            Instance::new(true).and_then(|i| Ok((super::super::Device::open(&i, None)?, i)));
        let Some((device, instance)) = opened.ok().filter(|(_, i)| i.validates()) else {
            let text = "SKIPPED: no Vulkan device with a validation layer, so it was not heard\n";
            std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).unwrap();
            return;
        };
        assert!(instance.complaints().is_empty(), "{:?}", instance.complaints());
        let nothing = ash::vk::BufferCreateInfo::default();
        let mut buffer = ash::vk::Buffer::null();
        let (fns, handle) = (device.inner.fns(), device.inner.handle());
        // SAFETY: not valid, and on purpose: the size is 0. Whatever comes of it is destroyed.
        unsafe {
            let create = fns.v1_0.create_buffer;
            let _ = create(handle, &raw const nothing, std::ptr::null(), &raw mut buffer);
            (fns.v1_0.destroy_buffer)(handle, buffer, std::ptr::null());
        }
        let complaints = instance.complaints();
        assert!(complaints.iter().any(|c| c.contains("VkBufferCreateInfo")), "{complaints:?}");
    }

    #[test]
    fn graphics_processors_are_wanted_before_software() {
        use DeviceKind as K;
        let mut kinds = [K::Other, K::Software, K::Virtual, K::Integrated, K::Discrete];
        kinds.sort_unstable();
        assert_eq!(kinds, [K::Discrete, K::Integrated, K::Virtual, K::Software, K::Other]);
    }
}
