//! libjpeg-turbo: whole pictures and regions through the shim of `forebay-pixels`, coefficients through `TurboJPEG`.
#![allow(unsafe_code, reason = "calls C")]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use forebay_jpeg::Region;
// Has the shim in it.
use forebay_pixels as _;
use turbojpeg_sys as tj;

/// Most scans of a picture; these have one.
const SCANS: u32 = 1;

/// `struct forebay_jpeg` of pixels/shim/jpeg.h.
#[repr(C)]
struct Handle {
    _opaque: [u8; 0],
}

/// `struct forebay_jpeg_header`.
#[derive(Default)]
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
}

/// A decompressor, used for one picture after the other.
pub(crate) struct Turbo {
    handle: NonNull<Handle>,
    transformer: NonNull<c_void>,
}

// SAFETY: both handles are memory of their own, which nothing else refers to.
unsafe impl Send for Turbo {}

impl Turbo {
    pub(crate) fn new() -> Self {
        // SAFETY: takes nothing; gives a new handle or null.
        let handle = unsafe { forebay_jpeg_new() };
        // SAFETY: takes a number; gives a new handle or null.
        let transformer = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_TRANSFORM.cast_signed()) };
        let enough = "a few kilobytes of memory for a handle";
        Self { handle: NonNull::new(handle).expect(enough), transformer: NonNull::new(transformer).expect(enough) }
    }

    /// Decodes a region, and perhaps more columns beside it: gives which stand in `out`.
    pub(crate) fn region(&mut self, bytes: &[u8], region: Region, out: &mut Vec<u8>) -> Option<Region> {
        let decoded = self.open_region(bytes, region, out);
        // SAFETY: the handle is live; `bytes` are not read any more.
        unsafe { forebay_jpeg_close(self.handle.as_ptr()) };
        decoded
    }

    fn open_region(&mut self, bytes: &[u8], region: Region, out: &mut Vec<u8>) -> Option<Region> {
        let handle = self.handle.as_ptr();
        let mut header = Header::default();
        // SAFETY: the handle is live, the bytes stay until it is closed, the header is laid out as the shim's.
        let outcome = unsafe { forebay_jpeg_open(handle, bytes.as_ptr(), bytes.len(), 0, SCANS, &raw mut header) };
        if outcome != 0 || header.channels != 3 || !region.is_in(header.width, header.height) {
            return None;
        }
        let (mut left, mut width) = (region.left, region.width);
        // SAFETY: the handle is live and a picture open; the region lies in it.
        let outcome = unsafe { forebay_jpeg_begin(handle, 1, &raw mut left, &raw mut width) };
        if outcome != 0 {
            return None;
        }
        out.resize(width as usize * region.height as usize * 3, 0);
        // SAFETY: a picture is begun; there is room for the rows, which lie in it.
        let outcome = unsafe { forebay_jpeg_read(handle, out.as_mut_ptr(), region.top, region.height) };
        (outcome == 0).then_some(Region { left, width, ..region })
    }

    /// Decodes the coefficients and makes nothing of them. libjpeg-turbo stores them for the whole picture.
    pub(crate) fn coefficients(&mut self, bytes: &[u8]) -> Option<()> {
        let transform = tj::tjtransform {
            r: tj::tjregion { x: 0, y: 0, w: 0, h: 0 },
            op: tj::TJXOP_TJXOP_NONE.cast_signed(),
            options: (tj::TJXOPT_NOOUTPUT | tj::TJXOPT_COPYNONE).cast_signed(),
            data: std::ptr::null_mut(),
            customFilter: None,
        };
        let (mut nothing, mut len) = (std::ptr::null_mut(), 0);
        // SAFETY: the handle is live, the bytes are readable; one transformation is given, which has no output.
        let outcome = unsafe {
            tj::tj3Transform(
                self.transformer.as_ptr(),
                bytes.as_ptr(),
                bytes.len() as tj::size_t,
                1,
                &raw mut nothing,
                &raw mut len,
                &raw const transform,
            )
        };
        (outcome == 0).then_some(())
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { forebay_jpeg_free(self.handle.as_ptr()) };
        // SAFETY: the same.
        unsafe { tj::tj3Destroy(self.transformer.as_ptr()) };
    }
}
