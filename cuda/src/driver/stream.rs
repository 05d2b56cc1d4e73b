//! A queue of work on a GPU, and the host's wait for its end.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::sync::Arc;

use super::context::Context;
use super::memory::{DeviceMemory, PinnedMemory};
use super::result::CudaError;
use super::sys;

/// A stream with the event that marks its end.
#[derive(Debug)]
pub struct Stream {
    context: Arc<Context>,
    raw: sys::Stream,
    event: sys::Event,
}

// SAFETY: streams and events are handles of the context and may be used by any thread; `&mut self` keeps uses apart.
unsafe impl Send for Stream {}

impl Stream {
    /// Makes a stream.
    ///
    /// # Errors
    /// The driver cannot.
    pub fn new(context: &Arc<Context>) -> Result<Self, CudaError> {
        context.bind()?;
        let table = context.table();
        let raw = table.stream_create(sys::STREAM_NON_BLOCKING)?;
        let event = table.event_create(sys::EVENT_PLAIN).inspect_err(|_| {
            // SAFETY: made above, and nobody else has it.
            let _the_first_error_counts = unsafe { (table.stream_destroy)(raw) };
        })?;
        Ok(Self { context: Arc::clone(context), raw, event })
    }

    pub(crate) fn raw(&self) -> sys::Stream {
        self.raw
    }

    /// Sleeps until all that was queued is done.
    ///
    /// # Errors
    /// Some of it failed; see [`CudaError::is_fault`].
    pub fn wait(&mut self) -> Result<(), CudaError> {
        self.context.bind()?;
        // SAFETY: both handles live in this context.
        let code = unsafe { (self.context.table().event_record)(self.event, self.raw) };
        self.context.check("cuEventRecord", code)?;
        // SAFETY: the event lives.
        let code = unsafe { (self.context.table().event_synchronize)(self.event) };
        self.context.check("cuEventSynchronize", code)
    }

    /// Queues a copy of the first `len` bytes of a GPU's memory to the host, and sleeps until it and all before it are
    /// done: the GPU's memory is idle then.
    ///
    /// # Errors
    /// The copy, or something before it, failed.
    ///
    /// # Panics
    /// If one of them has fewer bytes.
    pub fn read(&mut self, from: &DeviceMemory, len: usize, to: &mut PinnedMemory) -> Result<(), CudaError> {
        // SAFETY: `to` is borrowed until the wait has shown the copy done. If that fails, the context is broken and no copy comes
        // any more.
        unsafe { self.begin_read(from, len, to) }?;
        self.wait()
    }

    /// Queues the copy of [`Self::read`] and does not wait for it.
    ///
    /// # Safety
    /// Nobody reads or frees `to` before [`Self::wait`] has returned.
    ///
    /// # Errors
    /// It cannot be queued.
    ///
    /// # Panics
    /// As [`Self::read`].
    pub(crate) unsafe fn begin_read(
        &mut self,
        from: &DeviceMemory,
        len: usize,
        to: &mut PinnedMemory,
    ) -> Result<(), CudaError> {
        assert!(len <= from.len() && len <= to.len(), "the copy lies in both memories");
        self.context.bind()?;
        if len == 0 {
            return Ok(());
        }
        // SAFETY: both have `len` bytes, and `to` is left alone until the copy is done, as the caller promises.
        let code = unsafe { (self.context.table().copy_to_host)(to.as_mut_ptr().cast(), from.at(), len, self.raw) };
        self.context.check("cuMemcpyDtoHAsync", code)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_err() {
            return;
        }
        // SAFETY: made by `new`, destroyed only here.
        let _in_a_broken_context = unsafe { (self.context.table().event_destroy)(self.event) };
        // SAFETY: made by `new`, destroyed only here; the driver lets queued work end.
        let _in_a_broken_context = unsafe { (self.context.table().stream_destroy)(self.raw) };
    }
}
