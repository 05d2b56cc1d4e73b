//! What a caller does while it waits: it keeps waiting or gives up, and is told why it waits.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use forebay_ring::Held;

/// Longest time between two looks at the caller's [`Watch`].
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// Asked between slices of at most 100 ms of every wait, so that Ctrl-C and `close()` work.
///
/// ```
/// use forebay_client::{Notice, Watch};
///
/// struct UntilCancelled<'a>(&'a std::sync::atomic::AtomicBool);
///
/// impl Watch for UntilCancelled<'_> {
///     fn keep_waiting(&mut self) -> bool {
///         !self.0.load(std::sync::atomic::Ordering::Relaxed)
///     }
///     fn notice(&mut self, notice: &Notice) {
///         println!("{notice}");
///     }
/// }
/// ```
pub trait Watch {
    /// False ends the wait with an `Interrupted` error. Nothing is lost: the next call continues.
    fn keep_waiting(&mut self) -> bool;

    /// Something that the user should know while nothing else happens.
    fn notice(&mut self, notice: &Notice);

    /// A descriptor. If it can be read, a wait for a batch ends its slice, and asks whether to [keep waiting](Self::keep_waiting).
    fn wakes_by(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

/// Waits as long as it takes and keeps silent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patient;

/// Why a wait takes long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// An epoch cannot end before a batch that a trainer or another node holds is decided (semantics rule 11).
    Held(HeldBatch),
    /// The daemon's own text: why no batches come at this moment, or that they come again.
    Told(String),
    /// The daemon is gone; the client tries to reach it, or its successor.
    DaemonLost {
        /// What was seen of its end.
        cause: String,
    },
    /// A daemon has taken over: another incarnation, or the same after a cut.
    DaemonBack,
    /// A wait takes long. The notice comes after ten seconds, and then at growing intervals.
    Waiting {
        /// What for, such as "a batch".
        what: &'static str,
        /// For how long.
        waited: Duration,
        /// The daemon's process, if it is known.
        pid: Option<u32>,
        /// Whether the daemon answers. None if it can not be asked, because it has not accepted this trainer yet.
        answers: Option<bool>,
    },
}

/// The batch that an epoch waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBatch {
    /// The epoch that waits.
    pub epoch: u64,
    /// Number of the batch; 0 where another node has it.
    pub seq: u64,
    /// Process that holds it; the daemon of another node.
    pub pid: u32,
    /// Since when.
    pub held_for: Duration,
    /// The node, if it is another one.
    pub node: Option<HoldingNode>,
}

/// A node that has the last records of an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingNode {
    /// Its name at the coordinator.
    pub name: String,
    /// The host of its daemon.
    pub host: String,
}

impl HeldBatch {
    pub(crate) fn new(held: &Held, node: Option<HoldingNode>) -> Self {
        let (epoch, seq, pid, held_for) = (held.epoch, held.seq, held.pid, Duration::from_millis(held.for_ms));
        Self { epoch, seq, pid, held_for, node }
    }
}

impl Watch for Patient {
    fn keep_waiting(&mut self) -> bool {
        true
    }

    fn notice(&mut self, _: &Notice) {}
}

impl fmt::Display for HeldBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { epoch, seq, pid, held_for, node } = self;
        let seconds = held_for.as_secs();
        match node {
            None => write!(f, "epoch {epoch} waits for batch {seq}, which process {pid} has held for {seconds} s"),
            Some(HoldingNode { name, host }) => write!(
                f,
                "epoch {epoch} has waited for {seconds} s for a batch that node \"{name}\" has (process {pid} on host \"{host}\")"
            ),
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(held) => held.fmt(f),
            Self::Told(words) => f.write_str(words),
            Self::DaemonLost { cause } => write!(f, "the daemon is gone ({cause}); trying to reach it again"),
            Self::DaemonBack => write!(f, "the daemon is back"),
            Self::Waiting { what, waited, pid, answers } => {
                let seconds = waited.as_secs();
                let process = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
                match answers {
                    Some(true) => write!(f, "waiting for {what} for {seconds} s; the daemon{process} answers"),
                    Some(false) => write!(
                        f,
                        "waiting for {what} for {seconds} s; the daemon{process} does not answer: it was stopped, or a disk or \
                         the machine holds it up"
                    ),
                    None => write!(
                        f,
                        "waiting for {what} for {seconds} s; the daemon{process} has not accepted this trainer yet: it may \
                         still look through the dataset"
                    ),
                }
            }
        }
    }
}
