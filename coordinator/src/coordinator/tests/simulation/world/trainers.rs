//! The trainers of a simulated cluster: they outlive their daemons, or end with them, and others come in their place.

use std::ops::Range;

use forebay_proto::v1::{AckItem, Lease, Range as Offsets, ack_item::Kind};

use super::{Event, World};
use crate::coordinator::tests::simulation::trainer::SimulatedTrainer;

/// Trainers of each worker.
const TRAINERS: usize = 2;

impl World {
    /// A trainer gets positions of a lease.
    pub(super) fn give(&mut self, trainer: u64, lease: &Lease, positions: Range<u64>) {
        let &Lease { id, epoch, start: first, .. } = lease;
        let sum = (self.shape.sum)(epoch, positions.clone());
        let (sum_high, sum_low) = sum.halves();
        let range = Some(Offsets { start: positions.start - first, end: positions.end - first });
        let item = AckItem { lease: id, range, kind: Kind::Delivered.into(), count: sum.count, sum_high, sum_low };
        self.trainers.entry(trainer).or_default().given.push(item);
    }

    /// The trainers of a daemon that has ended look for the next one, if they live.
    pub(super) fn send_trainers_home(&mut self, number: usize) {
        for trainer in self.daemons[number].trainers.leave() {
            let lives = self.setting.only_kills || !self.random.once_in(4);
            if lives {
                let wait = if self.setting.only_kills { 1 } else { 1 + self.random.below(1_500) };
                self.after(wait, Event::Comes(trainer));
            } else {
                self.trainers.remove(&trainer);
            }
        }
    }

    pub(super) fn comes(&mut self, trainer: u64) {
        let Some(SimulatedTrainer { worker, given }) = self.trainers.get(&trainer) else { return };
        match self.daemons.iter_mut().rev().find(|daemon| daemon.worker == *worker && daemon.is_up()) {
            Some(daemon) => daemon.trainers.arrive(trainer, given.clone()),
            None => self.after(100, Event::Comes(trainer)),
        }
    }

    /// In place of trainers that are gone, others come.
    pub(super) fn fill_up_trainers(&mut self, worker: usize) {
        let living = self.trainers.values().filter(|trainer| trainer.worker == worker).count();
        for _ in living..TRAINERS {
            self.number += 1;
            let trainer = SimulatedTrainer { worker, ..SimulatedTrainer::default() };
            self.trainers.insert(self.number, trainer);
            self.after(1, Event::Comes(self.number));
        }
    }
}
