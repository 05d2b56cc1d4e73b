//! When tails may be granted, and to which batches, by looking at every position.

use forebay_proto::v1::{Lease, LeasedRange, Range, SettleRequest, Verdict};

use super::History;

/// Places of a batch at each worker. One takes what is left as it comes.
pub(super) const BATCHES: [u64; super::WORKERS] = [4, 7, 0];

impl History {
    /// A worker settles an epoch, and gives a part of a lease up that fills no batch.
    pub(super) fn settle(&mut self, who: usize, which: usize, from: u64, len: u64) {
        if self.scene.is_of_part() {
            return;
        }
        let Some((lease, start, end)) = self.choose(who, which, from, len) else { return };
        let owned = self.truth.owns(who, &lease, start, end);
        let tail = vec![LeasedRange { lease: lease.id, range: Some(Range { start, end }) }];
        let caller = Some(self.actors[who].daemon.next());
        let request = SettleRequest { caller, epoch: lease.epoch, last_lease: lease.id, tail };
        match self.scene.call(request).unwrap().verdicts().next().unwrap() {
            Verdict::Accepted => {
                let positions = lease.start + start..lease.start + end;
                self.truth.observer.given_up(lease.id, lease.epoch, positions.clone()).unwrap();
                for key in positions.map(|position| (lease.epoch, position)) {
                    assert!(!self.truth.is_done(&key) && self.truth.tails.insert(key));
                }
            }
            verdict => assert!(!owned, "{verdict:?}"),
        }
        let of_epoch = self.truth.observer.held().range((lease.epoch, 0)..(lease.epoch + 1, 0));
        let settled = of_epoch.filter(|(_, (id, owner))| *owner == who && *id <= lease.id);
        let settled: Vec<u64> = settled.map(|(_, (id, _))| *id).collect();
        self.truth.settled.extend(settled);
    }

    /// What a worker that asks for leases gets of the tails: the epoch, how many positions, and whether they fill a batch.
    pub(super) fn tails_for(&self, who: usize) -> Option<(u64, u64, bool)> {
        let (epoch, _) = *self.truth.tails.first()?;
        let there = self.truth.tails.range((epoch, 0)..(epoch + 1, 0)).count() as u64;
        let is_whole = BATCHES[who] > 0 && there >= BATCHES[who];
        for earlier in 0..=epoch {
            for position in 0..self.scene.plan.epoch_len(earlier) {
                let key = (earlier, position);
                let is_taken = match self.truth.observer.held().get(&key) {
                    Some((lease, _)) if self.truth.settled.contains(lease) => true,
                    Some((lease, _)) => self.truth.whole.contains(lease) && (is_whole || earlier < epoch),
                    None => self.truth.is_done(&key) || self.truth.tails.contains(&key),
                };
                if !is_taken {
                    return None;
                }
            }
        }
        Some((epoch, if is_whole { BATCHES[who] } else { there }, is_whole))
    }

    /// Compares the leases of tails in a reply with what was to come.
    pub(super) fn took_tails(&mut self, expected: Option<(u64, u64, bool)>, leases: &[Lease]) {
        let (of_tails, others): (Vec<Lease>, Vec<Lease>) = leases.iter().partition(|lease| lease.whole || lease.last);
        let positions = |lease: Lease| (lease.start..lease.end).map(move |position| (lease.epoch, position));
        assert!(others.into_iter().flat_map(positions).all(|key| !self.truth.tails.contains(&key)));
        let count: u64 = of_tails.iter().map(|lease| lease.end - lease.start).sum();
        let got = of_tails.first().map(|lease| (lease.epoch, count, lease.whole));
        assert_eq!(got, expected, "{leases:?}");
        for lease in of_tails {
            assert!(lease.whole != lease.last && got.is_some_and(|(_, _, is_whole)| is_whole == lease.whole));
            assert!(positions(lease).all(|key| self.truth.tails.remove(&key)), "{lease:?} is not of the tails");
            if lease.whole {
                self.truth.whole.insert(lease.id);
            }
        }
    }
}
