//! By what a changed file is known.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

/// The size and time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub len: u64,
    pub modified: Option<SystemTime>,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }

    /// What [`nanoseconds`](Self::nanoseconds) gave.
    pub(crate) fn of_nanoseconds(len: u64, modified: Option<i64>) -> Self {
        Self { len, modified: modified.and_then(system_time) }
    }

    /// The time, as nanoseconds since 1970.
    pub(crate) fn nanoseconds(&self) -> Option<i64> {
        let modified = self.modified?;
        match modified.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).ok(),
            Err(before) => i64::try_from(before.duration().as_nanos()).ok()?.checked_neg(),
        }
    }
}

fn system_time(nanoseconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_nanos(nanoseconds.unsigned_abs());
    if nanoseconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_and_after_1970_are_kept() {
        for time in [i64::MIN + 1, -1, 0, 1, 1_700_000_000_123_456_789, i64::MAX] {
            assert_eq!(Stamp::of_nanoseconds(0, Some(time)).nanoseconds(), Some(time));
        }
    }
}
