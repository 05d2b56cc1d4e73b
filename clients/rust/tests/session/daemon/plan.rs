//! What the scripted daemon delivers, and how it misbehaves.

use std::collections::BTreeSet;

use forebay_ring::Pixels;

/// What the daemon serves.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) records: u64,
    pub(crate) batch: u32,
    pub(crate) epochs: u64,
    pub(crate) slots: u32,
    pub(crate) deadline: u64,
    pub(crate) refuse: Option<(u32, &'static str)>,
    /// Whether a trainer may end an epoch, because there is no other one.
    pub(crate) alone: bool,
    pub(crate) answers: bool,
    /// Where it says that the ring's pixels are.
    pub(crate) pixels: Pixels,
    /// Sizes that the pictures of batches have in turn, if they are not all of the ring's.
    pub(crate) sizes: Vec<(u16, u16)>,
    /// What it says of the size in place of the truth.
    pub(crate) lie: Option<(u16, u16)>,
}

impl Plan {
    pub(crate) fn new(records: u64, batch: u32, epochs: u64) -> Self {
        let (slots, deadline, refuse, pixels) = (6, u64::MAX, None, Pixels::HOST);
        let (alone, answers, sizes, lie) = (true, true, Vec::new(), None);
        Self { records, batch, epochs, slots, deadline, refuse, alone, answers, pixels, sizes, lie }
    }

    pub(super) fn firsts(&self) -> impl Iterator<Item = u64> + use<> {
        (0..self.records).step_by(self.batch as usize)
    }

    pub(super) fn todo(&self) -> BTreeSet<(u64, u64)> {
        (0..self.epochs).flat_map(|epoch| self.firsts().map(move |first| (epoch, first))).collect()
    }

    /// Height and width of the pictures of a batch; 0 if they are the ring's.
    pub(super) fn size(&self, first: u64) -> (u16, u16) {
        let batch = usize::try_from(first / u64::from(self.batch)).unwrap();
        if self.sizes.is_empty() { (0, 0) } else { self.sizes[batch % self.sizes.len()] }
    }

    pub(super) fn span(&self, first: u64) -> std::ops::Range<u64> {
        first..(first + u64::from(self.batch)).min(self.records)
    }
}
