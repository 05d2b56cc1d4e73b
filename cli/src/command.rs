//! The table of commands, and how a failure of any of them ends the process.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use forebay_daemon::config::Mistakes;
use forebay_proto::printable;
use rustix::process::Signal;
use thiserror::Error;

use crate::{audit, bench, compare, completions, config, doctor, man, preview, reload, run, sample, serve, status};

/// Turns folders of pictures into training batches in shared memory.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve a folder, or the streams of a configuration, to trainers on this machine.
    Serve(serve::Args),
    /// Show how a running daemon is: streams, trainers, waits.
    Status(status::Args),
    /// Prove from the ledger that every record of every epoch is accounted for.
    Audit(audit::Args),
    /// Let a running daemon read its configuration again, and try again to open what is not open.
    Reload(reload::Args),
    /// Begin a new run of a stream.
    #[command(subcommand)]
    Run(run::Command),
    /// Make a picture of the next batch: a contact sheet with labels.
    Preview(preview::Args),
    /// Measure how fast a dataset goes through, and what the bottleneck is.
    Bench(bench::Args),
    /// Compare our pixels with Pillow's on your own pictures.
    Compare(compare::Args),
    /// Print a commented configuration, or check one.
    Config(config::Args),
    /// Show what this machine has for decoding on a GPU, and what is missing.
    Doctor(doctor::Args),
    /// Make a folder of generated pictures in class folders, to try things out on.
    Sample(sample::Args),
    /// Print completions for a shell.
    Completions(completions::Args),
    /// Write manual pages.
    Man(man::Args),
}

/// Why a command ended without success. Each command names what it was about.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A configuration or a setting is wrong.
    #[error("{0}")]
    Mistakes(#[from] Mistakes),
    /// Options that do not go together, as a full sentence.
    #[error("{0}")]
    Usage(String),
    /// Something else, as a full sentence.
    #[error("{0}")]
    Failed(String),
    /// A signal came. What was done until then is said as a sentence.
    #[error("{} ended it early. {}", name(*.0), .1)]
    Interrupted(Signal, &'static str),
    /// Standard output cannot be written.
    #[error("The output cannot be written: {0}.")]
    Output(#[from] io::Error),
}

/// Wrong usage, as clap's own exit code says it.
const USAGE: u8 = 2;
/// A signal's number beyond this, as shells say it.
pub(crate) const SIGNALLED: i32 = 128;

impl Cli {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Status(args) => status::run(&args),
            Command::Audit(args) => audit::run(&args),
            Command::Reload(args) => reload::run(&args),
            Command::Run(command) => run::run(&command),
            Command::Preview(args) => preview::run(&args),
            Command::Bench(args) => bench::run(&args),
            Command::Compare(args) => compare::run(&args),
            Command::Config(args) => config::run(&args),
            Command::Doctor(args) => doctor::run(&args),
            Command::Sample(args) => sample::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

impl Failure {
    /// Says what went wrong on stderr and gives the exit code. A reader that has seen enough (`| head`) is no failure.
    pub(crate) fn report(&self) -> ExitCode {
        let code = match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Mistakes(_) | Self::Usage(_) => ExitCode::from(USAGE),
            Self::Interrupted(signal, _) => {
                ExitCode::from(u8::try_from(SIGNALLED + signal.as_raw()).unwrap_or(u8::MAX))
            }
            Self::Failed(_) | Self::Output(_) => ExitCode::FAILURE,
        };
        match writeln!(io::stderr(), "forebay: {}", printable(&self.to_string()).lines()) {
            // Nobody listens on stderr; the code still tells.
            Ok(()) | Err(_) => code,
        }
    }
}

fn name(signal: Signal) -> &'static str {
    match signal {
        Signal::INT => "SIGINT",
        Signal::TERM => "SIGTERM",
        _ => "A signal",
    }
}
