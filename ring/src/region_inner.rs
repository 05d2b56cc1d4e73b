//! What all handles and rights to a ring's memory share.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::backing::Pages;
use crate::layout::Geometry;
use crate::mapping::Mapping;

/// The memory and who writes in it.
#[derive(Debug)]
pub(crate) struct RegionInner {
    pub(crate) mapping: Mapping,
    pub(crate) geometry: Geometry,
    pub(crate) ring: u32,
    pub(crate) pages: Pages,
    /// Trainers get duplicates. Read-only, unless the ring is pinnable.
    pub(crate) fd: OwnedFd,
    /// One per slot: true while any right to write in it lives.
    pub(crate) claimed: Box<[AtomicBool]>,
    /// One per slot: true once its memory is there.
    pub(crate) populated: Box<[AtomicBool]>,
}

impl RegionInner {
    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub(crate) fn ring(&self) -> u32 {
        self.ring
    }

    /// Start of the memory. To write through it, hold the right to the slot.
    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.mapping.as_ptr()
    }

    /// True for the one caller that now has the right to the slot.
    pub(crate) fn take(&self, slot: u32) -> bool {
        // Pairs with `give` (rights of a slot): what the last right wrote happened before the next one is made.
        !self.claimed[slot as usize].swap(true, Ordering::Acquire)
    }

    /// The slot's last right is gone.
    pub(crate) fn give(&self, slot: u32) {
        // Pairs with `take` (rights of a slot).
        self.claimed[slot as usize].store(false, Ordering::Release);
    }
}
