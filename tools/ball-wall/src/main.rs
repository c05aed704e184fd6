//! `ball-wall`: the ball-and-wall article's experiment as a command.

use std::process::ExitCode;

fn main() -> ExitCode {
    gusset_ball_wall::cli::run()
}
