//! The last lease of each epoch of which something was read. The ledger is told it when the epoch is settled.

use std::collections::BTreeMap;

/// Those of epochs that are neither settled nor complete.
#[derive(Debug, Default)]
pub(super) struct LastLeases(BTreeMap<u64, u64>);

impl LastLeases {
    /// Something of a lease was read. Most daemons settle no epoch: with a new one, those before `floor` are forgotten, which are
    /// complete.
    pub(super) fn note(&mut self, epoch: u64, lease: u64, floor: impl FnOnce() -> u64) {
        if let Some(last) = self.0.get_mut(&epoch) {
            *last = lease.max(*last);
            return;
        }
        let floor = floor();
        self.0.retain(|noted, _| *noted >= floor);
        self.0.insert(epoch, lease);
    }

    /// An epoch is settled. Gives its last lease, if something of it was read.
    pub(super) fn take(&mut self, epoch: u64) -> Option<u64> {
        self.0.remove(&epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_is_forgotten_when_it_is_complete_also_if_nobody_settles_it() {
        let mut leases = LastLeases::default();
        for epoch in 0..1000 {
            // Two epochs are read at once.
            for (of, lease) in [(epoch, 3 * epoch + 2), (epoch + 1, 3 * epoch + 4), (epoch, 3 * epoch + 1)] {
                leases.note(of, lease, || epoch.saturating_sub(1));
            }
            assert!(leases.0.len() <= 3, "{leases:?}");
        }
        assert_eq!((leases.take(999), leases.take(999), leases.take(5)), (Some(2999), None, None));
    }

    #[test]
    fn the_last_lease_is_the_greatest_and_an_older_epoch_may_come_again_after_a_load() {
        let mut leases = LastLeases::default();
        leases.note(7, 30, || 7);
        leases.note(7, 20, || 7);
        leases.note(3, 40, || 3);
        assert_eq!([7, 3].map(|epoch| leases.take(epoch)), [Some(30), Some(40)]);
    }
}
