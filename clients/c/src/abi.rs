//! What C calls: the types of the header, and the functions that belong to no session.
//!
//! This folder has all unsafe code of the crate: it reads and writes what the pointers of the caller point to. A handle is
//! a pointer for C's type checks alone, and is never followed.
#![allow(unsafe_code, reason = "C passes pointers, and finds functions by unmangled names")]

mod batch;
mod pointer;
mod session;

use std::ffi::{CStr, c_char};
use std::panic::{self, AssertUnwindSafe};

pub use batch::{
    forebay_batch_column_name, forebay_batch_info, forebay_batch_offsets, forebay_batch_validity, forebay_batch_view,
    forebay_reject, forebay_release,
};
pub use session::{
    forebay_attach, forebay_class_name, forebay_close, forebay_missed_info, forebay_next, forebay_restore,
    forebay_state, forebay_stream_info,
};

use crate::batch::BATCHES;
use crate::failure::{self, Failure, Status};
use crate::session::SESSIONS;

/// An attachment to a stream. One thread at a time may use it.
#[derive(Debug)]
pub struct SessionHandle {
    _opaque: (),
}

/// A batch that the caller holds. Any thread may use it and release it.
#[derive(Debug)]
pub struct BatchHandle {
    _opaque: (),
}

/// What to attach to. Set all bytes to 0 first (`forebay_options options = {0};`): 0 and NULL are the defaults.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Options {
    /// Name of the stream, in UTF-8. Required.
    pub stream: *const c_char,
    /// Path of the daemon's socket. NULL is the user's, or else the service's.
    pub socket: *const c_char,
    /// JSON with settings that the stream must agree with, such as `{"batch_size": 256}`. NULL is any stream.
    pub settings: *const c_char,
    /// Names of the columns that the caller reads, in addition to those of every batch. NULL means all of the stream's.
    pub columns: *const *const c_char,
    /// How many names `columns` has.
    pub column_count: usize,
    /// Batches that the caller may hold at once. 0 is the `credits` of the stream, which are 2 by default.
    pub credits: u32,
    /// The shard that this trainer reads, from 0.
    pub shard_id: u32,
    /// Shards of the stream. 0 is none: the trainers of the stream share its batches.
    pub num_shards: u32,
    /// Longest wait for the daemon's answer, in milliseconds. 0 is one hour.
    pub attach_timeout_ms: u32,
    /// Longest wait for a daemon that went away, in milliseconds. 0 is 60 seconds.
    pub reconnect_timeout_ms: u32,
    /// Name of the group that the caller joins, in UTF-8, in a stream with `groups = "each"`: the trainers of a group share
    /// its batches. NULL is none: the caller is a group by itself.
    pub group: *const c_char,
    /// A `forebay_join`: with which batch the group begins, if this session is its first trainer. 0 is
    /// `FOREBAY_JOIN_NEXT`.
    pub join: u64,
    /// How long a daemon is waited for that does not run yet, in milliseconds. 0 is an error at once.
    pub daemon_wait_ms: u64,
    /// For options of later versions. Must be 0.
    pub reserved: [u64; 5],
}

/// With which batch a group begins that comes while the stream runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Join {
    /// With the next one that no group has been offered.
    Next = 0,
    /// With the first one of the next epoch, if another group is in the middle of the current one.
    Epoch = 1,
}

/// What the daemon says of a stream.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct StreamFacts {
    /// Records of the dataset.
    pub records: u64,
    /// Places of a batch.
    pub batch_size: u64,
    /// Batches of an epoch: exact with shards, an upper bound if several trainers share the stream.
    pub batches_per_epoch: u64,
    /// Epochs of the run; 0 is without end.
    pub epochs: u64,
    /// The epoch that the stream was in when the session began.
    pub epoch: u64,
    /// Classes, whose names `forebay_class_name` gives; 0 if labels are numbers or absent.
    pub classes: u64,
    /// Batches that the caller may hold at once, as the daemon grants.
    pub credits: u32,
    /// For facts of later versions. This version writes 0.
    pub reserved: [u64; 8],
}

/// Batches that other groups have consumed, and that the session's group does not get, because the daemon ended.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MissedFacts {
    /// The epoch that they belong to, from 0.
    pub epoch: u64,
    /// Number of the first batch.
    pub from_batch: u64,
    /// Number of the last batch.
    pub to_batch: u64,
    /// Records of these batches that the group has not had.
    pub records: u64,
    /// For facts of later versions. This version writes 0.
    pub reserved: [u64; 4],
}

/// What a batch is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BatchInfo {
    /// The epoch that it belongs to, from 0.
    pub epoch: u64,
    /// Its number, unique until the daemon starts again.
    pub number: u64,
    /// Places of its views.
    pub shown: u64,
    /// Places with records of this epoch: those where the column `mask` is 1.
    pub valid: u64,
    /// Columns, whose names `forebay_batch_column_name` gives.
    pub columns: u64,
    /// For facts of later versions. This version writes 0.
    pub reserved: [u64; 4],
}

/// The library's version.
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version has no zero byte"),
};

/// The version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn forebay_version() -> *const c_char {
    VERSION.as_ptr()
}

/// What went wrong in the last failed call of this thread: what, where, and what to do. Empty if none has failed.
///
/// The text is valid until the next call of this thread that fails: a status above 0 is no failure, and leaves it.
#[unsafe(no_mangle)]
pub extern "C" fn forebay_error() -> *const c_char {
    failure::last()
}

/// A short text for the number of a status. It is valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn forebay_status_text(status: i32) -> *const c_char {
    Status::text(status).as_ptr()
}

/// Sessions and batches of this process that are neither closed nor released, for tests of leaks.
#[unsafe(no_mangle)]
pub extern "C" fn forebay_open_handles() -> usize {
    SESSIONS.count() + BATCHES.count()
}

/// Runs a call. No panic crosses into C.
fn guarded(call: impl FnOnce() -> Result<Status, Failure>) -> Status {
    let outcome = panic::catch_unwind(AssertUnwindSafe(call));
    let fault = || Failure::new(Status::Internal, "a fault of this library; standard error has the details");
    outcome.unwrap_or_else(|_| Err(fault())).unwrap_or_else(Failure::keep)
}

#[cfg(test)]
mod tests {
    use std::mem::{offset_of, size_of};

    use super::*;

    #[test]
    fn options_have_the_size_and_the_places_of_programs_that_were_built_before() {
        let first = [offset_of!(Options, stream), offset_of!(Options, socket), offset_of!(Options, settings)];
        assert_eq!(first, [0, 8, 16]);
        assert_eq!([offset_of!(Options, columns), offset_of!(Options, column_count)], [24, 32]);
        let numbers = [
            offset_of!(Options, credits),
            offset_of!(Options, shard_id),
            offset_of!(Options, num_shards),
            offset_of!(Options, attach_timeout_ms),
            offset_of!(Options, reconnect_timeout_ms),
        ];
        assert_eq!(numbers, [40, 44, 48, 52, 56]);
        // These programs have eight reserved words from here on, all of them 0. There is no padding between them.
        let later = [offset_of!(Options, group), offset_of!(Options, join), offset_of!(Options, daemon_wait_ms)];
        assert_eq!((later, size_of::<Options>()), ([64, 72, 80], 128));
    }
}
