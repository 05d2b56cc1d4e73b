//! libjpeg-turbo behind the C shim in `shim/`, which catches its errors: no longjmp crosses a Rust frame.
#![allow(unsafe_code, reason = "calls the C shim")]

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

// The shim calls libjpeg-turbo; naming the crate links it.
use turbojpeg_sys as _;

use crate::fault::{Fault, Limits};

#[cfg(test)]
thread_local! {
    /// Handles of this thread that exist; a test looks that none is left.
    pub(super) static LIVE_HANDLES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A decompressor, used for one picture after the other.
pub(super) struct JpegReader {
    handle: NonNull<Handle>,
}

/// A picture whose header has been read.
pub(super) struct OpenJpeg<'a> {
    reader: &'a mut JpegReader,
    limits: &'a Limits,
    header: Header,
    /// The shim reads from the bytes until it is closed.
    bytes: PhantomData<&'a [u8]>,
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
    fn forebay_jpeg_read(jpeg: *mut Handle, out: *mut u8, rows: u32) -> c_int;
    fn forebay_jpeg_close(jpeg: *mut Handle);
    fn forebay_jpeg_message(jpeg: *const Handle) -> *const c_char;
}

// SAFETY: the handle is memory of its own that no thread-local or shared state of libjpeg-turbo refers to; it may move to
// another thread. It is not Sync.
unsafe impl Send for JpegReader {}

impl fmt::Debug for JpegReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JpegReader").finish_non_exhaustive()
    }
}

impl Default for JpegReader {
    fn default() -> Self {
        // SAFETY: takes nothing; gives a new handle or null.
        let handle = unsafe { forebay_jpeg_new() };
        let handle = NonNull::new(handle).expect("a few kilobytes of memory for a JPEG handle");
        #[cfg(test)]
        LIVE_HANDLES.set(LIVE_HANDLES.get() + 1);
        Self { handle }
    }
}

impl Drop for JpegReader {
    fn drop(&mut self) {
        // SAFETY: the handle came from forebay_jpeg_new, is freed only here, and no OpenJpeg is left, since it borrows us.
        unsafe { forebay_jpeg_free(self.handle.as_ptr()) }
        #[cfg(test)]
        LIVE_HANDLES.set(LIVE_HANDLES.get() - 1);
    }
}

impl JpegReader {
    /// Reads a picture's header.
    pub(super) fn open<'a>(&'a mut self, bytes: &'a [u8], limits: &'a Limits) -> Result<OpenJpeg<'a>, Fault> {
        let time_ns = limits.time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2).max(1));
        let mut open = OpenJpeg { reader: self, limits, header: Header::default(), bytes: PhantomData };
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

impl OpenJpeg<'_> {
    /// Width and height as stored.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.header.width, self.header.height)
    }

    /// Bytes of a stored pixel: 3 for RGB, 4 for CMYK as stored.
    pub(super) fn channels(&self) -> usize {
        self.header.channels as usize
    }

    /// Decodes the first `rows` rows into `out`, which has just the bytes that they take. What follows is not read.
    pub(super) fn read(self, rows: u32, out: &mut [u8]) -> Result<(), Fault> {
        assert!(rows <= self.header.height, "the rows asked for are in the picture");
        let len = rows as usize * self.header.width as usize * self.channels();
        assert_eq!(out.len(), len, "the rows fill the buffer");
        // SAFETY: the handle is live and open; `out` has room for the rows of width x channels bytes that the shim writes,
        // since without scaling libjpeg's output has the header's width and the channels that open has chosen.
        let outcome = unsafe { forebay_jpeg_read(self.reader.handle.as_ptr(), out.as_mut_ptr(), rows) };
        self.check(outcome)
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

impl Drop for OpenJpeg<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is live; the shim forgets the bytes.
        unsafe { forebay_jpeg_close(self.reader.handle.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_handle_is_left_after_good_and_bad_pictures() {
        let photo = crate::sample::photograph(0, 60, 50);
        let limits = Limits::default();
        assert_eq!(LIVE_HANDLES.get(), 0);
        {
            let mut reader = JpegReader::default();
            assert_eq!(LIVE_HANDLES.get(), 1);
            let mut rgb = vec![0; 60 * 50 * 3];
            reader.open(&photo, &limits).unwrap().read(50, &mut rgb).unwrap();
            assert!(reader.open(&photo[..30], &limits).is_err());
            drop(reader.open(&photo, &limits).unwrap());
            let half = &photo[..photo.len() / 2];
            assert_eq!(reader.open(half, &limits).unwrap().read(50, &mut rgb), Err(Fault::Truncated));
        }
        assert_eq!(LIVE_HANDLES.get(), 0);
    }

    #[test]
    fn the_reason_of_a_damaged_picture_is_libjpegs() {
        let fault = JpegReader::default().open(b"\xFF\xD8\xFF\xD9", &Limits::default()).err();
        let Some(Fault::Corrupt { reason }) = fault else { panic!("{fault:?}") };
        assert!(reason.contains("JPEG"), "{reason}");
    }
}
