//! The signals that end a process of the daemon's crate, and those that must not.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What ends a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// SIGTERM and SIGINT.
    Signals,
    /// The owner of the future, by dropping it. The owner handles signals.
    Owner,
}

/// Signals that end the daemon, and one that must not.
#[derive(Debug)]
pub(crate) struct Signals {
    ending: Option<(Signal, Signal)>,
    /// Caught, so that a write beyond the limit of a file's size (`ulimit -f`) is an error like that of a full disk.
    _file_size: Signal,
}

impl Signals {
    /// From now on.
    ///
    /// # Errors
    /// The system refuses to report them.
    pub(crate) fn new(ended_by: EndedBy) -> io::Result<Self> {
        let ending = match ended_by {
            EndedBy::Signals => Some((listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?)),
            EndedBy::Owner => None,
        };
        Ok(Self { ending, _file_size: listen(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))? })
    }

    /// Waits for one that ends the daemon, and names it.
    pub(crate) async fn come(&mut self) -> &'static str {
        let Some((terminate, interrupt)) = &mut self.ending else { return std::future::pending().await };
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    }
}

/// The signals of this kind from now on.
pub(crate) fn listen(kind: SignalKind) -> io::Result<Signal> {
    signal(kind)
}
