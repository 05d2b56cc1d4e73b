//! Times as numbers of nanoseconds: for messages and statistics.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Nanosecond of `CLOCK_MONOTONIC`, on which trainers measure what is sent to them.
pub(crate) fn monotonic() -> u64 {
    of(ClockId::Monotonic)
}

/// Nanosecond of `CLOCK_BOOTTIME`, which continues while the machine sleeps.
pub(crate) fn boot() -> u64 {
    of(ClockId::Boottime)
}

/// A time in nanoseconds.
pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}
