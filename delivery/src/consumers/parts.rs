//! The inputs of the ring's thread, and its counters.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use forebay_proto::v1::LastHolder;
use forebay_ring::ConsumerId;

use super::Asked;
use super::ledger_reports::LedgerReports;
use crate::handover::Vacancies;
use crate::settings::DeliverySettings;
use crate::step_length::StepLength;
use crate::stream_ring::{NoRing, StreamRing};

/// What the thread works with.
pub(crate) struct RingParts {
    /// Name of the stream, for messages.
    pub stream: String,
    /// Name of its run, for messages.
    pub run: String,
    /// This daemon, for trainers that wait for it.
    pub node: LastHolder,
    /// The memory of its batches.
    pub rings: RingSupply,
    /// What the stream's ledger hears.
    pub ledger: LedgerReports,
    /// What the daemon hears of trainers.
    pub hooks: TrainerHooks,
    /// Which epochs are delivered.
    pub epochs: EpochTerms,
    /// Which trainers get a batch.
    pub rules: DeliveryRules,
    /// Names of groups that were there before the daemon was started.
    pub groups: Vec<String>,
    /// How long a batch that other daemons wait for may stay untaken.
    pub untaken: Duration,
    /// What is counted.
    pub counters: Arc<Counters>,
}

/// Where rings come from, and where their free slots go.
pub(crate) struct RingSupply {
    /// The ring that the stream begins with.
    pub first: StreamRing,
    /// Makes a further ring, by its number. Another thread calls it: the kernel may take its time.
    pub further: MakeRing,
    /// Where free slots go.
    pub vacancies: Vacancies,
}

/// Makes a ring, by its number.
pub(crate) type MakeRing = Arc<dyn Fn(u32) -> Result<StreamRing, NoRing> + Send + Sync>;

/// What the daemon hears of a stream's trainers.
pub(crate) struct TrainerHooks {
    /// Calls of consumers; answers come back as [`InboxMessage::Answer`](super::InboxMessage::Answer), or
    /// [`InboxMessage::Evict`](super::InboxMessage::Evict) for one that cannot be read.
    pub calls: Box<dyn Fn(ConsumerId, u64, Asked) + Send>,
    /// Told when a consumer has left, or was not let in, with how many are left.
    pub left: Box<dyn Fn(ConsumerId, usize) + Send>,
}

/// Which epochs a stream delivers, and how long the end of one may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EpochTerms {
    /// First epoch that is not complete.
    pub first: u64,
    /// Epochs in all, without end if nothing.
    pub count: Option<u64>,
    /// How long an epoch's end may wait for a held batch.
    pub end_timeout: Duration,
}

/// Which trainers get a batch, and in which order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeliveryRules {
    /// Who gets it.
    pub settings: DeliverySettings,
    /// A shard, whose one trainer gets its batches in their order: none passes one that waits for the ledger.
    pub in_order: bool,
    /// Positions of a batch that is a step of a class.
    pub steps: StepLength,
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
