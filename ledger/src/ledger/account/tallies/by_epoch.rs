//! The sums of a ledger's epochs. Epochs that came out alike, as most do, share their sums in memory: a run may have many.

use std::collections::BTreeMap;
use std::ops::RangeFrom;
use std::sync::Arc;

use super::Tallies;

/// The sums by epoch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EpochTallies(BTreeMap<u64, Arc<Tallies>>);

impl EpochTallies {
    pub(crate) fn get(&self, epoch: u64) -> Option<&Tallies> {
        self.0.get(&epoch).map(|tallies| &**tallies)
    }

    /// Those of an epoch, to be changed. A new epoch is one in which nothing is counted yet.
    pub(crate) fn of(&mut self, epoch: u64) -> &mut Tallies {
        if !self.0.contains_key(&epoch) {
            self.share_before(epoch);
        }
        Arc::make_mut(self.0.entry(epoch).or_default())
    }

    /// The epochs before a new one hardly change any more.
    fn share_before(&mut self, epoch: u64) {
        let mut before = self.0.range_mut(..epoch).rev().map(|(_, tallies)| tallies);
        let Some(mut later) = before.next() else { return };
        for earlier in before.by_ref().take(SHARED_AT_ONCE) {
            if Arc::ptr_eq(earlier, later) {
                return;
            }
            if earlier == later {
                *later = Arc::clone(earlier);
            }
            later = earlier;
        }
    }

    pub(crate) fn insert(&mut self, epoch: u64, tallies: Tallies) {
        let same = self.0.range(..epoch).next_back().filter(|(_, before)| ***before == tallies);
        let tallies = same.map_or_else(|| Arc::new(tallies), |(_, before)| Arc::clone(before));
        self.0.insert(epoch, tallies);
    }

    pub(crate) fn remove(&mut self, epoch: u64) {
        self.0.remove(&epoch);
    }

    pub(crate) fn split_off(&mut self, epoch: u64) -> Self {
        Self(self.0.split_off(&epoch))
    }

    pub(crate) fn range(&self, epochs: RangeFrom<u64>) -> impl Iterator<Item = (&u64, &Tallies)> {
        self.0.range(epochs).map(|(epoch, tallies)| (epoch, &**tallies))
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &u64> {
        self.0.keys()
    }

    pub(crate) fn into_keys(self) -> impl Iterator<Item = u64> {
        self.0.into_keys()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Tallies> {
        self.0.values().map(|tallies| &**tallies)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// At the border of two epochs, the one before may still change. So may those before that, after a restore.
const SHARED_AT_ONCE: usize = 4;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use forebay_proto::RecordSum;

    use super::*;

    /// The sums that are kept.
    fn kept(tallies: &EpochTallies) -> usize {
        tallies.0.values().map(Arc::as_ptr).collect::<HashSet<_>>().len()
    }

    fn whole(records: u64) -> RecordSum {
        (0..records).collect()
    }

    #[test]
    fn epochs_that_come_out_alike_are_kept_once_however_many_they_are() {
        let mut tallies = EpochTallies::default();
        for epoch in 0..10_000 {
            // The next epoch begins before this one is complete.
            tallies.of(epoch).delivered += whole(7);
            tallies.of(epoch + 1);
            tallies.of(epoch).dropped += whole(3);
        }
        assert!(kept(&tallies) <= 4, "{}", kept(&tallies));
        let expected = Tallies { delivered: whole(7), dropped: whole(3), ..Tallies::default() };
        assert!(tallies.range(0..).take(10_000).all(|(_, sums)| *sums == expected));
    }

    #[test]
    fn a_change_of_one_epoch_changes_no_other_one() {
        let mut tallies = EpochTallies::default();
        let sums = Tallies { delivered: whole(5), ..Tallies::default() };
        for epoch in 0..100 {
            tallies.insert(epoch, sums.clone());
        }
        assert_eq!(kept(&tallies), 1);
        tallies.of(40).abandoned += whole(1);
        assert_eq!(kept(&tallies), 2);
        assert!(tallies.range(0..).all(|(epoch, found)| (*found == sums) == (*epoch != 40)));
    }
}
