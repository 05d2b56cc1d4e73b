//! `forebay run`: manages the runs of streams.

use std::io::{self, Write as _};
use std::path::PathBuf;

use forebay_daemon::config::{Config, Surroundings};
use forebay_daemon::{DEFAULT_RUN, LEDGERS, forget_run};
use forebay_proto::printable;
use forebay_proto::v1::RenewRunRequest;

use crate::daemon::Daemon;
use crate::failure::Failure;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum RunCommand {
    /// Forget a stream's ledger and start again at epoch 0. Its trainers reconnect. This also works while no daemon runs.
    New {
        /// Name of the stream.
        stream: String,
        /// While no daemon runs: the configuration that names the run and the folder of the ledgers.
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        #[command(flatten)]
        daemon: Daemon,
    },
}

pub(crate) fn run(command: &RunCommand) -> Result<(), Failure> {
    let RunCommand::New { stream, config, daemon } = command;
    let run = if daemon.answers() {
        let request = RenewRunRequest { stream: stream.clone() };
        daemon.ask(|mut client| async move { client.renew_run(request).await })?.run
    } else {
        forget(stream, config.as_deref())?
    };
    Ok(writeln!(io::stdout(), "stream {stream} starts again at epoch 0 in run \"{run}\"")?)
}

/// Forgets the run in the ledgers' file, which no daemon has open: one that refuses to start cannot be asked.
fn forget(stream: &str, config: Option<&std::path::Path>) -> Result<String, Failure> {
    let config = config.map_or_else(|| Ok(Config::default()), super::config::read)?;
    let run = config.streams.get(stream).and_then(|settings| settings.run.clone());
    let run = run.unwrap_or_else(|| DEFAULT_RUN.to_owned());
    let folder = config.coordinator.path.or_else(|| Surroundings::of_process().state_dir());
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
