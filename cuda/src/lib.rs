//! Everything that touches a GPU: the CUDA driver and nvJPEG, both opened at run time, and the lanes that decode with them.
//!
//! One binary runs on every machine. Where the driver, a GPU or nvJPEG is missing, [`survey`] says what that is, what it
//! costs and how to get it, and pictures go through the CPU lane. The libraries are wrapped in three layers each: `sys` (their
//! functions), `result` (errors instead of status codes), and the safe types that are public here.
//!
//! Which lane decodes which picture is decided by [`schedule`], without I/O, threads or a clock.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "the driver's names are those of Linux"))]

mod compose;
mod driver;
mod error;
mod frame;
pub mod lane;
mod library;
mod nvjpeg;
mod places;
mod refusal;
pub mod schedule;
pub mod survey;

pub use driver::{
    Context, CudaError, Device, Driver, DriverError, Registered, ShareError, Shareable, SharedMemory, SharedPlace,
    Stream, Uuid,
};
pub use frame::{Form, Frame};
pub use library::OpenError;
pub use nvjpeg::{Account, Backend, Handle, Nvjpeg, NvjpegError, NvjpegOpenError, NvjpegPlaces};
