//! How often and how long a request is tried. Pure: it knows no clock and draws no random number itself.

use std::time::Duration;

/// Deadlines and retries of requests to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Failed attempts in a row, without one new byte, after which the read fails.
    pub limit: u32,
    /// The wait before the first retry. It doubles with each one.
    pub wait: Duration,
    /// The longest wait between two attempts.
    pub wait_limit: Duration,
    /// How long a server may send nothing: neither the head of its answer nor a byte of its body.
    pub silence: Duration,
    /// Time that an attempt has, beside the time for its bytes at `slowest`.
    pub attempt: Duration,
    /// Bytes in a second below which a body counts as stuck.
    pub slowest: u64,
    /// Time for all attempts of a read together, beside the time for its bytes at `slowest`.
    pub total: Duration,
}

impl Default for Retries {
    /// With the last attempt, they end within the 60 s after which a read counts as stuck: who reads hears of an outage first,
    /// and no read that was given up holds its place for long.
    fn default() -> Self {
        Self {
            limit: 6,
            wait: Duration::from_millis(200),
            wait_limit: Duration::from_secs(10),
            silence: Duration::from_secs(15),
            attempt: Duration::from_secs(20),
            slowest: 128 << 10,
            total: Duration::from_secs(30),
        }
    }
}

impl Retries {
    /// How long to wait after this many failures in a row, counted from 1, or none to give up. `draw` is a random
    /// number from 0 to 1: clients that failed together do not come back together.
    pub(crate) fn after(&self, failures: u32, elapsed: Duration, bytes: u64, draw: f64) -> Option<Duration> {
        let doublings = failures.saturating_sub(1).min(20);
        let full = self.wait.saturating_mul(1 << doublings).min(self.wait_limit);
        let wait = full.mul_f64(0.5 + draw.clamp(0.0, 1.0) / 2.0);
        let late = elapsed.saturating_add(wait) > self.total.saturating_add(self.transfer(bytes));
        (failures < self.limit && !late).then_some(wait)
    }

    /// The wait, or the longer one that the store asks for; none if there is no time for that.
    pub(crate) fn granted(
        &self,
        wait: Duration,
        asked: Option<Duration>,
        elapsed: Duration,
        bytes: u64,
    ) -> Option<Duration> {
        let wait = wait.max(asked.unwrap_or_default());
        (elapsed.saturating_add(wait) <= self.total.saturating_add(self.transfer(bytes))).then_some(wait)
    }

    /// When an attempt for this many bytes must be over.
    pub(crate) fn deadline(&self, bytes: u64) -> Duration {
        self.attempt.saturating_add(self.transfer(bytes))
    }

    fn transfer(&self, bytes: u64) -> Duration {
        Duration::from_secs(bytes / self.slowest.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_an_outage_is_told_before_a_read_counts_as_stuck() {
        let retries = Retries::default();
        let last_begins = retries.total;
        assert!(last_begins + retries.deadline(0) < Duration::from_secs(60));
        assert!(retries.silence <= retries.attempt);
    }

    #[test]
    fn rule_54_retries_are_bounded_in_number_and_in_time() {
        let retries = Retries::default();
        let waits: Vec<_> = (1..=7).map(|failures| retries.after(failures, Duration::ZERO, 0, 1.0)).collect();
        let millis = |wait: &Option<Duration>| wait.map(|wait| wait.as_millis());
        let expected = [Some(200), Some(400), Some(800), Some(1600), Some(3200), None, None];
        assert_eq!(waits.iter().map(millis).collect::<Vec<_>>(), expected);
        assert_eq!(retries.after(1, Duration::from_secs(90), 0, 0.0), None);
        assert!(retries.after(1, Duration::from_secs(90), 1 << 30, 0.0).is_some(), "more bytes have more time");
    }

    #[test]
    fn rule_54_waits_have_jitter_and_a_limit() {
        let retries = Retries { limit: 100, ..Retries::default() };
        let wait = |failures, draw| retries.after(failures, Duration::ZERO, 0, draw).unwrap();
        assert_eq!((wait(3, 0.0).as_millis(), wait(3, 1.0).as_millis()), (400, 800));
        assert_eq!((wait(50, 1.0), wait(99, 1.0)), (retries.wait_limit, retries.wait_limit));
        assert_eq!(wait(3, f64::INFINITY), wait(3, 1.0));
    }

    #[test]
    fn rule_54_a_store_that_asks_for_a_longer_wait_gets_it_if_there_is_time() {
        let retries = Retries { total: Duration::from_secs(90), ..Retries::default() };
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let granted = |asked, elapsed| retries.granted(second, asked, elapsed, 0);
        assert_eq!(granted(None, Duration::ZERO), Some(second));
        assert_eq!(granted(Some(Duration::from_millis(1)), Duration::ZERO), Some(second));
        assert_eq!(granted(Some(minute), Duration::from_secs(30)), Some(minute));
        assert_eq!(
            (granted(Some(minute), Duration::from_secs(31)), granted(Some(Duration::MAX), second)),
            (None, None)
        );
    }

    #[test]
    fn rule_54_an_attempt_s_deadline_grows_with_its_bytes() {
        let retries = Retries::default();
        assert_eq!(retries.deadline(0), Duration::from_secs(20));
        assert_eq!(retries.deadline(1 << 20), Duration::from_secs(28));
        assert!(Retries { slowest: 0, ..retries }.deadline(u64::MAX) > Duration::from_secs(1 << 40), "no overflow");
    }
}
