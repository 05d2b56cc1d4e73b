//! How long a trainer's caller waits for batches, in the portions that are reported to the daemon. Pure.

use std::time::Duration;

/// A long wait is reported in portions of this length, so a waiting trainer wakes its daemon once a second.
const LASTING: Duration = Duration::from_secs(1);
/// At the end of a call, waits are reported once they add up to this. A trainer that hardly waits reports nothing.
const ENDED: Duration = Duration::from_millis(100);

/// Waits that were not reported yet.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    /// Of the call that is under way, as far as it was counted.
    of_call: Duration,
    owed: Duration,
}

impl Waits {
    /// The call that is under way has waited this long. Returns the time to report to the daemon now.
    pub(crate) fn waited(&mut self, in_call: Duration) -> Option<Duration> {
        self.add(in_call);
        self.due(LASTING)
    }

    /// The call is over, after this wait. Returns the time to report to the daemon now.
    pub(crate) fn ends(&mut self, in_call: Duration) -> Option<Duration> {
        self.add(in_call);
        self.of_call = Duration::ZERO;
        self.due(ENDED)
    }

    fn add(&mut self, in_call: Duration) {
        self.owed += in_call.saturating_sub(self.of_call);
        self.of_call = in_call;
    }

    fn due(&mut self, portion: Duration) -> Option<Duration> {
        (self.owed >= portion).then(|| std::mem::take(&mut self.owed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_long_wait_is_told_while_it_lasts_and_each_part_of_it_once() {
        let mut waits = Waits::default();
        let told: Vec<_> = [0, 999, 1000, 1500, 2450, 2460].map(|time| waits.waited(millis(time))).into();
        assert_eq!(told, [None, None, Some(millis(1000)), None, Some(millis(1450)), None]);
        assert_eq!(waits.ends(millis(2540)), None);
        assert_eq!(waits.ends(millis(15)), Some(millis(105)), "with what was left of the call before");
    }

    #[test]
    fn short_waits_add_up() {
        let mut waits = Waits::default();
        let mut told = Duration::ZERO;
        for _ in 0..1000 {
            told += waits.ends(millis(7)).unwrap_or_default();
        }
        assert_eq!(told + waits.owed, millis(7000));
        assert!(waits.owed < ENDED);
    }
}
