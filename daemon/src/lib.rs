//! The daemon of Forebay: sources, prefetch, batches, decoding, the ring's authority, and the `forebay` command.
#![forbid(unsafe_code)]

mod accepting;
pub mod ack;
pub mod batch;
pub mod cache;
pub mod config;
pub mod consumers;
pub mod control;
pub mod cores;
pub mod daemon;
pub mod decode;
mod descriptors;
pub mod door;
mod folder;
pub mod gpu_ring;
pub mod gpu_threads;
mod group;
mod incarnation;
mod last_resort;
pub mod lease;
pub mod memory;
pub mod placement;
pub mod prefetch;
pub mod publish;
pub mod queue;
pub mod record;
pub mod serve;
pub mod source;
pub mod stream;
pub mod suspects;
pub mod telemetry;
mod thread_class;
pub mod threads;
pub mod upload;
mod visitors;
mod watch;
pub mod worker;

#[cfg(test)]
mod suite;
