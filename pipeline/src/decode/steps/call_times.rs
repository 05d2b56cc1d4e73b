//! For how long the calls of a function have lasted, those that last still among them: a call may take longer than the time between two
//! looks at it.

use std::time::Duration;

use parking_lot::Mutex;

/// The calls of one function. Times are counted from any beginning that stays the same.
#[derive(Debug, Default)]
pub(super) struct CallTimes(Mutex<Times>);

#[derive(Debug, Default)]
struct Times {
    /// Calls that were answered.
    count: u64,
    /// How long those have lasted that are over.
    spent: Duration,
    /// Calls that last still.
    running: u32,
    /// The sum of the times at which these began.
    began: Duration,
}

impl CallTimes {
    /// A call begins.
    pub(super) fn begin(&self, now: Duration) {
        let mut times = self.0.lock();
        times.running += 1;
        times.began += now;
    }

    /// A call that began then is over.
    pub(super) fn end(&self, began: Duration, now: Duration, is_answered: bool) {
        let mut times = self.0.lock();
        times.running -= 1;
        times.began -= began;
        times.spent += now.saturating_sub(began);
        times.count += u64::from(is_answered);
    }

    /// How many were answered, and how long all of them have lasted.
    pub(super) fn until(&self, now: Duration) -> (u64, Duration) {
        let times = self.0.lock();
        (times.count, times.spent + (now * times.running).saturating_sub(times.began))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_last_still_are_counted_as_long_as_they_have_lasted() {
        let (calls, seconds) = (CallTimes::default(), Duration::from_secs);
        assert_eq!(calls.until(seconds(5)), (0, seconds(0)));
        calls.begin(seconds(10));
        calls.begin(seconds(12));
        assert_eq!(calls.until(seconds(13)), (0, seconds(3 + 1)));
        calls.end(seconds(10), seconds(20), true);
        assert_eq!(calls.until(seconds(20)), (1, seconds(10 + 8)));
        calls.end(seconds(12), seconds(21), false);
        assert_eq!(calls.until(seconds(99)), (1, seconds(10 + 9)));
    }
}
