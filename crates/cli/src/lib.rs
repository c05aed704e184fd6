//! The commands of `gusset`, shared by every binary that links energies.
//!
//! A tool with energies of its own is two lines:
//!
//! ```no_run
//! // use my_energy as _;
//! fn main() -> std::process::ExitCode {
//!     gusset_cli::run()
//! }
//! ```
//!
//! [`main_with`] is the same with given arguments and streams, for tests and other programs.

mod arguments;
mod backend;
mod bench;
mod bodies;
mod check;
mod colour;
mod compare;
mod console;
mod devices;
mod energies;
mod export;
mod failure;
mod gaps;
mod load;
mod memory;
mod new_energy;
mod program;
mod report;
mod run;
mod schema;
mod view;

pub use failure::Exit;

use arguments::{Arguments, Command};
use clap::Parser as _;
use console::Console;
use failure::Outcome;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Write};
use std::process::ExitCode;

/// Runs the command that this process was started with.
pub fn run() -> ExitCode {
    let terminal = std::io::stderr().is_terminal();
    let (mut out, mut messages) = (std::io::stdout(), std::io::stderr());
    command(std::env::args_os(), &mut out, &mut messages, terminal).code().into()
}

/// Runs a command: `args` begins with the program's name. The result goes to `out`, messages to `messages`.
///
/// # Example
/// ```
/// let (mut out, mut messages) = (Vec::new(), Vec::new());
/// let exit = gusset_cli::main_with(["gusset", "run", "no-such-scene.toml"], &mut out, &mut messages);
/// assert_eq!(exit, gusset_cli::Exit::BadInput);
/// assert!(String::from_utf8_lossy(&messages).contains("no-such-scene.toml"));
/// ```
pub fn main_with<I>(
    args: I,
    out: &mut (dyn Write + Send),
    messages: &mut (dyn Write + Send),
) -> Exit
where
    I: IntoIterator<Item: Into<OsString>>,
{
    command(args.into_iter().map(Into::into), out, messages, false)
}

fn command(
    args: impl Iterator<Item = OsString>,
    out: &mut (dyn Write + Send),
    messages: &mut (dyn Write + Send),
    terminal: bool,
) -> Exit {
    let args: Vec<OsString> = args.collect();
    let arguments = match Arguments::try_parse_from(&args) {
        Ok(arguments) => arguments,
        Err(error) => {
            let json = args.iter().any(|a| a == "--json");
            let mut console = Console::new(out, messages, terminal, json);
            return usage(&error, &mut console);
        }
    };
    let mut console = Console::new(out, messages, terminal, arguments.command.json());
    let exit = match dispatch(&arguments.command, &mut console) {
        Ok(exit) => exit,
        Err(failure) => {
            match &failure.shown {
                Some(text) => console.message(text),
                None => console.message(format_args!("error: {}", failure.message)),
            }
            if console.wants_json() {
                console.object(&failure.object());
            }
            failure.exit
        }
    };
    match console.lost() {
        None => exit,
        Some(error) => {
            writeln!(messages, "error: the result could not be written: {error}").ok();
            Exit::Failed
        }
    }
}

fn dispatch(command: &Command, console: &mut Console<'_>) -> Outcome {
    match command {
        Command::Run(arguments) => run::command(arguments, console),
        Command::Check(arguments) => check::command(arguments, console),
        Command::Energies(arguments) => energies::command(arguments, console),
        Command::Schema(arguments) => schema::command(arguments, console),
        Command::View(arguments) => view::command(arguments, console),
        Command::Compare(arguments) => compare::command(arguments, console),
        Command::Report(arguments) => report::command(arguments, console),
        Command::Export(arguments) => export::command(arguments, console),
        Command::Devices(arguments) => Ok(devices::command(arguments, console)),
        Command::NewEnergy(arguments) => new_energy::command(arguments, console),
        Command::Bench(arguments) => bench::command(arguments, console),
    }
}

/// Help and the version are results; anything else that clap says is bad input.
fn usage(error: &clap::Error, console: &mut Console<'_>) -> Exit {
    let text = if console.colour() {
        error.render().ansi().to_string()
    } else {
        error.render().to_string()
    };
    if !error.use_stderr() {
        console.line(text.trim_end());
        return Exit::Done;
    }
    console.message(text.trim_end());
    if console.wants_json() {
        let message = error.render().to_string();
        let message = message.trim().trim_start_matches("error: ");
        console.object(&serde_json::json!({ "error": message }));
    }
    Exit::BadInput
}
