//! libjpeg-turbo: whole pictures and regions through `forebay-pixels`, coefficients through `TurboJPEG`.
#![allow(unsafe_code, reason = "calls C")]

use std::ffi::c_void;
use std::ptr::NonNull;

use forebay_jpeg::Region;
use forebay_pixels::{BareTurbo, Rect};
use turbojpeg_sys as tj;

/// Decompressors, used for one picture after the other.
pub(crate) struct Turbo {
    bare: BareTurbo,
    transformer: NonNull<c_void>,
}

// SAFETY: the transformer is memory of its own, which nothing else refers to.
unsafe impl Send for Turbo {}

impl Turbo {
    pub(crate) fn new() -> Self {
        // SAFETY: takes a number; gives a new handle or null.
        let transformer = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_TRANSFORM.cast_signed()) };
        let transformer = NonNull::new(transformer).expect("a few kilobytes of memory for a handle");
        Self { bare: BareTurbo::default(), transformer }
    }

    /// Decodes a region, and perhaps more columns beside it. Returns which region is in `out`.
    pub(crate) fn region(&mut self, bytes: &[u8], region: Region, out: &mut Vec<u8>) -> Option<Region> {
        let Region { left, top, width, height } = region;
        let Rect { left, top, width, height } = self.bare.decode(bytes, Rect { left, top, width, height }, out)?;
        Some(Region { left, top, width, height })
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
        unsafe { tj::tj3Destroy(self.transformer.as_ptr()) };
    }
}
