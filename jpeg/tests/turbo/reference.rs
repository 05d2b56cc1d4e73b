//! libjpeg-turbo, which says what is right, and makes pictures of every kind.
#![allow(unsafe_code, reason = "calls libjpeg-turbo")]
#![allow(dead_code, reason = "each test takes a part of it")]
#![allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "small numbers, and noise")]

use std::ffi::{c_int, c_void};

use forebay_jpeg::{Sampling, Scale};
use proptest::prelude::*;
use turbojpeg_sys as tj;

/// A decompressor of libjpeg-turbo: accurate inverse DCT, fancy upsampling.
pub(crate) struct Turbo(*mut c_void);

impl Turbo {
    pub(crate) fn new() -> Self {
        // SAFETY: takes a number; gives a handle or null.
        let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_DECOMPRESS as c_int) };
        assert!(!handle.is_null());
        Self(handle)
    }

    /// A judge of what no encoder writes: sums of coefficients that do not fit 16 bits saturate in libjpeg-turbo's kernels for
    /// x86-64, as they do in this decoder everywhere. Its other kernels cut them. `architectures.rs` has what is right there.
    pub(crate) fn of_damage() -> Option<Self> {
        cfg!(target_arch = "x86_64").then(Self::new)
    }

    /// Width, height and RGB. None where it refuses the header. What is wrong with the data is forgiven: what stands behind
    /// the scan is wrong only for it, and pixels that it could not decode are zeros, which tells.
    pub(crate) fn decode(&mut self, bytes: &[u8], scale: Scale) -> Option<(u32, u32, Vec<u8>)> {
        // SAFETY: the handle is live, the bytes are readable.
        let outcome = unsafe { tj::tj3DecompressHeader(self.0, bytes.as_ptr(), bytes.len() as _) };
        if outcome != 0 && self.is_fatal() {
            return None;
        }
        let factor =
            tj::tjscalingfactor { num: 1, denom: Scale::ALL.iter().position(|&s| s == scale).map(|i| 1 << i)? };
        // SAFETY: the handle is live.
        let outcome = unsafe { tj::tj3SetScalingFactor(self.0, factor) };
        assert_eq!(outcome, 0, "libjpeg-turbo knows the scale");
        let (width, height) =
            (scale.side(self.get(tj::TJPARAM_TJPARAM_JPEGWIDTH)), scale.side(self.get(tj::TJPARAM_TJPARAM_JPEGHEIGHT)));
        let mut rgb = vec![0; width as usize * height as usize * 3];
        let (to, format) = (rgb.as_mut_ptr(), tj::TJPF_TJPF_RGB as c_int);
        // SAFETY: the handle is live, the bytes are readable, and there is room for the picture at this scale.
        unsafe { tj::tj3Decompress8(self.0, bytes.as_ptr(), bytes.len() as _, to, 0, format) };
        Some((width, height, rgb))
    }

    /// A good picture into `rgb`, which has just the room for it, at its full size. For measurements.
    pub(crate) fn decode_into(&mut self, bytes: &[u8], rgb: &mut [u8]) {
        // SAFETY: the handle is live, the bytes are readable.
        let outcome = unsafe { tj::tj3DecompressHeader(self.0, bytes.as_ptr(), bytes.len() as _) };
        assert_eq!(outcome, 0, "the picture is good");
        let [width, height] =
            [tj::TJPARAM_TJPARAM_JPEGWIDTH, tj::TJPARAM_TJPARAM_JPEGHEIGHT].map(|side| self.get(side));
        assert_eq!(rgb.len(), width as usize * height as usize * 3, "there is room for the picture");
        let (to, format) = (rgb.as_mut_ptr(), tj::TJPF_TJPF_RGB as c_int);
        // SAFETY: the handle is live, the bytes are readable, and there is room for the picture.
        let outcome = unsafe { tj::tj3Decompress8(self.0, bytes.as_ptr(), bytes.len() as _, to, 0, format) };
        assert_eq!(outcome, 0, "the picture is good");
    }

    fn is_fatal(&self) -> bool {
        // SAFETY: the handle is live.
        let code = unsafe { tj::tj3GetErrorCode(self.0) };
        code == tj::TJERR_TJERR_FATAL as c_int
    }

    fn get(&self, parameter: tj::TJPARAM) -> u32 {
        // SAFETY: the handle is live.
        let value = unsafe { tj::tj3Get(self.0, parameter as c_int) };
        u32::try_from(value).unwrap()
    }
}

impl Drop for Turbo {
    fn drop(&mut self) {
        // SAFETY: the handle is live and not used again.
        unsafe { tj::tj3Destroy(self.0) }
    }
}

