//! The end of a plan as rounds: its operations, after the steps that the sums carry out.

use crate::cpu_only::CpuOnly;
use crate::matching::Match;
use crate::operation::{Launched, Operation};
use crate::plan::{Plan, Step};
use crate::rounds::{Change, Round, RoundSource};

/// What the sums are followed by.
pub(super) struct Operated {
    /// The sums and what is done to their pixels, and the rounds after them.
    pub(super) rounds: Vec<Round>,
    /// Whether the sums give their pixels mirrored.
    pub(super) sums_mirrored: bool,
}

impl Operated {
    /// The steps of a plan from this one on.
    ///
    /// # Errors
    /// The CPU alone can do one of them.
    pub(super) fn of(plan: &Plan, composed: usize, matched: Match) -> Result<Self, CpuOnly> {
        let mut operated = Self { rounds: vec![Round::of(RoundSource::Sums)], sums_mirrored: false };
        // Only such steps come here, so that all have the result's size.
        for step in &plan.steps[composed..] {
            match step {
                Step::Mirror => operated.mirror(),
                Step::Operate(operation) => operated.operate(operation, (plan.width, plan.height), matched)?,
                Step::Cut(_) | Step::Resize { .. } | Step::Canvas { .. } | Step::Turn { .. } => {
                    return Err(CpuOnly::Transforms);
                }
            }
        }
        if plan.mirrored {
            operated.mirror();
        }
        Ok(operated)
    }

    fn last(&mut self) -> &mut Round {
        self.rounds.last_mut().expect("there is at least one round")
    }

    fn mirror(&mut self) {
        if let [Round { changes, mirrored: false, .. }] = self.rounds.as_slice()
            && changes.is_empty()
        {
            self.sums_mirrored = !self.sums_mirrored;
        } else {
            self.last().mirrored ^= true;
        }
    }

    fn operate(&mut self, operation: &Operation, size: (u32, u32), matched: Match) -> Result<(), CpuOnly> {
        match operation.launched(size, matched)? {
            Launched::Change(change) => self.change(change),
            Launched::Sources(sources) => self.rounds.extend(sources.into_iter().map(Round::of)),
        }
        Ok(())
    }

    /// Does it in the last round, unless it has to know all that the round gives, or the round mirrors what it gives.
    fn change(&mut self, change: Change) {
        if change.counted().is_some() || self.last().mirrored {
            self.rounds.push(Round::of(RoundSource::Own));
        }
        self.last().change(change);
    }
}
