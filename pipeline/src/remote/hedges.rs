//! How many requests may be given to a second decoder: at most one in twenty within 10 s (semantics rule 60). Without this limit,
//! decoders that are all slow would get twice the work, and be slower still. Pure: time is an argument.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The time within which requests are counted.
const WITHIN: Duration = Duration::from_secs(10);
/// Requests that are counted together.
const BUCKET: Duration = Duration::from_millis(500);
/// One request of so many may be given twice.
const ONE_IN: u64 = 20;

/// What was asked in the last 10 s.
#[derive(Debug, Default)]
pub(super) struct HedgeRate {
    buckets: VecDeque<Bucket>,
}

#[derive(Debug)]
struct Bucket {
    began: Instant,
    asked: u64,
    twice: u64,
}

impl HedgeRate {
    /// A record was asked for.
    pub(super) fn asked(&mut self, now: Instant) {
        self.bucket(now).asked += 1;
    }

    /// Whether another one may be given twice. If so, that is counted.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        self.forget(now);
        let sum = |of: fn(&Bucket) -> u64| self.buckets.iter().map(of).sum::<u64>();
        let allowed = (sum(|bucket| bucket.twice) + 1) * ONE_IN <= sum(|bucket| bucket.asked);
        if allowed {
            self.bucket(now).twice += 1;
        }
        allowed
    }

    fn bucket(&mut self, now: Instant) -> &mut Bucket {
        let is_old = self.buckets.back().is_none_or(|last| now.saturating_duration_since(last.began) >= BUCKET);
        if is_old {
            self.forget(now);
            self.buckets.push_back(Bucket { began: now, asked: 0, twice: 0 });
        }
        self.buckets.back_mut().expect("one was added if there was none")
    }

    /// A bucket is forgotten when its last request is old enough.
    fn forget(&mut self, now: Instant) {
        while self.buckets.front().is_some_and(|first| now.saturating_duration_since(first.began) > WITHIN + BUCKET) {
            self.buckets.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_60_one_request_in_twenty_is_given_twice_and_old_ones_are_forgotten() {
        let (mut rate, start) = (HedgeRate::default(), Instant::now());
        assert!(!rate.allows(start), "nothing was asked");
        for _ in 0..59 {
            rate.asked(start);
        }
        assert_eq!([(); 4].map(|()| rate.allows(start)), [true, true, false, false]);
        rate.asked(start);
        assert!(rate.allows(start), "60 were asked");
        let later = start + WITHIN + BUCKET * 2;
        assert!(!rate.allows(later));
        (0..20).for_each(|_| rate.asked(later));
        assert!(rate.allows(later), "what was given twice before does not count any more");
    }
}
