//! Settled batches that other threads work on before they are handed on: they are mixed, or a function in Python gets them. They may come
//! back in another order than they were sent, and are handed on in the order in which they were sent.

use std::collections::VecDeque;

use crate::batch_metadata::{MixedLabels, SettledBatch};

/// A batch that comes back to its stream's batch thread.
#[derive(Debug)]
pub(crate) struct WorkedBatch {
    /// The batch, with the right to its slot.
    pub batch: SettledBatch,
    /// What was done with it.
    pub work: BatchWork,
}

/// What was done with a batch.
#[derive(Debug)]
pub(crate) enum BatchWork {
    /// It was mixed: what became of its pictures; or what a panic said, after which they are not to be shown.
    Mixed(Result<MixedLabels, String>),
    /// A function in Python was to be called with it.
    Called(Called),
}

/// What became of the call of a function with a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// The batch is what the function has made of it.
    Done,
    /// There is no result, for this reason in words. The stream fails.
    Failed(String),
    /// The stream stops before there was a result. The batch is as it was.
    Withdrawn,
}

/// Batches of which each is handed on once all before it are.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    /// Numbers of the batches that are not handed on yet, in their order.
    order: VecDeque<u64>,
    /// Those of them that are back.
    done: Vec<WorkedBatch>,
}

impl InOrder {
    /// A batch is sent.
    pub(crate) fn sent(&mut self, batch: &SettledBatch) {
        self.order.push_back(batch.metadata.batch);
    }

    /// A batch is back.
    pub(crate) fn keep(&mut self, done: WorkedBatch) {
        self.done.push(done);
    }

    /// The next batch to be handed on, if it is back.
    pub(crate) fn next(&mut self) -> Option<WorkedBatch> {
        let first = self.order.front()?;
        let place = self.done.iter().position(|done| done.batch.metadata.batch == *first)?;
        self.order.pop_front();
        Some(self.done.swap_remove(place))
    }

    /// Whether every batch was handed on.
    pub(crate) fn is_idle(&self) -> bool {
        self.order.is_empty()
    }
}
