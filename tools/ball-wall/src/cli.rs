//! The command line.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use clap::{Parser, ValueEnum};
use gusset_units::{Length, Mass, Quantity, SpringConstant, Time, UnitError, Units, Velocity};

use crate::page::{self, Start};
use crate::plan::{DHAT, KAPPA, Plan, STIFFNESSES, WALL};
use crate::row::Rows;
use crate::throw::{Method, ThrowError, Wall};
use crate::{table, trace};

/// Throws a ball at a thin wall, with penalty contact and with the IPC barrier.
///
/// Without options: the table of six speeds. With `--v0`: that throw, step by step. Numbers are in SI units or carry their
/// own: `--h 0.01`, `--h 10ms`, `--dhat "1 mm"`.
#[derive(Debug, Parser)]
#[command(name = "ball-wall", version)]
struct Args {
    /// Speed of the ball toward the wall; then only this throw is made [default: 1, 2, 5, 10, 20, 50 m/s]
    #[arg(long, value_name = "SPEED", allow_hyphen_values = true)]
    v0: Option<Given<Velocity>>,
    /// Length of a step [default: 10 ms; with --json 10, 5 and 1 ms]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    h: Option<Given<Time>>,
    /// Penalty stiffness; may be given again [default: 1e4 and 1e6 N/m; with --json also 1e8]
    #[arg(long, value_name = "STIFFNESS", allow_hyphen_values = true)]
    k: Vec<Given<SpringConstant>>,
    /// Distance at which the barrier sets in [default: 1 mm]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    dhat: Option<Given<Length>>,
    /// Barrier stiffness [default: 1e4 N/m]
    #[arg(long, value_name = "STIFFNESS", allow_hyphen_values = true)]
    kappa: Option<Given<SpringConstant>>,
    /// Where the front face of the wall is; the ball starts at 0 [default: 0.503 m]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    wall: Option<Given<Length>>,
    /// Thickness of the wall [default: 20 mm]
    #[arg(long, value_name = "LENGTH", allow_hyphen_values = true)]
    thickness: Option<Given<Length>>,
    /// Mass of the ball [default: 1 kg]
    #[arg(long, value_name = "MASS", allow_hyphen_values = true)]
    mass: Option<Given<Mass>>,
    /// Steps after which the ball counts as stopped [default: as many as cover 0.8 s]
    #[arg(long, value_name = "COUNT")]
    steps: Option<u32>,
    /// Which contact to throw with
    #[arg(long, value_enum, default_value = "both")]
    method: Methods,
    /// Print results as JSON at full precision, a row a throw
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Write a page to play with in a browser; the options are what it starts from
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A number in SI units, or one with its own.
#[derive(Clone, Copy, Debug)]
struct Given<Q>(Q);

impl<const M: i8, const L: i8, const T: i8> FromStr for Given<Quantity<M, L, T>> {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bare = text.parse().map(Quantity::new_si);
        bare.map_or_else(|_| text.parse(), Ok).map(Self)
    }
}

impl<const M: i8, const L: i8, const T: i8> Given<Quantity<M, L, T>> {
    fn si(self) -> f64 {
        self.0.si(&Units::SI)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Methods {
    Penalty,
    Barrier,
    Both,
}

/// Why there is no result, and the exit code for it.
struct Failure {
    message: String,
    code: u8,
}

impl From<ThrowError> for Failure {
    fn from(error: ThrowError) -> Self {
        Self { message: error.to_string(), code: if error.is_input() { 2 } else { 1 } }
    }
}

/// Runs the tool: exit code 0 when done, 1 when a run or writing failed, 2 when the command line is bad.
pub fn run() -> ExitCode {
    match Args::parse().act() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { message, code }) => {
            // Nowhere is left to report that standard error is gone.
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(code)
        }
    }
}

impl Args {
    fn act(&self) -> Result<(), Failure> {
        if let Some(path) = &self.html {
            let start = self.start()?;
            std::fs::write(path, page::render(&start)).map_err(|error| Failure {
                message: format!("can't write `{}`: {error}", path.display()),
                code: 1,
            })?;
            return say(&format!("{}\n", path.display()));
        }
        let plan = self.plan();
        let text = if self.json {
            let rows = Rows::of(&plan.throws()?)?;
            serde_json::to_string_pretty(&rows).expect("plain numbers are JSON") + "\n"
        } else if self.v0.is_some() {
            let traces: Result<Vec<_>, _> = plan.throws()?.iter().map(trace::print).collect();
            traces?.join("\n")
        } else {
            table::print(&plan)?
        };
        say(&text)
    }

    fn plan(&self) -> Plan {
        let article = Plan::article();
        let mut methods = Vec::new();
        if self.method != Methods::Barrier {
            let mut stiffnesses: Vec<f64> = self.k.iter().copied().map(Given::si).collect();
            if stiffnesses.is_empty() {
                // The article's table leaves out the third.
                let count = if self.json { 3 } else { 2 };
                stiffnesses.extend_from_slice(&STIFFNESSES[..count]);
            }
            methods.extend(stiffnesses.into_iter().map(|stiffness| Method::Penalty { stiffness }));
        }
        if self.method != Methods::Penalty {
            methods.push(Method::Barrier {
                stiffness: self.kappa.map_or(KAPPA, Given::si),
                dhat: self.dhat.map_or(DHAT, Given::si),
            });
        }
        let dts = match self.h {
            Some(h) => vec![h.si()],
            None if self.json => article.dts,
            None => article.dts[..1].to_vec(),
        };
        Plan {
            speeds: self.v0.map_or(article.speeds, |v0| vec![v0.si()]),
            dts,
            methods,
            mass: self.mass.map_or(article.mass, Given::si),
            wall: Wall {
                face: self.wall.map_or(WALL.face, Given::si),
                thickness: self.thickness.map_or(WALL.thickness, Given::si),
            },
            steps: self.steps,
        }
    }

    /// What the page starts from: a ball that leaps over a stiff wall, where nothing else is asked for.
    fn start(&self) -> Result<Start, ThrowError> {
        let plan = Plan {
            speeds: vec![self.v0.map_or(5.0, Given::si)],
            methods: vec![
                Method::Penalty { stiffness: self.k.first().copied().map_or(1e6, Given::si) },
                Method::Barrier {
                    stiffness: self.kappa.map_or(KAPPA, Given::si),
                    dhat: self.dhat.map_or(DHAT, Given::si),
                },
            ],
            ..self.plan()
        };
        plan.throws()?;
        let [Method::Penalty { stiffness: k }, Method::Barrier { stiffness: kappa, dhat }] =
            plan.methods[..]
        else {
            unreachable!("just made");
        };
        let Wall { face: wall, thickness } = plan.wall;
        let (v0, h, mass) = (plan.speeds[0], plan.dts[0], plan.mass);
        Ok(Start { v0, h, k, kappa, dhat, mass, wall, thickness })
    }
}

/// Prints to standard output. Whoever closed it early has seen enough.
fn say(text: &str) -> Result<(), Failure> {
    use std::io::ErrorKind::BrokenPipe;
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != BrokenPipe => {
            Err(Failure { message: format!("can't write to standard output: {error}"), code: 1 })
        }
        _ => Ok(()),
    }
}
