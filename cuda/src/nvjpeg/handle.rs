//! A GPU's nvJPEG handle for one backend, and where its pictures' planes go.
#![allow(unsafe_code, reason = "calls libnvjpeg")]

use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::Arc;

use forebay_pixels::Sampling;

use super::Nvjpeg;
use super::account::Account;
use super::result::{check, made};
use super::sys::{self, Allocator, Image};
use crate::driver::{Context, DeviceMemory};
use crate::error::{LaneError, NvjpegError};
use crate::frame::{Frame, Surface};

/// What decodes (`nvjpegBackend_t`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// Huffman coding on the calling thread, the rest on the GPU's multiprocessors.
    Hybrid,
    /// All of it on the multiprocessors, in batches of more than 50 pictures; smaller ones as [`Self::Hybrid`].
    GpuHybrid,
    /// The NVJPG engines. It opens the driver's libnvcuvid.
    Hardware,
}

/// nvJPEG on one GPU. All threads may use it; a state belongs to one.
#[derive(Debug)]
pub struct Handle {
    nvjpeg: Arc<Nvjpeg>,
    account: Arc<Account>,
    context: Arc<Context>,
    raw: sys::RawHandle,
    backend: Backend,
    /// nvJPEG keeps the pointers.
    allocators: Box<Allocators>,
}

/// What nvJPEG takes its memory with: the GPU's, and the host's.
#[derive(Debug)]
struct Allocators {
    device: Allocator,
    pinned: Allocator,
}

// SAFETY: nvJPEG's handles are for all threads of a process (nvJPEG documentation, "Thread Safety").
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Backend {
    /// `nvjpegBackend_t`.
    pub(super) fn number(self) -> c_int {
        match self {
            Self::Hybrid => sys::BACKEND_HYBRID,
            Self::GpuHybrid => sys::BACKEND_GPU_HYBRID,
            Self::Hardware => sys::BACKEND_HARDWARE,
        }
    }
}

impl Handle {
    /// Starts a backend on a GPU, with memory from its account.
    ///
    /// # Errors
    /// The GPU has no such backend ("architecture mismatch"), or it cannot start.
    pub fn new(
        nvjpeg: &Arc<Nvjpeg>,
        context: &Arc<Context>,
        account: &Arc<Account>,
        backend: Backend,
    ) -> Result<Arc<Self>, LaneError> {
        context.bind()?;
        let mut allocators = Box::new(Allocators { device: account.allocator(), pinned: account.locked().allocator() });
        let raw = made("nvjpegCreateExV2", |to| {
            let Allocators { device, pinned } = &mut *allocators;
            // SAFETY: both allocators stay where they are as long as the handle. Neither may be null, whatever nvjpeg.h says:
            // 11.9 to 13.3 answer "invalid parameter" then.
            unsafe { (nvjpeg.table.create)(backend.number(), device, pinned, 0, to) }
        })?;
        Ok(Arc::new(Self {
            nvjpeg: Arc::clone(nvjpeg),
            account: Arc::clone(account),
            context: Arc::clone(context),
            raw,
            backend,
            allocators,
        }))
    }

    /// NVJPG engines, and cores of each.
    ///
    /// # Errors
    /// The GPU has none.
    pub fn engines(&self) -> Result<(u32, u32), LaneError> {
        self.context.bind()?;
        let (mut engines, mut cores) = (0, 0);
        // SAFETY: the handle lives and both numbers are writable.
        let status = unsafe { (self.table().hardware)(self.raw, &raw mut engines, &raw mut cores) };
        check("nvjpegGetHardwareDecoderInfo", status)?;
        Ok((engines, cores))
    }

    /// What decodes.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// The GPU.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The account of the GPU's memory.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    pub(super) fn table(&self) -> &sys::NvjpegTable {
        &self.nvjpeg.table
    }

    pub(super) fn raw(&self) -> sys::RawHandle {
        self.raw
    }

    /// What gives the GPU's memory.
    pub(super) fn device_allocator(&self) -> *mut Allocator {
        (&raw const self.allocators.device).cast_mut()
    }

    /// What gives page-locked memory of the host.
    pub(super) fn pinned_allocator(&self) -> *mut Allocator {
        (&raw const self.allocators.pinned).cast_mut()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _in_a_broken_context = self.context.bind();
        // SAFETY: made by `new`, destroyed only here; states keep an Arc of it and are gone.
        let _at_the_end = unsafe { (self.table().destroy)(self.raw) };
    }
}

