//! The audit's checksum: a 128-bit hash of a record number, summed without order.
//!
//! Two sets of records with the same count and the same sum are the same set but for a chance of about 2^-64 per
//! half: a record that was acked twice while another never was does not add up.

use std::ops::{AddAssign, SubAssign};

use crate::Turn;

/// Hash of one record number, or of the key of a [`Turn`]. Pinned: ledgers on disk hold sums of it.
///
/// Two rounds of the splitmix64 finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// 2014) with different increments give the two halves.
///
/// ```
/// use forebay_proto::record_hash;
/// assert_ne!(record_hash(0), record_hash(1));
/// ```
pub const fn record_hash(record: u64) -> u128 {
    let high = finalise(record.wrapping_add(0x9e37_79b9_7f4a_7c15));
    let low = finalise(finalise(record ^ 0xd1b5_4a32_d192_ed03).wrapping_add(0x8cb9_2ba7_2f3d_8dd7));
    ((high as u128) << 64) | low as u128
}

const fn finalise(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Count and sum of [`record_hash`] over a set of records; addition is modulo 2^128.
///
/// ```
/// use forebay_proto::RecordSum;
/// let one: RecordSum = [3, 1, 2].into_iter().collect();
/// let two: RecordSum = (1..4).collect();
/// assert_eq!(one, two);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordSum {
    /// How many records.
    pub count: u64,
    /// Sum of their hashes.
    pub sum: u128,
}

impl RecordSum {
    /// Adds one record, or the key of a [`Turn`].
    pub fn add(&mut self, record: u64) {
        self.count += 1;
        self.sum = self.sum.wrapping_add(record_hash(record));
    }

    /// High and low half of the sum, as messages carry it.
    #[allow(clippy::cast_possible_truncation, reason = "the halves are cut on purpose")]
    pub const fn halves(self) -> (u64, u64) {
        ((self.sum >> 64) as u64, self.sum as u64)
    }

    /// From a count and the halves that a message carries.
    pub const fn from_halves(count: u64, high: u64, low: u64) -> Self {
        Self { count, sum: ((high as u128) << 64) | low as u128 }
    }
}

impl FromIterator<u64> for RecordSum {
    fn from_iter<I: IntoIterator<Item = u64>>(records: I) -> Self {
        let mut sum = Self::default();
        for record in records {
            sum.add(record);
        }
        sum
    }
}

impl FromIterator<Turn> for RecordSum {
    fn from_iter<I: IntoIterator<Item = Turn>>(turns: I) -> Self {
        turns.into_iter().map(Turn::key).collect()
    }
}

impl AddAssign for RecordSum {
    fn add_assign(&mut self, other: Self) {
        self.count = self.count.wrapping_add(other.count);
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl SubAssign for RecordSum {
    fn sub_assign(&mut self, other: Self) {
        self.count = self.count.wrapping_sub(other.count);
        self.sum = self.sum.wrapping_sub(other.sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_pinned() {
        // Ledgers on disk hold sums of these: a change here is a change of the ledger's format.
        assert_eq!(record_hash(0), PINNED_0);
        assert_eq!(record_hash(1_281_166), PINNED_LAST_OF_IMAGENET);
    }

    #[test]
    fn one_record_twice_in_place_of_another_does_not_add_up() {
        let whole: RecordSum = (0..1000).collect();
        let wrong: RecordSum = (0..1000).map(|r| if r == 500 { 501 } else { r }).collect();
        assert_eq!(whole.count, wrong.count);
        assert_ne!(whole.sum, wrong.sum);
    }

    #[test]
    fn rule_57_each_turn_of_a_record_counts_by_itself_and_the_first_one_as_the_record() {
        let sum = |turns: &[(u64, u16)]| turns.iter().map(|&(record, repeat)| Turn::new(record, repeat)).collect();
        let (whole, twice): (RecordSum, RecordSum) = (sum(&[(3, 0), (3, 1), (4, 0)]), sum(&[(3, 1), (3, 1), (4, 0)]));
        assert_eq!(whole.count, twice.count);
        assert_ne!(whole.sum, twice.sum);
        assert_eq!(sum(&[(3, 0), (4, 0)]), [3, 4].into_iter().collect::<RecordSum>());
        assert_eq!(record_hash(Turn::new(5, 1).key()), PINNED_REPEAT);
    }

    #[test]
    fn halves_go_there_and_back() {
        let sum: RecordSum = (0..77).collect();
        let (high, low) = sum.halves();
        assert_eq!(RecordSum::from_halves(77, high, low), sum);
    }

    const PINNED_0: u128 = 0xe220_a839_7b1d_cdaf_3223_8a63_4b31_8d38;
    const PINNED_REPEAT: u128 = 0xcae5_0edc_7f11_bc93_6d4a_e9f5_ed3c_9543;
    const PINNED_LAST_OF_IMAGENET: u128 = 0x280a_9def_7bf4_eb0a_a1a4_3894_9e66_8972;
}
