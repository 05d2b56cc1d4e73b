//! The daemon of Forebay: sources, prefetch, batches, decoding, the ring's authority, and the `forebay` command.
#![forbid(unsafe_code)]

pub mod config;
pub mod queue;
pub mod source;

#[cfg(test)]
mod suite;
