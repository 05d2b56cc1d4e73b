//! libjpeg-turbo behind the C shim in `shim/`, which catches its errors: no longjmp crosses a Rust frame.
#![allow(unsafe_code, reason = "calls the C shim")]

pub(crate) mod bare;
#[cfg(test)]
mod tests;

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

// The shim calls libjpeg-turbo; naming the crate links it.
use turbojpeg_sys as _;

use crate::buffer::sized;
use crate::cpu::canvas::Canvas;
use crate::cpu::cmyk;
use crate::cpu::jpeg::task::JpegTask;
use crate::fault::{Fault, Limits};
use crate::plan::Rect;
use crate::scale::Scale;

#[cfg(test)]
thread_local! {
    /// Handles of this thread that exist; a test looks that none is left.
    static LIVE_HANDLES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A decompressor, used for one picture after the other.
pub(super) struct TurboReader {
    handle: NonNull<Handle>,
}

/// A picture whose header has been read.
struct OpenPicture<'a> {
    reader: &'a mut TurboReader,
    limits: &'a Limits,
    header: Header,
    /// The shim reads from the bytes until it is closed.
    bytes: PhantomData<&'a [u8]>,
}

/// A picture whose decoding has begun.
struct BegunPicture<'a> {
    open: OpenPicture<'a>,
    region: Rect,
}

/// `struct forebay_jpeg`.
#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

/// `struct forebay_jpeg_header`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Header {
    width: u32,
    height: u32,
    channels: u32,
}

unsafe extern "C" {
    fn forebay_jpeg_new() -> *mut Handle;
    fn forebay_jpeg_free(jpeg: *mut Handle);
    fn forebay_jpeg_open(
        jpeg: *mut Handle,
        data: *const u8,
        len: usize,
        time_ns: u64,
        scans: u32,
        header: *mut Header,
    ) -> c_int;
    fn forebay_jpeg_begin(jpeg: *mut Handle, denominator: u32, left: *mut u32, width: *mut u32) -> c_int;
    fn forebay_jpeg_read(jpeg: *mut Handle, out: *mut u8, top: u32, rows: u32) -> c_int;
    fn forebay_jpeg_close(jpeg: *mut Handle);
    fn forebay_jpeg_message(jpeg: *const Handle) -> *const c_char;
}

// SAFETY: the handle is memory of its own that no thread-local or shared state of libjpeg-turbo refers to; it may move to
// another thread. It is not Sync.
unsafe impl Send for TurboReader {}

impl fmt::Debug for TurboReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurboReader").finish_non_exhaustive()
    }
}

impl Default for TurboReader {
    fn default() -> Self {
        // SAFETY: takes nothing; gives a new handle or null.
        let handle = unsafe { forebay_jpeg_new() };
        let handle = NonNull::new(handle).expect("a few kilobytes of memory for a JPEG handle");
        #[cfg(test)]
        LIVE_HANDLES.set(LIVE_HANDLES.get() + 1);
        Self { handle }
    }
}

impl Drop for TurboReader {
    fn drop(&mut self) {
        // SAFETY: the handle came from forebay_jpeg_new, is freed only here, and no OpenPicture is left, since it borrows us.
        unsafe { forebay_jpeg_free(self.handle.as_ptr()) }
        #[cfg(test)]
        LIVE_HANDLES.set(LIVE_HANDLES.get() - 1);
    }
}

impl TurboReader {
    /// Decodes the task's part into the canvas. Returns which part the canvas has: the task's, or more columns, or the whole
    /// picture if libjpeg-turbo cannot decode a part of it.
    pub(super) fn decode(&mut self, task: &JpegTask<'_>, canvas: &mut Canvas) -> Result<Rect, Fault> {
        let open = self.open(task.bytes, task.limits, task.begun)?;
        if open.size() != (task.head.width, task.head.height) {
            return Err(Fault::Corrupt { reason: "its markers declare two different sizes".into() });
        }
        let size = task.size();
        let part = if task.head.parts() { task.part } else { Rect::whole(size.0, size.1) };
        let begun = open.begin(task.scale, size, part)?;
        let (region, channels) = (begun.region(), begun.channels());
        let (rgb, spare) = canvas.begin(region.width, region.height, task.limits)?;
        if channels == 3 {
            begun.read(rgb)?;
            return Ok(region);
        }
        let stored = sized(spare, rgb.len() / 3 * channels);
        begun.read(stored)?;
        if channels == 1 {
            for (pixel, grey) in rgb.as_chunks_mut::<3>().0.iter_mut().zip(&*stored) {
                *pixel = [*grey; 3];
            }
        } else {
            cmyk::to_rgb(stored, rgb);
        }
        Ok(region)
    }

