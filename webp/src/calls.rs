//! The calls of the C shim, which calls libwebp.
#![allow(unsafe_code, reason = "calls the C shim")]

use std::ffi::c_int;

use crate::fault::WebpFault;
use crate::part::Part;

/// `struct forebay_webp_head`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct CHead {
    pub(crate) canvas: [u32; 2],
    pub(crate) frame: [u32; 4],
    pub(crate) frames: u32,
    pub(crate) has_alpha: u32,
    pub(crate) is_lossless: u32,
    pub(crate) frame_has_alpha: u32,
    pub(crate) data: [usize; 2],
}

/// `struct forebay_webp_part`.
#[repr(C)]
struct CPart {
    left: u32,
    top: u32,
    width: u32,
    height: u32,
}

unsafe extern "C" {
    fn forebay_webp_open(bytes: *const u8, len: usize, memory: usize, head: *mut CHead) -> c_int;
    fn forebay_webp_read(
        data: *const u8,
        len: usize,
        part: *const CPart,
        channels: u32,
        memory: usize,
        out: *mut u8,
        stride: usize,
        out_len: usize,
    ) -> c_int;
}

/// What a file says. libwebp takes at most this memory.
pub(crate) fn open(bytes: &[u8], memory: u64) -> Result<CHead, WebpFault> {
    let mut head = CHead::default();
    // SAFETY: the bytes are readable for their length; the head is writable and laid out as in webp.h. Nothing is kept.
    let outcome = unsafe { forebay_webp_open(bytes.as_ptr(), bytes.len(), size(memory), &raw mut head) };
    check(outcome)?;
    Ok(head)
}

/// Decodes a part of a frame into rows of `stride` bytes.
pub(crate) fn read(
    data: &[u8],
    part: Part,
    channels: u8,
    memory: u64,
    (out, stride): (&mut [u8], usize),
) -> Result<(), WebpFault> {
    let Part { left, top, width, height } = part;
    let row = width as usize * usize::from(channels);
    let rows_but_one = (height as usize).checked_sub(1).expect("a part has rows");
    assert!(row <= stride && rows_but_one * stride + row <= out.len(), "the rows are in the buffer");
    assert!([left, top, width, height, channels.into()].into_iter().all(|value| i32::try_from(value).is_ok()));
    assert!(i32::try_from(stride).is_ok(), "a row is shorter than 2 GiB");
    let part = CPart { left, top, width, height };
    let (to, len) = (out.as_mut_ptr(), out.len());
    // SAFETY: the data are readable for their length, the part is laid out as in webp.h, and `out` is writable for `len` bytes,
    // which libwebp does not leave: it checks that rows of this stride are in them, as we have. Nothing is kept.
    let outcome = unsafe {
        forebay_webp_read(data.as_ptr(), data.len(), &raw const part, channels.into(), size(memory), to, stride, len)
    };
    check(outcome)
}

fn size(memory: u64) -> usize {
    usize::try_from(memory).unwrap_or(usize::MAX)
}

fn check(outcome: c_int) -> Result<(), WebpFault> {
    match outcome {
        0 => Ok(()),
        2 => Err(WebpFault::Truncated),
        3 => Err(WebpFault::NoMemory),
        4 => Err(WebpFault::TooMuchMemory),
        _ => Err(WebpFault::Corrupt),
    }
}
