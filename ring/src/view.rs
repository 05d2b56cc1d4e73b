//! The trainer's side of a ring's memory: a read-only mapping, checked before anything in it is believed.
#![allow(unsafe_code, reason = "makes slices of shared memory")]

use std::{
    io,
    ops::Range,
    os::fd::AsFd,
    ptr::NonNull,
    sync::atomic::{AtomicBool, Ordering},
};

use bytemuck::Pod;
use forebay_columns::MAX_DEPTH;
use rustix::{fs::SealFlags, mm::Advice};

use crate::{
    column_view::ColumnView,
    header::{Header, HeaderError},
    layout::Geometry,
    mapping::Mapping,
    message::Claim,
    region::seals,
};

/// A ring as a trainer sees it. A slot does not change from its OFFER until the trainer's RELEASE. Outside of that time the
/// daemon may write to it, and a read gives nothing meaningful.
///
/// The trainer trusts its daemon to keep to this. No other process can write to, shrink or grow the memory;
/// [`map`](Self::map) checks that. In a pinnable ring, the other trainers could write too. They belong to the same user, and
/// are trusted not to.
#[derive(Debug)]
pub struct View {
    mapping: Mapping,
    header: Header,
    /// The slots are writable, for one caller.
    writable: AtomicBool,
}

/// The slots may be written while it lives.
struct Writable<'a>(&'a View);

