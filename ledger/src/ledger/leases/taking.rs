//! How positions leave a lease or one of the lists of positions that came back, and how leases end.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use forebay_proto::v1::{self, Cause, EpochPosition, OpenRange, ReturnedRange, Verdict};

use super::lease_out::LeaseOut;
use super::returned::{Grant, ReturnedPositions, TakenPositions, insert, positions, take_out};
use super::{Leases, Terms, first_id, overlap};

/// If other ranks end several epochs shortly one after the other, late receipts count for this many. It bounds what is
/// kept of them.
const LATE_EPOCHS: u64 = 8;

/// The result of ending an epoch.
pub(in crate::ledger) struct EndedEpoch {
    /// The abandoned positions, in rising order, so that adjacent ranges become one range for the audit.
    pub(in crate::ledger) positions: Vec<Range<u64>>,
    /// The part of the epoch that had been leased.
    pub(in crate::ledger) leased: Vec<ReturnedPositions>,
}

impl Leases {
    /// Takes positions out of a lease. If the lease has ended and no other lease has got the positions since, takes them
    /// out of the returned ones.
    pub(in crate::ledger) fn take(
        &mut self,
        worker: &str,
        lease: u64,
        range: &v1::Range,
    ) -> Result<TakenPositions, Verdict> {
        let any = |_: &ReturnedPositions| true;
        let Some(held) = self.get_of(worker, lease) else { return self.take_back(worker, lease, range, any) };
        let inner = held.lease;
        let positions = positions(inner.start, range).ok_or(Verdict::Invalid)?;
        let taken = self.out.change(lease, |held| {
            held.open.remove(&positions).then(|| (held.take_deaths(&positions), held.open.is_empty()))
        });
        let Some((deaths, is_over)) = taken.flatten() else {
            // The lease may still acknowledge a part that was given back.
            return self.take_back(worker, lease, range, any).map_err(|_| Verdict::Invalid);
        };
        if is_over {
            self.out.remove(lease);
        }
        self.change_of(worker);
        let grant = Grant { epoch: inner.epoch, range: positions, deaths, cause: Cause::Unseen };
        Ok(TakenPositions { grant, lease_start: inner.start, returned: false })
    }

    /// Takes positions that are kept for consumers of a dead incarnation. These consumers cannot end a lease that is out,
    /// or positions that a living consumer gave back.
    pub(in crate::ledger) fn take_kept(
        &mut self,
        worker: &str,
        lease: u64,
        range: &v1::Range,
    ) -> Result<TakenPositions, Verdict> {
        self.take_back(worker, lease, range, |back| back.kept_for_consumers)
    }

    /// Takes positions out of the returned ones, by the lease that they were in last.
    fn take_back(
        &mut self,
        worker: &str,
        lease: u64,
        range: &v1::Range,
        which: impl Fn(&ReturnedPositions) -> bool,
    ) -> Result<TakenPositions, Verdict> {
        let ours = |back: &ReturnedPositions| back.was_of(worker, lease) && which(back);
        let taken = take_out(&mut self.returned, ours, range)?;
        self.revision.rise();
        Ok(taken)
    }

    /// Takes positions back that were abandoned while their receipt was under way, because another rank ended the epoch.
    pub(in crate::ledger) fn take_abandoned(
        &mut self,
        worker: &str,
        lease: u64,
        range: &v1::Range,
    ) -> Result<TakenPositions, Verdict> {
        let taken = take_out(&mut self.abandoned, |back| back.was_of(worker, lease), range)?;
        self.revision.rise();
        Ok(taken)
    }

    /// Notes that positions of a lease are in a finished batch: no later death is blamed on them (rule 9).
    pub(in crate::ledger) fn finish(&mut self, worker: &str, lease: u64, range: &v1::Range) -> Verdict {
        let Some(held) = self.get_of(worker, lease) else { return Verdict::Lost };
        let Some(positions) = positions(held.lease.start, range) else { return Verdict::Invalid };
        if self.out.change(lease, |held| held.note_made(&positions)) == Some(true) {
            self.change_of(worker);
        }
        Verdict::Accepted
    }

    /// Where these positions of a lease are, if each of them is open in it, or came back from it and is in no lease now.
    pub(in crate::ledger) fn open_of(
        &self,
        worker: &str,
        lease: u64,
        range: &v1::Range,
    ) -> Result<(u64, Range<u64>), Verdict> {
        let (epoch, start) = self.locate(worker, lease).ok_or(Verdict::Lost)?;
        let positions = positions(start, range).ok_or(Verdict::Invalid)?;
        let held = self.get_of(worker, lease);
        let out = held.into_iter().flat_map(|held| held.open.iter());
        let ours = self.returned.iter().filter(|back| back.lease == lease && back.worker == worker);
        let open = out.chain(ours.map(|back| back.start..back.end));
        let there: u64 = open.map(|span| overlap(&span, &positions)).sum();
        if there == positions.end - positions.start {
            return Ok((epoch, positions));
        }
        Err(if held.is_some() { Verdict::Invalid } else { Verdict::Lost })
    }

