//! The end of a plan as rounds: its operations, after the steps that the sums carry out.

use crate::cpu_only::CpuOnly;
use crate::matching::Match;
use crate::operation::{Launched, Operation, launched, upside_down};
use crate::plan::{Plan, Step};
use crate::rounds::{Change, Round, RoundSource};

/// What the sums are followed by.
pub(super) struct Operated {
    /// The sums and what is done to their pixels, and the rounds after them.
    pub(super) rounds: Vec<Round>,
    /// Whether the sums give their pixels mirrored left to right.
    pub(super) sums_mirrored: bool,
    /// The same top to bottom.
    pub(super) sums_flipped: bool,
}

impl Operated {
    /// The steps of a plan from this one on.
    ///
    /// # Errors
    /// The CPU alone can do one of them.
    pub(super) fn of(plan: &Plan, composed: usize, matched: Match) -> Result<Self, CpuOnly> {
        let rounds = vec![Round::of(RoundSource::Sums)];
        let mut operated = Self { rounds, sums_mirrored: false, sums_flipped: false };
        let size = (plan.width, plan.height);
        // Only such steps come here, so that all have the result's size.
        for step in &plan.steps[composed..] {
            match step {
                Step::Mirror => operated.mirror(),
                Step::Flip => operated.flip(size),
                Step::Operate(operation) => operated.operate(operation, size, matched)?,
                Step::Cut(_) | Step::Resize { .. } | Step::Canvas { .. } | Step::Turn { .. } => {
                    return Err(CpuOnly::Transforms);
                }
            }
        }
        if plan.mirrored {
            operated.mirror();
        }
        if plan.flipped {
            operated.flip(size);
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

    /// The sums give rows in any order. After that, a round moves them.
    fn flip(&mut self, size: (u32, u32)) {
        if let [Round { changes, .. }] = self.rounds.as_slice()
            && changes.is_empty()
        {
            self.sums_flipped = !self.sums_flipped;
        } else {
            self.rounds.push(Round::of(upside_down(size)));
        }
    }

    fn operate(&mut self, operation: &Operation, size: (u32, u32), matched: Match) -> Result<(), CpuOnly> {
        match launched(operation, size, matched)? {
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
