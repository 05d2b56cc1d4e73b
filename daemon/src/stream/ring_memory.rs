//! Memory for rings: whether there is enough of it, before a ring is made (semantics rule 31).

use std::sync::Arc;

use forebay_ring::Memory;
use parking_lot::Mutex;

use crate::cache::Caches;
use crate::stream::StreamError;

/// Memory that the rings of a process take.
#[derive(Debug)]
pub struct RingMemory {
    /// What they may take together, where the configuration says so.
    limit: Option<u64>,
    /// What these may still take is not free for rings.
    caches: Arc<Caches>,
    taken: Mutex<u64>,
}

/// The memory of one ring. Dropping it gives the memory back.
#[derive(Debug)]
pub(super) struct Share {
    of: Arc<RingMemory>,
    bytes: u64,
}

impl RingMemory {
    /// Without a limit, the system's is asked for before each ring.
    pub fn new(limit: Option<u64>, caches: Arc<Caches>) -> Self {
        Self { limit, caches, taken: Mutex::new(0) }
    }

    /// Takes the memory of a ring, or says how much is needed and what is left.
    pub(super) fn take(self: &Arc<Self>, bytes: u64) -> Result<Share, StreamError> {
        let mut taken = self.taken.lock();
        let memory = match self.limit {
            Some(limit) => Memory { available: limit.saturating_sub(*taken), limited_by: "ring.memory".into() },
            None => self.system()?,
        };
        memory.check(bytes)?;
        *taken += bytes;
        Ok(Share { of: Arc::clone(self), bytes })
    }

    /// What the system has left, less what caches may still take of it.
    fn system(&self) -> std::io::Result<Memory> {
        let Memory { available, mut limited_by } = Memory::now()?;
        let promised = self.caches.promised();
        if promised > 0 {
            limited_by += ", less what caches may still take,";
        }
        Ok(Memory { available: available.saturating_sub(promised), limited_by })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.of.taken.lock() -= self.bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_31_rings_share_a_limit_and_give_their_part_back() {
        let memory = Arc::new(RingMemory::new(Some(10), Arc::default()));
        let first = memory.take(6).unwrap();
        assert!(matches!(memory.take(5), Err(StreamError::Memory(error)) if (error.needed, error.available) == (5, 4)));
        let second = memory.take(4).unwrap();
        drop(first);
        memory.take(6).unwrap();
        drop(second);
    }
}
