//! Decoding into planes, by libjpeg-turbo: what the fake GPU's decoders give.
#![allow(unsafe_code, reason = "calls libjpeg-turbo")]

use std::ffi::{c_int, c_void};

use turbojpeg_sys as tj;

/// What a picture's header says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) width: c_int,
    pub(crate) height: c_int,
    /// `TJSAMP`.
    pub(crate) sampling: c_int,
    pub(crate) progressive: bool,
}

impl Header {
    /// Samples of whole units of all planes.
    pub(crate) fn samples(&self) -> usize {
        let (across, down, units) = match self.sampling {
            tj::TJSAMP_TJSAMP_422 => (2, 1, 4),
            tj::TJSAMP_TJSAMP_420 => (2, 2, 6),
            tj::TJSAMP_TJSAMP_440 => (1, 2, 4),
            tj::TJSAMP_TJSAMP_GRAY => (1, 1, 1),
            _ => (1, 1, 3),
        };
        let [wide, high] = [(self.width, across), (self.height, down)]
            .map(|(side, factor)| usize::try_from(side).unwrap_or(0).div_ceil(8 * factor));
        wide * high * units * 64
    }
}

/// Planes, without padding: rows of `width` samples.
pub(crate) type Planes = Vec<(usize, Vec<u8>)>;

struct Decoder(*mut c_void);

impl Decoder {
    fn open(bytes: &[u8]) -> Option<(Self, Header)> {
        // SAFETY: takes a number; gives a handle or null.
        let handle = unsafe { tj::tj3Init(tj::TJINIT_TJINIT_DECOMPRESS.cast_signed()) };
        if handle.is_null() {
            return None;
        }
        let decoder = Self(handle);
        // SAFETY: the handle lives, and the bytes are readable for their length.
        let status = unsafe { tj::tj3DecompressHeader(handle, bytes.as_ptr(), bytes.len() as _) };
        // SAFETY: the handle lives.
        let get = |parameter: u32| unsafe { tj::tj3Get(handle, parameter.cast_signed()) };
        let header = Header {
            width: get(tj::TJPARAM_TJPARAM_JPEGWIDTH),
            height: get(tj::TJPARAM_TJPARAM_JPEGHEIGHT),
            sampling: get(tj::TJPARAM_TJPARAM_SUBSAMP),
            progressive: get(tj::TJPARAM_TJPARAM_PROGRESSIVE) != 0,
        };
        (status == 0).then_some((decoder, header))
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: made by `open`, destroyed only here.
        unsafe { tj::tj3Destroy(self.0) }
    }
}

pub(crate) fn header(bytes: &[u8]) -> Option<Header> {
    Decoder::open(bytes).map(|(_, header)| header)
}

/// Width and height of a gray picture.
pub(crate) fn gray_size(bytes: &[u8]) -> Option<(usize, usize)> {
    let Header { width, height, sampling, .. } = header(bytes)?;
    let size = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    (sampling == tj::TJSAMP_TJSAMP_GRAY).then_some(size)
}

pub(crate) fn decode(bytes: &[u8]) -> Option<Planes> {
    let (decoder, Header { width, height, sampling, .. }) = Decoder::open(bytes)?;
    let (across, down) = match sampling {
        tj::TJSAMP_TJSAMP_422 => (2, 1),
        tj::TJSAMP_TJSAMP_420 => (2, 2),
        tj::TJSAMP_TJSAMP_440 => (1, 2),
        tj::TJSAMP_TJSAMP_444 | tj::TJSAMP_TJSAMP_GRAY => (1, 1),
        _ => return None,
    };
    let count = if sampling == tj::TJSAMP_TJSAMP_GRAY { 1 } else { 3 };
    let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
    // libjpeg-turbo's planes have whole samples of the coarsest plane.
    let (padded_width, padded_height) = (width.next_multiple_of(across), height.next_multiple_of(down));
    let sizes = |plane| if plane == 0 { (1, 1) } else { (across, down) };
    let strides: [usize; 3] = std::array::from_fn(|plane| padded_width / sizes(plane).0);
    let mut planes: Vec<Vec<u8>> =
        (0..count).map(|plane| vec![0; strides[plane] * (padded_height / sizes(plane).1)]).collect();
    let mut pointers = [std::ptr::null_mut(); 3];
    for (pointer, plane) in pointers.iter_mut().zip(&mut planes) {
        *pointer = plane.as_mut_ptr();
    }
    let mut strides_c = strides.map(|stride| c_int::try_from(stride).unwrap_or(0));
    // SAFETY: handle, bytes and planes live; these have the sizes that libjpeg-turbo documents for this sampling.
    let status = unsafe {
        tj::tj3DecompressToYUVPlanes8(
            decoder.0,
            bytes.as_ptr(),
            bytes.len() as _,
            pointers.as_mut_ptr(),
            strides_c.as_mut_ptr(),
        )
    };
    if status != 0 {
        return None;
    }
    let cut = |(number, plane): (usize, Vec<u8>)| {
        let (across, down) = sizes(number);
        let (wide, high) = (width.div_ceil(across), height.div_ceil(down));
        let rows = plane.chunks_exact(strides[number]).take(high);
        (wide, rows.flat_map(|row| row[..wide].to_vec()).collect())
    };
    Some(planes.into_iter().enumerate().map(cut).collect())
}
