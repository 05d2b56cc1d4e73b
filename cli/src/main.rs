//! The `forebay` command, a file per command: reads the command line, does what it says, and turns what went wrong into an exit code.
#![forbid(unsafe_code)]

mod audit;
mod bad;
mod bench;
mod command;
mod compare;
mod completions;
mod config;
mod contact;
mod daemon;
mod doctor;
mod failure;
mod man;
mod picture;
mod preview;
mod progress;
mod reload;
mod run;
mod sample;
mod serve;
mod status;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match command::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
