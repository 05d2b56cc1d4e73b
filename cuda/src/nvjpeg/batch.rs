//! The batched decoder: many pictures in one call, which the engines share among them.
#![allow(unsafe_code, reason = "calls libnvjpeg")]

use std::ffi::c_int;
use std::sync::Arc;

use super::account::AccountedMemory;
use super::allowance::Allowance;
use super::handle::{Handle, Parser, image};
use super::result::{check, made};
use super::sys;
use crate::driver::Stream;
use crate::error::{LaneError, NvjpegError};
use crate::frame::{Form, Frame, Placed};

/// A state of the batched decoder, for one thread. Made once: making one takes locks for long.
#[derive(Debug)]
pub(crate) struct BatchState {
    handle: Arc<Handle>,
    state: sys::RawState,
    parser: Parser,
    /// `nvjpegOutputFormat_t`.
    format: c_int,
    /// Pictures of a batch for which it is set up.
    begun: usize,
    pointers: Vec<*const u8>,
    lengths: Vec<usize>,
    images: Vec<sys::Image>,
    _allowed: Allowance,
}

// SAFETY: nvJPEG ties no state to a thread; `&mut self` keeps uses apart, and the pointers are stale between calls.
unsafe impl Send for BatchState {}

impl BatchState {
    /// A state that gives pixels in this form, to which the surfaces have to belong, and takes at most `page_locked` bytes of
    /// the host's memory, as pictures come.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(form: Form, handle: &Arc<Handle>, page_locked: usize) -> Result<Self, LaneError> {
        handle.context().bind()?;
        let allowed = Allowance::new(handle.account(), page_locked);
        let parser = Parser::new(handle)?;
        let state = made("nvjpegJpegStateCreate", |to| {
            // SAFETY: the handle lives and the pointer is writable.
            unsafe { (handle.table().state_create)(handle.raw(), to) }
        })?;
        Ok(Self {
            handle: Arc::clone(handle),
            state,
            parser,
            format: match form {
                Form::Planes => sys::OUTPUT_YUV,
                Form::Rgb => sys::OUTPUT_RGBI,
            },
            begun: 0,
            pointers: Vec::new(),
            lengths: Vec::new(),
            images: Vec::new(),
            _allowed: allowed,
        })
    }

    /// Allocates memory for a group of pictures of this size, in any sampling, in advance. Only the engines allow that.
    ///
    /// # Errors
    /// There is not enough memory; smaller pictures may do.
    pub(crate) fn reserve(&mut self, batch: usize, (width, height): (u32, u32)) -> Result<(), LaneError> {
        self.handle.context().bind()?;
        // SAFETY: handle and state live.
        let status = unsafe {
            (self.handle.table().batch_reserve)(
                self.handle.raw(),
                self.state,
                number(batch),
                number(width as usize),
                number(height as usize),
                sys::CSS_444,
                self.format,
            )
        };
        Ok(check("nvjpegDecodeBatchedPreAllocate", status)?)
    }

    /// Whether the decoder takes this picture, and reads its frame as we have.
    ///
    /// # Errors
    /// Its header cannot be read, or the GPU is broken.
    pub(crate) fn takes(&mut self, bytes: &[u8], frame: &Frame) -> Result<bool, LaneError> {
        self.handle.context().bind()?;
        if let Err(error) = self.parser.header(bytes) {
            // Some headers leave the parser unusable up to 13.2.
            self.parser = Parser::new(&self.handle)?;
            return Err(error.into());
        }
        let mut refusal: c_int = 1;
        // SAFETY: handle and parser live, and the number is writable; it is 0 for a picture that is taken.
        let status =
            unsafe { (self.handle.table().batch_takes)(self.handle.raw(), self.parser.raw(), &raw mut refusal) };
        check("nvjpegDecodeBatchedSupported", status)?;
        Ok(refusal == 0 && self.parser.agrees(frame)?)
    }

    /// Decodes pictures into their places in `surfaces`, and sleeps until that is done: the surfaces are idle before and after.
    /// The hardware writes a batch without regard to what was queued on its stream before (pytorch/torchcodec#1634); only the
    /// host's wait keeps batches apart.
    ///
    /// # Errors
    /// [`LaneError::Nvjpeg`] if the call fails, for which one picture is enough. Then nothing is under way.
    /// [`LaneError::Cuda`] if the GPU fails.
    pub(crate) fn decode(
        &mut self,
        pictures: &[Placed<'_>],
        surfaces: &mut AccountedMemory,
        stream: &mut Stream,
    ) -> Result<(), LaneError> {
        // SAFETY: this call has all of them until its wait.
        unsafe { self.begin(pictures, surfaces, stream) }?;
        Ok(stream.wait()?)
    }

    /// Gives pictures to the engines, and does not wait for them. If that fails, nothing is under way afterwards.
    ///
    /// # Safety
    /// Nothing else is under way in the surfaces, or in this state, and the pictures' bytes are neither changed nor freed before
    /// [`Stream::wait`] has returned.
    pub(crate) unsafe fn begin(
        &mut self,
        pictures: &[Placed<'_>],
        surfaces: &AccountedMemory,
        stream: &mut Stream,
    ) -> Result<(), LaneError> {
        self.handle.context().bind()?;
        self.pointers.clear();
        self.lengths.clear();
        self.images.clear();
        for picture in pictures {
            self.pointers.push(picture.bytes.as_ptr());
            self.lengths.push(picture.bytes.len());
            self.images.push(image(surfaces, picture.at, &picture.surface));
        }
        if let Err(error) = self.queue(stream) {
            self.begun = 0;
            // A part of the batch may be under way, and reads the pictures' bytes.
            stream.wait()?;
            return Err(error.into());
        }
        Ok(())
    }

    fn queue(&mut self, stream: &Stream) -> Result<(), NvjpegError> {
        let (table, handle) = (self.handle.table(), self.handle.raw());
        let batch = self.pointers.len();
        if self.begun != batch {
            // SAFETY: handle and state live, and no batch of this state is under way. The number of threads is not used.
            let status = unsafe { (table.batch_begin)(handle, self.state, number(batch), 1, self.format) };
            check("nvjpegDecodeBatchedInitialize", status)?;
            self.begun = batch;
        }
        // SAFETY: the three arrays have as many entries as the state was set up for; the pictures' bytes stay until the
        // host's wait, and the planes lie in surfaces that nothing else uses, as `begin` requires.
        let status = unsafe {
            (table.batch_decode)(
                handle,
                self.state,
                self.pointers.as_ptr(),
                self.lengths.as_ptr(),
                self.images.as_mut_ptr(),
                stream.raw(),
            )
        };
        check("nvjpegDecodeBatched", status)
    }
}

impl Drop for BatchState {
    fn drop(&mut self) {
        let _in_a_broken_context = self.handle.context().bind();
        // SAFETY: made by `new`, destroyed only here, with nothing under way.
        let _at_the_end = unsafe { (self.handle.table().state_destroy)(self.state) };
    }
}

fn number(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or(c_int::MAX)
}
