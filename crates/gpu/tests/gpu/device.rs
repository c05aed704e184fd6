//! A device with every call checked.

use gusset_gpu::vulkan::{Device, GpuError};
use gusset_gpu::{Instance, VulkanBackend};

/// A device whose validation layer has had nothing to complain about when it is dropped.
pub(crate) struct Checked {
    pub(crate) device: Device,
}

/// The most wanted device, or why there is none, said loudly.
pub(crate) fn device() -> Option<Checked> {
    let opened = Instance::new(true).and_then(|instance| Device::open(&instance, None));
    match opened {
        Ok(device) => {
            if !device.instance().validates() {
                crate::skip("no Vulkan validation layer, so calls are not checked");
            }
            Some(Checked { device })
        }
        Err(error) => {
            assert!(
                std::env::var_os("GUSSET_REQUIRE_VULKAN").is_none(),
                "a Vulkan device is required here, and: {error}"
            );
            crate::skip(&format!("no Vulkan device, so nothing was compared ({error})"));
            None
        }
    }
}

impl Checked {
    pub(crate) fn backend(&self) -> VulkanBackend {
        VulkanBackend::new(&self.device).unwrap()
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        let complaints = self.device.instance().complaints();
        assert!(
            complaints.is_empty() || std::thread::panicking(),
            "the validation layer complains: {complaints:#?}"
        );
    }
}

#[test]
fn the_most_wanted_device_opens_and_is_listed() {
    let Some(checked) = device() else { return };
    let info = checked.device.info();
    assert!(info.fp64 && info.unusable.is_none());
    let all = checked.device.instance().devices().unwrap();
    assert_eq!(all[info.index].name, info.name);
    assert!(checked.device.limits().storage_range >= 1 << 27);
}

#[test]
fn a_device_that_is_not_there_is_an_error_that_lists_those_that_are() {
    let Some(checked) = device() else { return };
    let instance = checked.device.instance();
    for asked in ["99", "no such thing"] {
        match Device::open(instance, Some(asked)) {
            Err(error @ GpuError::NoSuchDevice { .. }) => {
                let text = error.to_string();
                assert!(text.contains(asked) && text.contains(&checked.device.info().name));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(Device::open(instance, Some("0")).is_ok());
}

#[test]
fn memory_that_is_not_there_is_an_error() {
    let Some(checked) = device() else { return };
    let error = gusset_gpu::vulkan::Array::<f64>::new(&checked.device, 1 << 45).err().unwrap();
    assert!(matches!(error, GpuError::OutOfMemory { .. }), "{error}");
}
