//! What limits a stream, and what would help: a judgement of two readings of its status, for `bench`, `status` and `top`.
//!
//! A stage that hardly ever waits holds up the others. The meters of the queues say how much a stage waits.

mod sentence;
mod shares;
#[cfg(test)]
mod tests;

use forebay_proto::v1::{StatusReply, StreamStatus};
use serde::Serialize;

use sentence::sentence;
pub(crate) use shares::Shares;

/// What holds the stream up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Limit {
    /// The stream has failed.
    Failed,
    /// Leases come too slowly, or the ledger cannot be written.
    Ledger,
    /// The storage gives nothing.
    Storage,
    /// No trainer is attached.
    #[serde(rename = "nobody")]
    NoTrainer,
    /// The last epoch is complete: readers wait, and nothing is slow.
    Complete,
    /// The readings are too close to each other to tell.
    Measuring,
    /// Trainers take batches more slowly than they are made.
    Trainer,
    /// Trainers keep the slots of batches that they have consumed, and none is left for the next batch.
    Slots,
    Decoding,
    Reading,
    Elsewhere,
}

/// A limit, and sentences about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    pub(crate) limit: Limit,
    #[serde(rename = "verdict")]
    pub(crate) sentence: String,
}

/// A share above which a stage counts as always busy.
const BUSY: f64 = 0.85;
/// A trainer that waits for less than this share of the time gets batches as fast as it takes them.
const KEPT_UP: f64 = 0.1;

impl Verdict {
    /// About a stream, from two readings of it and of its daemon. `waiting` is the share of the time in which a trainer waited for
    /// a batch, where that was measured.
    pub(crate) fn of(
        readings: (&StatusReply, &StatusReply),
        stream: &StreamStatus,
        shares: Option<Shares>,
        waiting: Option<f64>,
    ) -> Self {
        let limit = match &readings.1.ledger_outage {
            Some(_) if stream.failure.is_empty() => Limit::Ledger,
            _ => limit(stream, shares, waiting, readings.1.lanes.len() > 1),
        };
        let sentence = sentence(limit, readings, stream, shares.unwrap_or_default());
        Self { limit, sentence }
    }
}

/// A stream as it was at an earlier reading. `None` if it was opened or reopened since.
pub(crate) fn earlier<'a>(before: &'a StatusReply, stream: &StreamStatus) -> Option<&'a StreamStatus> {
    before.streams.iter().find(|was| was.name == stream.name && was.open_ms <= stream.open_ms)
}

fn limit(stream: &StreamStatus, shares: Option<Shares>, waiting: Option<f64>, on_gpu: bool) -> Limit {
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

fn bottleneck(stream: &StreamStatus, shares: Shares, waiting: Option<f64>, on_gpu: bool) -> Limit {
    // Slots that are being filled are not free either: then decoding may be what is slow.
    let is_full = shares.no_slot > 0.5 && stream.slots_ready > stream.slots_filling;
    // Readers also wait for room if a GPU is busy, which the threads' shares do not show.
    let is_budget = shares.no_room > 0.5 && shares.no_slot < 0.5 && !on_gpu;
    // Then trainers wait as well: no batch is ready for them.
    let is_kept = shares.no_slot > 0.5 && stream.slots_ready + stream.slots_filling + stream.slots_free == 0;
    match () {
        () if is_kept && waiting.is_none_or(|share| share >= KEPT_UP) => Limit::Slots,
        () if waiting.map_or(is_full, |share| share < KEPT_UP) => Limit::Trainer,
        () if shares.decoding > BUSY => Limit::Decoding,
        () if shares.reading > BUSY || is_budget => Limit::Reading,
        () if shares.no_lease > 0.5 => Limit::Ledger,
        () if waiting.is_some_and(|share| share < 0.5) => Limit::Trainer,
        () => Limit::Elsewhere,
    }
}
