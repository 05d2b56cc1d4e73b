//! What can go wrong: one type per operation, over the causes that they share.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forebay_printable::printable;
use forebay_ring::{BulkError, PacketError, SocketError, ViewError};
use thiserror::Error;

use crate::receipt::Misfit;
use crate::watch::HeldBatch;

/// A reason that the daemon gives, with its code (one of [`forebay_ring::text_code`]).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Refusal {
    /// For programs.
    pub code: u32,
    /// For people.
    pub message: String,
}

/// Why a session could not begin, or could not be taken up again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AttachError {
    /// No daemon listens where one was looked for.
    #[error("{}; {}", no_answer(socket, *waited, source), SettingNames::RUST.advice(*waited))]
    Connect {
        /// The socket.
        socket: PathBuf,
        /// How long this process has waited for the daemon. Zero if it did not wait.
        waited: Duration,
        /// What the kernel said.
        source: SocketError,
    },
    /// A daemon may well listen there, but not for this user.
    #[error("this user may not use the socket {}: {allowed}", printable(socket))]
    Denied {
        /// The socket.
        socket: PathBuf,
        /// Which users may use it, and what to do.
        allowed: String,
    },
    /// The binary of the private daemon could not be run.
    #[error("cannot start the private daemon {}: {source}", printable(binary))]
    Spawn {
        /// The binary.
        binary: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The thread of an [`AsyncSession`](crate::AsyncSession) could not be started.
    #[error("cannot start the thread that waits for batches: {source}; raise the limit of processes (ulimit -u)")]
    Thread {
        /// What the kernel said.
        source: io::Error,
    },
    /// The private daemon died more often than it is started again (semantics rule 16).
    #[error(
        "the private daemon died {deaths} times in a row without a batch, the last time with {cause}; its last words were:\n{words}"
    )]
    PrivateDied {
        /// How often.
        deaths: u32,
        /// How it ended.
        cause: String,
        /// Last lines of its standard error.
        words: String,
    },
    /// The daemon does not take this trainer.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A group's name is longer than a packet has room for.
    #[error("group {group:?} is longer than {limit} bytes; give a shorter name")]
    Group {
        /// The name.
        group: String,
        /// Bytes that it may have.
        limit: usize,
    },
    /// A stream's name is longer than a packet has room for.
    #[error("stream name {name:?} is longer than {limit} bytes")]
    Name {
        /// The name.
        name: String,
        /// Bytes that it may have.
        limit: usize,
    },
    /// The daemon hung up before it had answered.
    #[error("the daemon hung up before it had answered{words}")]
    HungUp {
        /// Last lines of a private daemon's standard error, or nothing.
        words: String,
    },
    /// The daemon did not answer in time.
    #[error("the daemon has not answered for {} s", waited.as_secs_f32())]
    Timeout {
        /// How long this process waited.
        waited: Duration,
    },
    /// See [`Broken`].
    #[error(transparent)]
    Broken(#[from] Broken),
}

impl AttachError {
    /// The text for the users of a client whose settings have these names. [`Display`](std::fmt::Display) has those of this crate.
    pub fn in_words_of(&self, names: &SettingNames) -> String {
        match self {
            Self::Connect { socket, waited, source } => {
                format!("{}; {}", no_answer(socket, *waited, source), names.advice(*waited))
            }
            other => other.to_string(),
        }
    }

    /// What happened, without the settings that help where a trainer begins.
    fn bare(&self) -> String {
        match self {
            Self::Connect { socket, waited, source } => no_answer(socket, *waited, source),
            other => other.to_string(),
        }
    }

    /// The same after a wait for a daemon, so that nothing advises to wait.
    pub(crate) fn after(mut self, wait: Duration) -> Self {
        if let Self::Connect { waited, .. } = &mut self {
            *waited = wait;
        }
        self
    }
}

fn after_a_wait(waited: Duration) -> String {
    // Digits behind the third are noise.
    let rounded = Duration::from_millis(u64::try_from(waited.as_millis()).unwrap_or(u64::MAX));
    if rounded.is_zero() { String::new() } else { format!(" after a wait of {rounded:?}") }
}

/// What a client calls the settings that an [`AttachError`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingNames {
    /// The setting that says where the daemon's socket is.
    pub socket: &'static str,
    /// The setting that says how long a daemon is waited for. `None` if the client has none.
    pub wait: Option<&'static str>,
}

impl SettingNames {
    const RUST: Self = Self { socket: "Target::Stream", wait: Some("Options::daemon_wait") };

    fn advice(self, waited: Duration) -> String {
        let Self { socket, wait } = self;
        match wait.filter(|_| waited.is_zero()) {
            Some(wait) => {
                format!("start one with `forebay serve`, name its socket with {socket}, or wait for it with {wait}")
            }
            None => format!("start one with `forebay serve`, or name its socket with {socket}"),
        }
    }
}

fn no_answer(socket: &Path, waited: Duration, source: &SocketError) -> String {
    format!("no daemon answers on {}{}: {source}", printable(socket), after_a_wait(waited))
}

