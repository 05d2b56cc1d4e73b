//! `forebay run`: manages the runs of streams.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forebay_daemon::config::{Config, Environment};
use forebay_daemon::{DEFAULT_RUN, LEDGERS, forget_run};
use forebay_printable::printable;
use forebay_proto::v1::{NewRunRequest, RenewRunRequest};

use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::remote::{Coordinator, CoordinatorArgs};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum RunCommand {
    /// Forget a stream's ledger and start again at epoch 0. Its trainers reconnect. This also works while no daemon runs.
    New {
        /// Name of the stream.
        stream: String,
        /// While no daemon runs, or with --coordinator: the configuration that names the run and where its ledgers are.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        daemon: Daemon,
        #[command(flatten)]
        coordinator: CoordinatorArgs,
    },
}

pub(crate) fn run(command: &RunCommand) -> Result<(), Failure> {
    let RunCommand::New { stream, config, daemon, coordinator } = command;
    let run = if let Some(coordinator) = coordinator.coordinator(daemon)? {
        let config = configuration(config.as_deref())?;
        forget_there(&coordinator, run_of(&config, stream), stream)?
    } else if daemon.answers() {
        let request = RenewRunRequest { stream: stream.clone() };
        daemon.ask(|mut client| async move { client.renew_run(request).await })?.run
    } else {
        forget(stream, config.as_deref())?
    };
    Ok(text(&mut io::stdout(), stream, &run)?)
}

/// Says what begins.
fn text(out: &mut impl Write, stream: &str, run: &str) -> io::Result<()> {
    writeln!(out, "stream {stream} starts again at epoch 0 in run \"{run}\"")
}

fn configuration(file: Option<&Path>) -> Result<Config, Failure> {
    file.map_or_else(|| Ok(Config::default()), super::config::read)
}

fn run_of(config: &Config, stream: &str) -> String {
    let run = config.streams.get(stream).and_then(|settings| settings.run.clone());
    run.unwrap_or_else(|| DEFAULT_RUN.to_owned())
}

/// Forgets the run at a coordinator. Daemons that read it are told that it is gone.
fn forget_there(coordinator: &Coordinator, run: String, stream: &str) -> Result<String, Failure> {
    let request = NewRunRequest { run: run.clone(), stream: stream.to_owned() };
    if coordinator.ask(request)?.forgotten == 0 {
        return Err(Failure::Failed(format!(
            "The coordinator has no run \"{run}\" of stream \"{stream}\". \"forebay status --coordinator\" lists its runs. If the stream's configuration sets \"run\", give it with --config."
        )));
    }
    Ok(run)
}

/// Forgets the run in the ledgers' file, which no daemon has open: one that refuses to start cannot be asked.
fn forget(stream: &str, config: Option<&Path>) -> Result<String, Failure> {
    let config = configuration(config)?;
    let run = run_of(&config, stream);
    if let Some(remote) = &config.coordinator.remote {
        return forget_there(&Coordinator::at(remote)?, run, stream);
    }
    let folder = config.coordinator.path.or_else(|| Environment::of_process().state_dir());
    let file = folder.unwrap_or_default().join(LEDGERS);
    if !file.exists() {
        return Err(Failure::Failed(format!(
            "No daemon answers, and there are no ledgers at {}. Give the daemon's configuration with --config.",
            printable(&file)
        )));
    }
    let forgotten = forget_run(&file, &run, stream).map_err(|error| Failure::Failed(error.to_string()))?;
    if forgotten == 0 {
        return Err(Failure::Failed(format!("{} has no run \"{run}\" of stream \"{stream}\".", printable(&file))));
    }
    Ok(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_run_is_told_with_its_name_and_what_is_missing_with_its_place() {
        let mut out = Vec::new();
        text(&mut out, "train", "default").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("forebay.toml");
        std::fs::write(&file, format!("[coordinator]\npath = \"{}\"\n", dir.path().display())).unwrap();
        let refused = forget("train", Some(&file)).unwrap_err().to_string();
        writeln!(out, "{}", refused.replace(dir.path().to_str().unwrap(), "FOLDER")).unwrap();
        insta::assert_snapshot!("run_text", String::from_utf8(out).unwrap());
    }
}
