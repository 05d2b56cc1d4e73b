//! Decides which records a cache keeps within its budget. It is a state machine without threads or pictures.
//!
//! Records are admitted until the budget is full, and are never evicted. An epoch is a permutation of the dataset, so
//! each record is used once per epoch. The least recently used record is therefore among the next to be used. Evicting
//! it would discard exactly what is needed soon. Any part of the dataset is as good to keep as any other.

use std::collections::HashMap;

/// Bytes that a kept record costs in addition to its content: its entry in the table, which may be half empty, its
/// headers, and the allocator's overhead.
pub(crate) const OVERHEAD: u64 = 256;
/// The allocator gives whole pages to allocations of at least this size.
const LARGE: u64 = 128 << 10;
const PAGE: u64 = 4096;

/// The records of a cache. `T` is the kept content of one.
#[derive(Debug)]
pub(crate) struct Admission<T> {
    budget: u64,
    used: u64,
    kept: u64,
    records: HashMap<u64, CachedRecord<T>>,
}

#[derive(Debug)]
enum CachedRecord<T> {
    /// A thread is making the content. This many bytes are reserved for it.
    Pending(u64),
    Kept(T),
    /// It could not be made, and is not tried again.
    Unfit,
}

impl<T> Admission<T> {
    /// Nothing is kept yet.
    pub(crate) fn new(budget: u64) -> Self {
        Self { budget, used: 0, kept: 0, records: HashMap::new() }
    }

    /// What is kept of a record.
    pub(crate) fn find(&self, record: u64) -> Option<&T> {
        match self.records.get(&record)? {
            CachedRecord::Kept(content) => Some(content),
            CachedRecord::Pending(_) | CachedRecord::Unfit => None,
        }
    }

    /// Reserves room for a record, of which the cache will keep `bytes`. If this returns `true`, the caller must call
    /// [`keep`](Self::keep) or [`give_up`](Self::give_up). It returns `false` if the record is kept, is being made or was
    /// given up, or if there is no room.
    #[must_use]
    pub(crate) fn admit(&mut self, record: u64, bytes: u64) -> bool {
        let cost = cost(bytes);
        let used = self.used.saturating_add(cost);
        if used > self.budget || self.records.contains_key(&record) {
            return false;
        }
        self.used = used;
        self.records.insert(record, CachedRecord::Pending(cost));
        true
    }

    /// Keeps an admitted record.
    pub(crate) fn keep(&mut self, record: u64, content: T) {
        if let Some(state @ CachedRecord::Pending(_)) = self.records.get_mut(&record) {
            *state = CachedRecord::Kept(content);
            self.kept += 1;
        }
    }

    /// Returns the room of an admitted record, except for its entry in the table.
    pub(crate) fn give_up(&mut self, record: u64) {
        if let Some(state) = self.records.get_mut(&record)
            && let CachedRecord::Pending(cost) = *state
        {
            *state = CachedRecord::Unfit;
            self.used = self.used - cost + OVERHEAD;
        }
    }

    /// Bytes that are kept or set aside; never more than the budget.
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// The most that it may use.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    /// Records that are kept.
    pub(crate) fn kept(&self) -> u64 {
        self.kept
    }
}

/// The bytes that a record of this size counts.
fn cost(bytes: u64) -> u64 {
    let content = if bytes < LARGE { bytes } else { bytes.saturating_add(PAGE) / PAGE * PAGE };
    content.saturating_add(OVERHEAD)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Admit(u64, u64),
        Keep(u64),
        GiveUp(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let record = 0..12u64;
        let bytes = prop_oneof![0..3000u64, LARGE - 2..LARGE + 2 * PAGE, Just(u64::MAX)];
        prop_oneof![
            3 => (record.clone(), bytes).prop_map(|(record, bytes)| Step::Admit(record, bytes)),
            2 => record.clone().prop_map(Step::Keep),
            1 => record.prop_map(Step::GiveUp),
        ]
    }

    proptest! {
        /// The model says in sets what the machine says in states.
        #[test]
        fn rule_31_whatever_comes_the_budget_is_never_exceeded_and_what_came_first_stays(
            budget in 0..600_000u64, steps in prop::collection::vec(step(), 0..200),
        ) {
            let mut admission = Admission::new(budget);
            let (mut pending, mut kept) = (BTreeMap::new(), BTreeMap::new());
            let mut unfit = BTreeSet::new();
            for step in steps {
                match step {
                    Step::Admit(record, bytes) => {
                        let taken = pending.values().chain(kept.values()).map(|bytes| cost(*bytes)).sum::<u64>()
                            + OVERHEAD * unfit.len() as u64;
                        let known = pending.contains_key(&record) || kept.contains_key(&record) || unfit.contains(&record);
                        let expected = !known && taken.saturating_add(cost(bytes)) <= budget;
                        prop_assert_eq!(admission.admit(record, bytes), expected);
                        if expected {
                            pending.insert(record, bytes);
                        }
                    }
                    Step::Keep(record) => {
                        admission.keep(record, record * 7);
                        if let Some(bytes) = pending.remove(&record) {
                            kept.insert(record, bytes);
                        }
                    }
                    Step::GiveUp(record) => {
                        admission.give_up(record);
                        if pending.remove(&record).is_some() {
                            unfit.insert(record);
                        }
                    }
                }
                prop_assert!(admission.used() <= budget);
                prop_assert_eq!(admission.kept(), kept.len() as u64);
                for record in 0..12 {
                    let expected = kept.contains_key(&record).then_some(record * 7);
                    prop_assert_eq!(admission.find(record).copied(), expected);
                }
            }
        }
    }

    #[test]
    fn rule_31_a_record_counts_its_bytes_its_place_and_the_pages_that_it_takes() {
        assert_eq!(cost(100), 100 + OVERHEAD);
        assert_eq!(cost(LARGE), LARGE + PAGE + OVERHEAD);
        let mut full = Admission::new(2 * cost(100));
        assert!(full.admit(1, 100) && full.admit(2, 100) && !full.admit(3, 1));
        full.give_up(1);
        full.keep(2, ());
        assert_eq!(full.used(), cost(100) + OVERHEAD);
        assert!(!full.admit(1, 1), "what could not be made is not tried again");
    }
}
