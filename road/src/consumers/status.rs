//! How a stream's ring and its consumers are, for the status page.

use forebay_proto::v1::ConsumerStatus;
use forebay_ring::{ConsumerState, SlotCounts};

use crate::consumers::RingThread;
use crate::consumers::attached::Consumer;

/// A reading.
#[derive(Clone, Debug, Default)]
pub(crate) struct RingStatus {
    /// Slots by state; those that the batch thread has in reserve count as being filled.
    pub slots: SlotCounts,
    /// The consumers.
    pub consumers: Vec<ConsumerStatus>,
    /// First epoch that is not over.
    pub epoch: u64,
    /// Batches of the open epoch that are in trainers' hands and not acked.
    pub unfinished: usize,
    /// Why the stream has failed, if it has.
    pub failure: Option<String>,
}

impl RingThread {
    pub(super) fn status(&self) -> RingStatus {
        let exchange = self.deliveries.exchange();
        RingStatus {
            slots: exchange.counts(),
            consumers: exchange.consumers().map(|state| self.consumer_status(&state)).collect(),
            epoch: exchange.open(),
            unfinished: exchange.holders(exchange.open()).len(),
            failure: self.failure.as_ref().map(|(_, reason)| reason.clone()),
        }
    }

    fn consumer_status(&self, state: &ConsumerState) -> ConsumerStatus {
        let consumer = self.consumers.get(&state.id);
        ConsumerStatus {
            id: state.id.0,
            pid: consumer.map_or(0, Consumer::pid),
            uid: consumer.map_or(0, Consumer::uid),
            held: state.held,
            delivered: state.delivered,
        }
    }
}