/// Why a descriptor is not taken for a ring.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// It is no sealed memory, or a seal is missing.
    #[error("the daemon's ring lacks seals (it has {found:?}, it needs {needed:?}); its memory could be pulled away")]
    Seals {
        /// The seals that it has.
        found: SealFlags,
        /// The seals that it needs.
        needed: SealFlags,
    },
    /// The length is not the one that the header gives.
    #[error("the daemon's ring is {found} bytes long, its header says {expected}")]
    Len {
        /// Length of the memory.
        found: u64,
        /// Length by the header.
        expected: u64,
    },
    /// The header is not believed.
    #[error("the daemon's ring cannot be read: {0}")]
    Header(#[from] HeaderError),
    /// It belongs to another daemon or has another number.
    #[error(
        "the daemon announced ring {ring} of incarnation {incarnation:x}, but sent ring {found_ring} of {found_incarnation:x}"
    )]
    Other {
        /// Announced incarnation.
        incarnation: u64,
        /// Announced ring.
        ring: u32,
        /// Incarnation in the header.
        found_incarnation: u64,
        /// Ring in the header.
        found_ring: u32,
    },
    /// Only its daemon may write to it.
    #[error("ring {ring} is sealed against writing: it is not a pinnable ring")]
    Sealed {
        /// The ring.
        ring: u32,
    },
    /// Another thread has it writable.
    #[error("another thread is having the pages of ring {ring} locked")]
    Busy {
        /// The ring.
        ring: u32,
    },
    /// The kernel refused.
    #[error("cannot {step} the daemon's ring: {source}")]
    Io {
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl View {
    /// Checks seals, length, header and every offset, then maps the ring read-only.
    pub fn map(fd: impl AsFd, incarnation: u64, ring: u32) -> Result<Self, ViewError> {
        let at = |step| move |source: io::Error| ViewError::Io { step, source };
        let found = rustix::fs::fcntl_get_seals(&fd).map_err(|error| at("look at the seals of")(error.into()))?;
        let fixed = seals(true);
        if !found.contains(fixed) {
            return Err(ViewError::Seals { found, needed: fixed });
        }
        let len = rustix::fs::fstat(&fd).map_err(|error| at("look at the length of")(error.into()))?.st_size;
        let len = u64::try_from(len).unwrap_or(0);
        let mut head = vec![0; Header::MAX_LEN];
        let got = rustix::io::pread(&fd, &mut head, 0).map_err(|error| at("read the header of")(error.into()))?;
        let header = Header::parse(&head[..got])?;
        let needed = seals(header.pinnable);
        if !found.contains(needed) {
            return Err(ViewError::Seals { found, needed });
        }
        let expected = header.geometry.total_len();
        if len != expected as u64 {
            return Err(ViewError::Len { found: len, expected: expected as u64 });
        }
        if (header.incarnation, header.ring) != (incarnation, ring) {
            let (found_incarnation, found_ring) = (header.incarnation, header.ring);
            return Err(ViewError::Other { incarnation, ring, found_incarnation, found_ring });
        }
        let mapping = Mapping::new(&fd, expected, false).map_err(at("map"))?;
        mapping.advise(0..expected, Advice::LinuxDontDump).map_err(at("keep out of core dumps"))?;
        Ok(Self { mapping, header, writable: AtomicBool::new(false) })
    }

    /// The layout of the ring's memory.
    pub fn geometry(&self) -> &Geometry {
        &self.header.geometry
    }

    /// Incarnation of the daemon that made the ring.
    pub fn incarnation(&self) -> u64 {
        self.header.incarnation
    }

    /// Number of the ring within its stream.
    pub fn ring(&self) -> u32 {
        self.header.ring
    }

    /// Where the slots' memory is in this process, for a driver that is to lock its pages. Nothing is read through it.
    pub fn locate(&self) -> NonNull<[u8]> {
        let slots = self.slots();
        NonNull::slice_from_raw_parts(self.mapping.start(slots.start), slots.len())
    }

    /// Whether its pages can be locked by a driver that takes writable memory alone, in
    /// [`while_writable`](Self::while_writable).
    pub fn is_pinnable(&self) -> bool {
        self.header.pinnable
    }

    /// Makes the slots writable here for as long as `lock` takes, which has a driver lock their pages. Nothing is to be written,
    /// neither by `lock` nor by other threads meanwhile. Afterwards a write is a SIGSEGV again; pages that were locked stay so. A
    /// process that is forked meanwhile keeps the right to write.
    ///
    /// # Errors
    /// The ring is not pinnable, another thread is at it, or the kernel refuses: then `lock` was not called, or the right to
    /// write could not be given up again.
    pub fn while_writable<T>(&self, lock: impl FnOnce() -> T) -> Result<T, ViewError> {
        let ring = self.ring();
        if !self.is_pinnable() {
            return Err(ViewError::Sealed { ring });
        }
        // Of two threads, the first to end would take the right to write from the other. The second does not wait here,
        // because `lock` may need what a waiting thread holds, such as Python's own lock.
        if self.writable.swap(true, Ordering::Acquire) {
            return Err(ViewError::Busy { ring });
        }
        let writable = Writable(self);
        let made = self.mapping.protect(self.slots(), true);
        made.map_err(|source| ViewError::Io { step: "allow writes to", source })?;
        let locked = lock();
        writable.end().map_err(|source| ViewError::Io { step: "end writes to", source })?;
        Ok(locked)
    }

    /// The images, `[batch, ...]` in the shape's type and order.
    ///
    /// # Panics
    /// When the ring has no such slot; so do the others. Check the slot of an OFFER against
    /// [`Geometry::slots`] once, when it comes.
    pub fn images(&self, slot: u32) -> &[u8] {
        self.tensor(self.geometry().images(slot))
    }

    /// The labels, `[batch]`, -1 where there is none.
    pub fn labels(&self, slot: u32) -> &[i64] {
        self.tensor(self.geometry().labels(slot))
    }

    /// The record numbers, `[batch]`, -1 where there is none.
    pub fn records(&self, slot: u32) -> &[i64] {
        self.tensor(self.geometry().records(slot))
    }

    /// The mask, `[batch]`, 0 where a place repeats or replaces.
    pub fn mask(&self, slot: u32) -> &[u8] {
        self.tensor(self.geometry().mask(slot))
    }

    /// Room for claims, `[batch]`; the OFFER says how many are set.
    pub fn claims(&self, slot: u32) -> &[Claim] {
        self.tensor(self.geometry().claims(slot))
    }

    /// A column that not every batch has, by its place in the [schema](crate::SlotColumns::schema).
    ///
    /// # Panics
    /// The ring has no such column.
    pub fn column(&self, slot: u32, column: usize) -> ColumnView<'_> {
        let (geometry, columns) = (self.geometry(), self.geometry().columns());
        let place = columns.column(column);
        let part = |range: &Range<usize>| geometry.within(slot, range);
        let offsets: [&[i64]; MAX_DEPTH] = std::array::from_fn(|level| self.tensor(part(&place.offsets[level])));
        let column_type = &columns.schema().fields()[column].column_type;
        let (validity, values) = (self.tensor(part(&place.validity)), self.tensor(part(&place.values)));
        ColumnView { column_type, validity, offsets, values }
    }

    fn slots(&self) -> Range<usize> {
        self.geometry().slot(0).start..self.geometry().total_len()
    }

    fn tensor<T: Pod>(&self, range: Range<usize>) -> &[T] {
        assert!(range.end <= self.geometry().total_len(), "a range beyond the ring");
        // SAFETY: the mapping is total_len bytes long.
        let start = unsafe { self.mapping.as_ptr().add(range.start) };
        // SAFETY: the header's offsets follow from its shape and the memory is sealed at its length, so the range is
        // mapped while `self` lives. The one process that can write, the daemon, does not while the slot is lent; nor do
        // those that can in a pinnable ring.
        let bytes = unsafe { std::slice::from_raw_parts(start, range.len()) };
        bytemuck::cast_slice(bytes)
    }
}

impl Writable<'_> {
    /// Gives the right up, and says where that failed.
    fn end(self) -> io::Result<()> {
        self.0.mapping.protect(self.0.slots(), false)
    }
}

impl Drop for Writable<'_> {
    fn drop(&mut self) {
        // Once more where it was given up already, which changes nothing; behind a panic of `lock` it is the only time.
        let _a_panic_counts = self.0.mapping.protect(self.0.slots(), false);
        self.0.writable.store(false, Ordering::Release);
    }
}
