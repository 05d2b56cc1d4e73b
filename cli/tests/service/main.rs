//! `forebay serve` as a process, with this process and children of it as its trainers: the rules from end to end.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "why a test was skipped, and what a failed daemon said")]

mod authority;
mod bad_pictures;
mod batches;
mod bench;
mod cache;
mod cluster;
mod crashes;
mod daemon;
mod decoder_proofs;
mod decoders;
mod disk_cache;
mod end;
mod environment;
mod epochs;
mod file_server;
mod fixed;
mod full_disk;
mod gpu;
mod groups;
mod lies;
mod limits;
mod log;
mod many;
mod memory;
mod openings;
mod page;
mod page_pictures;
mod part;
mod permission;
mod placement;
mod ranks;
mod readers;
mod resume;
mod run;
mod seek;
mod segments;
mod shards;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod single_step;
mod speaker;
mod start;
mod storage;
mod suspects;
mod threads;
mod told;
mod trainer;
mod verdicts;

use daemon::PATIENCE;