/// The same picture with the same coefficients, in the scans that libjpeg makes where no others are asked for. None if
/// libjpeg-turbo does not read it.
pub(crate) fn to_progressive(bytes: &[u8]) -> Option<Vec<u8>> {
    // SAFETY: takes a number; gives a handle or null.
    let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_TRANSFORM as c_int) };
    assert!(!handle.is_null());
    let transform = tj::tjtransform {
        r: tj::tjregion { x: 0, y: 0, w: 0, h: 0 },
        op: tj::TJXOP_TJXOP_NONE as c_int,
        options: (tj::TJXOPT_PROGRESSIVE | tj::TJXOPT_COPYNONE) as c_int,
        data: std::ptr::null_mut(),
        customFilter: None,
    };
    let (mut out, mut len) = (std::ptr::null_mut(), 0);
    // SAFETY: the handle is live, the bytes are readable; one transformation is given, whose outcome the library allocates.
    let outcome = unsafe {
        let len = &raw mut len;
        tj::tj3Transform(handle, bytes.as_ptr(), bytes.len() as _, 1, &raw mut out, len, &raw const transform)
    };
    let made = (outcome == 0).then(|| {
        // SAFETY: the library has written as many bytes.
        unsafe { std::slice::from_raw_parts(out, usize::try_from(len).unwrap()) }.to_vec()
    });
    // SAFETY: allocated by the library or null, and not used again.
    unsafe { tj::tj3Free(out.cast()) };
    // SAFETY: the handle is live and not used again.
    unsafe { tj::tj3Destroy(handle) };
    made
}

/// A picture to be made.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) sampling: Sampling,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) quality: u32,
    /// MCUs between restart markers; 0: none.
    pub(crate) restart: u32,
    /// Huffman tables of its own.
    pub(crate) optimised: bool,
    /// In the scans that libjpeg makes where no others are asked for.
    pub(crate) progressive: bool,
    /// How rough it is, and what its pixels are made of.
    pub(crate) noise: u8,
    pub(crate) seed: u64,
}

impl Kind {
    /// Sequential.
    pub(crate) fn any() -> impl Strategy<Value = Self> {
        let sampling = prop::sample::select(vec![
            Sampling::Gray,
            Sampling::S444,
            Sampling::S422,
            Sampling::S420,
            Sampling::S440,
            Sampling::S411,
        ]);
        let restart = prop_oneof![3 => Just(0_u32), 2 => 1_u32..12];
        (sampling, 1_u32..=70, 1_u32..=70, 1_u32..=100, restart, any::<bool>(), any::<u8>(), any::<u64>()).prop_map(
            |(sampling, width, height, quality, restart, optimised, noise, seed)| Self {
                sampling,
                width,
                height,
                quality,
                restart,
                optimised,
                progressive: false,
                noise,
                seed,
            },
        )
    }

    /// Of every kind, progressive.
    pub(crate) fn any_progressive() -> impl Strategy<Value = Self> {
        Self::any().prop_map(|kind| Self { progressive: true, ..kind })
    }

    /// Slopes of colour with noise upon them.
    fn pixels(&self) -> Vec<u8> {
        let mut state = self.seed | 1;
        let mut noise = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (u32::from(self.noise) * ((state >> 40) & 0xFF) as u32) >> 8
        };
        let mut rgb = Vec::new();
        for y in 0..self.height {
            for x in 0..self.width {
                for slope in [3 * x + y, x + 5 * y, (7 * x) ^ y] {
                    rgb.push((slope + noise()) as u8);
                }
            }
        }
        rgb
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let sampling = match self.sampling {
            Sampling::Gray => tj::TJSAMP_TJSAMP_GRAY,
            Sampling::S444 => tj::TJSAMP_TJSAMP_444,
            Sampling::S422 => tj::TJSAMP_TJSAMP_422,
            Sampling::S420 => tj::TJSAMP_TJSAMP_420,
            Sampling::S440 => tj::TJSAMP_TJSAMP_440,
            Sampling::S411 => tj::TJSAMP_TJSAMP_411,
        };
        // SAFETY: takes a number; gives a handle or null.
        let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_COMPRESS as c_int) };
        assert!(!handle.is_null());
        let parameters = [
            (tj::TJPARAM_TJPARAM_SUBSAMP, sampling as c_int),
            (tj::TJPARAM_TJPARAM_QUALITY, self.quality as c_int),
            (tj::TJPARAM_TJPARAM_OPTIMIZE, c_int::from(self.optimised)),
            (tj::TJPARAM_TJPARAM_PROGRESSIVE, c_int::from(self.progressive)),
            (tj::TJPARAM_TJPARAM_RESTARTBLOCKS, self.restart as c_int),
        ];
        for (parameter, value) in parameters {
            // SAFETY: the handle is live.
            let outcome = unsafe { tj::tj3Set(handle, parameter as c_int, value) };
            assert_eq!(outcome, 0, "{self:?}");
        }
        let pixels = self.pixels();
        let (mut bytes, mut len) = (std::ptr::null_mut(), 0);
        // SAFETY: the handle is live, there are as many pixels as are said, and the outcome is allocated by the library.
        let outcome = unsafe {
            tj::tj3Compress8(
                handle,
                pixels.as_ptr(),
                self.width as c_int,
                0,
                self.height as c_int,
                tj::TJPF_TJPF_RGB as c_int,
                &raw mut bytes,
                &raw mut len,
            )
        };
        assert_eq!(outcome, 0, "{self:?}");
        // SAFETY: the library has written as many bytes.
        let encoded = unsafe { std::slice::from_raw_parts(bytes, usize::try_from(len).unwrap()) }.to_vec();
        // SAFETY: allocated by the library, and not used again.
        unsafe { tj::tj3Free(bytes.cast()) };
        // SAFETY: the handle is live and not used again.
        unsafe { tj::tj3Destroy(handle) };
        encoded
    }
}
