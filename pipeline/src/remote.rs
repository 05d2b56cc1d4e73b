//! Decoders on other machines (semantics rule 60): what both ends share, and the decisions of a daemon.
//!
//! `lane` decides which decoder makes which record of a stream; it is pure. What daemon and decoder say to each other is in
//! `proto/forebay/v1/decoder.proto`, in frames (`frame`); `answer` has the picture that comes back. The task that asks decoders is
//! `stream/decoders/drive.rs`.

pub(crate) mod answer;
mod frame;
mod hedges;
pub(crate) mod lane;
mod peer;
pub(crate) mod roster;
pub(crate) mod share;

pub use answer::made_answer;
pub use frame::{DECODE_PROTOCOL, no_body, read_frame, write_frame};

/// Version of the pixels. Two builds with the same one make the same bytes of the same file, recipe and draw on the CPU. It rises with
/// every change of them.
pub const PIXELS_VERSION: u32 = 1;
/// Version of the messages, and of the keys that are sent with them.
pub const REMOTE_VERSION: u32 = 1;
