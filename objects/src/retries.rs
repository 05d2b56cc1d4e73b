//! How often and how long a request is tried. Pure: it knows no clock and draws no random number itself.

use std::time::Duration;

use forebay_sources::Backoff;

/// Deadlines and retries of requests to a store.
///
/// A read of bytes may take any time while it makes progress. It does if at least `slowest` bytes per second arrive in each
/// `silence`. A stalled read is given up after `total` and one more attempt, whatever its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Failed attempts in a row, without one new byte, after which the read fails.
    pub limit: u32,
    /// The waits between two attempts.
    pub waits: Backoff,
    /// How long a server may send nothing: neither the head of its answer nor a byte of its body.
    pub silence: Duration,
    /// Bytes in a second, on average over `silence`, below which a body counts as stuck.
    pub slowest: u64,
    /// The time limit of an attempt that reads no bytes: a page of a list, or the metadata of an object.
    pub attempt: Duration,
    /// How long a read may stall, over all its attempts, before no further attempt is made.
    pub total: Duration,
}

impl Default for Retries {
    /// A stalled read ends, with its last attempt, within the 60 s after which a read counts as stuck. So its reader gets
    /// the error of an outage first, and no abandoned read holds its place for long. `slowest` lets 256 requests share a
    /// link of 10 Mbit/s.
    fn default() -> Self {
        Self {
            limit: 6,
            waits: Backoff { first: Duration::from_millis(200), longest: Duration::from_secs(10) },
            silence: Duration::from_secs(15),
            slowest: 4 << 10,
            attempt: Duration::from_secs(20),
            total: Duration::from_secs(30),
        }
    }
}

impl Retries {
    /// How long to wait after this many failures in a row, counted from 1, or none to give up. The read has stood still for
    /// `still`. `draw` is a random number from 0 to 1: clients that failed together do not come back together.
    pub(crate) fn after(&self, failures: u32, still: Duration, draw: f64) -> Option<Duration> {
        let wait = self.waits.after(failures, draw);
        (failures < self.limit).then_some(wait).and_then(|wait| self.granted(wait, None, still))
    }

    /// The wait, or the longer one that the store asks for; none if there is no time for that.
    pub(crate) fn granted(&self, wait: Duration, asked: Option<Duration>, still: Duration) -> Option<Duration> {
        let wait = wait.max(asked.unwrap_or_default());
        (still.saturating_add(wait) <= self.total).then_some(wait)
    }

    /// Bytes that make a step: this many must arrive in each `silence`.
    pub(crate) fn step(&self) -> u64 {
        let bytes = u128::from(self.slowest).saturating_mul(self.silence.as_millis()) / 1000;
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_retries_are_bounded_in_number_and_in_time() {
        let retries = Retries::default();
        let waits: Vec<_> = (1..=7).map(|failures| retries.after(failures, Duration::ZERO, 1.0)).collect();
        let millis = |wait: &Option<Duration>| wait.map(|wait| wait.as_millis());
        let expected = [Some(200), Some(400), Some(800), Some(1600), Some(3200), None, None];
        assert_eq!(waits.iter().map(millis).collect::<Vec<_>>(), expected);
        assert!(retries.after(1, Duration::from_secs(29), 0.0).is_some());
        assert_eq!(retries.after(1, Duration::from_secs(30), 0.0), None);
    }

    #[test]
    fn rule_54_waits_have_jitter_and_a_limit() {
        let retries = Retries { limit: 100, ..Retries::default() };
        let wait = |failures, draw| retries.after(failures, Duration::ZERO, draw).unwrap();
        assert_eq!((wait(3, 0.0).as_millis(), wait(3, 1.0).as_millis()), (400, 800));
        assert_eq!((wait(50, 1.0), wait(99, 1.0)), (retries.waits.longest, retries.waits.longest));
        assert_eq!(wait(3, f64::INFINITY), wait(3, 1.0));
    }

    #[test]
    fn rule_54_a_store_that_asks_for_a_longer_wait_gets_it_if_there_is_time() {
        let retries = Retries { total: Duration::from_secs(90), ..Retries::default() };
        let [second, minute] = [1, 60].map(Duration::from_secs);
        let granted = |asked, still| retries.granted(second, asked, still);
        assert_eq!(granted(None, Duration::ZERO), Some(second));
        assert_eq!(granted(Some(Duration::from_millis(1)), Duration::ZERO), Some(second));
        assert_eq!(granted(Some(minute), Duration::from_secs(30)), Some(minute));
        assert_eq!(
            (granted(Some(minute), Duration::from_secs(31)), granted(Some(Duration::MAX), second)),
            (None, None)
        );
    }

    #[test]
    fn a_step_is_what_arrives_in_a_silence_at_the_slowest_pace() {
        assert_eq!(Retries::default().step(), 60 << 10);
        assert_eq!(Retries { slowest: 0, ..Retries::default() }.step(), 0);
        let endless = Retries { slowest: u64::MAX, silence: Duration::MAX, ..Retries::default() };
        assert_eq!(endless.step(), u64::MAX, "no overflow");
    }
}
