//! When the daemon ends itself: if nothing in this process can use a GPU any more, or if continuing would give other
//! pixels than were requested. Its supervisor restarts it, and trainers reconnect. They keep what they hold.

use std::process::abort;
use std::time::Duration;

/// The GPU's context is broken.
pub(crate) fn broken(error: &dyn std::error::Error) -> ! {
    tracing::error!(%error, "the GPU failed; the daemon ends so that it can be restarted");
    abort()
}

/// A thread has waited so long for a GPU that it will not come back. What it writes to is in nobody else's hands until then.
pub(crate) fn hung(thread: &str, limit: Duration) -> ! {
    tracing::error!(
        thread,
        seconds = limit.as_secs_f64(),
        "the GPU did not finish what this thread gave it: nvJPEG or the driver hangs; the daemon ends so that it can be restarted"
    );
    abort()
}

/// A picture cannot be decoded by the lane that its record's number says, for a reason that another run may not meet.
pub(crate) fn unfixed(record: u64, lane: &str, reason: &str) -> ! {
    tracing::error!(
        record,
        lane,
        reason,
        "decode.lanes = \"fixed\" cannot be kept: the lane failed twice, and another lane would give other pixels; the daemon ends \
         so that it can be restarted"
    );
    abort()
}