/// A parser of headers, which a state owns.
#[derive(Debug)]
pub(super) struct Parser {
    handle: Arc<Handle>,
    stream: sys::JpegStream,
}

// SAFETY: it has no ties to a thread; `&mut self` keeps uses apart.
unsafe impl Send for Parser {}

impl Parser {
    /// A parser; the handle's context is bound, as in all of its calls.
    pub(super) fn new(handle: &Arc<Handle>) -> Result<Self, NvjpegError> {
        let stream = made("nvjpegJpegStreamCreate", |to| {
            // SAFETY: the handle lives and the pointer is writable.
            unsafe { (handle.table().stream_create)(handle.raw(), to) }
        })?;
        Ok(Self { handle: Arc::clone(handle), stream })
    }

    /// Reads the header alone.
    pub(super) fn header(&mut self, bytes: &[u8]) -> Result<(), NvjpegError> {
        // SAFETY: the bytes are readable for their length; of the header nothing is kept but numbers.
        let status =
            unsafe { (self.handle.table().stream_header)(self.handle.raw(), bytes.as_ptr(), bytes.len(), self.stream) };
        check("nvjpegJpegStreamParseHeader", status)
    }

    /// Reads everything and keeps a copy of the coded data.
    pub(super) fn parse(&mut self, bytes: &[u8]) -> Result<(), NvjpegError> {
        const KEEP_METADATA: c_int = 0;
        const COPY_DATA: c_int = 1;
        // SAFETY: the bytes are readable for their length, and copied.
        let status = unsafe {
            (self.handle.table().stream_parse)(
                self.handle.raw(),
                bytes.as_ptr(),
                bytes.len(),
                KEEP_METADATA,
                COPY_DATA,
                self.stream,
            )
        };
        check("nvjpegJpegStreamParse", status)
    }

    /// Whether nvJPEG has read the frame as we have. It writes planes as it sees them, and surfaces have room for those that we
    /// see: of a file that is read in two ways, as one with two frame headers may be, none may be decoded.
    pub(super) fn agrees(&self, frame: &Frame) -> Result<bool, NvjpegError> {
        let (mut width, mut height, mut sampling) = (0, 0, -1);
        // SAFETY: the parser lives and both numbers are writable.
        let status = unsafe { (self.handle.table().stream_size)(self.stream, &raw mut width, &raw mut height) };
        check("nvjpegJpegStreamGetFrameDimensions", status)?;
        // SAFETY: the parser lives and the number is writable.
        let status = unsafe { (self.handle.table().stream_sampling)(self.stream, &raw mut sampling) };
        check("nvjpegJpegStreamGetChromaSubsampling", status)?;
        let expected = match frame.sampling {
            Sampling::Gray => sys::CSS_GRAY,
            Sampling::S444 => sys::CSS_444,
            Sampling::S422 => sys::CSS_422,
            Sampling::S420 => sys::CSS_420,
            Sampling::S440 => sys::CSS_440,
            Sampling::S411 => sys::CSS_411,
        };
        Ok((width, height, sampling) == (frame.width, frame.height, expected))
    }

    pub(super) fn raw(&self) -> sys::JpegStream {
        self.stream
    }
}

impl Drop for Parser {
    fn drop(&mut self) {
        // SAFETY: made by `new`, destroyed only here.
        let _at_the_end = unsafe { (self.handle.table().stream_destroy)(self.stream) };
    }
}

/// Where the planes of a surface at `at` of a GPU's memory are.
///
/// # Panics
/// If the surface does not lie in the memory.
pub(super) fn image(memory: &DeviceMemory, at: usize, surface: &Surface) -> Image {
    assert!(at + surface.bytes() <= memory.len(), "the surface lies in the memory");
    let mut image = Image { channel: [null_mut(); 4], pitch: [0; 4] };
    for (number, plane) in surface.given().iter().enumerate() {
        image.channel[number] = (memory.at() + (at + plane.offset) as u64) as *mut u8;
        image.pitch[number] = plane.pitch;
    }
    image
}
