//! How many reads are under way, and how much of the budget they have.

/// Reads that are under way and were not given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InFlight {
    /// How many.
    pub reads: usize,
    /// Bytes of the budget that they have.
    pub bytes: u64,
}

impl InFlight {
    /// One more, with this room.
    pub(super) fn add(&mut self, reserved: u64) {
        self.reads += 1;
        self.bytes = self.bytes.saturating_add(reserved);
    }

    /// One less, which had this room.
    pub(super) fn remove(&mut self, reserved: u64) {
        self.remove_all(Self { reads: 1, bytes: reserved });
    }

    /// So many less.
    pub(super) fn remove_all(&mut self, gone: Self) {
        self.reads = self.reads.saturating_sub(gone.reads);
        self.bytes = self.bytes.saturating_sub(gone.bytes);
    }
}
