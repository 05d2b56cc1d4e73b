//! A queue of work on a GPU, and the host's wait for its end.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::ops::Range;
use std::sync::Arc;

use super::context::Context;
use super::mark::Mark;
use super::memory::{DeviceMemory, PinnedMemory};
use super::result::CudaError;
use super::shared::{SharedMemory, SharedPlace};
use super::sys;

/// A stream with the mark of its end.
#[derive(Debug)]
pub struct Stream {
    context: Arc<Context>,
    raw: sys::RawStream,
    end: Mark,
}

// SAFETY: streams are handles of the context and may be used by any thread; `&mut self` keeps uses apart.
unsafe impl Send for Stream {}

impl Stream {
    /// Makes a stream.
    ///
    /// # Errors
    /// The driver cannot.
    pub fn new(context: &Arc<Context>) -> Result<Self, CudaError> {
        let end = Mark::new(context)?;
        let raw = context.table().stream_create(sys::STREAM_NON_BLOCKING)?;
        Ok(Self { context: Arc::clone(context), raw, end })
    }

    pub(crate) fn raw(&self) -> sys::RawStream {
        self.raw
    }

    /// Sets a mark behind all that was queued. It is of the same context.
    ///
    /// # Errors
    /// It cannot be queued.
    pub(crate) fn mark(&mut self, mark: &mut Mark) -> Result<(), CudaError> {
        mark.set(self.raw)
    }

    /// Sleeps until all that was queued is done.
    ///
    /// # Errors
    /// Some of it failed; see [`CudaError::is_fault`].
    pub fn wait(&mut self) -> Result<(), CudaError> {
        self.end.set(self.raw)?;
        self.end.wait()
    }

    /// Queues a copy of these bytes of a GPU's memory to the same place in the host's, and sleeps until it and all before it are
    /// done: the GPU's memory is idle then.
    ///
    /// # Errors
    /// The copy, or something before it, failed.
    ///
    /// # Panics
    /// If one of them ends before the range does.
    pub(crate) fn read(
        &mut self,
        from: &DeviceMemory,
        range: Range<usize>,
        to: &mut PinnedMemory,
    ) -> Result<(), CudaError> {
        // SAFETY: `to` is borrowed until the wait has shown the copy done. If that fails, the context is broken and no copy comes
        // any more.
        unsafe { self.begin_read(from, range, to) }?;
        self.wait()
    }

    /// Copies pieces from the host into shared memory of the GPU, each from its byte on, and sleeps until they and all before them
    /// are done: from then on every process that maps the memory sees them. At full speed if the host's memory is page-locked.
    ///
    /// # Errors
    /// A copy, or something before it, failed. None is under way then, unless [that is a fault](CudaError::is_fault).
    ///
    /// # Panics
    /// If one does not lie in the memory, or that is of another GPU.
    pub fn write(&mut self, pieces: &[(&[u8], usize)], to: &SharedMemory) -> Result<(), CudaError> {
        let lies_in = |(from, at): &(&[u8], usize)| at.checked_add(from.len()).is_some_and(|end| end <= to.len());
        assert!(pieces.iter().all(lies_in), "the copy lies in the memory");
        assert!(Arc::ptr_eq(&self.context, to.context()), "the memory is of the stream's GPU");
        self.context.bind()?;
        let mut queued = Ok(());
        for (from, at) in pieces.iter().filter(|(from, _)| !from.is_empty()) {
            let place = to.address() + *at as u64;
            // SAFETY: `from` is borrowed until the wait below has shown the copy done; if that fails, the context is broken and
            // no copy comes any more. The place lies in `to`, which is borrowed as long.
            let code =
                unsafe { (self.context.table().copy_to_device)(place, from.as_ptr().cast(), from.len(), self.raw) };
            queued = self.context.check("cuMemcpyHtoDAsync", code);
            if queued.is_err() {
                break;
            }
        }
        self.wait().and(queued)
    }

    /// Copies a part of shared memory to the host, and sleeps until it and all before it are done.
    ///
    /// # Errors
    /// The GPU failed.
    ///
    /// # Panics
    /// If `to` has another length, or the place is another GPU's.
    pub fn read_place(&mut self, from: &SharedPlace, to: &mut [u8]) -> Result<(), CudaError> {
        assert_eq!(to.len(), from.len(), "all of the place is read");
        assert!(from.is_of(&self.context), "the place is of the stream's GPU");
        // SAFETY: `to` is borrowed until the wait has shown the copy done; if that fails, the context is broken and no copy comes
        // any more. `from` is borrowed, and keeps its memory, as long.
        unsafe { self.begin_copy_to_host(from.address(), to) }?;
        self.wait()
    }

