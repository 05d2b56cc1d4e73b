//! Buffers that are reused for reads. Without them, each record would cost an allocation, and a fresh page of the
//! system for every 4 KiB.

use std::collections::VecDeque;

/// The buffers, the one that has been kept longest first.
#[derive(Debug)]
pub(crate) struct Spare {
    buffers: VecDeque<Vec<u8>>,
    bytes: usize,
    most_bytes: usize,
}

/// Larger buffers are not kept.
const LARGEST: usize = 1 << 20;

impl Spare {
    /// What is kept is memory beyond the budget: of the default one, 16 MB, and never more than 32 MiB.
    pub(crate) fn beside(budget: u64) -> Self {
        let most_bytes = usize::try_from(budget / 16).unwrap_or(usize::MAX).min(32 << 20);
        Self { buffers: VecDeque::new(), bytes: 0, most_bytes }
    }

    /// Bytes that a read of `size` bytes needs, with all of the buffer that [`Spare::take`] gives for it.
    pub(crate) fn needed(&self, size: u64) -> u64 {
        self.fit(size).map_or(size, |place| size.max(self.buffers[place].capacity() as u64))
    }

    /// A buffer for so many bytes: the smallest that holds them, or a new one. It may have bytes of an earlier read, which a
    /// source overwrites faster than it makes room for new ones.
    pub(crate) fn take(&mut self, size: u64) -> Vec<u8> {
        let Some(buffer) = self.fit(size).and_then(|place| self.buffers.remove(place)) else { return Vec::new() };
        self.bytes -= buffer.capacity();
        buffer
    }

    /// Keeps a buffer for later reads. Where there is no room, those go that no read has wanted for longest: they may be too
    /// small for what is read now.
    pub(crate) fn keep(&mut self, buffer: Vec<u8>) {
        let capacity = buffer.capacity();
        if !(1..=LARGEST.min(self.most_bytes)).contains(&capacity) {
            return;
        }
        while self.bytes + capacity > self.most_bytes {
            self.bytes -= self.buffers.pop_front().map_or(0, |oldest| oldest.capacity());
        }
        self.bytes += capacity;
        self.buffers.push_back(buffer);
    }

    /// Frees all.
    pub(crate) fn clear(&mut self) {
        self.buffers = VecDeque::new();
        self.bytes = 0;
    }

    /// A size of 0 is one that is not known: the largest is most likely to hold it.
    fn fit(&self, size: u64) -> Option<usize> {
        let capacities = self.buffers.iter().map(|kept| kept.capacity() as u64).enumerate();
        if size == 0 {
            return capacities.max_by_key(|&(_, capacity)| capacity).map(|(place, _)| place);
        }
        let large = capacities.filter(|&(_, capacity)| capacity >= size);
        large.min_by_key(|&(_, capacity)| capacity).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_gets_the_smallest_buffer_that_holds_it_and_counts_with_all_of_it() {
        let mut spare = Spare::beside(256 << 20);
        assert_eq!((spare.needed(7), spare.take(7).capacity()), (7, 0));
        for capacity in [300, 100, 200] {
            spare.keep(Vec::with_capacity(capacity));
        }
        assert_eq!((spare.needed(101), spare.needed(100), spare.needed(301)), (200, 100, 301));
        assert_eq!(spare.needed(0), 300, "of a size that is not known");
        assert_eq!([150, 150, 150].map(|size| spare.take(size).capacity()), [200, 300, 0]);
        assert_eq!((spare.buffers.len(), spare.bytes), (1, 100));
        spare.keep(vec![7; 50]);
        assert_eq!(spare.take(50), [7; 50], "clearing it is left to the source");
    }

    #[test]
    fn where_files_get_larger_their_buffers_take_the_place_of_small_ones() {
        let mut spare = Spare::beside(1600);
        (0..5).for_each(|_| spare.keep(Vec::with_capacity(20)));
        spare.keep(Vec::with_capacity(90));
        assert_eq!((spare.take(80).capacity(), spare.bytes), (90, 0));
    }

    #[test]
    fn rule_31_what_is_kept_beside_the_budget_is_bounded() {
        for (budget, most) in [(256 << 20, 16 << 20), (u64::MAX, 32 << 20), (0, 0)] {
            let mut spare = Spare::beside(budget);
            spare.keep(Vec::with_capacity(0));
            spare.keep(Vec::with_capacity(LARGEST + 1));
            assert_eq!(spare.bytes, 0);
            (0..100).for_each(|_| spare.keep(Vec::with_capacity(LARGEST)));
            assert_eq!(spare.bytes, most);
            spare.clear();
            assert_eq!(spare.bytes, 0);
        }
    }
}
