//! Buffers that are read into again. Without them each record would cost an allocation, and a fresh page of the system for
//! every 4 KiB of it.

/// The buffers, in order of their capacity.
#[derive(Debug, Default)]
pub(super) struct Spare {
    buffers: Vec<Vec<u8>>,
    bytes: usize,
}

/// What is kept is memory beyond the budget: so much in all, and no larger buffers.
const MOST_BYTES: usize = 32 << 20;
const LARGEST: usize = 1 << 20;

impl Spare {
    /// Bytes that a read of `size` bytes needs, with all of the buffer that [`Spare::take`] gives for it.
    pub(super) fn needed(&self, size: u64) -> u64 {
        self.fit(size).map_or(size, |place| size.max(self.buffers[place].capacity() as u64))
    }

    /// An empty buffer for so many bytes: the smallest that holds them, or a new one.
    pub(super) fn take(&mut self, size: u64) -> Vec<u8> {
        let Some(place) = self.fit(size) else { return Vec::new() };
        let mut buffer = self.buffers.remove(place);
        self.bytes -= buffer.capacity();
        buffer.clear();
        buffer
    }

    /// Keeps a buffer for later reads, if there is room.
    pub(super) fn keep(&mut self, buffer: Vec<u8>) {
        let capacity = buffer.capacity();
        if (1..=LARGEST).contains(&capacity) && self.bytes + capacity <= MOST_BYTES {
            self.bytes += capacity;
            let place = self.buffers.partition_point(|kept| kept.capacity() < capacity);
            self.buffers.insert(place, buffer);
        }
    }

    /// Frees all.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A size of 0 is one that is not known: the largest is most likely to hold it.
    fn fit(&self, size: u64) -> Option<usize> {
        let place = self.buffers.partition_point(|kept| (kept.capacity() as u64) < size);
        let last = self.buffers.len().checked_sub(1)?;
        if size == 0 { Some(last) } else { (place <= last).then_some(place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_gets_the_smallest_buffer_that_holds_it_and_counts_with_all_of_it() {
        let mut spare = Spare::default();
        assert_eq!((spare.needed(7), spare.take(7).capacity()), (7, 0));
        for capacity in [300, 100, 200] {
            spare.keep(Vec::with_capacity(capacity));
        }
        assert_eq!((spare.needed(101), spare.needed(100), spare.needed(301)), (200, 100, 301));
        assert_eq!(spare.needed(0), 300, "of a size that is not known");
        assert_eq!([150, 150, 150].map(|size| spare.take(size).capacity()), [200, 300, 0]);
        assert_eq!((spare.buffers.len(), spare.bytes), (1, 100));
    }

    #[test]
    fn rule_31_what_is_kept_beside_the_budget_is_bounded() {
        let mut spare = Spare::default();
        for capacity in [0, LARGEST + 1] {
            spare.keep(Vec::with_capacity(capacity));
        }
        assert_eq!(spare.bytes, 0);
        for _ in 0..100 {
            spare.keep(Vec::with_capacity(LARGEST));
        }
        assert_eq!(spare.bytes, MOST_BYTES);
        spare.clear();
        assert_eq!(spare.bytes, 0);
    }
}
