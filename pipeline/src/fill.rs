//! How far pictures fill the room of steps whose pictures have different sizes.

use std::sync::atomic::{AtomicU64, Ordering};

/// The room of batches, in the unit of their [form](crate::settings::StepForm::unit).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchFill {
    /// What the epoch's own records take of it. The rest is padding and copies.
    pub filled: u64,
    /// All of it.
    pub room: u64,
}

/// The sum over all published batches of a stream. It is read for display only, so its atomics are relaxed.
#[derive(Debug, Default)]
pub(crate) struct FillMeter {
    filled: AtomicU64,
    room: AtomicU64,
}

impl FillMeter {
    /// One more batch is published.
    pub(crate) fn add(&self, BatchFill { filled, room }: BatchFill) {
        // A reading in between has more room than is filled, and not less.
        self.room.fetch_add(room, Ordering::Relaxed);
        self.filled.fetch_add(filled, Ordering::Relaxed);
    }

    /// The sum so far.
    pub(crate) fn sum(&self) -> BatchFill {
        let filled = self.filled.load(Ordering::Relaxed);
        let room = self.room.load(Ordering::Relaxed);
        BatchFill { filled: filled.min(room), room }
    }
}
