//! What the sums of groups of trainers say, if groups each get every batch (semantics rule 44).

use crate::RecordSum;
use crate::v1::GroupTally;

impl GroupTally {
    /// Whether the group saw other records than were delivered, as far as that is known: other ones of a batch than another group, or
    /// as many as were delivered, or more, and not the same.
    pub fn differs_from(&self, delivered: RecordSum) -> bool {
        let consumed = self.consumed.unwrap_or_default();
        let consumed = RecordSum::from_halves(consumed.count, consumed.sum_high, consumed.sum_low);
        self.differs || (consumed.count >= delivered.count && consumed != delivered)
    }
}

#[cfg(test)]
mod tests {
    use crate::v1::Tally;

    use super::*;

    #[test]
    fn rule_44_a_group_with_fewer_records_differs_only_if_it_is_known() {
        let delivered: RecordSum = (0..4).collect();
        let group = |records: &[u64]| {
            let sum: RecordSum = records.iter().copied().collect();
            let (sum_high, sum_low) = sum.halves();
            GroupTally { consumed: Some(Tally { count: sum.count, sum_high, sum_low }), ..GroupTally::default() }
        };
        assert!(!group(&[0, 1, 2, 3]).differs_from(delivered));
        assert!(!group(&[0, 9]).differs_from(delivered));
        assert!(group(&[0, 1, 2, 9]).differs_from(delivered));
        assert!(group(&[0, 1, 2, 3, 3]).differs_from(delivered));
        assert!(GroupTally { differs: true, ..group(&[0]) }.differs_from(delivered));
    }
}
