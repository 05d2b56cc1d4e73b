//! Trainers of simulated daemons. One that outlives its daemon comes to the next one, and hands in all that it was given.

use std::collections::BTreeSet;

use forebay_proto::v1::AckItem;

use crate::suite::Random;

/// A trainer, with receipts for all that it was given.
#[derive(Debug, Default)]
pub(super) struct SimulatedTrainer {
    pub(super) worker: usize,
    pub(super) given: Vec<AckItem>,
}

/// The trainers at a daemon, by their numbers.
#[derive(Debug, Default)]
pub(super) struct AttachedTrainers {
    /// They have come, and bring this.
    arrived: Vec<(u64, Vec<AckItem>)>,
    /// The ledger is being told what they brought.
    resuming: BTreeSet<u64>,
    /// It was told that.
    heard: BTreeSet<u64>,
    /// They are let in.
    here: BTreeSet<u64>,
}

impl AttachedTrainers {
    pub(super) fn arrive(&mut self, number: u64, given: Vec<AckItem>) {
        self.arrived.push((number, given));
    }

    /// What those bring who have come.
    pub(super) fn resume(&mut self) -> Option<Vec<AckItem>> {
        let arrived = std::mem::take(&mut self.arrived);
        self.resuming.extend(arrived.iter().map(|(number, _)| *number));
        (!arrived.is_empty()).then(|| arrived.into_iter().flat_map(|(_, given)| given).collect())
    }

    pub(super) fn have_resumed(&mut self) {
        self.heard.append(&mut self.resuming);
    }

    /// All of them, if the ledger does not know of some.
    pub(super) fn to_tell(&self) -> Option<Vec<u64>> {
        (!self.heard.is_empty()).then(|| self.here.union(&self.heard).copied().collect())
    }

    /// The ledger knows of these.
    pub(super) fn are_here(&mut self, told: &[u64]) {
        self.heard.retain(|number| !told.contains(number));
        self.here.extend(told);
    }

    /// One that gets the next batch.
    pub(super) fn one(&self, random: &mut Random) -> Option<u64> {
        let here: Vec<u64> = self.here.iter().copied().collect();
        (!here.is_empty()).then(|| *random.choose(&here))
    }

    /// Their daemon has ended.
    pub(super) fn leave(&mut self) -> Vec<u64> {
        let Self { arrived, resuming, heard, here } = std::mem::take(self);
        let all = [resuming, heard, here].into_iter().flatten();
        all.chain(arrived.into_iter().map(|(number, _)| number)).collect()
    }
}