    /// Queues the copy of [`Self::read`] and does not wait for it.
    ///
    /// # Safety
    /// Nothing reads or frees `to` before [`Self::wait`] has returned.
    ///
    /// # Errors
    /// It cannot be queued.
    ///
    /// # Panics
    /// As [`Self::read`].
    pub(crate) unsafe fn begin_read(
        &mut self,
        from: &DeviceMemory,
        range: Range<usize>,
        to: &mut PinnedMemory,
    ) -> Result<(), CudaError> {
        assert!(range.end <= from.len() && range.end <= to.len(), "the copy lies in both memories");
        self.context.bind()?;
        if range.is_empty() {
            return Ok(());
        }
        let source = from.at() + range.start as u64;
        // SAFETY: the range ends in the memory, as was just checked.
        let target = unsafe { to.as_mut_ptr().add(range.start) };
        // SAFETY: both have the range's bytes, and `to` is left alone until the copy is done, as the caller promises.
        let code = unsafe { (self.context.table().copy_to_host)(target.cast(), source, range.len(), self.raw) };
        self.context.check("cuMemcpyDtoHAsync", code)
    }

    /// Queues that the first `len` bytes of a GPU's memory become these four again and again, and does not wait for it.
    ///
    /// # Safety
    /// Nothing that is not queued before it on this stream uses these bytes before [`Self::wait`] has returned.
    ///
    /// # Errors
    /// It cannot be queued.
    ///
    /// # Panics
    /// If the memory has fewer bytes, or `len` is no multiple of four.
    pub(crate) unsafe fn begin_fill(
        &mut self,
        memory: &DeviceMemory,
        len: usize,
        word: [u8; 4],
    ) -> Result<(), CudaError> {
        assert!(len <= memory.len() && len.is_multiple_of(word.len()), "the words lie in the memory");
        self.context.bind()?;
        let (word, count) = (u32::from_le_bytes(word), len / word.len());
        // SAFETY: the memory has these words, and is left alone until they are written, as the caller promises.
        let code = unsafe { (self.context.table().fill)(memory.at(), word, count, self.raw) };
        self.context.check("cuMemsetD32Async", code)
    }

    /// Queues a copy of the first `len` bytes of the host's memory to a GPU, and does not wait for it.
    ///
    /// # Safety
    /// Nothing writes to or frees either memory before [`Self::wait`] has returned.
    ///
    /// # Errors
    /// It cannot be queued.
    ///
    /// # Panics
    /// If one of them has fewer bytes.
    pub(crate) unsafe fn begin_write(
        &mut self,
        from: &PinnedMemory,
        len: usize,
        to: &DeviceMemory,
    ) -> Result<(), CudaError> {
        assert!(len <= from.len() && len <= to.len(), "the copy lies in both memories");
        self.context.bind()?;
        // SAFETY: both have `len` bytes, and are left alone until the copy is done, as the caller promises.
        let code = unsafe { (self.context.table().copy_to_device)(to.at(), from.as_ptr().cast(), len, self.raw) };
        self.context.check("cuMemcpyHtoDAsync", code)
    }

    /// Queues a copy from a place in a GPU's memory to any memory of the host, and does not wait for it. It runs beside
    /// other work only if that memory is page-locked.
    ///
    /// # Safety
    /// Nothing reads, writes or frees `to` before [`Self::wait`] has returned.
    ///
    /// # Errors
    /// It cannot be queued.
    ///
    /// # Panics
    /// If the place does not lie in the GPU's memory.
    pub(crate) unsafe fn begin_read_at(
        &mut self,
        from: &DeviceMemory,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), CudaError> {
        assert!(at + to.len() <= from.len(), "the copy lies in the GPU's memory");
        // SAFETY: the place lies in the memory, which is borrowed; the rest is the caller's promise.
        unsafe { self.begin_copy_to_host(from.at() + at as u64, to) }
    }

    /// Queues a copy from an address of the GPU to the host, and does not wait for it.
    ///
    /// # Safety
    /// The GPU's memory has at least `to.len()` bytes at `from`. Until [`Self::wait`] has returned, this memory lives, and
    /// nothing reads, writes or frees `to`.
    ///
    /// # Errors
    /// It cannot be queued.
    unsafe fn begin_copy_to_host(&mut self, from: sys::DevicePtr, to: &mut [u8]) -> Result<(), CudaError> {
        self.context.bind()?;
        // SAFETY: as the caller promises.
        let code = unsafe { (self.context.table().copy_to_host)(to.as_mut_ptr().cast(), from, to.len(), self.raw) };
        self.context.check("cuMemcpyDtoHAsync", code)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.context.bind().is_err() {
            return;
        }
        // SAFETY: made by `new`, destroyed only here; the driver lets queued work end.
        let _in_a_broken_context = unsafe { (self.context.table().stream_destroy)(self.raw) };
    }
}