    /// Takes back positions that a worker has given back. If its consumers may still hand them in, they are kept for
    /// these until `kept_until`.
    pub(in crate::ledger) fn put_back(
        &mut self,
        worker: &str,
        item: &ReturnedRange,
        taken: TakenPositions,
        kept_until: u64,
    ) {
        let TakenPositions { grant: Grant { epoch, range, deaths, cause }, lease_start, returned } = taken;
        // Records that a trainer had in its hands do not end processes.
        let (deaths, cause) = if item.cause() == Cause::Unseen { (deaths, cause) } else { (0, item.cause()) };
        let kept_for_consumers = item.cause() == Cause::DaemonStopped;
        let mut back = ReturnedPositions {
            deaths,
            lease: item.lease,
            lease_start,
            worker: worker.to_owned(),
            cause,
            kept_for_consumers,
            not_before: if kept_for_consumers { kept_until } else { 0 },
            ..ReturnedPositions::unleased(epoch, range.clone())
        };
        if !returned {
            // Joins adjacent ranges of a lease, however many batches gave them back.
            let touches = |other: &ReturnedPositions| {
                other.epoch == epoch
                    && other.lease == item.lease
                    && (other.cause, other.kept_for_consumers, other.deaths) == (cause, kept_for_consumers, deaths)
                    && (other.end == range.start || other.start == range.end)
            };
            for other in self.returned.extract_if(.., |other| touches(other)) {
                back.start = back.start.min(other.start);
                back.end = back.end.max(other.end);
            }
        }
        self.add_returned(back);
    }

    /// Puts positions among the returned ones, in their order; nothing for an empty range.
    pub(in crate::ledger) fn add_returned(&mut self, returned: ReturnedPositions) {
        if returned.start < returned.end {
            insert(&mut self.returned, returned);
            self.revision.rise();
        }
    }

    /// Puts many positions among the returned ones, in their order. Inserting them one by one would take seconds if all
    /// workers of a large cluster are lost at once.
    pub(in crate::ledger) fn add_all_returned(&mut self, back: Vec<ReturnedPositions>) {
        if !back.is_empty() {
            self.returned.extend(back);
            self.returned.sort_by_key(|back| (back.epoch, back.start));
            self.revision.rise();
        }
    }

    /// Extends a lease of a worker.
    pub(in crate::ledger) fn extend(&mut self, worker: &str, lease: u64, deadline: u64) {
        if self.get_of(worker, lease).is_some() {
            self.out.change(lease, |held| held.deadline = deadline);
        }
    }

    /// Takes the leases that have expired from their workers.
    pub(in crate::ledger) fn take_late(&mut self, now: u64) -> BTreeMap<Arc<str>, Vec<LeaseOut>> {
        let mut late = BTreeMap::<_, Vec<_>>::new();
        for held in self.out.late(now).into_iter().filter_map(|id| self.out.remove(id)) {
            self.changed.insert(Arc::clone(&held.holder));
            late.entry(Arc::clone(&held.holder)).or_default().push(held);
        }
        late
    }

    /// Takes all leases of a worker.
    pub(in crate::ledger) fn take_all_of(&mut self, worker: &str) -> Vec<LeaseOut> {
        let ids: Vec<u64> = self.of(worker).map(|lease| lease.id).collect();
        let taken: Vec<_> = ids.into_iter().filter_map(|id| self.out.remove(id)).collect();
        if !taken.is_empty() {
            self.change_of(worker);
        }
        taken
    }

    /// Keeps the positions of an ended incarnation for its consumers until `until`, because they may attach to the next
    /// one. Positions that earlier incarnations left are kept as long.
    pub(in crate::ledger) fn keep_for_consumers(&mut self, worker: &str, mut lost: Vec<ReturnedPositions>, until: u64) {
        for back in self.returned.iter_mut().filter(|back| back.kept_for_consumers && back.worker == worker) {
            back.not_before = until;
        }
        for back in &mut lost {
            (back.kept_for_consumers, back.not_before) = (true, until);
        }
        self.add_all_returned(lost);
    }

    /// No trainer will hand in more of what a worker's former incarnations had. So no trainer has seen the rest.
    pub(in crate::ledger) fn keep_no_more(&mut self, worker: &str) {
        for back in self.returned.iter_mut().filter(|back| back.kept_for_consumers && back.worker == worker) {
            back.not_before = 0;
            if back.cause == Cause::DaemonDied {
                back.cause = Cause::Unseen;
            }
        }
        self.revision.rise();
    }

    /// Workers with positions that missing trainers may have seen.
    pub(in crate::ledger) fn undecided(&self) -> impl Iterator<Item = &str> {
        let undecided = |back: &&ReturnedPositions| back.kept_for_consumers && back.cause == Cause::DaemonDied;
        self.returned.iter().filter(undecided).map(|back| &*back.worker)
    }

