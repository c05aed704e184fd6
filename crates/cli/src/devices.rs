//! `gusset devices`: what this machine could compute on.

use crate::arguments::DevicesArguments;
use crate::console::{Console, bytes};
use crate::failure::Exit;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Row {
    index: usize,
    name: String,
    kind: String,
    driver: String,
    vulkan: String,
    fp64: bool,
    memory: u64,
    usable: bool,
    why_not: Option<String>,
}

/// Lists every Vulkan device, and which of them Gusset can use and why not.
pub(crate) fn command(arguments: &DevicesArguments, console: &mut Console<'_>) -> Exit {
    let found = rows();
    if arguments.json {
        let (devices, why) = match found {
            Ok(rows) => (rows, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        console.object(&serde_json::json!({ "devices": devices, "none_because": why }));
        return Exit::Done;
    }
    match found {
        Ok(rows) => {
            for row in &rows {
                console.line(row.text());
            }
        }
        Err(why) => console.line(format_args!("no Vulkan device: {why}")),
    }
    Exit::Done
}

impl Row {
    fn text(&self) -> String {
        let precision = if self.fp64 { "fp64" } else { "no fp64" };
        let use_ = match &self.why_not {
            None => format!("can be used: --backend vulkan --device {}", self.index),
            Some(why) => format!("can't be used: {why}"),
        };
        format!(
            "{}  {}\n   {}, {}, {precision}, Vulkan {}, driver {}\n   {use_}",
            self.index,
            self.name,
            self.kind,
            bytes(self.memory),
            self.vulkan,
            self.driver
        )
    }
}

#[cfg(feature = "vulkan")]
fn rows() -> Result<Vec<Row>, String> {
    let instance = gusset_gpu::Instance::new(false).map_err(|e| e.to_string())?;
    let devices = instance.devices().map_err(|e| e.to_string())?;
    if devices.is_empty() {
        return Err("the loader lists none".to_owned());
    }
    let row = |d: gusset_gpu::DeviceInfo| Row {
        index: d.index,
        kind: d.kind.to_string(),
        driver: d.driver,
        vulkan: d.version,
        fp64: d.fp64,
        memory: d.memory,
        usable: d.unusable.is_none(),
        why_not: d.unusable,
        name: d.name,
    };
    Ok(devices.into_iter().map(row).collect())
}

#[cfg(not(feature = "vulkan"))]
fn rows() -> Result<Vec<Row>, String> {
    Err("this program was built without Vulkan".to_owned())
}
