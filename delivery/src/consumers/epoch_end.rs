//! Decides when an epoch is over, which epoch is the last, and how long an epoch's end has waited for a trainer
//! (semantics rule 11). Pure: time is an argument.

use std::time::{Duration, Instant};

use forebay_proto::v1::Progress;

/// What is known about the ends of epochs.
#[derive(Debug)]
pub(super) struct EpochEnd {
    progress: Progress,
    epochs: Option<u64>,
    timeout: Duration,
    waiting: Option<EpochWaiting>,
    done_told: bool,
    /// The stream has failed here: trainers get the error, whatever else is over (semantics rule 7).
    failed: bool,
}

#[derive(Debug)]
struct EpochWaiting {
    since: Instant,
    /// What it waited for when that was told last.
    told: Option<(&'static str, Instant)>,
    expired: bool,
}

/// A shorter wait is not worth a message.
const WORTH_A_WORD: Duration = Duration::from_secs(10);

impl EpochEnd {
    /// The stream starts at `epoch`.
    pub(super) fn new(epoch: u64, epochs: Option<u64>, timeout: Duration) -> Self {
        let progress = Progress { floor: epoch, drained: epoch, ..Progress::default() };
        Self { progress, epochs, timeout, waiting: None, done_told: false, failed: false }
    }

    /// An update from the coordinator. After a restore, updates from before it are ignored.
    pub(super) fn heard(&mut self, progress: Progress) {
        if progress.generation >= self.progress.generation {
            self.progress = progress;
        }
    }

    /// The stream continues where the coordinator says, which may be in an earlier epoch.
    pub(super) fn reopen(&mut self, progress: Progress) {
        self.progress = progress;
        self.done_told = false;
        self.failed = false;
    }

    /// The stream has failed. No epoch ends before it [continues](Self::reopen).
    pub(super) fn fails(&mut self) {
        self.failed = true;
    }

    /// Whether every position of the epoch is complete, so that no batch of it is still to come. While the stream or its
    /// run has failed, no epoch is over: the report of a failure elsewhere may come after the report of the epoch that it
    /// completed.
    pub(super) fn is_over(&self, epoch: u64) -> bool {
        self.progress.floor > epoch && !self.failed && !self.progress.failed
    }

    /// Whether nothing of the epoch is left but what consumers hold.
    pub(super) fn only_held_left(&self, epoch: u64) -> bool {
        self.progress.drained > epoch
    }

    /// The number of epochs, once all are over.
    pub(super) fn done(&self) -> Option<u64> {
        self.epochs.filter(|epochs| self.progress.floor >= *epochs && self.is_over(epochs.saturating_sub(1)))
    }

    /// As [`EpochEnd::done`], once.
    pub(super) fn just_done(&mut self) -> Option<u64> {
        let done = self.done().filter(|_| !self.done_told);
        self.done_told |= done.is_some();
        done
    }

    /// Notes since when trainers have waited for a batch, if they do, and for what. Answers when that is worth a word: how long
    /// it has been, and whether it is too long.
    pub(super) fn waits(
        &mut self,
        since: Option<Instant>,
        now: Instant,
        what: &'static str,
    ) -> Option<(Duration, bool)> {
        let Some(since) = since else {
            self.waiting = None;
            return None;
        };
        // If it is later, those who had waited for longest have got a batch.
        let before = self.waiting.take().filter(|waiting| waiting.since >= since);
        let waiting = self.waiting.insert(before.unwrap_or(EpochWaiting { since, told: None, expired: false }));
        let time = now.saturating_duration_since(waiting.since);
        if time >= self.timeout && !std::mem::replace(&mut waiting.expired, time >= self.timeout) {
            return Some((time, true));
        }
        let is_new = |(told, at): (&str, Instant)| told != what && now.saturating_duration_since(at) >= WORTH_A_WORD;
        if time >= WORTH_A_WORD && waiting.told.is_none_or(is_new) {
            waiting.told = Some((what, now));
            return Some((time, false));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn progress(floor: u64, drained: u64) -> Progress {
        Progress { floor, drained, generation: 1, failed: false }
    }

    #[test]
    fn rule_11_an_epoch_is_over_when_its_records_are_accounted_for() {
        let mut end = EpochEnd::new(0, Some(2), 600 * SECOND);
        end.heard(progress(0, 1));
        assert!(end.only_held_left(0) && !end.is_over(0));
        end.heard(progress(1, 1));
        assert!(end.is_over(0) && !end.is_over(1) && end.just_done().is_none());
        end.heard(progress(2, 2));
        assert_eq!((end.just_done(), end.just_done(), end.done()), (Some(2), None, Some(2)));
    }

    #[test]
    fn rule_23_what_was_heard_before_a_restore_does_not_end_the_epoch_that_it_goes_back_to() {
        let mut end = EpochEnd::new(0, Some(2), 600 * SECOND);
        end.heard(progress(2, 2));
        assert_eq!(end.just_done(), Some(2));
        end.reopen(Progress { generation: 2, ..progress(0, 0) });
        end.heard(progress(2, 2));
        assert!(!end.is_over(0) && end.done().is_none(), "it comes late, and from another task");
        end.heard(Progress { generation: 2, ..progress(2, 2) });
        assert_eq!(end.just_done(), Some(2), "the end is told anew");
    }

    #[test]
    fn rule_7_no_epoch_ends_while_the_stream_or_its_run_has_failed() {
        for is_here in [true, false] {
            let mut end = EpochEnd::new(0, Some(2), 600 * SECOND);
            end.heard(progress(1, 1));
            if is_here {
                end.fails();
            }
            end.heard(Progress { failed: !is_here, ..progress(2, 2) });
            assert!(!end.is_over(0) && !end.is_over(1), "here: {is_here}");
            assert_eq!((end.done(), end.just_done()), (None, None), "here: {is_here}");
            // A reset ends the failure, and the epoch with it.
            end.reopen(progress(2, 2));
            assert!(end.is_over(0) && end.is_over(1), "here: {is_here}");
            assert_eq!(end.just_done(), Some(2), "here: {is_here}");
        }
    }

    #[test]
    fn rule_11_a_wait_is_told_after_ten_seconds_and_ended_after_the_timeout() {
        let mut end = EpochEnd::new(0, None, 60 * SECOND);
        let start = Instant::now();
        let second = |count: u32| start + count * SECOND;
        let mut look = |since, now| end.waits(Some(second(since)), second(now), "a holder");
        assert_eq!((look(0, 0), look(0, 9)), (None, None));
        assert_eq!(look(0, 11), Some((11 * SECOND, false)));
        assert_eq!(look(0, 12), None);
        assert_eq!(look(0, 60), Some((60 * SECOND, true)));
        assert_eq!(look(0, 61), None);
        assert_eq!(look(61, 65), None, "who waited for longest has got a batch, and another one waits");
        assert_eq!(look(61, 71), Some((10 * SECOND, false)));
        assert_eq!(end.waits(Some(second(61)), second(72), "a slot"), None, "so soon there is nothing to say again");
        assert_eq!(end.waits(Some(second(61)), second(81), "a slot"), Some((20 * SECOND, false)));
        assert_eq!(end.waits(None, second(82), "a slot"), None);
        assert_eq!(end.waits(Some(second(83)), second(84), "a slot"), None, "the next wait begins from zero");
    }
}
