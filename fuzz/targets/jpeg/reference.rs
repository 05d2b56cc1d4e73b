//! libjpeg-turbo by its own interface, which says what is right: accurate inverse DCT, fancy upsampling.
#![allow(unsafe_code, reason = "calls libjpeg-turbo")]

use std::ffi::c_int;

use forebay_jpeg::Scale;
use turbojpeg_sys as tj;

/// A decompressor.
pub(crate) struct Turbo(*mut std::ffi::c_void);

impl Turbo {
    pub(crate) fn new() -> Self {
        // SAFETY: takes a number; gives a handle or null.
        let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_DECOMPRESS as c_int) };
        assert!(!handle.is_null(), "there is memory for a handle");
        Self(handle)
    }

    /// The picture as RGB. `None` if it refuses the header. Errors in the data are forgiven: it rejects bytes after the scan
    /// that our decoder does not read, and pixels that it could not decode are zeros, so that a comparison finds them.
    pub(crate) fn decode(&mut self, bytes: &[u8], scale: Scale) -> Option<Vec<u8>> {
        // SAFETY: the handle is live, the bytes are readable.
        let outcome = unsafe { tj::tj3DecompressHeader(self.0, bytes.as_ptr(), bytes.len() as _) };
        if outcome != 0 && self.is_fatal() {
            return None;
        }
        let denom = 1 << Scale::ALL.iter().position(|one| *one == scale)?;
        // SAFETY: the handle is live.
        let outcome = unsafe { tj::tj3SetScalingFactor(self.0, tj::tjscalingfactor { num: 1, denom }) };
        assert_eq!(outcome, 0, "libjpeg-turbo knows the scale");
        let [width, height] = [tj::TJPARAM_TJPARAM_JPEGWIDTH, tj::TJPARAM_TJPARAM_JPEGHEIGHT]
            .map(|parameter| scale.side(self.get(parameter)) as usize);
        let mut rgb = vec![0; width * height * 3];
        let (to, format) = (rgb.as_mut_ptr(), tj::TJPF_TJPF_RGB as c_int);
        // SAFETY: the handle is live, the bytes are readable, and there is room for the picture at this scale.
        unsafe { tj::tj3Decompress8(self.0, bytes.as_ptr(), bytes.len() as _, to, 0, format) };
        Some(rgb)
    }

    fn is_fatal(&self) -> bool {
        // SAFETY: the handle is live.
        let code = unsafe { tj::tj3GetErrorCode(self.0) };
        code == tj::TJERR_TJERR_FATAL as c_int
    }

    fn get(&self, parameter: tj::TJPARAM) -> u32 {
        // SAFETY: the handle is live.
        let value = unsafe { tj::tj3Get(self.0, parameter as c_int) };
        u32::try_from(value).expect("a header that was read has a size")
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { tj::tj3Destroy(self.0) }
    }
}
