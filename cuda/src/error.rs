//! What nvJPEG, and with it a lane, may fail with.

use thiserror::Error;

use crate::driver::CudaError;

/// A call of nvJPEG that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{call} answered {} ({status})", name(*status))]
pub struct NvjpegError {
    /// The function.
    pub call: &'static str,
    /// `nvjpegStatus_t`.
    pub status: i32,
}

/// The name of an `nvjpegStatus_t`.
fn name(status: i32) -> &'static str {
    const NAMES: [&str; 11] = [
        "success",
        "not initialised",
        "invalid parameter",
        "bad JPEG",
        "JPEG not supported",
        "allocator failure",
        "execution failed",
        "architecture mismatch",
        "internal error",
        "implementation not supported",
        "incomplete bitstream",
    ];
    usize::try_from(status).ok().and_then(|status| NAMES.get(status)).copied().unwrap_or("an unknown status")
}

/// Why a lane cannot continue with its pictures.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaneError {
    /// The GPU or its driver failed.
    #[error("{0}")]
    Cuda(#[from] CudaError),
    /// nvJPEG failed; the GPU is well.
    #[error("{0}")]
    Nvjpeg(#[from] NvjpegError),
    /// The driver takes no form of the kernel that composes pictures.
    #[error("the kernel cannot be loaded: {0}; drivers of CUDA 12.4 (550) and later take it")]
    Kernel(CudaError),
    /// The limit of the GPU's memory leaves too little.
    #[error("the limit of {limit} bytes of the GPU's memory leaves no {needed} bytes; raise decode.gpu_memory_limit")]
    Memory {
        /// The limit.
        limit: usize,
        /// What was asked for.
        needed: usize,
    },
    /// Lanes of this kind use no GPU.
    #[error("the {0} lane uses no GPU")]
    NoGpu(&'static str),
    /// The system has no room for a thread.
    #[error("a thread cannot be started: {0}")]
    Thread(String),
}
