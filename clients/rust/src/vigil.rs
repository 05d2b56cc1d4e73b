//! When a waiting caller gets a notice: after a while, then at growing intervals. Shortly before, the daemon is asked
//! whether it answers. Pure: times in, steps out.

use std::time::Duration;

/// Longest time between two notices.
const LONGEST: Duration = Duration::from_secs(600);

/// One wait, which several calls may share if none of them got what it waited for.
#[derive(Debug)]
pub(crate) struct Vigil {
    first: Duration,
    /// What earlier calls waited.
    before: Duration,
    /// The next notice is due after this wait.
    due: Duration,
    /// The daemon was asked for the next notice.
    is_asked: bool,
    /// Nothing has come since the daemon was last asked.
    is_silent: bool,
    /// Since the last notice, the daemon itself has said why no batches come.
    is_told: bool,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VigilStep {
    /// To ask the daemon whether it answers.
    Ask,
    /// To tell the caller how long it has waited, and whether the daemon answers.
    Tell { waited: Duration, answers: bool },
}

impl Vigil {
    /// The first notice is due after a wait of `first`.
    pub(crate) fn new(first: Duration) -> Self {
        Self { first, before: Duration::ZERO, due: first, is_asked: false, is_silent: false, is_told: false }
    }

    /// The caller has got what it waited for.
    pub(crate) fn ends(&mut self) {
        *self = Self { is_silent: self.is_silent, ..Self::new(self.first) };
    }

    /// A call ends without it, after this time. The next call continues the wait.
    pub(crate) fn pauses(&mut self, waited: Duration) {
        self.before += waited;
    }

    /// Something has come from the daemon.
    pub(crate) fn hears(&mut self) {
        self.is_silent = false;
    }

    /// The daemon has said why no batches come.
    pub(crate) fn hears_why(&mut self) {
        self.is_told = true;
    }

    /// The step that is due when this call has waited for this long. If the daemon answers, and has itself said why no
    /// batches come, the caller needs no further notice.
    pub(crate) fn look(&mut self, waited: Duration) -> Option<VigilStep> {
        let waited = self.before + waited;
        if !self.is_asked && waited >= self.due.saturating_sub(self.due.min(LONGEST) / 5) {
            self.is_asked = true;
            // If an earlier question has no answer yet, the daemon needs no further one.
            return (!std::mem::replace(&mut self.is_silent, true)).then_some(VigilStep::Ask);
        }
        if waited < self.due {
            return None;
        }
        self.due = waited + waited.clamp(self.first, LONGEST);
        self.is_asked = false;
        let is_told = std::mem::take(&mut self.is_told);
        (self.is_silent || !is_told).then_some(VigilStep::Tell { waited, answers: !self.is_silent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(10);

    /// Looks every 100 ms for `seconds` seconds; `answers` says whether the daemon answers.
    fn steps(vigil: &mut Vigil, seconds: u64, answers: bool) -> Vec<(u64, VigilStep)> {
        let mut steps = Vec::new();
        for slice in 0..=seconds * 10 {
            if let Some(step) = vigil.look(Duration::from_millis(slice * 100)) {
                steps.push((slice / 10, step));
                if answers && step == VigilStep::Ask {
                    vigil.hears();
                }
            }
        }
        steps
    }

    fn tell(seconds: u64, answers: bool) -> (u64, VigilStep) {
        (seconds, VigilStep::Tell { waited: Duration::from_secs(seconds), answers })
    }

    #[test]
    fn a_caller_is_told_after_ten_seconds_and_then_at_growing_intervals() {
        let mut vigil = Vigil::new(FIRST);
        let steps = steps(&mut vigil, 2000, true);
        let told: Vec<_> = steps.iter().filter(|(_, step)| *step != VigilStep::Ask).copied().collect();
        assert_eq!(told, [10, 20, 40, 80, 160, 320, 640, 1240, 1840].map(|seconds| tell(seconds, true)));
        let asked = steps.iter().filter(|(_, step)| *step == VigilStep::Ask).map(|(at, _)| *at);
        assert_eq!(asked.take(4).collect::<Vec<_>>(), [8, 16, 32, 64], "before each notice");
    }

    #[test]
    fn a_daemon_that_does_not_answer_is_asked_once_and_every_notice_says_so() {
        let mut vigil = Vigil::new(FIRST);
        assert_eq!(
            steps(&mut vigil, 45, false),
            [(8, VigilStep::Ask), tell(10, false), tell(20, false), tell(40, false)]
        );
        vigil.hears();
        vigil.ends();
        assert_eq!(steps(&mut vigil, 11, true), [(8, VigilStep::Ask), tell(10, true)]);
    }

    #[test]
    fn a_daemon_that_says_itself_why_nothing_comes_is_not_doubled_unless_it_falls_silent() {
        let mut vigil = Vigil::new(FIRST);
        vigil.hears_why();
        assert_eq!(steps(&mut vigil, 15, true), [(8, VigilStep::Ask)]);
        let mut vigil = Vigil::new(FIRST);
        vigil.hears_why();
        assert_eq!(steps(&mut vigil, 15, false), [(8, VigilStep::Ask), tell(10, false)]);
    }

    #[test]
    fn calls_that_time_out_share_one_wait() {
        let mut vigil = Vigil::new(FIRST);
        let mut told = Vec::new();
        for _ in 0..7 {
            told.extend(steps(&mut vigil, 3, true));
            vigil.pauses(Duration::from_secs(3));
        }
        let waited: Vec<_> = told.iter().filter(|(_, step)| *step != VigilStep::Ask).map(|(_, step)| *step).collect();
        assert_eq!(waited, [10, 20].map(|seconds| tell(seconds, true).1));
    }
}
