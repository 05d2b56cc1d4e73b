//! The `forebay` command. It parses the command line, runs the command, and turns an error into an exit code. Each
//! command has its own file.
#![forbid(unsafe_code)]

mod audit;
mod bad;
mod bench;
mod chosen;
mod command;
mod completions;
mod config;
mod contact;
mod coordinate;
mod daemon;
mod decode;
mod disk_cache;
mod doctor;
mod draw_pictures;
mod drawing;
mod failure;
mod fill;
mod group;
mod index;
mod json;
mod make_suspects;
mod man;
mod output_file;
mod page;
mod pair;
mod panics;
mod paper;
mod parity;
mod picture;
mod plan;
mod preview;
mod progress;
mod reload;
mod remote;
mod replay;
mod run;
mod sample;
mod selection;
mod serve;
mod span;
mod status;
mod top;
mod uncut;
mod user;
mod verdict;
mod verify;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    match command::Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
