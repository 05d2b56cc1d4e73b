//! The inputs of the ring's thread, and its counters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use forebay_proto::v1::LastHolder;
use forebay_ring::ConsumerId;

use super::Asked;
use crate::ack::Fates;
use crate::blamed::BlamedLeases;
use crate::handover::Vacancies;
use crate::settings::DeliverySettings;
use crate::stream_ring::{NoRing, StreamRing};

/// What the thread works with.
pub(crate) struct RingParts {
    /// Name of the stream, for messages.
    pub stream: String,
    /// This daemon, for trainers that wait for it.
    pub node: LastHolder,
    /// Makes a further ring, by its number. Another thread calls it: the kernel may take its time.
    pub further: Arc<dyn Fn(u32) -> Result<StreamRing, NoRing> + Send + Sync>,
    /// Where free slots go.
    pub vacancies: Vacancies,
    /// Receipts, for the ledger.
    pub fates: Fates,
    /// Records that may have killed a daemon, until they are in a finished batch.
    pub blamed: Arc<BlamedLeases>,
    /// Calls of consumers; answers come back as [`Note::Answer`](super::Note::Answer), or [`Note::Evict`](super::Note::Evict) for one that cannot be read.
    pub calls: Box<dyn Fn(ConsumerId, u64, Asked) + Send>,
    /// Told when a consumer has left, or was not let in, with how many are left.
    pub left: Box<dyn Fn(ConsumerId, usize) + Send>,
    /// First epoch that is not complete.
    pub epoch: u64,
    /// Epochs in all, without end if nothing.
    pub epochs: Option<u64>,
    /// How long an epoch's end may wait for a held batch.
    pub epoch_end_timeout: Duration,
    /// A shard, whose one trainer gets its batches in their order: none passes one that waits for the ledger.
    pub in_order: bool,
    /// Which trainers get a batch.
    pub delivery: DeliverySettings,
    /// Names of groups that were there before the daemon was started.
    pub groups: Vec<String>,
    /// Set while trainers wait for what other daemons have of an epoch.
    pub waiting: Arc<AtomicBool>,
    /// How long a batch that other daemons wait for may stay untaken.
    pub untaken: Duration,
    /// What is counted.
    pub counters: Arc<Counters>,
}

/// What the ring's thread counts, for metrics.
#[derive(Debug, Default)]
pub struct Counters {
    /// Batches that were published.
    pub published: AtomicU64,
    /// Batches that were offered again.
    pub redelivered: AtomicU64,
    /// Records whose batch was consumed.
    pub delivered: AtomicU64,
    /// How long trainers waited for batches, in nanoseconds.
    pub waited: AtomicU64,
}

impl std::fmt::Debug for RingParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RingParts").field("stream", &self.stream).finish_non_exhaustive()
    }
}
