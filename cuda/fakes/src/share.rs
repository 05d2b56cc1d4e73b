//! libcuda's functions for memory that crosses between processes: memory of the GPU is a memory file, its descriptor the file's, so
//! another process really maps the same bytes.
#![allow(unsafe_code, non_snake_case, reason = "functions with C's names")]

use std::ffi::{c_int, c_void};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};

use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap, mmap_anonymous, mprotect, munmap};

use crate::boundary::{SUCCESS, c_functions, copy, hand_out, lent, take_back, write};
use crate::cuda::{INVALID, NOT_SUPPORTED, OUT_OF_MEMORY, answer};
use crate::dial::{Count, Knob};

/// The granularity of memory, as with the driver.
const PIECE: usize = 2 << 20;

/// Memory of the GPU, here or of another process.
struct GpuMemory {
    file: OwnedFd,
    len: usize,
    /// Taken from this process's GPU, not imported.
    own: bool,
}

fn memory<'a>(handle: u64) -> &'a GpuMemory {
    lent(handle as *mut c_void)
}

fn handle(to: *mut u64, memory: GpuMemory) -> c_int {
    hand_out(to.cast(), Count::SharedHandles, memory)
}

fn pieces(len: usize) -> bool {
    len > 0 && len.is_multiple_of(PIECE)
}

fn code(done: rustix::io::Result<()>) -> c_int {
    if done.is_ok() { SUCCESS } else { INVALID }
}

c_functions! {
    fn cuDeviceGetUuid_v2(to: *mut [u8; 16], device: c_int) {
        let first = u8::try_from(Knob::FirstUuid.get()).unwrap_or(0);
        write(to, [first.wrapping_add(u8::try_from(device).unwrap_or(0)); 16])
    }
    fn cuMemGetAllocationGranularity(to: *mut usize, _wanted: *const c_void, _option: c_int) { write(to, PIECE) }
    fn cuMemCreate(to: *mut u64, len: usize, _wanted: *const c_void, _flags: u64) {
        let more = i64::try_from(len).unwrap_or(i64::MAX);
        if !pieces(len) {
            return INVALID;
        }
        if Count::DeviceBytes.get().saturating_add(more) > Knob::Memory.get() {
            return OUT_OF_MEMORY;
        }
        let Ok(file) = memfd_create("fake-gpu", MemfdFlags::CLOEXEC) else { return OUT_OF_MEMORY };
        if ftruncate(&file, len as u64).is_err() {
            return OUT_OF_MEMORY;
        }
        Count::DeviceBytes.add(more);
        handle(to, GpuMemory { file, len, own: true })
    }
    fn cuMemRelease(given: u64) {
        let memory = take_back::<GpuMemory>(given as *mut c_void, Count::SharedHandles);
        if memory.own {
            Count::DeviceBytes.add(-i64::try_from(memory.len).unwrap_or(0));
        }
        SUCCESS
    }
    fn cuMemExportToShareableHandle(to: *mut c_int, given: u64, kind: c_int, _flags: u64) {
        if kind != 1 || Knob::NoDescriptors.on() {
            return NOT_SUPPORTED;
        }
        memory(given).file.try_clone().map_or(OUT_OF_MEMORY, |fd| write(to, fd.into_raw_fd()))
    }
    fn cuMemImportFromShareableHandle(to: *mut u64, given: *mut c_void, kind: c_int) {
        let (Ok(fd), 1) = (c_int::try_from(given as usize), kind) else { return INVALID };
        if Knob::NoImport.on() {
            return NOT_SUPPORTED;
        }
        // SAFETY: the caller gives a descriptor that is open during the call.
        let fd = unsafe { BorrowedFd::borrow_raw(fd) };
        let Ok(file) = fd.try_clone_to_owned() else { return INVALID };
        let len = fstat(&file).ok().and_then(|stat| usize::try_from(stat.st_size).ok()).unwrap_or(0);
        handle(to, GpuMemory { file, len, own: false })
    }
    fn cuMemAddressReserve(to: *mut u64, len: usize, _alignment: usize, _wished: u64, _flags: u64) {
        if !pieces(len) {
            return INVALID;
        }
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let at = unsafe { mmap_anonymous(std::ptr::null_mut(), len, ProtFlags::empty(), MapFlags::PRIVATE) };
        let Ok(at) = at else { return OUT_OF_MEMORY };
        Count::SharedRanges.add(1);
        write(to, at as u64)
    }
    fn cuMemAddressFree(at: u64, len: usize) {
        Count::SharedRanges.add(-1);
        // SAFETY: reserved above, and the caller uses it no more.
        code(unsafe { munmap(at as *mut c_void, len) })
    }
    fn cuMemMap(at: u64, len: usize, offset: usize, given: u64, _flags: u64) {
        let GpuMemory { file, len: whole, .. } = memory(given);
        if offset.checked_add(len).is_none_or(|end| end > *whole) {
            return INVALID;
        }
        let (at, flags) = (at as *mut c_void, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: the caller has reserved the range, and nothing is there.
        let mapped = unsafe { mmap(at, len, ProtFlags::empty(), flags, file.as_fd(), offset as u64) };
        Count::SharedMaps.add(1);
        code(mapped.map(drop))
    }
    fn cuMemSetAccess(at: u64, len: usize, _who: *const c_void, count: usize) {
        if count != 1 {
            return INVALID;
        }
        // SAFETY: the caller has mapped the range.
        code(unsafe { mprotect(at as *mut c_void, len, MprotectFlags::READ | MprotectFlags::WRITE) })
    }
    fn cuMemUnmap(at: u64, len: usize) {
        Count::SharedMaps.add(-1);
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        // SAFETY: the caller has mapped the range and uses it no more; it stays reserved.
        code(unsafe { mmap_anonymous(at as *mut c_void, len, ProtFlags::empty(), flags) }.map(drop))
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, len: usize) {
        copy(usize::try_from(from).unwrap_or(0), to as usize, len);
        answer()
    }
}
