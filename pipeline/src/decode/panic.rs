//! Panics of decoders, which are caught: each is what is wrong with a picture, and not the end of the daemon.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::reason::Reason;

/// A panic of the work, as what is wrong with its picture.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Reason> {
    let outcome = catch_unwind(AssertUnwindSafe(work));
    outcome.map_err(|panic| Reason::Panic { panic: panic_text(panic.as_ref()).into() })
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}