    /// Reads a picture's header. The time limit counts from `begun`.
    fn open<'a>(&'a mut self, bytes: &'a [u8], limits: &'a Limits, begun: Instant) -> Result<OpenPicture<'a>, Fault> {
        let left_ns = |limit: Duration| limit.saturating_sub(begun.elapsed()).as_nanos();
        let time_ns = limits.time.map_or(0, |limit| u64::try_from(left_ns(limit)).unwrap_or(u64::MAX / 2).max(1));
        let mut open = OpenPicture { reader: self, limits, header: Header::default(), bytes: PhantomData };
        // SAFETY: the handle is live; the bytes are readable for their length and outlive `open`, whose drop makes the shim
        // forget them; the header is writable and laid out as in jpeg.h.
        let outcome = unsafe {
            forebay_jpeg_open(
                open.reader.handle.as_ptr(),
                bytes.as_ptr(),
                bytes.len(),
                time_ns,
                limits.scans,
                &raw mut open.header,
            )
        };
        open.check(outcome)?;
        Ok(open)
    }

    fn message(&self) -> String {
        // SAFETY: the handle is live; the message is a zero-terminated string inside it.
        let message = unsafe { forebay_jpeg_message(self.handle.as_ptr()) };
        // SAFETY: see above; nothing changes it while we are borrowed.
        let message = unsafe { CStr::from_ptr(message) };
        message.to_string_lossy().into_owned()
    }
}

impl<'a> OpenPicture<'a> {
    /// Width and height as stored.
    fn size(&self) -> (u32, u32) {
        (self.header.width, self.header.height)
    }

    /// Starts decoding of a part of the scaled picture, whose size is `width` x `height`; it must be all of it unless
    /// the picture is sequential and in one scan. The columns that come are those of the part, widened to whole blocks and a
    /// chroma sample on either side; the rows are just the part's.
    fn begin(self, scale: Scale, (width, height): (u32, u32), part: Rect) -> Result<BegunPicture<'a>, Fault> {
        let mut region = part;
        let inside = |start: u32, len: u32, side: u32| len > 0 && start <= side && len <= side - start;
        assert!(inside(region.left, region.width, width), "the columns asked for are in the picture");
        assert!(inside(region.top, region.height, height), "the rows asked for are in the picture");
        // SAFETY: the handle is live and open, the two numbers are writable, and the columns are in the picture.
        let outcome = unsafe {
            forebay_jpeg_begin(
                self.reader.handle.as_ptr(),
                scale.denominator(),
                &raw mut region.left,
                &raw mut region.width,
            )
        };
        self.check(outcome)?;
        Ok(BegunPicture { open: self, region })
    }

    fn check(&self, outcome: c_int) -> Result<(), Fault> {
        Err(match outcome {
            0 => return Ok(()),
            2 => Fault::Truncated,
            3 => Fault::TooSlow { limit: self.limits.time.unwrap_or_default() },
            4 => Fault::TooManyScans { limit: self.limits.scans },
            5 => Fault::Unsupported { kind: "JPEG without known colours (2 or more than 4 components)".into() },
            6 => Fault::Corrupt { reason: "there was not enough memory to decode it".into() },
            _ => Fault::Corrupt { reason: self.reader.message() },
        })
    }
}

impl BegunPicture<'_> {
    /// The part of the stored picture that will be read.
    fn region(&self) -> Rect {
        self.region
    }

    /// Bytes of a stored pixel: 1 for lossless grey, 3 for RGB, 4 for CMYK as stored.
    fn channels(&self) -> usize {
        self.open.header.channels as usize
    }

    /// Decodes the region into `out`, which has just the bytes that it takes. What follows is not read.
    fn read(self, out: &mut [u8]) -> Result<(), Fault> {
        let Rect { top, width, height, .. } = self.region;
        assert_eq!(out.len(), width as usize * height as usize * self.channels(), "the region fills the buffer");
        let handle = self.open.reader.handle.as_ptr();
        // SAFETY: the handle is live and begun; the rows are in the picture, and `out` has room for them: the shim writes the
        // columns that begin gave, of the channels that open has chosen, for each.
        let outcome = unsafe { forebay_jpeg_read(handle, out.as_mut_ptr(), top, height) };
        self.open.check(outcome)
    }
}

impl Drop for OpenPicture<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is live; the shim forgets the bytes.
        unsafe { forebay_jpeg_close(self.reader.handle.as_ptr()) }
    }
}
