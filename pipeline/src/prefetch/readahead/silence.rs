//! What it means that a read is late: a thread and a request differ in that.

use forebay_sources::ReadError;

/// What a read that is late means.
#[derive(Clone, Copy)]
pub(crate) enum Silence<'a> {
    /// Its thread hangs. What it gives still counts.
    Thread,
    /// The request is made again, as after this outage of the record.
    Request(&'a dyn Fn(u64) -> ReadError),
}
