//! The state of a stream's ring and of its consumers, for the status page.

use forebay_proto::v1::{ConsumerStatus, GroupStatus};
use forebay_ring::SlotCounts;

/// A reading.
#[derive(Clone, Debug, Default)]
pub struct RingStatus {
    /// Slots by state; those that the batch thread has in reserve count as being filled.
    pub slots: SlotCounts,
    /// Memory of the host that its rings are in.
    pub bytes: u64,
    /// The consumers.
    pub consumers: Vec<ConsumerStatus>,
    /// The groups of trainers; none in `split`.
    pub groups: Vec<GroupStatus>,
    /// First epoch that is not over.
    pub epoch: u64,
    /// Batches of the open epoch that are in trainers' hands and not acked.
    pub unfinished: usize,
    /// Why the stream has failed, if it has.
    pub failure: Option<String>,
}
