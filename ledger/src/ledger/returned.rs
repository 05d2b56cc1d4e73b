//! Positions that were leased, are not complete, and nobody has, in lists by (epoch, start).

use std::ops::Range;

use forebay_proto::v1::{self, Cause, Verdict};

use super::{Grant, ReturnedPositions};

/// Positions taken out of a lease or out of the returned ones.
pub(super) struct TakenPositions {
    pub(super) grant: Grant,
    pub(super) lease_start: u64,
    /// They were among the returned ones.
    pub(super) returned: bool,
}

impl ReturnedPositions {
    /// Positions that no lease of this run had.
    pub(super) fn unleased(epoch: u64, positions: Range<u64>) -> Self {
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
pub(super) fn positions(lease_start: u64, range: &v1::Range) -> Option<Range<u64>> {
    let positions = lease_start.checked_add(range.start)?..lease_start.checked_add(range.end)?;
    (!positions.is_empty()).then_some(positions)
}
