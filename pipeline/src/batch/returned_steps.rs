//! What the stage gives back. The ledger takes whole steps of classes only (semantics rule 62), so a position of one waits here for
//! the rest of its step.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use crate::record::{LeasePart, Position};

/// Positions that are given back with their steps.
#[derive(Debug)]
pub(super) struct ReturnedSteps {
    /// Positions of a step. Nothing if steps have no classes: then no position waits.
    step: Option<NonZeroU64>,
    /// How many positions of a step have come, by its lease and its number there.
    waiting: BTreeMap<(u64, u64), Vec<u64>>,
}

impl ReturnedSteps {
    /// Nothing yet, of a stream with so many positions in a step.
    pub(super) fn new(step: Option<u64>) -> Self {
        Self { step: step.and_then(NonZeroU64::new), waiting: BTreeMap::new() }
    }

    /// Whether steps have classes.
    pub(super) const fn are_of_classes(&self) -> bool {
        self.step.is_some()
    }

    /// Whether a position's step is being given back. Then the position is to go with it.
    pub(super) fn has_step_of(&self, position: &Position) -> bool {
        self.step.is_some_and(|step| self.waiting.contains_key(&(position.lease, position.offset / step)))
    }

    /// Takes positions that are given back. Gives what can be given back by now.
    pub(super) fn take(&mut self, positions: impl IntoIterator<Item = Position>) -> Vec<LeasePart> {
        let positions = positions.into_iter();
        let Some(step) = self.step else { return positions.map(|position| position.part()).collect() };
        let mut whole = Vec::new();
        for Position { lease, offset, .. } in positions {
            let place = (lease, offset / step);
            let come = self.waiting.entry(place).or_default();
            come.push(offset);
            if come.len() as u64 == step.get() {
                self.waiting.remove(&place);
                let start = place.1 * step.get();
                whole.push((lease, start, start + step.get()));
            }
        }
        whole
    }

    /// The positions whose steps are not complete: the stage ends, and gives back the rest as well.
    pub(super) fn close(&mut self) -> Vec<LeasePart> {
        let part = |(lease, offset)| (lease, offset, offset + 1);
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        waiting
            .flat_map(|((lease, _), offsets)| offsets.into_iter().map(move |offset| (lease, offset)))
            .map(part)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn position(lease: u64, offset: u64) -> Position {
        Position { epoch: 0, lease, offset, lease_end: 12, index: offset, record: 0, repeat: 0, suspect: false }
    }

    proptest! {
        #[test]
        fn rule_62_steps_go_back_whole_in_whatever_order_their_positions_come(
            order in Just((0..3_u64).flat_map(|lease| (0..12).map(move |offset| (lease, offset))).collect::<Vec<_>>()).prop_shuffle(),
            until in 0..37_usize,
        ) {
            let (mut steps, mut back, mut come) = (ReturnedSteps::new(Some(4)), Vec::new(), BTreeMap::<_, u64>::new());
            for &(lease, offset) in &order[..until] {
                let place = (lease, offset / 4);
                prop_assert_eq!(steps.has_step_of(&position(lease, offset)), come.get(&place).is_some_and(|count| *count > 0));
                let count = come.entry(place).or_default();
                *count += 1;
                let whole = steps.take([position(lease, offset)]);
                let right = if *count == 4 { vec![(lease, place.1 * 4, place.1 * 4 + 4)] } else { vec![] };
                prop_assert_eq!(&whole, &right);
                back.extend(whole);
            }
            back.extend(steps.close());
            let mut offsets: Vec<_> =
                back.into_iter().flat_map(|(lease, start, end)| (start..end).map(move |offset| (lease, offset))).collect();
            offsets.sort_unstable();
            let mut right = order[..until].to_vec();
            right.sort_unstable();
            prop_assert_eq!(offsets, right, "each position goes back once");
        }
    }

    #[test]
    fn without_classes_no_position_waits() {
        let mut steps = ReturnedSteps::new(None);
        assert_eq!(steps.take([position(3, 1), position(3, 7)]), [(3, 1, 2), (3, 7, 8)]);
        assert!(!steps.has_step_of(&position(3, 1)) && steps.close().is_empty());
    }
}
