//! What a state says of a run: what is accounted for, and up to where each epoch was leased.

use std::collections::{BTreeMap, BTreeSet};

use forebay_coordinator::suite::Place;
use forebay_plan::RankPositions;
use forebay_proto::v1::Snapshot;

use crate::scene::Scene;

/// See the module.
#[derive(Clone)]
pub(super) struct Before {
    pub(super) done: BTreeSet<Place>,
    pub(super) issued: BTreeMap<u64, u64>,
}

impl Before {
    /// Of a state that was taken when this was accounted for.
    pub(super) fn of(scene: &Scene, state: &Snapshot, done: &BTreeSet<Place>) -> Self {
        let len = |epoch| scene.plan.epoch_len(epoch);
        let (cursor, done) = match scene.spec.lockstep {
            None => (state.cursor, done.clone()),
            // All that is before its step, and nothing else.
            Some(rank) => {
                let positions = RankPositions::new(rank, scene.spec.records);
                let step = state.cursor / rank.global_batch;
                let before = |step| (state.epoch, positions.before_step(step));
                let places = (0..=state.epoch).flat_map(|epoch| (0..len(epoch)).map(move |position| (epoch, position)));
                let said: BTreeSet<Place> = places.clone().take_while(|place| *place < before(step)).collect();
                assert!(said.is_subset(done), "a position before {:?} is open", before(step));
                let of_step: Vec<Place> =
                    places.filter(|place| (before(step)..before(step + 1)).contains(place)).collect();
                let is_whole = !of_step.is_empty() && of_step.iter().all(|place| done.contains(place));
                assert!(!is_whole, "the step at {:?} is done", before(step));
                (positions.before_step(step), said)
            }
        };
        let issued = (0..state.epoch).map(|epoch| (epoch, len(epoch))).chain([(state.epoch, cursor)]);
        Self { done, issued: issued.collect() }
    }
}
