//! A GPU's primary context, which nvJPEG and a trainer's framework in the same process would use as well.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::Driver;
use super::result::{CudaError, ShareError};
use super::sys;

/// A GPU that is in use. Whatever is made on it keeps it.
#[derive(Debug)]
pub struct Context {
    driver: Arc<Driver>,
    device: sys::RawDevice,
    raw: sys::RawContext,
    page_locked: AtomicUsize,
}

// SAFETY: a primary context may be used by all threads of the process; the driver locks inside.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Takes the GPU with this number into use. It costs some hundred megabytes of its memory.
    ///
    /// # Errors
    /// There is no such GPU, or it cannot be used.
    pub fn new(driver: &Arc<Driver>, ordinal: i32) -> Result<Arc<Self>, CudaError> {
        let device = driver.table.device(ordinal)?;
        // SAFETY: takes two numbers. A context that is in use may keep its flags, which costs time alone.
        let _kept = unsafe { (driver.table.context_flags)(device, sys::WAIT_ASLEEP) };
        let raw = driver.table.context_retain(device)?;
        let context = Self { driver: Arc::clone(driver), device, raw, page_locked: AtomicUsize::new(0) };
        context.bind()?;
        Ok(Arc::new(context))
    }

    /// Bytes of the host's memory that are page-locked in it.
    pub fn page_locked(&self) -> usize {
        self.page_locked.load(Ordering::Relaxed)
    }

    pub(super) fn count_page_locked(&self, bytes: usize) {
        self.page_locked.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn discount_page_locked(&self, bytes: usize) {
        self.page_locked.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Makes it the calling thread's current context, which nearly every call of CUDA and nvJPEG asks for.
    pub(crate) fn bind(&self) -> Result<(), CudaError> {
        // SAFETY: the context is retained until `self` is dropped.
        let code = unsafe { (self.table().context_set)(self.raw) };
        self.check("cuCtxSetCurrent", code)
    }

    /// Takes memory of the GPU; the context is bound.
    pub(crate) fn memory_alloc(&self, len: usize) -> Result<sys::DevicePtr, CudaError> {
        self.table().memory_alloc(len)
    }

    /// Gives memory back that [`Self::memory_alloc`] gave; the context is bound.
    pub(crate) fn memory_free(&self, at: sys::DevicePtr) -> Result<(), CudaError> {
        // SAFETY: the driver knows its own addresses and refuses others.
        let code = unsafe { (self.table().memory_free)(at) };
        self.check("cuMemFree", code)
    }

    /// The GPU.
    pub(super) fn device(&self) -> sys::RawDevice {
        self.device
    }

    /// The functions with which memory crosses between processes.
    pub(super) fn sharing(&self) -> Result<&sys::Sharing, ShareError> {
        self.driver.sharing()
    }

    pub(crate) fn table(&self) -> &sys::DriverTable {
        &self.driver.table
    }

    pub(crate) fn check(&self, call: &'static str, code: sys::CuStatus) -> Result<(), CudaError> {
        self.table().check(call, code)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once by `new`; what was made in it keeps an Arc of it and is gone.
        let _at_the_end = unsafe { (self.table().context_release)(self.device) };
    }
}
