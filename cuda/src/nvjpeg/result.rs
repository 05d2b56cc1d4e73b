//! nvJPEG's functions as Rust calls them: results instead of status codes.
#![allow(unsafe_code, reason = "calls libnvjpeg")]

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use super::sys::{self, NvjpegStatus, NvjpegTable};
use crate::error::NvjpegError;

pub(super) fn check(call: &'static str, status: NvjpegStatus) -> Result<(), NvjpegError> {
    if status == sys::SUCCESS { Ok(()) } else { Err(NvjpegError { call, status }) }
}

/// A pointer that a call makes.
pub(super) fn made(
    call: &'static str,
    make: impl FnOnce(*mut *mut c_void) -> NvjpegStatus,
) -> Result<*mut c_void, NvjpegError> {
    let mut pointer = null_mut();
    check(call, make(&raw mut pointer)).map(|()| pointer)
}

impl NvjpegTable {
    /// Major, minor and patch number.
    pub(super) fn version(&self) -> Result<(i32, i32, i32), NvjpegError> {
        let property = |which| {
            let mut value: c_int = 0;
            // SAFETY: the number is writable.
            let status = unsafe { (self.property)(which, &raw mut value) };
            check("nvjpegGetProperty", status).map(|()| value)
        };
        Ok((property(sys::MAJOR)?, property(sys::MINOR)?, property(sys::PATCH)?))
    }
}
