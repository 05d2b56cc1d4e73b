//! The driver's functions as Rust calls them: results instead of status codes. What they ask of pointers is left to the
//! layer above.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use thiserror::Error;

use super::sys::{self, Status, Table};
use crate::library::OpenError;

/// A call of the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{call} failed with {name} ({code})")]
pub struct CudaError {
    /// The function.
    pub call: &'static str,
    /// `CUresult`.
    pub code: i32,
    /// Its name, as the driver gives it.
    pub name: String,
}

/// Why memory cannot be shared or locked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ShareError {
    /// The driver has not all the functions.
    #[error("{0}")]
    Old(#[from] OpenError),
    /// A call failed.
    #[error("{0}")]
    Cuda(#[from] CudaError),
}

impl CudaError {
    /// Whether the GPU has too little memory left.
    pub fn is_out_of_memory(&self) -> bool {
        self.code == 2
    }

    /// Whether the GPU's context is broken for good: every later call fails, and only a new process helps. So it is as well where
    /// the host cannot wait for the GPU: nobody knows what is still under way.
    pub fn is_fault(&self) -> bool {
        if matches!(self.call, "cuEventRecord" | "cuEventSynchronize") {
            return true;
        }
        // Deinitialised, device unavailable; uncorrectable ECC, invalid PTX or unsupported; the errors of running kernels; unknown.
        matches!(self.code, 4 | 46 | 214 | 219..=227 | 700 | 702 | 709..=721 | 999)
    }
}

impl Table {
    pub(super) fn check(&self, call: &'static str, code: Status) -> Result<(), CudaError> {
        if code == sys::SUCCESS {
            return Ok(());
        }
        let mut name: *const c_char = std::ptr::null();
        // SAFETY: the pointer is writable; the driver sets it to a static string, or leaves it for an unknown code.
        let known = unsafe { (self.error_name)(code, &raw mut name) };
        let name = if known == sys::SUCCESS && !name.is_null() {
            // SAFETY: it is a zero-terminated string of the driver's own.
            unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
        } else {
            "an unknown error".to_owned()
        };
        Err(CudaError { call, code, name })
    }

    pub(super) fn init(&self) -> Result<(), CudaError> {
        // SAFETY: takes no pointer; may be called again.
        let code = unsafe { (self.init)(0) };
        self.check("cuInit", code)
    }

    pub(super) fn driver_version(&self) -> Result<c_int, CudaError> {
        self.number("cuDriverGetVersion", |to| {
            // SAFETY: the number is writable.
            unsafe { (self.driver_version)(to) }
        })
    }

    pub(super) fn device_count(&self) -> Result<c_int, CudaError> {
        self.number("cuDeviceGetCount", |to| {
            // SAFETY: the number is writable.
            unsafe { (self.device_count)(to) }
        })
    }

    pub(super) fn device(&self, ordinal: c_int) -> Result<sys::Device, CudaError> {
        self.number("cuDeviceGet", |to| {
            // SAFETY: the number is writable.
            unsafe { (self.device)(to, ordinal) }
        })
    }

    pub(super) fn device_attribute(&self, attribute: c_int, device: sys::Device) -> Result<c_int, CudaError> {
        self.number("cuDeviceGetAttribute", |to| {
            // SAFETY: the number is writable.
            unsafe { (self.device_attribute)(to, attribute, device) }
        })
    }

    pub(super) fn device_name(&self, device: sys::Device) -> Result<String, CudaError> {
        self.text("cuDeviceGetName", |to, len| {
            // SAFETY: there is room for `len` bytes.
            unsafe { (self.device_name)(to, len, device) }
        })
    }

    pub(super) fn device_bus(&self, device: sys::Device) -> Result<String, CudaError> {
        self.text("cuDeviceGetPCIBusId", |to, len| {
            // SAFETY: there is room for `len` bytes.
            unsafe { (self.device_bus)(to, len, device) }
        })
    }

    pub(super) fn device_memory(&self, device: sys::Device) -> Result<usize, CudaError> {
        let mut bytes = 0;
        // SAFETY: the number is writable.
        let code = unsafe { (self.device_memory)(&raw mut bytes, device) };
        self.check("cuDeviceTotalMem", code).map(|()| bytes)
    }

    pub(super) fn context_retain(&self, device: sys::Device) -> Result<sys::Context, CudaError> {
        self.pointer("cuDevicePrimaryCtxRetain", |to| {
            // SAFETY: the pointer is writable.
            unsafe { (self.context_retain)(to, device) }
        })
    }

    pub(super) fn stream_create(&self, flags: c_uint) -> Result<sys::Stream, CudaError> {
        self.pointer("cuStreamCreate", |to| {
            // SAFETY: the pointer is writable.
            unsafe { (self.stream_create)(to, flags) }
        })
    }

    pub(super) fn event_create(&self, flags: c_uint) -> Result<sys::Event, CudaError> {
        self.pointer("cuEventCreate", |to| {
            // SAFETY: the pointer is writable.
            unsafe { (self.event_create)(to, flags) }
        })
    }

    pub(super) fn host_alloc(&self, bytes: usize) -> Result<*mut c_void, CudaError> {
        self.pointer("cuMemHostAlloc", |to| {
            // SAFETY: the pointer is writable.
            unsafe { (self.host_alloc)(to, bytes, sys::HOST_PORTABLE) }
        })
    }

    pub(super) fn memory_alloc(&self, bytes: usize) -> Result<sys::DevicePtr, CudaError> {
        let mut at = 0;
        // SAFETY: the number is writable.
        let code = unsafe { (self.memory_alloc)(&raw mut at, bytes) };
        self.check("cuMemAlloc", code).map(|()| at)
    }

    fn number(&self, call: &'static str, ask: impl FnOnce(*mut c_int) -> Status) -> Result<c_int, CudaError> {
        let mut number = 0;
        self.check(call, ask(&raw mut number)).map(|()| number)
    }

    fn pointer(
        &self,
        call: &'static str,
        ask: impl FnOnce(*mut *mut c_void) -> Status,
    ) -> Result<*mut c_void, CudaError> {
        let mut pointer = null_mut();
        self.check(call, ask(&raw mut pointer)).map(|()| pointer)
    }

    fn text(&self, call: &'static str, ask: impl FnOnce(*mut c_char, c_int) -> Status) -> Result<String, CudaError> {
        let mut text = [0_u8; 256];
        self.check(call, ask(text.as_mut_ptr().cast(), 256))?;
        Ok(CStr::from_bytes_until_nul(&text).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default())
    }
}
