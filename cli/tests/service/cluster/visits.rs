//! The visitation checker: who saw which record of which epoch, and whether that may be.

use std::collections::{BTreeMap, BTreeSet};

use crate::trainer::{Event, batches};

/// A record of an epoch.
type Visit = (u64, u64);

/// What trainers wrote down.
#[derive(Debug, Default)]
pub(super) struct Visits {
    /// By trainers that lived to the end: all of this was delivered.
    delivered: BTreeMap<Visit, Vec<&'static str>>,
    /// By trainers that were killed, or whose daemon was: this may or may not have been delivered.
    in_doubt: BTreeSet<Visit>,
}

impl Visits {
    /// What a trainer was told that lives to the end.
    pub(super) fn note(&mut self, trainer: &'static str, events: &[Event]) {
        for visit in of(events) {
            self.delivered.entry(visit).or_default().push(trainer);
        }
    }

    /// What a trainer was told before it was killed with its daemon.
    pub(super) fn note_lost(&mut self, trainer: &'static str, events: &[Event]) {
        let mut own = BTreeSet::new();
        for visit in of(events) {
            assert!(own.insert(visit), "{trainer} saw {visit:?} twice, and nothing had happened to it");
        }
        self.in_doubt.extend(own);
    }

    /// Nothing is lost, and nobody saw twice what nobody had lost.
    pub(super) fn check(&self, records: u64, epochs: u64) {
        for epoch in 0..epochs {
            let missing: Vec<u64> = (0..records).filter(|record| !self.has(&(epoch, *record))).collect();
            assert!(missing.is_empty(), "nobody saw these records of epoch {epoch}: {missing:?}");
        }
        for (visit, trainers) in &self.delivered {
            assert!(trainers.len() == 1, "{visit:?} was delivered to {trainers:?}");
            assert!(visit.0 < epochs && visit.1 < records, "there is no {visit:?}");
        }
    }

    /// As [`check`](Self::check), and no trainer was lost.
    pub(super) fn check_once(&self, records: u64, epochs: u64) {
        assert!(self.in_doubt.is_empty());
        self.check(records, epochs);
    }

    /// How many records were seen by a lost trainer and by another one.
    pub(super) fn repeated(&self) -> u64 {
        self.in_doubt.iter().filter(|visit| self.delivered.contains_key(visit)).count() as u64
    }

    fn has(&self, visit: &Visit) -> bool {
        self.delivered.contains_key(visit) || self.in_doubt.contains(visit)
    }
}

fn of(events: &[Event]) -> Vec<Visit> {
    let failed = events.iter().find(|event| matches!(event, Event::Failed(_)));
    assert!(failed.is_none(), "{failed:?}");
    batches(events).iter().flat_map(|seen| seen.own.iter().map(|record| (seen.epoch, *record))).collect()
}

#[test]
#[should_panic(expected = "nobody saw these records of epoch 0: [1]")]
fn a_record_that_nobody_saw_is_found() {
    let mut visits = Visits::default();
    visits.delivered.insert((0, 0), vec!["one"]);
    visits.check(2, 1);
}

#[test]
#[should_panic(expected = "was delivered to [\"one\", \"two\"]")]
fn a_record_that_two_trainers_got_is_found() {
    let mut visits = Visits::default();
    visits.delivered.insert((0, 0), vec!["one", "two"]);
    visits.check(1, 1);
}
