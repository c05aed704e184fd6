//! `gusset schema`: the JSON Schemas of scene files and report files.

use crate::arguments::{SchemaArguments, SchemaName};
use crate::console::Console;
use crate::failure::{Exit, Failure, Outcome};

/// Prints or writes the schema.
pub(crate) fn command(arguments: &SchemaArguments, console: &mut Console<'_>) -> Outcome {
    let schema = match arguments.of {
        SchemaName::Scene => gusset_scene::schema(gusset_energy::registry()),
        SchemaName::Report => gusset_scene::report_schema(),
    };
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
