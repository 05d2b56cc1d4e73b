//! Checks whether there is enough memory for a ring before it is made (semantics rule 31).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use forebay_ring::{Geometry, Memory, Region, Unpopulated};
use parking_lot::Mutex;

use crate::memory::{Promisee, Promises, beside};
use crate::stream::StreamError;

/// Memory that the rings of a process take.
#[derive(Debug)]
pub struct RingMemory {
    /// What they may take together, where the configuration says so.
    limit: Mutex<Option<u64>>,
    promises: Arc<Promises>,
    /// What was added is what was promised meanwhile: no two rings are added at once.
    taken: AtomicU64,
}

/// The memory of one ring. Dropping it gives the memory back.
#[derive(Debug)]
pub(super) struct RingMemoryShare {
    of: Arc<RingMemory>,
    bytes: u64,
    /// What the ring has not taken of it, once it is made.
    left: OnceLock<Unpopulated>,
}

impl RingMemory {
    /// Without a limit, the system's is asked for before each ring.
    pub fn new(limit: Option<u64>, promises: Arc<Promises>) -> Self {
        Self { limit: Mutex::new(limit), promises, taken: AtomicU64::new(0) }
    }

    /// Sets another limit, for rings from now on.
    pub fn limit_to(&self, limit: Option<u64>) {
        *self.limit.lock() = limit;
    }

    /// Makes a ring, pinnable or not, or says how much memory is needed and what is left.
    pub(super) fn ring(
        self: &Arc<Self>,
        geometry: Geometry,
        incarnation: u64,
        number: u32,
        pinnable: bool,
    ) -> Result<(Arc<RingMemoryShare>, Region), StreamError> {
        let share = self.take(u64::try_from(geometry.total_len()).unwrap_or(u64::MAX), Memory::now)?;
        let create = if pinnable { Region::create_pinnable } else { Region::create };
        let region = create(geometry, incarnation, number)?;
        share.made(&region);
        Ok((share, region))
    }

    fn take(
        self: &Arc<Self>,
        bytes: u64,
        system: impl FnOnce() -> std::io::Result<Memory>,
    ) -> Result<Arc<RingMemoryShare>, StreamError> {
        self.promises.promise(|promised| {
            let memory = match *self.limit.lock() {
                Some(limit) => {
                    let available = limit.saturating_sub(self.taken.load(Ordering::Relaxed));
                    Memory { available, limited_by: "ring.memory".into() }
                }
                None => beside(system()?, promised),
            };
            memory.check(bytes)?;
            self.taken.fetch_add(bytes, Ordering::Relaxed);
            Ok(Arc::new(RingMemoryShare { of: Arc::clone(self), bytes, left: OnceLock::new() }))
        })
    }
}

impl RingMemoryShare {
    /// The ring is made: what it takes of the memory is promised no longer.
    fn made(&self, region: &Region) {
        self.left.get_or_init(|| region.unpopulated());
    }
}

impl Promisee for RingMemoryShare {
    fn untaken(&self) -> u64 {
        self.left.get().map_or(self.bytes, Unpopulated::bytes)
    }
}

impl Drop for RingMemoryShare {
    fn drop(&mut self) {
        self.of.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use forebay_ring::{Dtype, Layout, Shape};

    use super::*;

    #[test]
    fn rule_31_rings_share_a_limit_and_give_their_part_back() {
        let memory = Arc::new(RingMemory::new(Some(10), Arc::default()));
        let take = |bytes| memory.take(bytes, || unreachable!("there is a limit"));
        let first = take(6).unwrap();
        assert!(matches!(take(5), Err(StreamError::Memory(error)) if (error.needed, error.available) == (5, 4)));
        let second = take(4).unwrap();
        drop(first);
        take(6).unwrap();
        drop(second);
    }

    #[test]
    fn rule_31_a_ring_is_compared_with_what_others_have_not_taken_yet() {
        let shape = Shape { batch: 1, height: 8, width: 8, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, 2).unwrap(), 1, 0).unwrap();
        let (slot, ring) = (region.geometry().stride() as u64, region.geometry().total_len() as u64);
        let memory = Arc::new(RingMemory::new(None, Arc::default()));
        let system = || Ok(Memory { available: ring + slot, limited_by: "the test".into() });
        let left = || match memory.take(u64::MAX, system) {
            Err(StreamError::Memory(error)) => error.available,
            other => panic!("{other:?}"),
        };
        let share = memory.take(ring, system).unwrap();
        assert_eq!(left(), slot, "no page of it is there yet");
        share.made(&region);
        region.populate(1).unwrap();
        assert_eq!(left(), ring, "the system's figure has the first slot; the other one is still to come");
        drop(region);
        assert_eq!(left(), ring + slot);
    }
}
