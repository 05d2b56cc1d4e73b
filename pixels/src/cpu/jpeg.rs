//! libjpeg-turbo behind the C shim in `shim/`, which catches its errors: no longjmp crosses a Rust frame.
#![allow(unsafe_code, reason = "calls the C shim")]

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

// The shim calls libjpeg-turbo; naming the crate links it.
use turbojpeg_sys as _;

use crate::fault::{Fault, Limits};
use crate::plan::Rect;

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

/// A picture whose decoding has begun.
pub(super) struct BegunJpeg<'a> {
    open: OpenJpeg<'a>,
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
    one_scan: u32,
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
    fn forebay_jpeg_begin(jpeg: *mut Handle, left: *mut u32, width: *mut u32) -> c_int;
    fn forebay_jpeg_read(jpeg: *mut Handle, out: *mut u8, top: u32, rows: u32) -> c_int;
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

impl<'a> OpenJpeg<'a> {
    /// Width and height as stored.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.header.width, self.header.height)
    }

    /// Whether all components come in one scan.
    pub(super) fn in_one_scan(&self) -> bool {
        self.header.one_scan != 0
    }

    /// Starts decoding: of the whole picture, or of a `part` of a sequential one in one scan. The columns that come
    /// are those of the part, widened to whole blocks and a chroma sample on either side; the rows are just the part's.
    pub(super) fn begin(self, part: Option<Rect>) -> Result<BegunJpeg<'a>, Fault> {
        let (width, height) = self.size();
        let mut region = part.unwrap_or(Rect { left: 0, top: 0, width, height });
        let inside = |start: u32, len: u32, side: u32| len > 0 && start <= side && len <= side - start;
        assert!(inside(region.left, region.width, width), "the columns asked for are in the picture");
        assert!(inside(region.top, region.height, height), "the rows asked for are in the picture");
        // SAFETY: the handle is live and open, the two numbers are writable, and the columns are in the picture.
        let outcome =
            unsafe { forebay_jpeg_begin(self.reader.handle.as_ptr(), &raw mut region.left, &raw mut region.width) };
        self.check(outcome)?;
        Ok(BegunJpeg { open: self, region })
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

impl BegunJpeg<'_> {
    /// The part of the stored picture that will be read.
    pub(super) fn region(&self) -> Rect {
        self.region
    }

    /// Bytes of a stored pixel: 3 for RGB, 4 for CMYK as stored.
    pub(super) fn channels(&self) -> usize {
        self.open.header.channels as usize
    }

    /// Decodes the region into `out`, which has just the bytes that it takes. What follows is not read.
    pub(super) fn read(self, out: &mut [u8]) -> Result<(), Fault> {
        let Rect { top, width, height, .. } = self.region;
        assert_eq!(out.len(), width as usize * height as usize * self.channels(), "the region fills the buffer");
        let handle = self.open.reader.handle.as_ptr();
        // SAFETY: the handle is live and begun; the rows are in the picture, and `out` has room for them: the shim writes the
        // columns that begin gave, of the channels that open has chosen, for each.
        let outcome = unsafe { forebay_jpeg_read(handle, out.as_mut_ptr(), top, height) };
        self.open.check(outcome)
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
    use crate::draw::Draw;
    use crate::sample::{JpegForm, photograph_rgb};

    #[test]
    fn no_handle_is_left_after_good_and_bad_pictures() {
        let photo = crate::sample::photograph(0, 60, 50);
        let limits = Limits::default();
        assert_eq!(LIVE_HANDLES.get(), 0);
        {
            let mut reader = JpegReader::default();
            assert_eq!(LIVE_HANDLES.get(), 1);
            let mut rgb = vec![0; 60 * 50 * 3];
            reader.open(&photo, &limits).unwrap().begin(None).unwrap().read(&mut rgb).unwrap();
            assert!(reader.open(&photo[..30], &limits).is_err());
            drop(reader.open(&photo, &limits).unwrap());
            let half = &photo[..photo.len() / 2];
            let begun = reader.open(half, &limits).unwrap().begin(None).unwrap();
            assert_eq!(begun.read(&mut rgb), Err(Fault::Truncated));
        }
        assert_eq!(LIVE_HANDLES.get(), 0);
    }

    /// Every region of odd-sized pictures in every sampling: its rows and columns are those of the whole decode.
    #[test]
    fn rule_30_a_region_equals_the_same_cut_of_a_whole_decode() {
        let limits = Limits::default();
        let mut reader = JpegReader::default();
        for sampling in [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [1, 4], [4, 2], [2, 4], [3, 1], [1, 3]] {
            for (width, height, restart_rows) in [(131, 97, 0), (64, 64, 1), (33, 150, 0), (7, 5, 0)] {
                let form = JpegForm { sampling, restart_rows, ..JpegForm::default() };
                let bytes = form.encode(&photograph_rgb(1, width, height), width, height).unwrap();
                let mut whole = vec![0; (width * height * 3) as usize];
                reader.open(&bytes, &limits).unwrap().begin(None).unwrap().read(&mut whole).unwrap();
                for number in 0..300 {
                    let draws = Draw { seed: 0, epoch: 0, record: number }.at(0);
                    let (left, top) = (draws.below(0, width), draws.below(1, height));
                    let (wide, high) = (1 + draws.below(2, width - left), 1 + draws.below(3, height - top));
                    let part = Rect { left, top, width: wide, height: high };
                    let begun = reader.open(&bytes, &limits).unwrap().begin(Some(part)).unwrap();
                    let region = begun.region();
                    assert!(region.left <= left && region.left + region.width >= left + wide);
                    assert_eq!((region.top, region.height), (top, high));
                    let mut rgb = vec![0; (region.width * high * 3) as usize];
                    begun.read(&mut rgb).unwrap();
                    for row in 0..high {
                        let ours =
                            &rgb[((row * region.width + left - region.left) * 3) as usize..][..wide as usize * 3];
                        let expected = &whole[(((top + row) * width + left) * 3) as usize..][..wide as usize * 3];
                        assert!(ours == expected, "{sampling:?} of {width} x {height}: row {row} of {part:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_reason_of_a_damaged_picture_is_libjpegs() {
        let fault = JpegReader::default().open(b"\xFF\xD8\xFF\xD9", &Limits::default()).err();
        let Some(Fault::Corrupt { reason }) = fault else { panic!("{fault:?}") };
        assert!(reason.contains("JPEG"), "{reason}");
    }
}
