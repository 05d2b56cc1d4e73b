//! The decoupled decoder: one picture at a time, by the engines, or with its Huffman coding on the calling thread and the rest
//! on the multiprocessors.
#![allow(unsafe_code, reason = "calls libnvjpeg")]

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

use super::account::AccountedMemory;
use super::allowance::Allowance;
use super::handle::{Handle, Parser, image};
use super::result::{check, made};
use super::sys;
use crate::driver::{Mark, Stream};
use crate::error::{LaneError, NvjpegError};
use crate::frame::Placed;

/// A state of the decoupled decoder with its buffers, for one thread. Made once.
#[derive(Debug)]
pub(crate) struct SingleState {
    handle: Arc<Handle>,
    parser: Parser,
    decoder: sys::RawDecoder,
    state: sys::RawState,
    params: sys::Params,
    pinned: sys::Buffer,
    device: sys::Buffer,
    /// The end of its last picture, and whether that is under way.
    done: Mark,
    under_way: bool,
    _allowed: Allowance,
}

// SAFETY: nvJPEG ties none of them to a thread; `&mut self` keeps uses apart.
unsafe impl Send for SingleState {}

impl SingleState {
    /// A state of the handle's backend, with buffers that grow with the pictures. The buffer in the host has a limit: a
    /// picture that needs more is refused with status 5.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(handle: &Arc<Handle>, page_locked: usize) -> Result<Self, LaneError> {
        handle.context().bind()?;
        let (table, raw) = (handle.table(), handle.raw());
        let mut state = Self {
            handle: Arc::clone(handle),
            parser: Parser::new(handle)?,
            decoder: null_mut(),
            state: null_mut(),
            params: null_mut(),
            pinned: null_mut(),
            device: null_mut(),
            done: Mark::new(handle.context())?,
            under_way: false,
            _allowed: Allowance::new(handle.account(), page_locked),
        };
        // If a later step fails, the drop of `state` frees the parts that exist so far.
        state.decoder = made("nvjpegDecoderCreate", |to| {
            // SAFETY: the handle lives and the pointer is writable.
            unsafe { (table.decoder_create)(raw, handle.backend().number(), to) }
        })?;
        state.state = made("nvjpegDecoderStateCreate", |to| {
            // SAFETY: handle and decoder live, and the pointer is writable.
            unsafe { (table.decoder_state)(raw, state.decoder, to) }
        })?;
        state.params = made("nvjpegDecodeParamsCreate", |to| {
            // SAFETY: the handle lives and the pointer is writable.
            unsafe { (table.params_create)(raw, to) }
        })?;
        state.pinned = made("nvjpegBufferPinnedCreateV2", |to| {
            // SAFETY: the handle and its allocator live, and the pointer is writable.
            unsafe { (table.pinned_create)(raw, handle.pinned_allocator(), to) }
        })?;
        state.device = made("nvjpegBufferDeviceCreateV2", |to| {
            // SAFETY: the handle and its allocator live, and the pointer is writable.
            unsafe { (table.device_create)(raw, handle.device_allocator(), to) }
        })?;
        // SAFETY: the parameters live.
        let status = unsafe { (table.params_format)(state.params, sys::OUTPUT_YUV) };
        check("nvjpegDecodeParamsSetOutputFormat", status)?;
        // SAFETY: state and buffer live, and go together.
        let status = unsafe { (table.attach_pinned)(state.state, state.pinned) };
        check("nvjpegStateAttachPinnedBuffer", status)?;
        // SAFETY: state and buffer live, and go together.
        let status = unsafe { (table.attach_device)(state.state, state.device) };
        check("nvjpegStateAttachDeviceBuffer", status)?;
        Ok(state)
    }

    /// Decodes a picture into its place in `surfaces`, and sleeps until that is done.
    ///
    /// # Errors
    /// As [`BatchState::decode`](super::BatchState::decode); the decoder's refusal is status 4.
    pub(crate) fn decode(
        &mut self,
        picture: &Placed<'_>,
        surfaces: &mut AccountedMemory,
        stream: &mut Stream,
    ) -> Result<(), LaneError> {
        // SAFETY: this call has all of them until its wait.
        unsafe { self.begin(picture, surfaces, stream) }?;
        Ok(stream.wait()?)
    }

    /// Begins to decode a picture, and does not wait for it, but for the last one of this state. If that fails, nothing is under
    /// way afterwards.
    ///
    /// # Safety
    /// Nothing else is under way in its place, which is not used before [`Stream::wait`] has returned. All pictures of a state are
    /// of one stream.
    pub(crate) unsafe fn begin(
        &mut self,
        picture: &Placed<'_>,
        surfaces: &AccountedMemory,
        stream: &mut Stream,
    ) -> Result<(), LaneError> {
        self.handle.context().bind()?;
        if std::mem::take(&mut self.under_way) {
            // Its buffers are those of that picture.
            self.done.wait()?;
        }
        let mut image = image(surfaces, picture.at, &picture.surface);
        if let Err(error) = self.queue(picture, &mut image, stream) {
            stream.wait()?;
            return Err(error.into());
        }
        stream.mark(&mut self.done)?;
        self.under_way = true;
        Ok(())
    }

    fn queue(&mut self, picture: &Placed<'_>, image: &mut sys::Image, stream: &Stream) -> Result<(), NvjpegError> {
        const NOT_SUPPORTED: c_int = 4;
        if let Err(error) = self.parser.parse(picture.bytes) {
            self.parser = Parser::new(&self.handle)?;
            return Err(error);
        }
        let (table, raw) = (self.handle.table(), self.handle.raw());
        let mut refusal: c_int = 1;
        // SAFETY: decoder, parser and parameters live, and the number is writable.
        let status = unsafe { (table.decoder_takes)(self.decoder, self.parser.raw(), self.params, &raw mut refusal) };
        check("nvjpegDecoderJpegSupported", status)?;
        let taken = refusal == 0 && self.parser.agrees(&picture.surface.frame())?;
        check("nvjpegDecoderJpegSupported", if taken { sys::SUCCESS } else { NOT_SUPPORTED })?;
        // SAFETY: all five live; the parser has a copy of the data.
        let status = unsafe { (table.decode_host)(raw, self.decoder, self.state, self.params, self.parser.raw()) };
        check("nvjpegDecodeJpegHost", status)?;
        // SAFETY: as above; nothing else of this state is under way, as `begin` asks.
        let status = unsafe { (table.decode_transfer)(raw, self.decoder, self.state, self.parser.raw(), stream.raw()) };
        check("nvjpegDecodeJpegTransferToDevice", status)?;
        // SAFETY: as above; the planes lie in surfaces that nothing else uses, as `begin` requires.
        let status = unsafe { (table.decode_device)(raw, self.decoder, self.state, image, stream.raw()) };
        check("nvjpegDecodeJpegDevice", status)
    }
}

impl Drop for SingleState {
    fn drop(&mut self) {
        let table = *self.handle.table();
        let _in_a_broken_context = self.handle.context().bind();
        let parts = [
            (self.params, table.params_destroy),
            (self.state, table.state_destroy),
            (self.device, table.device_destroy),
            (self.pinned, table.pinned_destroy),
            (self.decoder, table.decoder_destroy),
        ];
        for (part, destroy) in parts.into_iter().filter(|(part, _)| !part.is_null()) {
            // SAFETY: made by `new`, destroyed only here, users before what they use, with nothing under way.
            let _at_the_end = unsafe { destroy(part) };
        }
    }
}
