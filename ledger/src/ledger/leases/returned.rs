//! Positions that were leased, are not complete, and are with no worker, in lists by (epoch, start).

use std::ops::Range;

use forebay_proto::v1::{self, AckItem, Cause, StoredReturned, Verdict, ack_item::Kind};

use crate::ledger::Times;

/// Positions on their way into a lease.
pub(in crate::ledger) struct Grant {
    pub(in crate::ledger) epoch: u64,
    pub(in crate::ledger) range: Range<u64>,
    pub(super) deaths: u32,
    /// How a trainer may have seen them already.
    pub(in crate::ledger) cause: Cause,
}

/// Positions that were leased, are not complete, and are in no lease now.
#[derive(Clone, Debug)]
pub(in crate::ledger) struct ReturnedPositions {
    pub(in crate::ledger) epoch: u64,
    pub(in crate::ledger) start: u64,
    pub(in crate::ledger) end: u64,
    /// Daemons in a row that died with them, without a receipt or a finished batch (semantics rule 9).
    pub(in crate::ledger) deaths: u32,
    /// The lease that they were in last, for late receipts; 0 after a restore.
    pub(in crate::ledger) lease: u64,
    pub(in crate::ledger) lease_start: u64,
    pub(in crate::ledger) worker: String,
    /// How a trainer may have seen them already.
    pub(in crate::ledger) cause: Cause,
    /// A former incarnation had them, and its consumers may still hand them in. They are granted last, and not before
    /// `not_before`.
    pub(in crate::ledger) kept_for_consumers: bool,
    pub(super) not_before: u64,
}

/// Positions taken out of a lease or out of the returned ones.
pub(in crate::ledger) struct TakenPositions {
    pub(in crate::ledger) grant: Grant,
    pub(super) lease_start: u64,
    /// They were among the returned ones.
    pub(super) returned: bool,
}

impl ReturnedPositions {
    /// From what is stored by this version of the head.
    pub(super) fn load(stored: &StoredReturned, version: u32, now: u64, times: Times) -> Self {
        // Version 1 counted all positions that had been through a death.
        let died = version == 1 && stored.deaths > 0;
        Self {
            epoch: stored.epoch,
            start: stored.start,
            end: stored.end,
            deaths: stored.deaths,
            lease: stored.lease,
            lease_start: stored.lease_start,
            worker: stored.worker.clone(),
            cause: if died { Cause::DaemonDied } else { stored.cause() },
            kept_for_consumers: stored.kept_for_consumers,
            not_before: if stored.kept_for_consumers { now.saturating_add(times.grace) } else { 0 },
        }
    }

    pub(super) fn stored(&self) -> StoredReturned {
        StoredReturned {
            epoch: self.epoch,
            start: self.start,
            end: self.end,
            deaths: self.deaths,
            lease: self.lease,
            lease_start: self.lease_start,
            worker: self.worker.clone(),
            cause: self.cause.into(),
            kept_for_consumers: self.kept_for_consumers,
        }
    }

    /// Positions that no lease of this run had.
    pub(in crate::ledger) fn unleased(epoch: u64, positions: Range<u64>) -> Self {
        Self {
            epoch,
            start: positions.start,
            end: positions.end,
            deaths: 0,
            lease: 0,
            lease_start: 0,
            worker: String::new(),
            cause: Cause::Unseen,
            kept_for_consumers: false,
            not_before: 0,
        }
    }

    /// The same, with no lease whose receipts would count.
    pub(super) fn fenced(&self) -> Self {
        let &Self { epoch, start, end, deaths, cause, .. } = self;
        Self { deaths, cause, ..Self::unleased(epoch, start..end) }
    }

    /// Whether a worker had it in this lease last.
    pub(super) fn was_of(&self, worker: &str, lease: u64) -> bool {
        lease != 0 && self.lease == lease && self.worker == worker
    }
}

/// Takes the range of a lease out of a list, if all of it is there.
pub(super) fn take_out(
    list: &mut Vec<ReturnedPositions>,
    ours: impl Fn(&ReturnedPositions) -> bool,
    range: &v1::Range,
) -> Result<TakenPositions, Verdict> {
    let first = list.iter().find(|back| ours(back)).ok_or(Verdict::Lost)?;
    let (epoch, lease_start) = (first.epoch, first.lease_start);
    let wanted = positions(lease_start, range).ok_or(Verdict::Invalid)?;
    let inside = |back: &ReturnedPositions| back.start.max(wanted.start)..back.end.min(wanted.end);
    let of_ours = list.iter().filter(|back| ours(back)).map(inside);
    let there: u64 = of_ours.map(|part| part.end.saturating_sub(part.start)).sum();
    if there != wanted.end - wanted.start {
        return Err(Verdict::Lost);
    }
    let parts: Vec<ReturnedPositions> = list.extract_if(.., |back| ours(back) && !inside(back).is_empty()).collect();
    let mut grant = Grant { epoch, range: wanted.clone(), deaths: 0, cause: Cause::Unseen };
    for part in parts {
        grant.cause = grant.cause.max(part.cause);
        grant.deaths = grant.deaths.max(part.deaths);
        let (before, after) = (part.start..wanted.start, wanted.end..part.end);
        insert(list, ReturnedPositions { start: before.start, end: before.end, ..part.clone() });
        insert(list, ReturnedPositions { start: after.start, end: after.end, ..part });
    }
    Ok(TakenPositions { grant, lease_start, returned: true })
}

/// Puts positions into a list, in their order; nothing for an empty range.
pub(super) fn insert(list: &mut Vec<ReturnedPositions>, positions: ReturnedPositions) {
    if positions.start < positions.end {
        let index = list.partition_point(|r| (r.epoch, r.start) < (positions.epoch, positions.start));
        list.insert(index, positions);
    }
}

/// From a range counted from a lease's start to one counted from the epoch's start; `None` if it is empty.
pub(in crate::ledger) fn positions(lease_start: u64, range: &v1::Range) -> Option<Range<u64>> {
    let positions = lease_start.checked_add(range.start)?..lease_start.checked_add(range.end)?;
    (!positions.is_empty()).then_some(positions)
}

/// The range of a receipt that agrees with itself.
pub(in crate::ledger) fn receipt_range(item: &AckItem) -> Option<v1::Range> {
    let range = item.range?;
    let len = range.end.checked_sub(range.start)?;
    let records = match item.kind() {
        Kind::Delivered | Kind::Dropped => len,
        Kind::Bare if (item.sum_high, item.sum_low) == (0, 0) => 0,
        Kind::Bare | Kind::Finished | Kind::Seen | Kind::Unspecified => return None,
    };
    (len > 0 && records == item.count).then_some(range)
}
