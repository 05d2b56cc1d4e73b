//! `forebay reload`: makes a running daemon read its configuration again, and retry the streams that are not open.

use std::io::{self, Write};

use forebay_printable::printable;
use forebay_proto::v1::{ReloadReply, ReloadRequest};

use crate::daemon::Daemon;
use crate::failure::Failure;
use crate::status::text::opening;

#[derive(Debug, clap::Args)]
pub(crate) struct ReloadArgs {
    #[command(flatten)]
    daemon: Daemon,
}

pub(crate) fn run(args: &ReloadArgs) -> Result<(), Failure> {
    let reply = args.daemon.ask(|mut client| async move { client.reload(ReloadRequest {}).await })?;
    tell(&mut io::stdout().lock(), &reply)
}

/// Says what became of each change and of each stream that is not open. It is a failure if some were refused or have failed.
fn tell(out: &mut impl Write, ReloadReply { taken, refused, closed }: &ReloadReply) -> Result<(), Failure> {
    for key in taken {
        writeln!(out, "applied  {}", printable(key))?;
    }
    for key in refused {
        writeln!(out, "REFUSED  {}", printable(key))?;
    }
    let mut failed = 0;
    for stream in closed {
        match (stream.failure.as_str(), stream.opening) {
            ("", false) => {}
            ("", true) => writeln!(out, "OPENING  stream {}: {}", stream.name, opening(stream.dataset_open))?,
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

#[cfg(test)]
mod tests {
    use forebay_proto::v1::ClosedStream;

    use super::*;

    #[test]
    fn changes_and_streams_that_are_not_open_have_a_line_each() {
        let closed = |name: &str, opening, failure: &str| ClosedStream {
            name: name.into(),
            opening,
            failure: failure.into(),
            ..ClosedStream::default()
        };
        let reply = ReloadReply {
            taken: vec!["cache.memory".into()],
            refused: vec!["ring.slots: it is in use\u{1b}".into()],
            closed: vec![
                closed("a", false, ""),
                closed("b", true, ""),
                closed("c", false, "no such folder"),
                ClosedStream { dataset_open: true, ..closed("d", true, "") },
            ],
        };
        let mut out = Vec::new();
        let failure = tell(&mut out, &reply).unwrap_err();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
        assert_eq!(failure.to_string(), "1 changes are refused, and 1 streams cannot be opened.");
        let mut out = Vec::new();
        tell(&mut out, &ReloadReply::default()).unwrap();
        assert_eq!(out, b"the configuration is applied\n");
    }
}
