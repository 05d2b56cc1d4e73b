//! Forebay for C and C++: functions over the Rust client, with the header `include/forebay.h`.
//!
//! `abi` has everything that C calls, and all unsafe code. What the functions do is in the safe modules beside it. A handle
//! of C is a number and no address, so that a closed one can be told from an open one.
#![deny(unsafe_code)]

mod abi;
mod batch;
mod failure;
mod handle;
mod session;
mod view;

pub use abi::{
    BatchHandle, BatchInfo, Join, MissedFacts, Options, SessionHandle, StreamFacts, forebay_attach,
    forebay_batch_column_name, forebay_batch_info, forebay_batch_offsets, forebay_batch_validity, forebay_batch_view,
    forebay_class_name, forebay_close, forebay_error, forebay_missed_info, forebay_next, forebay_open_handles,
    forebay_reject, forebay_release, forebay_restore, forebay_state, forebay_status_text, forebay_stream_info,
    forebay_version,
};
pub use failure::Status;
pub use view::{View, ViewType};
