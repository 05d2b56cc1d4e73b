//! The daemon's side of a ring's memory: sealed, anonymous, writable through this mapping alone.
//!
//! It is made in this order: memory file, length, writable mapping, header, mode, seals. After the seals, no process, not
//! even the daemon, can shrink or grow the memory. Nor can any map it writable again, unless it is a pinnable ring.
#![allow(unsafe_code, reason = "writes the header and hands out pointers into the mapping")]

use std::{
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::{
    fs::{MemfdFlags, Mode, OFlags, SealFlags},
    io::Errno,
    mm::Advice,
};

use crate::{
    backing::{Backing, Pages},
    header::Header,
    layout::{Geometry, PAGE, SLOTS_OFFSET},
    mapping::Mapping,
    numa::NoNode,
    proc_files::proc_error,
    region_inner::RegionInner,
    slot::{SlotError, SlotMut},
};

/// The seals of a ring. Without `FUTURE_WRITE` a trainer can map the ring writable, which a driver asks for that is to
/// lock its pages.
pub(crate) fn seals(pinnable: bool) -> SealFlags {
    let fixed = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    if pinnable { fixed } else { fixed | SealFlags::FUTURE_WRITE }
}

/// One ring's memory, as its daemon sees it. Clones are handles to the same memory; it goes away with the last
/// handle or right, here and in the trainers.
///
/// ```
/// use forebay_ring::{Dtype, Geometry, Layout, Region, Shape, View};
///
/// let shape = Shape { batch: 4, height: 8, width: 8, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
/// let region = Region::create(Geometry::try_new(shape, 3)?, 1, 0)?;
/// region.populate(0)?;
/// let mut slot = region.slot(0)?;
/// slot.place_mut(0).fill(200);
/// drop(slot);
///
/// let view = View::map(region.share()?, 1, 0)?;
/// assert_eq!(view.images(0)[0], 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Region {
    inner: Arc<RegionInner>,
}

/// In which pages the kernel gave a slot's memory.
#[derive(Debug)]
pub enum Populated {
    /// In the pages that were asked for.
    AsAsked,
    /// In small pages, though huge ones were asked for: the kernel's reason.
    Small(io::Error),
}

/// How much of a ring's memory is still to be taken from the kernel. It does not keep the ring.
#[derive(Clone, Debug)]
pub struct Unpopulated(Weak<RegionInner>);

/// Why a ring's memory cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum RegionError {
    /// The kernel refused a step of making it.
    #[error("cannot make a ring of {len} bytes: {step} failed: {source}")]
    Create {
        /// Bytes of the ring.
        len: usize,
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The machine lacks the NUMA node.
    #[error(transparent)]
    NoNode(#[from] NoNode),
    /// The kernel does not bind the memory to the NUMA node.
    #[error(
        "cannot bind a ring to NUMA node {node}: mbind failed: {source}. In a container, allow mbind (CAP_SYS_NICE), or leave out ring.numa"
    )]
    Bind {
        /// The node.
        node: u32,
        /// What the kernel said.
        source: io::Error,
    },
    /// The pages that are set aside do not do.
    #[error(
        "cannot get {len} bytes in huge pages for a ring: {step} failed: {source}. Raise /proc/sys/vm/nr_hugepages, or set ring.pages to \"thp\""
    )]
    HugePages {
        /// Bytes that were to be had.
        len: usize,
        /// What was tried.
        step: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// There is too little memory for a slot.
    #[error(
        "cannot get memory for slot {slot} of the ring ({len} bytes): {source}; lower batch_size or prefetch_queue_depth, or give the daemon more memory"
    )]
    Populate {
        /// The slot.
        slot: u32,
        /// Its bytes.
        len: usize,
        /// What the kernel said.
        source: io::Error,
    },
    /// The ring has no such slot.
    #[error("the ring has no slot {0}")]
    NoSlot(u32),
}

impl Region {
    /// Makes ring number `ring` of a daemon's incarnation, with the [default](Backing) backing. Only the header's pages take
    /// memory until [`populate`](Self::populate).
    pub fn create(geometry: Geometry, incarnation: u64, ring: u32) -> Result<Self, RegionError> {
        Self::backed(geometry, incarnation, ring, Backing::default())
    }

