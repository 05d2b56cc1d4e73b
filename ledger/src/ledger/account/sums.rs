//! Sums of records as they are stored, there and back.

use forebay_proto::RecordSum;
use forebay_proto::v1::Tally;

/// A stored sum.
pub(super) fn sum(tally: Option<Tally>) -> RecordSum {
    let Tally { count, sum_high, sum_low } = tally.unwrap_or_default();
    RecordSum::from_halves(count, sum_high, sum_low)
}

/// A sum as it is stored.
pub(super) fn tally(sum: RecordSum) -> Tally {
    let (sum_high, sum_low) = sum.halves();
    Tally { count: sum.count, sum_high, sum_low }
}
