//! A library with the functions of libcuda and of libnvjpeg, for tests on machines without a GPU: memory of the GPU is memory
//! of the host, streams are threads, pictures are decoded by libjpeg-turbo. It fails, waits, goes wrong and counts on demand.
//!
//! A test makes a [`Fake`] and gives its path to what it tests, as the path of both libraries.

mod boundary;
mod buffer;
mod cuda;
mod dial;
mod engines;
mod fake;
mod kernel;
mod nvjpeg;
mod object;
mod register;
mod share;
mod stream;
mod yuv;

pub use dial::{Count, ENVIRONMENT, Knob};
pub use fake::Fake;