    /// As [`create`](Self::create), of this memory. Huge pages that are set aside are kept for the ring from now on.
    ///
    /// # Errors
    /// The kernel refuses a step, there are too few huge pages, or the NUMA node is not there.
    pub fn backed(geometry: Geometry, incarnation: u64, ring: u32, backing: Backing) -> Result<Self, RegionError> {
        backing.check()?;
        let Backing { pages, node, pinnable } = backing;
        let bytes = Header { incarnation, ring, geometry: geometry.clone(), pinnable }.encode();
        let len = geometry.total_len();
        let at = |step| move |source: io::Error| RegionError::Create { len, step, source };
        let taking = |step| {
            move |source: io::Error| match pages {
                Pages::Hugetlb => RegionError::HugePages { len, step, source },
                Pages::Thp | Pages::Small => RegionError::Create { len, step, source },
            }
        };
        let size =
            if pages == Pages::Hugetlb { MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB } else { MemfdFlags::empty() };
        let writable = memory_file(size).map_err(taking("memfd_create"))?;
        rustix::fs::ftruncate(&writable, len as u64).map_err(|error| at("ftruncate")(error.into()))?;
        let mapping = Mapping::new(&writable, len, true).map_err(taking("mmap"))?;
        if let Some(binding) = node {
            mapping.bind(binding).map_err(|source| RegionError::Bind { node: binding.node(), source })?;
        }
        for (step, advice) in [("madvise DONTFORK", Advice::LinuxDontFork), ("madvise DONTDUMP", Advice::LinuxDontDump)]
        {
            mapping.advise(0..len, advice).map_err(at(step))?;
        }
        if pages == Pages::Small {
            // A kernel that knows no transparent huge pages refuses, and has small pages anyway.
            let _small_anyway = mapping.advise(0..len, Advice::LinuxNoHugepage);
        }
        let header = 0..bytes.len().next_multiple_of(PAGE);
        mapping.advise(header, Advice::LinuxPopulateWrite).map_err(taking("madvise POPULATE_WRITE"))?;
        assert!(bytes.len() <= SLOTS_OFFSET, "the header stands before the slots");
        // SAFETY: the header ends before the slots, the mapping is longer, and no one else knows of it yet.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapping.as_ptr(), bytes.len()) };
        rustix::fs::fchmod(&writable, Mode::RUSR).map_err(|error| at("fchmod")(error.into()))?;
        rustix::fs::fcntl_add_seals(&writable, seals(pinnable)).map_err(|error| at("sealing")(error.into()))?;
        let fd = if pinnable {
            writable
        } else {
            reopen_read_only(&writable).map_err(at("opening it read-only through /proc/self/fd"))?
        };
        let flags = || (0..geometry.slots()).map(|_| AtomicBool::new(false)).collect();
        let (claimed, populated) = (flags(), flags());
        Ok(Self { inner: Arc::new(RegionInner { mapping, geometry, ring, pages, fd, claimed, populated }) })
    }

    /// The layout of the ring's memory.
    pub fn geometry(&self) -> &Geometry {
        &self.inner.geometry
    }

    /// Number of the ring within its stream.
    pub fn ring(&self) -> u32 {
        self.inner.ring
    }

    /// The descriptor for trainers, read-only unless the ring is pinnable, to pass with [`Socket::send`](crate::Socket::send).
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.inner.fd.as_fd()
    }

    /// A duplicate of that descriptor.
    pub fn share(&self) -> io::Result<OwnedFd> {
        self.inner.fd.try_clone()
    }

    /// Takes the memory of one slot from the kernel now, and says whether it has the pages that were asked for. A slot may be
    /// written only afterwards: before, too little memory would be a SIGBUS in the middle of a batch.
    pub fn populate(&self, slot: u32) -> Result<Populated, RegionError> {
        let RegionInner { geometry, mapping, pages, .. } = &*self.inner;
        if slot >= geometry.slots() {
            return Err(RegionError::NoSlot(slot));
        }
        let (range, len) = (geometry.slot(slot), geometry.stride());
        mapping.advise(range.clone(), Advice::LinuxPopulateWrite).map_err(|source| match pages {
            Pages::Hugetlb => RegionError::HugePages { len, step: "populating a slot", source },
            Pages::Thp | Pages::Small => RegionError::Populate { slot, len, source },
        })?;
        // A count for others to read: nothing is published by it.
        self.inner.populated[slot as usize].store(true, Ordering::Relaxed);
        Ok(match pages {
            // Huge pages save time in every later access, but are never needed.
            Pages::Thp => mapping.collapse(range).map_or_else(Populated::Small, |()| Populated::AsAsked),
            Pages::Hugetlb | Pages::Small => Populated::AsAsked,
        })
    }

    /// Where a slot's memory is in this process, for a driver that is to lock its pages. Nothing is read or written through
    /// it.
    ///
    /// # Errors
    /// The ring has no such slot.
    pub fn locate(&self, slot: u32) -> Result<NonNull<[u8]>, RegionError> {
        let geometry = &self.inner.geometry;
        if slot >= geometry.slots() {
            return Err(RegionError::NoSlot(slot));
        }
        let start = self.inner.mapping.start(geometry.slot(slot).start);
        Ok(NonNull::slice_from_raw_parts(start, geometry.stride()))
    }

    /// What [`populate`](Self::populate) has yet to take.
    pub fn unpopulated(&self) -> Unpopulated {
        Unpopulated(Arc::downgrade(&self.inner))
    }

    /// The right to write in one slot. There is one at a time, with all the places split off it.
    pub fn slot(&self, slot: u32) -> Result<SlotMut, SlotError> {
        SlotMut::claim(&self.inner, slot)
    }
}

impl Unpopulated {
    /// Bytes of the slots whose memory is not there yet; none once the ring is gone. Huge pages that were set aside are there
    /// from the start.
    pub fn bytes(&self) -> u64 {
        let Some(inner) = self.0.upgrade().filter(|inner| inner.pages != Pages::Hugetlb) else { return 0 };
        let slots = inner.populated.iter().filter(|populated| !populated.load(Ordering::Relaxed)).count();
        slots as u64 * inner.geometry.stride() as u64
    }
}

/// An anonymous file that can be sealed, of pages of this size. Kernels before 6.3 do not know `NOEXEC_SEAL`.
pub(crate) fn memory_file(size: MemfdFlags) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | size;
    match rustix::fs::memfd_create("forebay", flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => Ok(rustix::fs::memfd_create("forebay", flags)?),
        made => Ok(made?),
    }
}

/// A second description of the same file: security modules look at the mode of the one that is passed.
fn reopen_read_only(fd: &OwnedFd) -> io::Result<OwnedFd> {
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| proc_error(&path, &error.into()))
}
