//! Modules and kernels. Whichever module a caller loads, its kernel is the twin, compiled for the CPU from the same source.
#![allow(unsafe_code, reason = "calls the twin")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::boundary::write;
use crate::dial::{Count, Knob};

const INVALID_IMAGE: c_int = 200;
pub(crate) const OTHER_GENERATION: c_int = 209;
pub(crate) const OLD_DRIVER: c_int = 222;
const NOT_FOUND: c_int = 500;

unsafe extern "C" {
    fn forebay_fake_twin(pictures: *const c_void, blocks_x: c_uint, blocks_y: c_uint, threads: c_uint);
}

/// Takes PTX and no binary: the fake GPU is of no generation.
pub(crate) fn load(to: *mut *mut c_void, image: *const c_void) -> c_int {
    // SAFETY: the caller gives a binary, which is longer, or text that ends with a zero.
    let text = unsafe { CStr::from_ptr(image.cast()) }.to_bytes();
    if text.starts_with(b"\x7FELF") {
        return OTHER_GENERATION;
    }
    if !text.starts_with(b"//") {
        return INVALID_IMAGE;
    }
    if Knob::OldDriver.on() {
        return OLD_DRIVER;
    }
    Count::Modules.add(1);
    write(to, std::ptr::without_provenance_mut(1))
}

pub(crate) fn find(to: *mut *mut c_void, _module: *mut c_void, name: *const c_char) -> c_int {
    // SAFETY: the caller gives a name that ends with a zero.
    if unsafe { CStr::from_ptr(name) } != c"forebay_compose" {
        return NOT_FOUND;
    }
    write(to, std::ptr::without_provenance_mut(1))
}

pub(crate) fn run(argument: usize, blocks_x: c_uint, blocks_y: c_uint, threads: c_uint) {
    // SAFETY: the caller that launched the kernel keeps the memory that its argument names until the stream has run it.
    unsafe { forebay_fake_twin(argument as *const c_void, blocks_x, blocks_y, threads) }
}
