//! A ring of a stream as its trainers get it: its slots, and where their pixels are if they are not in the slots.

use std::error::Error;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Once};

use forebay_ring::{Pixels, Populated, Region, RegionError};

/// A ring of a stream. Clones are handles to it.
#[derive(Clone)]
pub struct StreamRing {
    /// Its slots.
    pub region: Region,
    elsewhere: Option<Elsewhere>,
    lock: Option<LockSlot>,
    /// It was said that slots have small pages.
    told: Arc<Once>,
}

/// Memory that a ring's pixels are in, beside its slots. It is kept as long as the ring.
#[derive(Clone)]
struct Elsewhere {
    pixels: Pixels,
    memory: Arc<dyn AsFd + Send + Sync>,
}

/// Locks the pages of a slot that has its memory. What it has to say, it logs.
pub type LockSlot = Arc<dyn Fn(&Region, u32) + Send + Sync>;

/// Why a further ring cannot be made: an error of the stream, which those who ask for a ring do not know.
pub type NoRing = Box<dyn Error + Send + Sync>;

impl std::fmt::Debug for StreamRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamRing").field("region", &self.region).finish_non_exhaustive()
    }
}

impl StreamRing {
    /// A ring whose pixels are in its slots.
    pub fn new(region: Region) -> Self {
        Self { region, elsewhere: None, lock: None, told: Arc::new(Once::new()) }
    }

    /// Its pixels are in this memory, whose descriptor its trainers get.
    #[must_use]
    pub fn with_pixels_in(self, pixels: Pixels, memory: Arc<dyn AsFd + Send + Sync>) -> Self {
        Self { elsewhere: Some(Elsewhere { pixels, memory }), ..self }
    }

    /// The pages of its slots are locked as they come.
    #[must_use]
    pub fn locked_by(self, lock: LockSlot) -> Self {
        Self { lock: Some(lock), ..self }
    }

    /// Takes a slot's memory from the kernel, and has its pages locked if that is wanted.
    ///
    /// # Errors
    /// There is too little memory.
    pub fn populate(&self, slot: u32) -> Result<(), RegionError> {
        if let Populated::Small(reason) = self.region.populate(slot)? {
            self.told.call_once(|| {
                tracing::info!(slot, %reason, "the ring has small pages: the kernel has no huge ones for it now");
            });
        }
        if let Some(lock) = &self.lock {
            lock(&self.region, slot);
        }
        Ok(())
    }

    /// Where its pixels are, for its trainers.
    pub fn pixels(&self) -> Pixels {
        self.elsewhere.as_ref().map_or(Pixels::HOST, |elsewhere| elsewhere.pixels)
    }

    /// The descriptors that a trainer gets of it: the slots', and that of pixels elsewhere behind `between`.
    pub fn fds<'a>(&'a self, between: Option<BorrowedFd<'a>>) -> Vec<BorrowedFd<'a>> {
        let pixels = self.elsewhere.as_ref().map(|elsewhere| elsewhere.memory.as_fd());
        [Some(self.region.fd()), between, pixels].into_iter().flatten().collect()
    }
}
