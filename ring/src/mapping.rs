//! A shared mapping of a descriptor at an address that is a multiple of 2 MiB, so that huge pages fit.
//!
//! No mapping crate places a file mapping at a chosen alignment, and without it `MADV_COLLAPSE` is refused.
#![allow(unsafe_code, reason = "mmap, mbind, mprotect, munmap and madvise")]

use std::{ffi::c_void, io, ops::Range, os::fd::AsFd, ptr::NonNull};

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap, mmap_anonymous, mprotect, munmap};

use crate::{backing::NumaBinding, layout::HUGE, numa::MOST_NODES};

/// Owns its address range. What may be read or written in it, and when, is its users' affair.
#[derive(Debug)]
pub(crate) struct Mapping {
    /// Reserved range, a little longer than the mapping.
    reserved: NonNull<u8>,
    reserved_len: usize,
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is an address range of the process; no thread owns it.
unsafe impl Send for Mapping {}
// SAFETY: its methods change no memory; code that reads or writes through its pointer must say why that is sound.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes.
    pub(crate) fn new(fd: impl AsFd, len: usize, writable: bool) -> io::Result<Self> {
        let reserved_len = len.checked_add(HUGE).ok_or(io::ErrorKind::OutOfMemory)?;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let reserved =
            unsafe { mmap_anonymous(std::ptr::null_mut(), reserved_len, ProtFlags::empty(), MapFlags::PRIVATE)? };
        let reserved = NonNull::new(reserved.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let skip = reserved.addr().get().next_multiple_of(HUGE) - reserved.addr().get();
        // SAFETY: skip < HUGE, so the result stays within the reserved range.
        let start = unsafe { reserved.add(skip) };
        let mapping = Self { reserved, reserved_len, start, len };
        let access = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: start..start + len lies within the range reserved above, which nothing else uses.
        unsafe { mmap(start.as_ptr().cast::<c_void>(), len, access, MapFlags::SHARED | MapFlags::FIXED, fd, 0)? };
        Ok(mapping)
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// An address in it.
    pub(crate) fn start(&self, offset: usize) -> NonNull<u8> {
        assert!(offset <= self.len, "an address beyond the mapping");
        // SAFETY: the result lies in the mapping, or right behind it.
        unsafe { self.start.add(offset) }
    }

    /// Gives advice that does not change what the memory holds.
    pub(crate) fn advise(&self, range: Range<usize>, advice: Advice) -> io::Result<()> {
        assert!(
            !matches!(advice, Advice::LinuxDontNeed | Advice::LinuxFree | Advice::LinuxRemove),
            "advice that throws memory away"
        );
        let (address, len) = self.part(range);
        // SAFETY: the range lies within the mapping, and the advice changes no content.
        unsafe { madvise(address, len, advice)? };
        Ok(())
    }

    /// Asks for huge pages now. The kernel's own settings need not allow them otherwise.
    pub(crate) fn collapse(&self, range: Range<usize>) -> io::Result<()> {
        let (address, len) = self.part(range);
        // SAFETY: the range lies within the mapping, and collapsing changes no content.
        match unsafe { libc::madvise(address, len, libc::MADV_COLLAPSE) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Has the kernel take pages from a NUMA node from now on, no matter which thread touches them first.
    pub(crate) fn bind(&self, binding: NumaBinding) -> io::Result<()> {
        const BITS: usize = libc::c_ulong::BITS as usize;
        let mut nodes: [libc::c_ulong; MOST_NODES / BITS] = [0; MOST_NODES / BITS];
        let node = binding.node() as usize;
        *nodes.get_mut(node / BITS).ok_or(io::ErrorKind::InvalidInput)? |= 1 << (node % BITS);
        let mode = match binding {
            NumaBinding::Preferred(_) => libc::MPOL_PREFERRED,
            NumaBinding::Only(_) => libc::MPOL_BIND,
        };
        let (address, len) = self.part(0..self.len);
        // The kernel reads one bit less than this number.
        // SAFETY: the range is the mapping, the kernel reads no bit behind `nodes`, and a policy changes no content.
        match unsafe { libc::syscall(libc::SYS_mbind, address, len, mode, nodes.as_ptr(), MOST_NODES + 1, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Lets this process write to a part of it, or only read. A caller that allows writes must say why they do not race.
    pub(crate) fn protect(&self, range: Range<usize>, writable: bool) -> io::Result<()> {
        let (address, len) = self.part(range);
        let access = if writable { MprotectFlags::READ | MprotectFlags::WRITE } else { MprotectFlags::READ };
        // SAFETY: the range lies within the mapping, which stays readable.
        unsafe { mprotect(address, len, access)? };
        Ok(())
    }

    fn part(&self, range: Range<usize>) -> (*mut c_void, usize) {
        assert!(range.start <= range.end && range.end <= self.len, "a part beyond the mapping");
        // SAFETY: range.start is at most the mapping's length.
        let address = unsafe { self.start.add(range.start) };
        (address.as_ptr().cast::<c_void>(), range.end - range.start)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is this value's own, and every user of its pointer holds the value alive.
        let unmapped = unsafe { munmap(self.reserved.as_ptr().cast::<c_void>(), self.reserved_len) };
        debug_assert!(unmapped.is_ok(), "a range that was mapped can be unmapped");
    }
}
