//! The driver's functions as Rust calls them: results instead of status codes. What they ask of pointers is left to the
//! layer above.
#![allow(unsafe_code, reason = "calls libcuda")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

use thiserror::Error;

use super::sys::{self, CuStatus, DriverTable};
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

/// Codes after which, by cuda.h, every later call returns the same until the process is restarted, or the context is gone.
/// For an uncorrectable error of memory or of a link between GPUs, and for an unknown error, cuda.h says only that it
/// happened.
const FAULTS: [CuStatus; 18] = [4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, 911, 999];

impl CudaError {
    /// Whether the GPU has too little memory left.
    pub fn is_out_of_memory(&self) -> bool {
        self.code == 2
    }

    /// Whether the GPU's context is broken for good: every later call fails, and only a new process helps. This includes a
    /// failed wait for the GPU, after which it is unknown what the GPU still does.
    pub fn is_fault(&self) -> bool {
        if matches!(self.call, "cuEventRecord" | "cuEventSynchronize") {
            return true;
        }
        FAULTS.contains(&self.code)
    }
}

impl DriverTable {
    pub(super) fn check(&self, call: &'static str, code: CuStatus) -> Result<(), CudaError> {
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

    pub(super) fn device(&self, ordinal: c_int) -> Result<sys::RawDevice, CudaError> {
        self.number("cuDeviceGet", |to| {
            // SAFETY: the number is writable.
            unsafe { (self.device)(to, ordinal) }
        })
    }

    pub(super) fn device_attribute(&self, attribute: c_int, device: sys::RawDevice) -> Result<c_int, CudaError> {
        self.number("cuDeviceGetAttribute", |to| {
            // SAFETY: the number is writable.
            unsafe { (self.device_attribute)(to, attribute, device) }
        })
    }

    pub(super) fn device_name(&self, device: sys::RawDevice) -> Result<String, CudaError> {
        self.text("cuDeviceGetName", |to, len| {
            // SAFETY: there is room for `len` bytes.
            unsafe { (self.device_name)(to, len, device) }
        })
    }

    pub(super) fn device_bus(&self, device: sys::RawDevice) -> Result<String, CudaError> {
        self.text("cuDeviceGetPCIBusId", |to, len| {
            // SAFETY: there is room for `len` bytes.
            unsafe { (self.device_bus)(to, len, device) }
        })
    }

    pub(super) fn device_memory(&self, device: sys::RawDevice) -> Result<usize, CudaError> {
        let mut bytes = 0;
        // SAFETY: the number is writable.
        let code = unsafe { (self.device_memory)(&raw mut bytes, device) };
        self.check("cuDeviceTotalMem", code).map(|()| bytes)
    }

    pub(super) fn context_retain(&self, device: sys::RawDevice) -> Result<sys::RawContext, CudaError> {
        self.pointer("cuDevicePrimaryCtxRetain", |to| {
            // SAFETY: the pointer is writable.
            unsafe { (self.context_retain)(to, device) }
        })
    }

    pub(super) fn stream_create(&self, flags: c_uint) -> Result<sys::RawStream, CudaError> {
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

    fn number(&self, call: &'static str, ask: impl FnOnce(*mut c_int) -> CuStatus) -> Result<c_int, CudaError> {
        let mut number = 0;
        self.check(call, ask(&raw mut number)).map(|()| number)
    }

    fn pointer(
        &self,
        call: &'static str,
        ask: impl FnOnce(*mut *mut c_void) -> CuStatus,
    ) -> Result<*mut c_void, CudaError> {
        let mut pointer = null_mut();
        self.check(call, ask(&raw mut pointer)).map(|()| pointer)
    }

    fn text(&self, call: &'static str, ask: impl FnOnce(*mut c_char, c_int) -> CuStatus) -> Result<String, CudaError> {
        let mut text = [0_u8; 256];
        self.check(call, ask(text.as_mut_ptr().cast(), 256))?;
        Ok(CStr::from_bytes_until_nul(&text).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A short form of the text in cuda.h of CUDA 13.0 about a code.
    enum Says {
        /// "The process must be terminated and relaunched", or "the context cannot be used anymore".
        Relaunch,
        /// What it refused, or what is missing, but nothing about later calls.
        NoMore,
        /// That it has happened on the device. The driver's manual of Xid errors adds that the process must be ended.
        Happened,
    }

    #[test]
    fn a_fault_is_what_cuda_h_says_to_end_the_process_for() {
        use Says::{Happened, NoMore, Relaunch};
        let codes = [
            (1, "INVALID_VALUE", NoMore),
            (2, "OUT_OF_MEMORY", NoMore),
            (3, "NOT_INITIALIZED", NoMore),
            (4, "DEINITIALIZED", Relaunch),
            (46, "DEVICE_UNAVAILABLE", NoMore),
            (100, "NO_DEVICE", NoMore),
            (200, "INVALID_IMAGE", NoMore),
            (201, "INVALID_CONTEXT", NoMore),
            (209, "NO_BINARY_FOR_GPU", NoMore),
            (214, "ECC_UNCORRECTABLE", Happened),
            (218, "INVALID_PTX", NoMore),
            (219, "INVALID_GRAPHICS_CONTEXT", NoMore),
            (220, "NVLINK_UNCORRECTABLE", Happened),
            (221, "JIT_COMPILER_NOT_FOUND", NoMore),
            (222, "UNSUPPORTED_PTX_VERSION", NoMore),
            (223, "JIT_COMPILATION_DISABLED", NoMore),
            (224, "UNSUPPORTED_EXEC_AFFINITY", NoMore),
            (225, "UNSUPPORTED_DEVSIDE_SYNC", NoMore),
            (226, "CONTAINED", Relaunch),
            (304, "OPERATING_SYSTEM", NoMore),
            (400, "INVALID_HANDLE", NoMore),
            (600, "NOT_READY", NoMore),
            (700, "ILLEGAL_ADDRESS", Relaunch),
            (701, "LAUNCH_OUT_OF_RESOURCES", NoMore),
            (702, "LAUNCH_TIMEOUT", Relaunch),
            (703, "LAUNCH_INCOMPATIBLE_TEXTURING", NoMore),
            (708, "PRIMARY_CONTEXT_ACTIVE", NoMore),
            (709, "CONTEXT_IS_DESTROYED", Relaunch),
            (710, "ASSERT", Relaunch),
            (711, "TOO_MANY_PEERS", NoMore),
            (712, "HOST_MEMORY_ALREADY_REGISTERED", NoMore),
            (713, "HOST_MEMORY_NOT_REGISTERED", NoMore),
            (714, "HARDWARE_STACK_ERROR", Relaunch),
            (715, "ILLEGAL_INSTRUCTION", Relaunch),
            (716, "MISALIGNED_ADDRESS", Relaunch),
            (717, "INVALID_ADDRESS_SPACE", Relaunch),
            (718, "INVALID_PC", Relaunch),
            (719, "LAUNCH_FAILED", Relaunch),
            (720, "COOPERATIVE_LAUNCH_TOO_LARGE", NoMore),
            (721, "TENSOR_MEMORY_LEAK", Relaunch),
            (800, "NOT_PERMITTED", NoMore),
            (801, "NOT_SUPPORTED", NoMore),
            (802, "SYSTEM_NOT_READY", NoMore),
            (806, "MPS_RPC_FAILURE", NoMore),
            (807, "MPS_SERVER_NOT_READY", NoMore),
            (810, "MPS_CLIENT_TERMINATED", Relaunch),
            (900, "STREAM_CAPTURE_UNSUPPORTED", NoMore),
            (909, "TIMEOUT", NoMore),
            (911, "EXTERNAL_DEVICE", Relaunch),
            (999, "UNKNOWN", Happened),
        ];
        for (code, name, says) in codes {
            let error = CudaError { call: "cuLaunchKernel", code, name: name.into() };
            assert_eq!(error.is_fault(), !matches!(says, NoMore), "{error}");
            let error = CudaError { call: "cuEventSynchronize", ..error };
            assert!(error.is_fault(), "nobody knows what is under way after {error}");
        }
    }
}
