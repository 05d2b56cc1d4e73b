//! libjpeg-turbo behind the C shim in `shim/`, which catches its errors: no longjmp crosses a Rust frame.
#![allow(unsafe_code, reason = "calls the C shim")]

use std::ffi::{CStr, c_char, c_int};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::time::{Duration, Instant};

// The shim calls libjpeg-turbo; naming the crate links it.
use turbojpeg_sys as _;

use crate::cpu::canvas::{Canvas, sized};
use crate::cpu::cmyk;
use crate::cpu::jpeg::JpegTask;
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
    /// Decodes the task's part into the canvas, and tells what stands there: the part, or more columns.
    pub(super) fn decode(&mut self, task: &JpegTask<'_>, canvas: &mut Canvas) -> Result<Rect, Fault> {
        let open = self.open(task.bytes, task.limits, task.begun)?;
        if open.size() != (task.head.width, task.head.height) {
            return Err(Fault::Corrupt { reason: "its markers declare two different sizes".into() });
        }
        let begun = open.begin(task.scale, task.size(), task.part)?;
        let (region, channels) = (begun.region(), begun.channels());
        let (rgb, spare) = canvas.begin(region.width, region.height, task.limits)?;
        if channels == 3 {
            begun.read(rgb)?;
        } else {
            let cmyk = sized(spare, rgb.len() / 3 * channels);
            begun.read(cmyk)?;
            cmyk::to_rgb(cmyk, rgb);
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

    /// Bytes of a stored pixel: 3 for RGB, 4 for CMYK as stored.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use crate::sample::{JpegColors, JpegForm, photograph_rgb};

    const SCALES: [Scale; 4] = [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth];

    /// Opens a picture and begins with a part of it, or with all of it.
    fn begin<'a>(
        reader: &'a mut TurboReader,
        bytes: &'a [u8],
        limits: &'a Limits,
        scale: Scale,
        part: Option<Rect>,
    ) -> BegunPicture<'a> {
        let open = reader.open(bytes, limits, Instant::now()).unwrap();
        let (width, height) = open.size();
        let (width, height) = (scale.side(width), scale.side(height));
        open.begin(scale, (width, height), part.unwrap_or_else(|| Rect::whole(width, height))).unwrap()
    }

    fn read(begun: BegunPicture<'_>) -> Result<(Rect, Vec<u8>), Fault> {
        let region = begun.region();
        let mut pixels = vec![0; region.width as usize * region.height as usize * begun.channels()];
        begun.read(&mut pixels).map(|()| (region, pixels))
    }

    #[test]
    fn no_handle_is_left_after_good_and_bad_pictures() {
        let photo = crate::sample::photograph(0, 60, 50);
        let limits = Limits::default();
        assert_eq!(LIVE_HANDLES.get(), 0);
        {
            let mut reader = TurboReader::default();
            assert_eq!(LIVE_HANDLES.get(), 1);
            read(begin(&mut reader, &photo, &limits, Scale::Full, None)).unwrap();
            assert!(reader.open(&photo[..30], &limits, Instant::now()).is_err());
            drop(reader.open(&photo, &limits, Instant::now()).unwrap());
            let half = &photo[..photo.len() / 2];
            assert_eq!(read(begin(&mut reader, half, &limits, Scale::Full, None)), Err(Fault::Truncated));
        }
        assert_eq!(LIVE_HANDLES.get(), 0);
    }

    /// Regions of odd-sized pictures in every sampling and scale: their pixels are those of the whole decode.
    #[test]
    fn rule_30_a_region_equals_the_same_cut_of_a_whole_decode() {
        let samplings = [[1, 1], [2, 1], [2, 2], [1, 2], [4, 1], [1, 4], [4, 2], [2, 4], [3, 1], [1, 3]];
        let forms = samplings.map(|sampling| JpegForm { sampling, ..JpegForm::default() });
        let gray = JpegForm { colors: JpegColors::Gray, ..JpegForm::default() };
        let cmyk = JpegForm { colors: JpegColors::Ycck, ..JpegForm::default() };
        for form in forms.into_iter().chain([gray, cmyk]) {
            for (width, height, restart_rows) in [(131, 97, 0), (64, 64, 1), (33, 150, 0), (7, 5, 0)] {
                let form = JpegForm { restart_rows, ..form };
                let pixels: Vec<u8> = photograph_rgb(1, width, height)
                    .into_iter()
                    .cycle()
                    .take(width as usize * height as usize * form.channels())
                    .collect();
                let bytes = form.encode(&pixels, width, height).unwrap();
                for scale in SCALES {
                    regions_equal_cuts(&bytes, scale, &format!("{form:?} of {width} x {height}"));
                }
            }
        }
    }

    fn regions_equal_cuts(bytes: &[u8], scale: Scale, name: &str) {
        let limits = Limits::default();
        let mut reader = TurboReader::default();
        let (Rect { width, height, .. }, whole) = read(begin(&mut reader, bytes, &limits, scale, None)).unwrap();
        let channels = whole.len() / (width as usize * height as usize);
        for number in 0..150 {
            let draws = Draw { seed: 0, epoch: 0, record: number }.at(0);
            let (left, top) = (draws.below(0, width), draws.below(1, height));
            let (wide, high) = (1 + draws.below(2, width - left), 1 + draws.below(3, height - top));
            let part = Rect { left, top, width: wide, height: high };
            let (region, ours) = read(begin(&mut reader, bytes, &limits, scale, Some(part))).unwrap();
            assert!(region.left <= left && region.left + region.width >= left + wide);
            assert_eq!((region.top, region.height), (top, high));
            for row in 0..high {
                let pixels =
                    |pixels: &[u8], at: u32| pixels[at as usize * channels..][..wide as usize * channels].to_vec();
                let ours = pixels(&ours, row * region.width + left - region.left);
                assert!(ours == pixels(&whole, (top + row) * width + left), "{name}, {scale:?}: row {row} of {part:?}");
            }
        }
    }

    #[test]
    fn the_time_limit_counts_what_was_spent_before() {
        let photo = crate::sample::photograph(0, 500, 375);
        let limit = Duration::from_secs(5);
        let limits = Limits { time: Some(limit), ..Limits::default() };
        let mut reader = TurboReader::default();
        let begun = Instant::now().checked_sub(limit).unwrap();
        let whole = |open: OpenPicture<'_>| {
            let (width, height) = open.size();
            open.begin(Scale::Full, (width, height), Rect::whole(width, height)).and_then(read).map(drop)
        };
        let spent = reader.open(&photo, &limits, begun).and_then(whole);
        assert_eq!(spent, Err(Fault::TooSlow { limit }));
    }

    #[test]
    fn the_reason_of_a_damaged_picture_is_libjpegs() {
        let fault = TurboReader::default().open(b"\xFF\xD8\xFF\xD9", &Limits::default(), Instant::now()).err();
        let Some(Fault::Corrupt { reason }) = fault else { panic!("{fault:?}") };
        assert!(reason.contains("JPEG"), "{reason}");
    }
}
