//! `forebay reload`: makes a running daemon read its configuration again, and retry the streams that are not open.

use std::io::{self, Write as _};

use forebay_printable::printable;
use forebay_proto::v1::{ReloadReply, ReloadRequest};

use crate::daemon::Daemon;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct ReloadArgs {
    #[command(flatten)]
    daemon: Daemon,
}

pub(crate) fn run(args: &ReloadArgs) -> Result<(), Failure> {
    let ReloadReply { taken, refused, closed } =
        args.daemon.ask(|mut client| async move { client.reload(ReloadRequest {}).await })?;
    let mut out = io::stdout().lock();
    for key in &taken {
        writeln!(out, "applied  {}", printable(key))?;
    }
    for key in &refused {
        writeln!(out, "REFUSED  {}", printable(key))?;
    }
    let mut failed = 0;
    for stream in &closed {
        match (stream.failure.as_str(), stream.opening) {
            ("", false) => {}
            ("", true) => writeln!(out, "OPENING  stream {}: its dataset is being scanned", stream.name)?,
            (reason, _) => {
                failed += 1;
                writeln!(out, "FAILED   stream {}: {}", stream.name, printable(reason))?;
            }
        }
    }
    match (refused.len(), failed) {
        (0, 0) => Ok(writeln!(out, "the configuration is applied")?),
        (0, failed) => Err(Failure::Failed(format!("{failed} streams cannot be opened."))),
        (refused, 0) => Err(Failure::Failed(format!("{refused} changes are refused; all others are applied."))),
        (refused, failed) => {
            Err(Failure::Failed(format!("{refused} changes are refused, and {failed} streams cannot be opened.")))
        }
    }
}
