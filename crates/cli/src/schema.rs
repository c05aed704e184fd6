//! `gusset schema`: the JSON Schema of scene files.

use crate::arguments::SchemaArguments;
use crate::console::Console;
use crate::failure::{Exit, Failure, Outcome};

/// Prints or writes the schema.
pub(crate) fn command(arguments: &SchemaArguments, console: &mut Console<'_>) -> Outcome {
    let schema = gusset_scene::schema(gusset_energy::registry());
    let Some(path) = &arguments.out else {
        console.object(&schema);
        return Ok(Exit::Done);
    };
    let text = serde_json::to_string_pretty(&schema).map_err(Failure::failed)?;
    std::fs::write(path, text + "\n").map_err(|error| {
        Failure::failed(format_args!("cannot write the schema: {error}: {}", path.display()))
    })?;
    console.message(format_args!("wrote {}", path.display()));
    Ok(Exit::Done)
}
