//! `forebay config`: prints a commented configuration, or checks one.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use forebay_daemon::config::{Config, Surroundings};
use forebay_proto::printable;

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct ConfigArgs {
    /// Print a commented configuration with the defaults.
    #[arg(long)]
    example: bool,
    /// Check a configuration, and whether this machine has the datasets, groups and memory that it names. Every mistake is
    /// reported.
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
}

pub(crate) fn run(args: &ConfigArgs) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match &args.check {
        None => out.write_all(Config::example().as_bytes())?,
        Some(file) => {
            let name = printable(file);
            let config = Config::check(&text(file)?, &name.to_string(), &Surroundings::of_process())?;
            let streams: Vec<&str> = config.streams.keys().map(String::as_str).collect();
            match streams.len() {
                0 => writeln!(out, "{name}: no mistakes, but no [streams.NAME] either.")?,
                1 => writeln!(out, "{name}: no mistakes; 1 stream: {}.", streams[0])?,
                count => writeln!(out, "{name}: no mistakes; {count} streams: {}.", streams.join(", "))?,
            }
        }
    }
    Ok(())
}

/// Reads a configuration file.
pub(crate) fn read(file: &Path) -> Result<Config, Failure> {
    Ok(Config::parse(&text(file)?, &printable(file).to_string())?)
}

fn text(file: &Path) -> Result<String, Failure> {
    Config::text_of(file).map_err(|error| Failure::Failed(error.to_string()))
}
