//! Blocks that are being read from a store. A reader that wants a block which another reader is fetching waits for that
//! fetch and shares its outcome.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use forebay_sources::{Pulse, Pulses};
use futures_util::future::{FutureExt as _, Shared};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::CacheKey;
use crate::fault::Fault;

/// The blocks that are being read, of all stores of one cache.
#[derive(Debug, Default)]
pub(crate) struct SharedReads(Mutex<HashMap<CacheKey, SharedRead>>);

/// The outcome of the read of a block: all its bytes, or the fault. A failing store is slow to answer. So all waiting
/// readers share one failure, and the last does not wait for every retry.
pub(crate) type Outcome = Result<Bytes, Fault>;

/// A read of a block that is under way.
#[derive(Clone, Debug)]
struct SharedRead {
    outcome: Shared<oneshot::Receiver<Outcome>>,
    waiting: Arc<Pulses>,
}

/// What the caller must do to get a block.
#[derive(Debug)]
pub(crate) enum BlockRead {
    /// Read it, and tell the others.
    Mine(BlockReader),
    /// Wait for the reader that fetches it. An error means that this reader was dropped: join again.
    Others(Shared<oneshot::Receiver<Outcome>>),
}

/// The duty to read a block. If it is dropped without an outcome, a waiting reader takes over the block.
#[derive(Debug)]
pub(crate) struct BlockReader {
    shared_reads: Arc<SharedReads>,
    key: CacheKey,
    tell: Option<oneshot::Sender<Outcome>>,
}

impl SharedReads {
    /// Returns for each block who reads it. The caller must read the blocks that no other reader is fetching yet. `waiting`
    /// gets the pulses of the readers that wait for those blocks. All blocks of one read share it.
    pub(crate) fn join(
        self: &Arc<Self>,
        keys: impl IntoIterator<Item = CacheKey>,
        waiting: &Arc<Pulses>,
        pulse: &Pulse,
    ) -> Vec<BlockRead> {
        let mut shared_reads = self.0.lock();
        let join = |key: CacheKey| {
            if let Some(shared) = shared_reads.get(&key) {
                shared.waiting.join(pulse.clone());
                return BlockRead::Others(shared.outcome.clone());
            }
            let (tell, outcome) = oneshot::channel();
            shared_reads.insert(key, SharedRead { outcome: outcome.shared(), waiting: Arc::clone(waiting) });
            BlockRead::Mine(BlockReader { shared_reads: Arc::clone(self), key, tell: Some(tell) })
        };
        keys.into_iter().map(join).collect()
    }
}

impl BlockReader {
    /// Ends the read. Readers that ask for the block from now on do not get this outcome.
    pub(crate) fn end(mut self, outcome: Outcome) {
        self.shared_reads.0.lock().remove(&self.key);
        if let Some(tell) = self.tell.take() {
            // Perhaps no reader waits any more.
            drop(tell.send(outcome));
        }
    }
}

impl Drop for BlockReader {
    fn drop(&mut self) {
        if self.tell.is_some() {
            self.shared_reads.0.lock().remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::FaultKind;

    fn key(number: u8) -> CacheKey {
        CacheKey::new("test", [[number].as_slice()])
    }

    fn join(shared_reads: &Arc<SharedReads>, number: u8) -> BlockRead {
        shared_reads.join([key(number)], &Arc::default(), &Pulse::default()).pop().unwrap()
    }

    fn reader(shared_reads: &Arc<SharedReads>, number: u8) -> BlockReader {
        match join(shared_reads, number) {
            BlockRead::Mine(reader) => reader,
            BlockRead::Others(_) => panic!("somebody else reads {number}"),
        }
    }

    fn waiting_for(shared_reads: &Arc<SharedReads>, number: u8) -> Shared<oneshot::Receiver<Outcome>> {
        match join(shared_reads, number) {
            BlockRead::Others(outcome) => outcome,
            BlockRead::Mine(_) => panic!("nobody else reads {number}"),
        }
    }

    #[test]
    fn rule_54_who_waits_for_a_block_shares_its_outcome_and_who_comes_later_reads_again() {
        let shared_reads = Arc::new(SharedReads::default());
        for outcome in [Ok(Bytes::from_static(b"block")), Err(Fault::new(FaultKind::Unavailable, "a test"))] {
            let (first, other) = (reader(&shared_reads, 0), reader(&shared_reads, 1));
            let waiting = [(); 100].map(|()| waiting_for(&shared_reads, 0));
            first.end(outcome.clone());
            for waiting in waiting {
                assert_eq!(waiting.now_or_never(), Some(Ok(outcome.clone())));
            }
            assert_eq!(waiting_for(&shared_reads, 1).now_or_never(), None, "another block is not there yet");
            drop(other);
        }
        drop(reader(&shared_reads, 0));
        assert!(shared_reads.0.lock().is_empty());
    }

    #[test]
    fn rule_54_a_read_that_was_cancelled_is_made_by_another() {
        let shared_reads = Arc::new(SharedReads::default());
        let first = reader(&shared_reads, 0);
        let waiting = waiting_for(&shared_reads, 0);
        drop(first);
        assert!(matches!(waiting.now_or_never(), Some(Err(_))));
        reader(&shared_reads, 0).end(Ok(Bytes::new()));
    }

    #[test]
    fn rule_28_all_who_wait_for_a_block_hear_that_it_continues() {
        let (shared_reads, waiting) = (Arc::new(SharedReads::default()), Arc::new(Pulses::default()));
        let _pilot = shared_reads.join([key(0)], &waiting, &Pulse::default());
        let beats = Arc::new(Mutex::new(0));
        let heard = Arc::clone(&beats);
        let pulse = Pulse::new(move || *heard.lock() += 1);
        let _passenger = shared_reads.join([key(0)], &Arc::default(), &pulse);
        waiting.all().beat();
        assert_eq!(*beats.lock(), 1);
    }
}
