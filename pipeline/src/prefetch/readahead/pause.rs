//! How long a record waits after an outage until it is read again. The pauses grow, and differ from record to record. So
//! the reads of many records and nodes do not reach the storage in waves.

use std::time::Duration;

use forebay_sources::Backoff;

const BACKOFF: Backoff = Backoff { first: Duration::from_millis(50), longest: Duration::from_secs(5) };

/// The pause of a record after so many tries before the last one. The record and the try choose how much of the longest pause
/// it is.
pub(super) fn before_retry(record: u64, tries: u32) -> Duration {
    BACKOFF.after(tries.saturating_add(1), part(record, tries))
}

/// A part from 0 to 1, spread evenly over records and tries.
fn part(record: u64, tries: u32) -> f64 {
    // The finalizer of SplitMix64.
    let mut mixed = record.wrapping_add(u64::from(tries) << 48).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    f64::from(u32::try_from(mixed >> 32).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        for record in 0..100 {
            for tries in 0..40 {
                let (most, pause) = (BACKOFF.after(tries + 1, 1.0), before_retry(record, tries));
                assert!(pause >= most / 2 && pause <= most, "{record} after {tries}: {pause:?} of {most:?}");
            }
        }
        assert!(before_retry(7, u32::MAX) >= BACKOFF.longest / 2);
    }

    #[test]
    fn rule_54_records_that_failed_together_are_not_read_again_together() {
        let mut dues: Vec<Duration> = (0..1000).map(|record| before_retry(record, 10)).collect();
        dues.sort_unstable();
        let tenth = BACKOFF.longest / 20;
        for place in 0..10 {
            let from = BACKOFF.longest / 2 + tenth * place;
            let count = dues.iter().filter(|due| **due >= from && **due < from + tenth).count();
            assert!((60..140).contains(&count), "{count} of 1000 in the part {place} of ten");
        }
        assert_ne!(before_retry(3, 10), before_retry(3, 11), "one record's pauses differ too");
    }
}
