//! Memory that nvJPEG takes through its caller's allocators, and that grows with the pictures.
#![allow(unsafe_code, reason = "calls the caller's allocators")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// `nvjpegDevAllocatorV2_t` and `nvjpegPinnedAllocatorV2_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Allocator {
    malloc: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, usize, *mut c_void) -> c_int,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_void) -> c_int,
    context: *mut c_void,
}

/// A piece of memory; one of no bytes is nowhere.
pub(crate) struct Buffer {
    allocator: Allocator,
    at: *mut c_void,
    len: usize,
}

/// The allocator refused.
pub(crate) struct Refused;

impl Buffer {
    /// Of no bytes.
    pub(crate) fn new(allocator: Allocator) -> Self {
        Self { allocator, at: null_mut(), len: 0 }
    }

    /// Gives back what it has, and takes so much, if it has less: in this order, as nvJPEG does it, and no byte more.
    pub(crate) fn grow(&mut self, len: usize) -> Result<(), Refused> {
        if len <= self.len && len > 0 {
            return Ok(());
        }
        self.give_back();
        let Allocator { malloc, context, .. } = self.allocator;
        // SAFETY: the allocator lives as long as the handle, and the pointer is writable.
        if unsafe { malloc(context, &raw mut self.at, len, null_mut()) } != 0 {
            self.at = null_mut();
            return Err(Refused);
        }
        self.len = len;
        Ok(())
    }

    fn give_back(&mut self) {
        let Allocator { free, context, .. } = self.allocator;
        self.len = 0;
        // It does not say how much it gives back: an account has to know that itself.
        // SAFETY: the allocator gave this memory, or it is nowhere, and lives as long as the handle.
        unsafe { free(context, std::mem::replace(&mut self.at, null_mut()), 0, null_mut()) };
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.give_back();
    }
}
