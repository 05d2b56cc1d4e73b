//! The ways to decode, with [`LaneKind`] as their table, and why a lane leaves a picture to the next one.

pub mod ceiling;
mod engine;
pub mod gpu;
mod kind;
pub mod order;
mod poison;
pub mod recycle;
pub mod self_test;
pub mod size;
mod staging;
mod state;
pub mod trial;
pub mod whole;
pub mod worker;

pub use crate::error::LaneError;
pub use crate::refusal::Refusal;
pub use kind::LaneKind;
