//! How a command ends.

use gusset_output::OutputError;
use gusset_scene::SceneError;
use gusset_solve::{SolverError, StartError, StepError};
use serde_json::{Map, Value};
use std::fmt;
use std::path::Path;

/// How a command ended, as the process's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done: 0.
    Done,
    /// The run or a check failed: 1.
    Failed,
    /// What was asked for makes no sense: 2.
    BadInput,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::BadInput => 2,
        }
    }
}

/// Why a command failed: what, where, and the way out.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    /// The message as a terminal shows it, where that differs; begins with its own "error".
    pub(crate) shown: Option<String>,
    /// More for `--json`, beside `error`.
    pub(crate) details: Box<Map<String, Value>>,
}

impl Failure {
    /// The run or a check failed.
    pub(crate) fn failed(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::Failed,
            message: message.to_string(),
            shown: None,
            details: Box::default(),
        }
    }

    /// The input is bad.
    pub(crate) fn bad_input(message: impl fmt::Display) -> Self {
        Self {
            exit: Exit::BadInput,
            message: message.to_string(),
            shown: None,
            details: Box::default(),
        }
    }

    /// Adds a key to the JSON object.
    pub(crate) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The object that `--json` prints.
    pub(crate) fn object(&self) -> Value {
        let mut object = Map::new();
        object.insert("error".to_owned(), self.message.as_str().into());
        object.extend((*self.details).clone());
        Value::Object(object)
    }
}

/// Writes a file; a failure names it.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes)
        .map_err(|error| Failure::failed(format_args!("cannot write {}: {error}", path.display())))
}

/// What a command returns.
pub(crate) type Outcome = Result<Exit, Failure>;

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            OutputError::Io { .. }
            | OutputError::Json { .. }
            | OutputError::Png(_)
            | OutputError::Plot(_) => Self::failed(error),
            _ => Self::bad_input(error),
        }
    }
}

impl From<SolverError> for Failure {
    fn from(error: SolverError) -> Self {
        Self::bad_input(error)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Device(_) => Self::failed(error),
            _ => Self::bad_input(error),
        }
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        Self::failed(error)
    }
}

impl From<&SceneError> for Failure {
    fn from(error: &SceneError) -> Self {
        let diagnostics: Vec<Value> = error
            .diagnostics
            .iter()
            .map(|d| {
                let place = d.line_column();
                serde_json::json!({
                    "severity": match d.severity {
                        gusset_scene::Severity::Error => "error",
                        gusset_scene::Severity::Warning => "warning",
                    },
                    "message": d.message,
                    "file": d.source.name,
                    "line": place.map(|p| p.0),
                    "column": place.map(|p| p.1),
                    "help": d.help,
                })
            })
            .collect();
        // What it renders begins with its own "error".
        let mut failure = Self::bad_input(error).with("diagnostics", diagnostics);
        failure.shown = Some(failure.message.clone());
        failure
    }
}
