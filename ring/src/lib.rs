//! Shared memory between daemon and trainer.
mod message;
pub use message::*;
