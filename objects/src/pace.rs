//! The progress of the read of a range: whether enough bytes arrive, and since when it has stalled. Pure: time is an
//! argument.

use std::time::{Duration, Instant};

use crate::Retries;

/// The progress of a read, over all its attempts.
#[derive(Clone, Debug)]
pub(crate) struct Pace {
    /// Bytes that must arrive in each `silence`.
    step: u64,
    silence: Duration,
    /// Bytes since the latest step.
    arrived: u64,
    /// When it began, or made its latest step.
    stepped: Instant,
    /// When the attempt began, or made its latest step.
    attempt: Instant,
}

impl Pace {
    /// A read that begins now.
    pub(crate) fn new(retries: &Retries, now: Instant) -> Self {
        Self { step: retries.step(), silence: retries.silence, arrived: 0, stepped: now, attempt: now }
    }

    /// Another attempt begins.
    pub(crate) fn begin(&mut self, now: Instant) {
        self.attempt = now;
    }

    /// The read waited for so long before its attempt, for others of this process. That is no standstill.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.stepped += time;
    }

    /// Bytes have arrived. Returns whether that completes a step. The caller then tells the waiting readers that the read
    /// makes progress.
    pub(crate) fn arrived(&mut self, bytes: u64, now: Instant) -> bool {
        self.arrived = self.arrived.saturating_add(bytes);
        let is_step = bytes > 0 && self.arrived >= self.step;
        if is_step {
            (self.arrived, self.stepped, self.attempt) = (0, now, now);
        }
        is_step
    }

    /// How long the attempt may wait for its next bytes. `now` is when the latest ones arrived.
    pub(crate) fn patience(&self, now: Instant) -> Duration {
        self.silence.saturating_sub(now.saturating_duration_since(self.attempt))
    }

    /// How long the read has stood still.
    pub(crate) fn still(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.stepped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When the next bytes of an attempt come, and how many. It may never send any more.
    type Server = fn(u32) -> Option<(Duration, u64)>;

    /// The outcome of a read of `bytes` bytes: how long it takes, whether it succeeds, and the longest time without a step.
    fn read(bytes: u64, server: impl Fn(u32) -> Option<(Duration, u64)>) -> (Duration, bool, Duration) {
        let (retries, start) = (Retries::default(), Instant::now());
        let (mut pace, mut now, mut arrived) = (Pace::new(&retries, start), start, 0);
        let (mut failures, mut attempts, mut longest) = (0, 0, Duration::ZERO);
        loop {
            let before = arrived;
            attempts += 1;
            pace.begin(now);
            while let Some((after, more)) = server(attempts).filter(|(after, _)| *after <= pace.patience(now)) {
                now += after;
                longest = longest.max(pace.still(now));
                arrived += more;
                pace.arrived(more, now);
                if arrived >= bytes {
                    return (now - start, true, longest);
                }
            }
            now += pace.patience(now);
            longest = longest.max(pace.still(now));
            failures = if arrived > before { 1 } else { failures + 1 };
            let Some(wait) = retries.after(failures, pace.still(now), 1.0) else {
                return (now - start, false, longest);
            };
            now += wait;
        }
    }

    /// After this time without a pulse, a waiting reader considers the read stuck.
    const READ_TIMEOUT: Duration = Duration::from_secs(60);

    #[test]
    fn rule_54_an_outage_is_told_before_a_read_counts_as_stuck_however_large_it_is() {
        let drips: [Server; 4] = [
            // Silence, a byte from time to time, a byte in each attempt, and a third of what is due.
            |_| None,
            |_| Some((Duration::from_secs(14), 1)),
            |attempt| (attempt % 2 == 1).then_some((Duration::from_millis(7_499), 1)),
            |_| Some((Duration::from_secs(15), 20 << 10)),
        ];
        for bytes in [10_000_000, 5 << 20, 32 << 20, 1 << 40] {
            for (number, server) in drips.iter().enumerate() {
                let (took, good, _) = read(bytes, server);
                assert!(
                    !good && took + Duration::from_secs(10) < READ_TIMEOUT,
                    "server {number}: {took:?} for {bytes}"
                );
            }
        }
    }

    #[test]
    fn rule_54_a_slow_read_continues_and_says_so() {
        // A chunk of 32 MiB over half a megabyte a second, and one request of 256 that share 25 Mbit/s.
        for (bytes, each_second, expected) in [(32 << 20, 500_000, 68), (1_000_000, 12_000, 84)] {
            let (took, good, longest) = read(bytes, |_| Some((Duration::from_secs(1), each_second)));
            assert!(good && took == Duration::from_secs(expected), "{took:?}");
            assert!(took > READ_TIMEOUT && longest < READ_TIMEOUT / 4, "{longest:?} without a sign");
        }
    }

    #[test]
    fn rule_54_a_read_that_waits_for_others_does_not_stand_still() {
        let (retries, start) = (Retries::default(), Instant::now());
        let mut pace = Pace::new(&retries, start);
        pace.waited(Duration::from_secs(100));
        let now = start + Duration::from_secs(101);
        pace.begin(now);
        assert_eq!((pace.still(now), pace.patience(now)), (Duration::from_secs(1), retries.silence));
    }

    #[test]
    fn rule_54_attempts_that_break_off_are_no_standstill_if_each_brings_a_step() {
        let retries = Retries::default();
        let mut now = Instant::now();
        let mut pace = Pace::new(&retries, now);
        for _ in 0..1000 {
            pace.begin(now);
            now += Duration::from_secs(10);
            assert!(pace.arrived(retries.step(), now));
            assert_eq!(retries.after(1, pace.still(now), 0.0), Some(Duration::from_millis(100)));
        }
        assert!(!pace.arrived(retries.step() - 1, now) && pace.arrived(1, now), "small pieces add up");
    }
}