/// Why [`Session::next`](crate::Session::next) gives no batch.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NextError {
    /// The stream has failed; every further call says so.
    #[error(transparent)]
    Failed(Refusal),
    /// An epoch has waited longer than `epoch_end_timeout` for a batch that a trainer or another node holds (semantics rule
    /// 11).
    #[error("{0}; it must be acknowledged, rejected, or its process ended")]
    EpochHeld(HeldBatch),
    /// The dataset's storage has given nothing for longer than `storage_timeout`. The daemon keeps trying, and the next call
    /// waits again.
    #[error("{0}")]
    Stalled(String),
    /// Other groups have consumed batches that this trainer's group did not get, because the daemon ended (semantics rule
    /// 44). This is reported once; the next call continues.
    #[error(
        "this trainer's group missed {records} records of epoch {epoch}, in batches {from} to {to}: other groups consumed \
             them, and the daemon or its leases ended before this group got them. To continue, call next() again"
    )]
    Missed {
        /// The epoch.
        epoch: u64,
        /// Number of the first batch.
        from: u64,
        /// Number of the last batch.
        to: u64,
        /// Records of these batches that the group has not had.
        records: u64,
    },
    /// The daemon has put this consumer out.
    #[error("the daemon has evicted this trainer: {0}; attach again")]
    Evicted(String),
    /// The caller holds every slot that it may (semantics rule 14).
    #[error(
        "earlier batches fill all {granted} slots that this trainer may hold; drop one, or attach with more (Options::credits)"
    )]
    SlotsHeld {
        /// Slots that the daemon grants this trainer.
        granted: u32,
    },
    /// No batch came in time. Nothing is lost.
    #[error("no batch came within {} s", waited.as_secs_f64())]
    Timeout {
        /// How long this process waited.
        waited: Duration,
    },
    /// The daemon went away and did not come back. Batches in hand stay valid.
    #[error("the daemon went away ({cause}) and could not be reached again: {}", source.bare())]
    Outage {
        /// What was seen of its end.
        cause: String,
        /// Why it could not be reached.
        source: Box<AttachError>,
    },
    /// See [`Broken`].
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Why a call got no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CallError {
    /// The daemon could not do it.
    #[error("{0}")]
    Failed(String),
    /// The daemon did not answer in time.
    #[error("the daemon has not answered for {} s", waited.as_secs())]
    Timeout {
        /// How long this process waited.
        waited: Duration,
    },
    /// The daemon went away and did not come back.
    #[error("the daemon went away ({cause}) and could not be reached again: {}", source.bare())]
    Outage {
        /// What was seen of its end.
        cause: String,
        /// Why it could not be reached.
        source: Box<AttachError>,
    },
    /// See [`Broken`].
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Causes that every operation shares.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Broken {
    /// A forked child used what its parent made.
    #[error(
        "the session was made in process {made_in} and is used in process {used_in}, its forked child; make a new one in \
         the child"
    )]
    Forked {
        /// Process that attached.
        made_in: u32,
        /// Process that asks.
        used_in: u32,
    },
    /// The caller's [`Watch`](crate::Watch) gave up.
    #[error("the wait was interrupted")]
    Interrupted,
    /// The daemon does not keep to the protocol.
    #[error("the daemon does not keep to the protocol: {0}")]
    Protocol(String),
    /// The batch was acknowledged or given back before.
    #[error("batch {seq} was already acknowledged or returned")]
    Decided {
        /// Number of the batch.
        seq: u64,
    },
    /// The socket failed.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// Bulk data could not be made or read.
    #[error(transparent)]
    Bulk(#[from] BulkError),
    /// The ring could not be mapped.
    #[error(transparent)]
    Ring(#[from] ViewError),
    /// The kernel refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Misfit> for Broken {
    fn from(misfit: Misfit) -> Self {
        Self::Protocol(misfit.to_string())
    }
}

impl From<PacketError> for Broken {
    fn from(error: PacketError) -> Self {
        Self::Protocol(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_is_told_its_own_settings_and_an_outage_names_none() {
        let gone = |waited| AttachError::Connect {
            socket: "/run/x.sock".into(),
            waited,
            source: SocketError::Io(io::ErrorKind::ConnectionRefused.into()),
        };
        let waited = Duration::from_millis(40);
        let names = SettingNames { socket: "--place", wait: Some("linger_ms") };
        let without = SettingNames { wait: None, ..names };
        for (text, has, lacks) in [
            (gone(Duration::ZERO).to_string(), &["Target::Stream", "Options::daemon_wait"][..], &["=", "--place"][..]),
            (gone(waited).to_string(), &["after a wait of 40ms", "Target::Stream"], &["daemon_wait"]),
            (gone(Duration::ZERO).in_words_of(&names), &["--place", "linger_ms"], &["::"]),
            (gone(waited).in_words_of(&names), &["--place"], &["linger_ms", "::"]),
            (gone(Duration::ZERO).in_words_of(&without), &["--place"], &["wait for it", "::"]),
        ] {
            assert!(text.starts_with("no daemon answers on /run/x.sock") && text.contains("forebay serve"), "{text}");
            assert!(has.iter().all(|word| text.contains(word)), "{has:?}: {text}");
            assert!(!lacks.iter().any(|word| text.contains(word)), "{lacks:?}: {text}");
        }
        let outage = |source| NextError::Outage { cause: "it hung up".into(), source: Box::new(source) };
        let said = outage(gone(Duration::ZERO)).to_string();
        assert!(said.contains("it hung up") && said.contains("/run/x.sock") && !said.contains("daemon_wait"), "{said}");
        let other = AttachError::Group { group: "g".into(), limit: 3 };
        assert_eq!(other.in_words_of(&names), other.to_string());
    }
}
