//! What expired of a worker's leases, until the worker is heard again. If its successor comes instead, the worker had died with
//! them (semantics rule 9).

use std::ops::Range;

use forebay_proto::v1::OpenRange;

use super::{LeaseOut, Ledger, ReturnedPositions, returned::insert};

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpiredPositions(Vec<(u64, Range<u64>)>);

impl ExpiredPositions {
    pub(super) fn of(stored: &[OpenRange]) -> Self {
        Self(stored.iter().map(|range| (range.epoch, range.start..range.end)).collect())
    }

    pub(super) fn stored(&self) -> Vec<OpenRange> {
        let stored = |(epoch, range): &(u64, Range<u64>)| {
            let (epoch, start, end) = (*epoch, range.start, range.end);
            OpenRange { epoch, start, end, ..OpenRange::default() }
        };
        self.0.iter().map(stored).collect()
    }

    /// Adds what of a lease was in no finished batch.
    pub(super) fn note(&mut self, expired: &LeaseOut) {
        let parts = expired.parts().map(|(range, _)| range).filter(|range| !expired.is_made(range));
        self.0.extend(parts.map(|range| (expired.lease.epoch, range)));
    }

    /// Forgets all. Answers whether there was anything.
    pub(super) fn forget(&mut self) -> bool {
        !std::mem::take(self).0.is_empty()
    }
}

impl Ledger {
    /// A worker has died with these positions. What of them was made or is complete by now has nothing to do with it. A lease in
    /// which others have some of them counts the death as a whole.
    pub(super) fn count_late_death(&mut self, expired: &ExpiredPositions) {
        if expired.0.is_empty() {
            return;
        }
        for (epoch, range) in &expired.0 {
            let inside = |back: &ReturnedPositions| back.start.max(range.start)..back.end.min(range.end);
            let is_hit = |back: &mut ReturnedPositions| back.epoch == *epoch && !inside(back).is_empty();
            for list in [&mut self.returned, &mut self.tails] {
                for back in list.extract_if(.., is_hit).collect::<Vec<_>>() {
                    let Range { start, end } = inside(&back);
                    insert(list, ReturnedPositions { end: start, ..back.clone() });
                    insert(list, ReturnedPositions { start: end, ..back.clone() });
                    let deaths = back.deaths.saturating_add(1);
                    insert(list, ReturnedPositions { start, end, deaths, ..back });
                }
            }
        }
        let is_hit = |held: &LeaseOut| {
            let of_lease = expired.0.iter().filter(|(epoch, _)| *epoch == held.lease.epoch);
            let mut open = of_lease.flat_map(|(_, range)| held.open.parts(range).collect::<Vec<_>>());
            open.any(|(part, is_open)| is_open && !held.is_made(&part))
        };
        for (name, worker) in &mut self.workers {
            for held in worker.leases.values_mut().filter(|held| is_hit(held)) {
                held.lease.deaths = held.lease.deaths.saturating_add(1);
                self.dirty.workers.insert(name.clone());
            }
        }
        self.touch();
    }
}
