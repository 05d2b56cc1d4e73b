//! The visitation checker: which trainer saw which record of which epoch, and whether the rules allow that. Simulations,
//! tests and the torture all end with it.

use std::collections::{BTreeMap, BTreeSet};

use super::violation::{Invariant, Violation};

/// What trainers wrote down.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    /// By epoch and record: the trainers to which it was delivered for certain.
    delivered: BTreeMap<(u64, u64), Vec<String>>,
    /// Seen by trainers that were killed, or whose daemon was killed, with how often. These may or may not have been
    /// delivered.
    in_doubt: BTreeMap<(u64, u64), u64>,
    /// Records named as bad. No trainer needs to have seen them.
    bad: BTreeSet<(u64, u64)>,
}

impl Visits {
    /// A record was delivered, and that was acknowledged.
    pub fn deliver(&mut self, trainer: &str, epoch: u64, record: u64) {
        self.delivered.entry((epoch, record)).or_default().push(trainer.to_owned());
    }

    /// A trainer saw a record, and may not have acknowledged it.
    pub fn doubt(&mut self, epoch: u64, record: u64) {
        *self.in_doubt.entry((epoch, record)).or_default() += 1;
    }

    /// A record is in quarantine.
    pub fn quarantine(&mut self, epoch: u64, record: u64) {
        self.bad.insert((epoch, record));
    }

    /// Whether nothing is in doubt.
    pub fn is_certain(&self) -> bool {
        self.in_doubt.is_empty()
    }

    /// How many times records were seen again after a lost trainer had seen them.
    pub fn repeated(&self) -> u64 {
        let again = |(visit, times): (&(u64, u64), &u64)| times - u64::from(!self.delivered.contains_key(visit));
        self.in_doubt.iter().map(again).sum()
    }

    /// Checks that nothing of the epochs from `first` to `end` is lost, and that no acknowledged record was seen again.
    pub fn check(&self, records: u64, first: u64, end: u64) -> Result<(), Violation> {
        for epoch in first..end {
            let has = |record: &u64| {
                let visit = (epoch, *record);
                self.delivered.contains_key(&visit) || self.in_doubt.contains_key(&visit) || self.bad.contains(&visit)
            };
            let missing: Vec<u64> = (0..records).filter(|record| !has(record)).collect();
            Invariant::NothingLost
                .check(missing.is_empty(), || format!("nobody saw these records of epoch {epoch}: {missing:?}"))?;
        }
        for (visit, trainers) in &self.delivered {
            Invariant::AcceptedOnce
                .check(trainers.len() == 1, || format!("{visit:?} was delivered to {trainers:?}"))?;
            let is_one = (first..end).contains(&visit.0) && visit.1 < records;
            Invariant::Order.check(is_one, || format!("there is no record {visit:?}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(visits: &[(u64, u64)]) -> Visits {
        let mut all = Visits::default();
        for (number, (epoch, record)) in visits.iter().enumerate() {
            all.deliver(&format!("trainer {number}"), *epoch, *record);
        }
        all
    }

    fn broken(visits: &Visits) -> Option<(Invariant, String)> {
        visits.check(2, 0, 1).err().map(|violation| (violation.invariant, violation.what))
    }

    #[test]
    fn a_record_that_nobody_saw_or_two_trainers_got_or_no_dataset_has_is_found() {
        assert_eq!(broken(&of(&[(0, 0), (0, 1)])), None);
        let (invariant, what) = broken(&of(&[(0, 0)])).unwrap();
        assert_eq!((invariant, what.as_str()), (Invariant::NothingLost, "nobody saw these records of epoch 0: [1]"));
        let (invariant, what) = broken(&of(&[(0, 0), (0, 1), (0, 1)])).unwrap();
        assert_eq!(invariant, Invariant::AcceptedOnce);
        assert!(what.contains("[\"trainer 1\", \"trainer 2\"]"), "{what}");
        for stranger in [(0, 2), (1, 0)] {
            assert_eq!(broken(&of(&[(0, 0), (0, 1), stranger])).unwrap().0, Invariant::Order);
        }
    }

    #[test]
    fn what_a_lost_trainer_saw_counts_as_seen_and_may_be_delivered_again() {
        let mut visits = of(&[(0, 0)]);
        visits.doubt(0, 1);
        assert_eq!((broken(&visits), visits.repeated(), visits.is_certain()), (None, 0, false));
        visits.deliver("heir", 0, 1);
        assert_eq!((broken(&visits), visits.repeated()), (None, 1));
        visits.doubt(0, 1);
        assert_eq!(visits.repeated(), 2, "three have seen it");
    }

    #[test]
    fn a_record_in_quarantine_is_seen_by_nobody() {
        let mut visits = of(&[(0, 0)]);
        visits.quarantine(0, 1);
        assert_eq!((broken(&visits), visits.repeated(), visits.is_certain()), (None, 0, true));
    }
}
