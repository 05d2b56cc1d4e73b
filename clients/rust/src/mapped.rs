//! A ring as this trainer has it: its memory, and the descriptor of its pixels if they are in a GPU.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forebay_columns::Schema;
use forebay_ring::{Pixels, Shape, View};

use crate::error::Broken;

/// A ring's memory, for drivers that lock its pages or map its pixels. Cheap to clone; keeps the memory mapped.
#[derive(Clone, Debug)]
pub struct Mapped {
    ring: Arc<Ring>,
}

/// Pixels that are in memory of a GPU.
#[derive(Clone, Copy, Debug)]
pub struct GpuPixels<'a> {
    /// Where they are.
    pub pixels: Pixels,
    /// For `cuMemImportFromShareableHandle`.
    pub fd: BorrowedFd<'a>,
}

#[derive(Debug)]
pub(crate) struct Ring {
    pub(crate) view: View,
    number: u64,
    pixels: Pixels,
    memory: Option<OwnedFd>,
}

impl Ring {
    /// A ring that the daemon passed.
    pub(crate) fn new(view: View, pixels: Pixels, memory: Option<OwnedFd>) -> Result<Arc<Self>, Broken> {
        static RINGS: AtomicU64 = AtomicU64::new(1);
        let geometry = view.geometry();
        let needed = u64::from(geometry.slots()).checked_mul(pixels.stride);
        let images = geometry.images(0).len() as u64;
        if memory.is_some() && (pixels.stride < images || needed.is_none_or(|needed| needed > pixels.total)) {
            return Err(Broken::Protocol(format!(
                "the pixels of ring {} do not fit their memory: {pixels:?}",
                view.ring()
            )));
        }
        // A number for people and tables: nothing is published by it.
        let number = RINGS.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Self { view, number, pixels, memory }))
    }

    pub(crate) fn is_in_gpu(&self) -> bool {
        self.memory.is_some()
    }
}

impl Mapped {
    pub(crate) fn new(ring: &Arc<Ring>) -> Self {
        Self { ring: Arc::clone(ring) }
    }

    /// Number of the ring, unique in this process.
    pub fn number(&self) -> u64 {
        self.ring.number
    }

    /// Shape, type and axis order of the images of each batch in it.
    pub fn shape(&self) -> Shape {
        self.ring.view.geometry().shape()
    }

    /// The columns that its batches have beside those of every batch.
    pub fn columns(&self) -> &Schema {
        self.ring.view.geometry().columns().schema()
    }

    /// Where the slots are in this process. They may be read only through a batch.
    pub fn slots(&self) -> NonNull<[u8]> {
        self.ring.view.locate()
    }

    /// Whether its slots can be made writable, for a driver that locks the pages of no other memory.
    pub fn is_pinnable(&self) -> bool {
        self.ring.view.is_pinnable()
    }

    /// Makes the slots writable in this process for as long as `lock` takes, which has a driver lock their pages and writes
    /// nothing. They stay locked; a write is a SIGSEGV again afterwards.
    ///
    /// # Errors
    /// The ring is not pinnable, another thread is at it, or the kernel refuses. `lock` was not called then.
    pub fn while_writable<T>(&self, lock: impl FnOnce() -> T) -> Result<T, Broken> {
        Ok(self.ring.view.while_writable(lock)?)
    }

    /// The memory of its pixels, if they are in a GPU.
    pub fn gpu(&self) -> Option<GpuPixels<'_>> {
        self.ring.memory.as_ref().map(|fd| GpuPixels { pixels: self.ring.pixels, fd: fd.as_fd() })
    }
}