    /// Counts a worker's death for these positions, whose leases had expired before it. Positions that are complete by
    /// now, or in a finished batch, do not count it. If another lease has some of the positions, the whole lease counts
    /// the death.
    pub(in crate::ledger) fn count_late_death(&mut self, expired: &[(u64, Range<u64>)]) {
        if expired.is_empty() {
            return;
        }
        for (epoch, range) in expired {
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
        let is_hit = |held: &&LeaseOut| {
            let of_lease = expired.iter().filter(|(epoch, _)| *epoch == held.lease.epoch);
            let mut open = of_lease.flat_map(|(_, range)| held.open.parts(range).collect::<Vec<_>>());
            open.any(|(part, is_open)| is_open && !held.is_made(&part))
        };
        let hit: Vec<_> =
            self.out.iter().filter(is_hit).map(|held| (held.lease.id, Arc::clone(&held.holder))).collect();
        for (id, holder) in hit {
            self.out.change(id, |held| held.lease.deaths = held.lease.deaths.saturating_add(1));
            self.changed.insert(holder);
        }
        self.revision.rise();
    }

    /// Ends all leases of an epoch, and takes its positions that are not complete.
    pub(in crate::ledger) fn end_epoch(&mut self, terms: &Terms, epoch: u64) -> EndedEpoch {
        let mut leased = Vec::new();
        for held in self.out.ids_of(epoch).into_iter().filter_map(|id| self.out.remove(id)) {
            leased.extend(held.open.iter().map(|span| held.returned(span)));
            self.changed.insert(held.holder);
        }
        for unleased in [&mut self.returned, &mut self.tails] {
            leased.extend(unleased.extract_if(.., |back| back.epoch == epoch));
        }
        let mut positions: Vec<_> = leased.iter().map(|back| back.start..back.end).collect();
        if epoch == self.cursor_epoch {
            let len = terms.plan().epoch_len(epoch);
            positions.push(self.cursor..len);
            self.cursor = len;
        }
        positions.retain(|range| !range.is_empty());
        if !positions.is_empty() {
            self.revision.rise();
        }
        positions.sort_unstable_by_key(|range| range.start);
        EndedEpoch { positions, leased }
    }

    /// Keeps the leased positions of epochs up to `last` until `until`, because their receipts may be under way.
    pub(in crate::ledger) fn keep_abandoned(&mut self, mut leased: Vec<ReturnedPositions>, last: u64, until: u64) {
        // Receipts of epochs that were ended just before may be under way still.
        let before = std::mem::take(&mut self.abandoned).into_iter();
        leased.extend(before.filter(|back| back.epoch + LATE_EPOCHS > last));
        leased.sort_by_key(|back| (back.epoch, back.start));
        (self.abandoned, self.abandoned_until) = (leased, until);
        self.revision.rise();
    }

    /// Forgets abandoned positions whose receipts do not count any more.
    pub(in crate::ledger) fn forget_abandoned(&mut self, now: u64) {
        if self.abandoned_until().is_some_and(|until| until <= now) {
            self.abandoned.clear();
            self.revision.rise();
        }
    }

    /// Drops all positions: no worker has one any more, and the ledger awaits no receipt.
    pub(in crate::ledger) fn drop_all(&mut self) {
        self.changed.extend(self.out.holders().cloned());
        drop(self.out.take_all());
        for unleased in [&mut self.returned, &mut self.tails, &mut self.abandoned] {
            unleased.clear();
        }
        self.revision.rise();
    }

    /// Continues from a state: the ledger leases these positions again, and then those from this place on.
    pub(in crate::ledger) fn take_state(&mut self, open: &[OpenRange], at: EpochPosition) {
        let returned = |open: &OpenRange| {
            let positions = ReturnedPositions::unleased(open.epoch, open.start..open.end);
            ReturnedPositions { deaths: open.deaths, cause: open.cause(), ..positions }
        };
        self.add_all_returned(open.iter().map(returned).collect());
        self.set_cursor(at);
    }

    /// Ends all leases after a recovery. No new lease gets an id that an earlier lease may have had, because `origin` is
    /// new with each recovery.
    pub(in crate::ledger) fn recover(&mut self, origin: &[u8]) {
        let mut open: Vec<_> = self.unleased().map(ReturnedPositions::fenced).collect();
        let of_leases = self.out.iter().flat_map(|held| held.given_up(Cause::Unseen, None));
        open.extend(of_leases.map(|back| back.fenced()));
        self.drop_all();
        self.add_all_returned(open);
        self.next_id = first_id(origin);
    }

    /// Version 1 of the documents had no positions without a record. Batches go out in order. So an epoch with an open
    /// record, whose end was leased, also has its positions without a record open.
    pub(in crate::ledger) fn owe_padding(&mut self, terms: &Terms) {
        // No build of that version had classes.
        if terms.plan().classes().is_some() {
            return;
        }
        for epoch in self.first_open().unwrap_or(self.cursor_epoch)..self.cursor_epoch {
            let bare = terms.plan().epoch_records(epoch)..terms.plan().epoch_len(epoch);
            self.add_returned(ReturnedPositions::unleased(epoch, bare));
        }
    }

    /// The leases of a worker have changed durably.
    pub(super) fn change_of(&mut self, worker: &str) {
        if !self.changed.contains(worker) {
            self.changed.insert(Arc::from(worker));
        }
        self.revision.rise();
    }
}
