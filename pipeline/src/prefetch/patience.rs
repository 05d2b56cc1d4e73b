//! When a wait for the storage is reported. The log gets a line at once, and again after growing pauses. Trainers get a
//! notice each time their timeout has passed. Pure: time is an argument.

use std::time::{Duration, Instant};

/// What has been said of a wait.
#[derive(Debug)]
pub(crate) struct Patience {
    timeout: Duration,
    waiting: Option<StorageWaiting>,
}

#[derive(Debug)]
struct StorageWaiting {
    since: Instant,
    /// How long it lasts until it is logged again.
    word: Duration,
    /// How long before trainers are told that it is too long.
    expires: Duration,
}

/// What is to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StorageNotice {
    /// It has gone on for so long.
    Waits {
        /// How long.
        time: Duration,
        /// It is the log's turn.
        log: bool,
        /// Too long for trainers: they are told as an error.
        expired: bool,
    },
    /// It is over, after so long.
    Over(Duration),
}

const FIRST_PAUSE: Duration = Duration::from_secs(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

impl Patience {
    /// Trainers wait for `timeout` before they are told.
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { timeout, waiting: None }
    }

    /// Looks at the wait that there is, by its beginning.
    pub(crate) fn look(&mut self, now: Instant, since: Option<Instant>) -> Option<StorageNotice> {
        let Some(since) = since else {
            let over = self.waiting.take()?;
            return Some(StorageNotice::Over(now.saturating_duration_since(over.since)));
        };
        let (word, expires) = (Duration::ZERO, self.timeout);
        let waiting = self.waiting.get_or_insert(StorageWaiting { since, word, expires });
        let time = now.saturating_duration_since(waiting.since);
        let (log, expired) = (time >= waiting.word, time >= waiting.expires);
        if log {
            waiting.word = (time * 2).clamp(FIRST_PAUSE, time + LONGEST_PAUSE);
        }
        if expired {
            waiting.expires = time + self.timeout;
        }
        (log || expired).then_some(StorageNotice::Waits { time, log, expired })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_at_once_and_with_pauses_that_grow_and_trainers_hear_when_it_is_too_long() {
        let (mut patience, start) = (Patience::new(Duration::from_secs(60)), Instant::now());
        assert_eq!(patience.look(start, None), None);
        let mut words = Vec::new();
        for second in 0..200 {
            match patience.look(start + Duration::from_secs(second), Some(start)) {
                Some(StorageNotice::Waits { time, log, expired }) => {
                    assert_eq!(time.as_secs(), second);
                    words.push((second, log, expired));
                }
                other => assert_eq!(other, None),
            }
        }
        let told: Vec<u64> = words.iter().filter(|(_, log, _)| *log).map(|(second, ..)| *second).collect();
        let raised: Vec<u64> = words.iter().filter(|(.., expired)| *expired).map(|(second, ..)| *second).collect();
        assert_eq!((told, raised), (vec![0, 10, 20, 40, 80, 160], vec![60, 120, 180]));
        let end = start + Duration::from_secs(200);
        assert_eq!(patience.look(end, None), Some(StorageNotice::Over(Duration::from_secs(200))));
        assert_eq!(patience.look(end, None), None);
    }
}
