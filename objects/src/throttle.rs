//! How many requests a store may have under way at once. The number grows by one with each round of answers. It is halved
//! when requests time out or are refused for now, as if the way to the store were a slow link. Pure: time is an argument.

use std::time::Instant;

/// The number of requests that may be under way.
#[derive(Clone, Debug)]
pub(crate) struct Throttle {
    most: usize,
    size: usize,
    /// Answers since the number last changed.
    answers: usize,
    halved: Option<Instant>,
}

impl Throttle {
    /// Begins with the most that there may ever be, which is at least one.
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), size: most.max(1), answers: 0, halved: None }
    }

    /// How many requests may be under way.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// A request was answered. As many answers as there may be requests are a round.
    pub(crate) fn answered(&mut self) {
        self.answers += 1;
        if self.answers >= self.size {
            self.size = (self.size + 1).min(self.most);
            self.answers = 0;
        }
    }

    /// A request that began at this time has timed out, or was refused for now. Requests that were under way when the number
    /// was last halved say nothing about the number since then.
    pub(crate) fn refused(&mut self, began: Instant, now: Instant) {
        if self.halved.is_none_or(|halved| began > halved) {
            self.size = (self.size / 2).max(1);
            self.answers = 0;
            self.halved = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// A store that answers only a limited number of requests at once, and refuses the others. Each takes `time`. Refused
    /// requests are repeated.
    struct SlowStore {
        holds: usize,
        time: Duration,
        /// When each request began, and whether it will be answered.
        under_way: VecDeque<(Instant, bool)>,
    }

    impl SlowStore {
        /// Makes requests for `rounds` rounds. Returns how many were under way in each round of the last half.
        fn rounds(&mut self, throttle: &mut Throttle, rounds: usize) -> Vec<usize> {
            let (mut now, mut seen) = (Instant::now(), Vec::new());
            for round in 0..rounds {
                while self.under_way.len() < throttle.size() {
                    let answered = self.under_way.iter().filter(|(_, answered)| *answered).count();
                    self.under_way.push_back((now, answered < self.holds));
                    now += Duration::from_nanos(1);
                }
                if round >= rounds / 2 {
                    seen.push(self.under_way.len());
                }
                now += self.time;
                for (began, answered) in self.under_way.drain(..) {
                    if answered {
                        throttle.answered();
                    } else {
                        throttle.refused(began, now);
                    }
                }
            }
            seen
        }
    }

    proptest! {
        #[test]
        fn rule_54_the_number_of_requests_comes_near_to_what_a_store_answers_and_stays_there(
            most in 1_usize..300,
            holds in 1_usize..300,
            millis in 1_u64..20_000,
        ) {
            let time = Duration::from_millis(millis);
            let (mut throttle, under_way) = (Throttle::new(most), VecDeque::new());
            let seen = SlowStore { holds, time, under_way }.rounds(&mut throttle, 1000);
            let (least, greatest) = (seen.iter().min().unwrap(), seen.iter().max().unwrap());
            prop_assert!(*greatest <= most.min(holds + 1), "{greatest} of {holds}");
            prop_assert!(*least >= most.min(holds / 2).max(1), "{least} of {holds}");
        }
    }

    #[test]
    fn refusals_of_requests_that_were_under_way_together_count_once() {
        let start = Instant::now();
        let at = |second| start + Duration::from_secs(second);
        let mut throttle = Throttle::new(64);
        for end in 10..20 {
            throttle.refused(start, at(end));
        }
        assert_eq!(throttle.size(), 32);
        throttle.refused(at(10), at(20));
        assert_eq!(throttle.size(), 32, "it began when the number was halved");
        throttle.refused(at(11), at(20));
        assert_eq!(throttle.size(), 16);
        (0..15).for_each(|_| throttle.answered());
        assert_eq!(throttle.size(), 16);
        throttle.answered();
        assert_eq!(throttle.size(), 17);
        (1..20).for_each(|round| throttle.refused(at(20 * round + 1), at(20 * (round + 1))));
        assert_eq!(throttle.size(), 1, "one request is always made");
    }
}
