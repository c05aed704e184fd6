//! A scene from its file, with its warnings said.

use crate::arguments::Overrides;
use crate::console::Console;
use crate::failure::Failure;
use gusset_scene::{Diagnostic, Scene, SceneError};
use std::path::Path;

/// Reads a scene; everything that is wrong with it comes at once.
pub(crate) fn scene(
    path: &Path,
    overrides: &Overrides,
    console: &mut Console<'_>,
) -> Result<Scene, Failure> {
    let scene = gusset_scene::load(path, &overrides.set)
        .map_err(|error| refusal(&error, console.colour()))?;
    warnings(&scene.warnings, console);
    Ok(scene)
}

/// Says what may surprise.
pub(crate) fn warnings(warnings: &[Diagnostic], console: &mut Console<'_>) {
    for warning in warnings {
        let place = warning
            .line_column()
            .map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
        let help = warning.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
        let (name, message) = (&warning.source.name, &warning.message);
        console.message(format_args!("warning: {name}{place}: {message}{help}"));
    }
}

/// A refused file as the end of a command.
pub(crate) fn refusal(error: &SceneError, colour: bool) -> Failure {
    let mut failure = Failure::from(error);
    if colour {
        failure.shown = Some(error.render(true));
    }
    failure
}
