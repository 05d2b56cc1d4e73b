//! What the trainers of a cluster were told, for the visitation checker.

use std::collections::BTreeSet;

use forebay_coordinator::suite;

use crate::trainer::{Event, batches};

/// What trainers wrote down.
#[derive(Debug, Default)]
pub(super) struct Visits(suite::Visits);

impl Visits {
    /// What a trainer was told that lives to the end.
    pub(super) fn note(&mut self, trainer: &str, events: &[Event]) {
        for (epoch, record) in of(events) {
            self.0.deliver(trainer, epoch, record);
        }
    }

    /// What a trainer was told before it was killed with its daemon.
    pub(super) fn note_lost(&mut self, trainer: &str, events: &[Event]) {
        let mut own = BTreeSet::new();
        for visit in of(events) {
            assert!(own.insert(visit), "{trainer} saw {visit:?} twice, and nothing had happened to it");
            self.0.doubt(visit.0, visit.1);
        }
    }

    /// What a trainer was told that lived on while its node was in trouble.
    pub(super) fn doubt(&mut self, events: &[Event]) {
        for seen in batches(events) {
            seen.own.iter().for_each(|record| self.0.doubt(seen.epoch, *record));
        }
    }

    /// A record is bad, so no trainer need have been told of it.
    pub(super) fn quarantine(&mut self, epoch: u64, record: u64) {
        self.0.quarantine(epoch, record);
    }

    /// Nothing is lost, and nobody saw twice what nobody had lost.
    #[track_caller]
    pub(super) fn check(&self, records: u64, epochs: u64) {
        self.0.check(records, 0, epochs).unwrap_or_else(|wrong| panic!("{wrong}"));
    }

    /// As [`check`](Self::check), and no trainer was lost.
    #[track_caller]
    pub(super) fn check_once(&self, records: u64, epochs: u64) {
        assert!(self.0.is_certain());
        self.check(records, epochs);
    }

    /// How many records were seen by a lost trainer and by another one.
    pub(super) fn repeated(&self) -> u64 {
        self.0.repeated()
    }
}

fn of(events: &[Event]) -> Vec<(u64, u64)> {
    let failed = events.iter().find(|event| matches!(event, Event::Failed(_)));
    assert!(failed.is_none(), "{failed:?}");
    batches(events).iter().flat_map(|seen| seen.own.iter().map(|record| (seen.epoch, *record))).collect()
}
