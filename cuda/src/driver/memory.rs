//! Memory of a GPU, and memory of the host that a GPU copies to at full speed.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::ptr::NonNull;
use std::sync::Arc;

use super::context::Context;
use super::result::CudaError;
use super::sys;

/// Memory of a GPU.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    context: Arc<Context>,
    at: sys::DevicePtr,
    len: usize,
}

/// Page-locked memory of the host, zero at first.
#[derive(Debug)]
pub(crate) struct PinnedMemory {
    context: Arc<Context>,
    at: NonNull<u8>,
    len: usize,
}

// SAFETY: it is owned memory without ties to a thread; freeing it binds its context first.
unsafe impl Send for PinnedMemory {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for PinnedMemory {}

impl DeviceMemory {
    /// Takes memory of a GPU.
    ///
    /// # Errors
    /// There is not enough.
    pub(crate) fn new(context: &Arc<Context>, len: usize) -> Result<Self, CudaError> {
        context.bind()?;
        let at = context.table().memory_alloc(len)?;
        Ok(Self { context: Arc::clone(context), at, len })
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn at(&self) -> sys::DevicePtr {
        self.at
    }
}

impl PinnedMemory {
    /// Takes memory of the host.
    ///
    /// # Errors
    /// There is not enough, or the process may not lock so much.
    pub(crate) fn new(context: &Arc<Context>, len: usize) -> Result<Self, CudaError> {
        context.bind()?;
        let at = context.table().host_alloc(len)?;
        let at = NonNull::new(at.cast::<u8>()).expect("the driver gives memory, or an error");
        // SAFETY: the memory has `len` bytes and is ours alone.
        unsafe { at.write_bytes(0, len) };
        context.count_page_locked(len);
        Ok(Self { context: Arc::clone(context), at, len })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.at.as_ptr()
    }
}

impl std::ops::Deref for PinnedMemory {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `len` initialised bytes, which a copy of the GPU changes only while who began it keeps everyone away.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl std::ops::DerefMut for PinnedMemory {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; with exclusive access, no copy is under way.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // The driver waits for what the GPU still does with it.
            let _in_a_broken_context = self.context.memory_free(self.at);
        }
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        self.context.discount_page_locked(self.len);
        if self.context.bind().is_ok() {
            // SAFETY: taken by `new`, freed only here; no copy is under way, since who begins one waits for it.
            let _in_a_broken_context = unsafe { (self.context.table().host_free)(self.at.as_ptr().cast()) };
        }
    }
}
