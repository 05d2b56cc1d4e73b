//! Why a command failed, and the exit code for it.

use std::io::{self, Write as _};
use std::process::ExitCode;

use forebay_daemon::config::Mistakes;
use forebay_printable::printable;
use rustix::process::Signal;
use thiserror::Error;

/// Why a command ended without success. Each command names what it was about.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// A configuration or a setting is wrong.
    #[error("{0}")]
    Mistakes(#[from] Mistakes),
    /// Options that do not go together, as a full sentence.
    #[error("{0}")]
    Usage(String),
    /// The daemon or the coordinator does not answer, as a full sentence. It may come back.
    #[error("{0}")]
    Unavailable(String),
    /// An audit adds up, except for this many bad records.
    #[error("Complete but for {0} bad records; `forebay status --quarantine` lists them.")]
    LacksBad(u64),
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
/// An audit that is complete but for bad records.
const LACKS_BAD: u8 = 3;
/// A signal's number beyond this, as shells say it.
pub(crate) const SIGNALLED: i32 = 128;

impl Failure {
    /// Says what went wrong on stderr and gives the exit code. A reader that has seen enough (`| head`) is no failure.
    pub(crate) fn report(&self) -> ExitCode {
        let code = match self {
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
            Self::Mistakes(_) | Self::Usage(_) => ExitCode::from(USAGE),
            Self::LacksBad(_) => ExitCode::from(LACKS_BAD),
            Self::Interrupted(signal, _) => {
                ExitCode::from(u8::try_from(SIGNALLED + signal.as_raw()).unwrap_or(u8::MAX))
            }
            Self::Unavailable(_) | Self::Failed(_) | Self::Output(_) => ExitCode::FAILURE,
        };
        match writeln!(io::stderr(), "forebay: {}", printable(&self.to_string()).lines()) {
            // If stderr cannot be written, the exit code still tells.
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
