//! The table of commands: a line for each command, and the function that it runs.

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::failure::Failure;
use crate::{
    audit, bench, completions, config, coordinate, decode, doctor, draw_pictures, index, make_suspects, man, page,
    parity, plan, preview, reload, replay, run, sample, serve, status, top, verify,
};

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
    Serve(serve::ServeArgs),
    /// Keep the ledgers of daemons on several nodes, so that they share one run of a dataset.
    Coordinate(Box<coordinate::CoordinateArgs>),
    /// Make pictures for daemons on other machines.
    Decode(Box<decode::DecodeArgs>),
    /// Show the state of a running daemon: streams, trainers, waits.
    Status(status::StatusArgs),
    /// Watch a running daemon: streams, trainers, waits, and what limits each stream.
    Top(top::TopArgs),
    /// Show a running daemon or a coordinator as a website: streams, what limits them, and bad records.
    Page(Box<page::PageArgs>),
    /// Prove from the ledger that every record of every epoch is accounted for.
    Audit(audit::AuditArgs),
    /// Make a running daemon read its configuration again, and retry the streams that are not open.
    Reload(reload::ReloadArgs),
    /// Start a new run of a stream.
    #[command(subcommand)]
    Run(run::RunCommand),
    /// Write a picture of the next batch: a contact sheet with labels.
    Preview(preview::PreviewArgs),
    /// Make the pictures of one record again, as training saw them in an epoch.
    Replay(replay::ReplayArgs),
    /// Measure how fast a dataset is read and decoded, and name the bottleneck.
    Bench(bench::BenchArgs),
    /// Compare our pixels with Pillow's on your own pictures: a command of the Python package.
    Parity(parity::ParityArgs),
    /// The old name of `parity`.
    #[command(hide = true)]
    Compare(parity::ParityArgs),
    /// Read and decode every record of a dataset, and report what is bad, double or odd.
    Verify(verify::VerifyArgs),
    /// Scan a dataset once, so that it is opened quickly from then on.
    Index(index::IndexArgs),
    /// Show what an epoch in buckets or patches would be: steps, copies and shapes, from the sizes of a dataset's pictures.
    Plan(Box<plan::PlanArgs>),
    /// Print a commented configuration or the transforms of a recipe, or check a configuration.
    Config(config::ConfigArgs),
    /// Show what this machine has for decoding on a GPU, and what is missing.
    Doctor(doctor::DoctorArgs),
    /// Make a folder of generated pictures in class folders, for trying things out.
    Sample(sample::SampleArgs),
    /// Print completions for a shell.
    Completions(completions::CompletionsArgs),
    /// Write manual pages.
    Man(man::ManArgs),
    /// Make pictures for a daemon, which runs this by itself.
    #[command(hide = true)]
    MakeSuspects,
    /// Draw records for a page, which runs this by itself.
    #[command(hide = true)]
    DrawPictures,
}

impl Cli {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Serve(args) => serve::run(&args),
            Command::Coordinate(args) => coordinate::run(&args),
            Command::Decode(args) => decode::run(&args),
            Command::Status(args) => status::run(&args),
            Command::Top(args) => top::run(&args),
            Command::Page(args) => page::run(&args),
            Command::Audit(args) => audit::run(&args),
            Command::Reload(args) => reload::run(&args),
            Command::Run(command) => run::run(&command),
            Command::Preview(args) => preview::run(&args),
            Command::Replay(args) => replay::run(&args),
            Command::Bench(args) => bench::run(&args),
            Command::Parity(args) => parity::run(&args),
            Command::Compare(args) => parity::renamed(&args),
            Command::Verify(args) => verify::run(&args),
            Command::Index(args) => index::run(&args),
            Command::Plan(args) => plan::run(&args),
            Command::Config(args) => config::run(&args),
            Command::Doctor(args) => doctor::run(&args),
            Command::Sample(args) => sample::run(&args),
            Command::Completions(args) => completions::run(&args, Self::command()),
            Command::Man(args) => man::run(&args, Self::command()),
            Command::MakeSuspects => make_suspects::run(),
            Command::DrawPictures => draw_pictures::run(),
        }
    }
}
