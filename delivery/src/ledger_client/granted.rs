//! The leases of a worker as far as it knows, which its heartbeats name. Pure.
//!
//! A heartbeat extends only the leases that it names (semantics rule 34), and brings a deadline for all that the worker has
//! then. So a lease whose grant was under way while a heartbeat was sent is not used before a later heartbeat has named it.

use std::collections::BTreeSet;

use parking_lot::Mutex;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct GrantedLeases {
    ids: BTreeSet<u64>,
    /// Heartbeats that were sent.
    beats: u64,
    /// `CLOCK_BOOTTIME` nanosecond until which they are this worker's, whatever happens.
    deadline: u64,
}

/// Leases that are not used before a heartbeat has named them. If the caller that asked for them gives up, they expire.
pub(super) struct DoubtfulLeases<'a> {
    pub(super) granted: &'a Mutex<GrantedLeases>,
    pub(super) ids: Vec<u64>,
}

impl DoubtfulLeases<'_> {
    pub(super) fn are_named(mut self) {
        self.ids.clear();
    }
}

impl Drop for DoubtfulLeases<'_> {
    fn drop(&mut self) {
        self.granted.lock().forget(&self.ids);
    }
}

impl GrantedLeases {
    /// None yet, until this moment.
    pub(super) fn until(deadline: u64) -> Self {
        Self { ids: BTreeSet::new(), beats: 0, deadline }
    }

    /// A heartbeat is sent: the leases that it names.
    pub(super) fn beat(&mut self) -> Vec<u64> {
        self.beats += 1;
        self.ids.iter().copied().collect()
    }

    /// How many heartbeats were sent so far.
    pub(super) fn beats(&self) -> u64 {
        self.beats
    }

    /// Adds leases that were granted by a command sent after so many heartbeats. Returns true if a heartbeat was sent
    /// since then, because it does not name them.
    pub(super) fn add(&mut self, ids: impl IntoIterator<Item = u64>, after: u64) -> bool {
        let before = self.ids.len();
        self.ids.extend(ids);
        self.ids.len() > before && self.beats > after
    }

    /// These are not used: heartbeats do not name them any more.
    pub(super) fn forget(&mut self, ids: &[u64]) {
        self.ids.retain(|id| !ids.contains(id));
    }

    /// Whether it is one of them.
    pub(super) fn has(&self, id: u64) -> bool {
        self.ids.contains(&id)
    }

    /// A heartbeat named these leases, and its answer lists those that the worker still has. Returns the leases that have
    /// ended: they are complete, or another worker has them.
    pub(super) fn answered(&mut self, named: &[u64], still: &[u64]) -> Vec<u64> {
        let still: BTreeSet<&u64> = still.iter().collect();
        let ended: Vec<u64> = named.iter().copied().filter(|id| !still.contains(id) && self.ids.contains(id)).collect();
        self.forget(&ended);
        ended
    }

    /// The leases are the worker's until this moment. Returns it if it is later than the one known before.
    pub(super) fn renew(&mut self, deadline: u64) -> Option<u64> {
        let is_later = deadline > self.deadline;
        self.deadline = self.deadline.max(deadline);
        is_later.then_some(deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_19_leases_that_a_heartbeat_named_and_its_answer_does_not_have_are_lost_once() {
        let mut granted = GrantedLeases::until(0);
        assert!(!granted.add([1, 2], 0));
        let named = granted.beat();
        // Granted while the answer was on its way, which cannot have it.
        assert!(granted.add([3], 0));
        assert_eq!(granted.answered(&named, &[2]), [1]);
        assert_eq!(granted.answered(&named, &[2]), [0; 0], "the answer of a second one that was under way");
        assert!(granted.has(3) && !granted.has(1));
    }

    #[test]
    fn rule_34_a_grant_that_a_heartbeat_did_not_name_is_told_apart_from_others() {
        let mut granted = GrantedLeases::until(0);
        let before = granted.beats();
        assert!(!granted.add([1], before));
        let before = granted.beats();
        assert_eq!(granted.beat(), [1]);
        assert!(!granted.add([], before), "nothing was granted");
        assert!(granted.add([2], before));
        granted.forget(&[2]);
        assert_eq!(granted.beat(), [1]);
    }

    #[test]
    fn rule_19_an_answer_that_comes_late_brings_no_earlier_deadline() {
        let mut granted = GrantedLeases::until(10);
        assert_eq!((granted.renew(30), granted.renew(20), granted.renew(40)), (Some(30), None, Some(40)));
    }
}
