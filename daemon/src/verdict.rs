//! What limits a stream: a judgement of two readings of its status, for the metrics and for `bench`, `status` and `top`.
//!
//! A stage that hardly ever waits holds up the others. The meters of the queues say how much a stage waits.

mod shares;

use forebay_proto::v1::{StatusReply, StreamStatus};
use serde::{Serialize, Serializer};

pub use shares::StageShares;

/// What holds a stream up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The stream has failed.
    Failed,
    /// Leases come too slowly, or the ledger cannot be written.
    Ledger,
    /// The storage gives nothing.
    Storage,
    /// No trainer is attached.
    NoTrainer,
    /// The last epoch is complete: readers wait, and nothing is slow.
    Complete,
    /// The readings are too close to each other to tell.
    Measuring,
    /// Trainers take batches more slowly than they are made.
    Trainer,
    /// Trainers keep the slots of batches that they have consumed, and none is left for the next batch.
    Slots,
    /// Processes that call functions in Python hardly ever wait.
    Functions,
    /// Decode threads hardly ever wait.
    Decoding,
    /// Readers hardly ever wait, or have no room for what they read.
    Reading,
    /// Nothing of the stream is busy all the time.
    Elsewhere,
}

/// A share above which a stage counts as always busy.
pub const BUSY: f64 = 0.85;
/// A trainer that waits for less than this share of the time gets batches as fast as it takes them.
const KEPT_UP: f64 = 0.1;

impl Limit {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Failed,
        Self::Ledger,
        Self::Storage,
        Self::NoTrainer,
        Self::Complete,
        Self::Measuring,
        Self::Trainer,
        Self::Slots,
        Self::Functions,
        Self::Decoding,
        Self::Reading,
        Self::Elsewhere,
    ];

    /// Of a stream and its daemon as they are, and the stream's shares since an earlier reading. `waiting` is the share of the time
    /// in which a trainer waited for a batch, where that was measured.
    pub fn of(daemon: &StatusReply, stream: &StreamStatus, shares: Option<StageShares>, waiting: Option<f64>) -> Self {
        match &daemon.ledger_outage {
            Some(_) if stream.failure.is_empty() => Self::Ledger,
            _ => judged(stream, shares, waiting, daemon.lanes.len() > 1),
        }
    }

    /// Its name in metrics and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Ledger => "ledger",
            Self::Storage => "storage",
            Self::NoTrainer => "nobody",
            Self::Complete => "complete",
            Self::Measuring => "measuring",
            Self::Trainer => "trainer",
            Self::Slots => "slots",
            Self::Functions => "functions",
            Self::Decoding => "decoding",
            Self::Reading => "reading",
            Self::Elsewhere => "elsewhere",
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A stream as it was at an earlier reading. `None` if it was opened or reopened since.
pub fn earlier<'a>(before: &'a StatusReply, stream: &StreamStatus) -> Option<&'a StreamStatus> {
    before.streams.iter().find(|was| was.name == stream.name && was.open_ms <= stream.open_ms)
}

fn judged(stream: &StreamStatus, shares: Option<StageShares>, waiting: Option<f64>, on_gpu: bool) -> Limit {
    match shares {
        _ if !stream.failure.is_empty() => Limit::Failed,
        _ if !stream.storage.is_empty() => Limit::Storage,
        _ if waiting.is_none() && is_complete(stream) => Limit::Complete,
        _ if waiting.is_none() && stream.consumers.is_empty() => Limit::NoTrainer,
        None => Limit::Measuring,
        Some(shares) => bottleneck(stream, shares, waiting, on_gpu),
    }
}

fn is_complete(StreamStatus { epoch, epochs, epoch_len, epoch_done, .. }: &StreamStatus) -> bool {
    let is_last = epoch.checked_add(1) == Some(*epochs) && *epoch_len > 0;
    // The epoch behind the last one begins when all is delivered.
    *epochs > 0 && (epoch >= epochs || is_last && epoch_done >= epoch_len)
}

fn bottleneck(stream: &StreamStatus, shares: StageShares, waiting: Option<f64>, on_gpu: bool) -> Limit {
    // Slots that are being filled are not free either: then decoding may be what is slow.
    let is_full = shares.no_slot > 0.5 && stream.slots_ready > stream.slots_filling;
    // Readers also wait for room if a GPU is busy, which the threads' shares do not show.
    let is_budget = shares.no_room > 0.5 && shares.no_slot < 0.5 && !on_gpu;
    // Then trainers wait as well: no batch is ready for them.
    let is_kept = shares.no_slot > 0.5 && stream.slots_ready + stream.slots_filling + stream.slots_free == 0;
    match () {
        () if is_kept && waiting.is_none_or(|share| share >= KEPT_UP) => Limit::Slots,
        () if waiting.map_or(is_full, |share| share < KEPT_UP) => Limit::Trainer,
        () if shares.functions > BUSY && shares.functions >= shares.decoding => Limit::Functions,
        () if shares.decoding > BUSY => Limit::Decoding,
        () if shares.reading > BUSY || is_budget => Limit::Reading,
        () if shares.no_lease > 0.5 => Limit::Ledger,
        () if waiting.is_some_and(|share| share < 0.5) => Limit::Trainer,
        () => Limit::Elsewhere,
    }
}
