//! The `forebay` command: reads the command line, does what it says, and turns what went wrong into an exit code.
#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
