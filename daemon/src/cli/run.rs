//! `forebay run`: the runs of streams.

use std::io::{self, Write as _};

use forebay_proto::v1::RenewRunRequest;

use super::Failure;
use super::daemon::Daemon;

#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Forget a stream's ledger and begin at epoch 0; its trainers reconnect.
    New {
        /// Name of the stream.
        stream: String,
        #[command(flatten)]
        daemon: Daemon,
    },
}

pub(super) fn run(command: &Command) -> Result<(), Failure> {
    let Command::New { stream, daemon } = command;
    let request = RenewRunRequest { stream: stream.clone() };
    let reply = daemon.ask(|mut client| async move { client.renew_run(request).await })?;
    Ok(writeln!(io::stdout(), "stream {stream} begins anew in run \"{}\"", reply.run)?)
}
