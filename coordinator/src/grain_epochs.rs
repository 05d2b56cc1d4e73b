//! The order of epochs that permute grains, and records within windows of them (semantics rule 56).
//!
//! The grains of a dataset are permuted as records are otherwise. Each `window` grains of that order are a window, and
//! the records of a window are permuted among themselves. So a reader that keeps the grains of a window reads each grain
//! once.
//!
//! An epoch costs one pass over its grains when it is first asked for a record: a permutation of each, well below a
//! microsecond. It keeps 8 bytes per window. A window costs as much per grain, and the last two of an epoch are kept.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use forebay_proto::v1::LedgerSpec;
use parking_lot::Mutex;

use crate::{grains::GrainTable, permutation::Permutation};

/// Epochs that are kept: the one that is read, the one ahead of it, and the one behind whose receipts are late.
const EPOCHS: usize = 3;

/// The orders of all epochs of a spec.
#[derive(Debug)]
pub(crate) struct GrainEpochs {
    table: Arc<GrainTable>,
    window: u64,
    kept: Mutex<VecDeque<(u64, Arc<GrainEpoch>)>>,
}

/// The order of one epoch.
#[derive(Debug)]
pub(crate) struct GrainEpoch {
    table: Arc<GrainTable>,
    window: u64,
    /// From a grain's place in the epoch's order to the grain.
    grains: Permutation,
    /// What the permutations of windows are made from.
    within: Permutation,
    /// The first place of each window, and the end of the last one.
    starts: OnceLock<Vec<u64>>,
    /// The last two windows, the even one first: readers stand in one, and read ahead in the next.
    kept: Mutex<[Option<Arc<GrainWindow>>; 2]>,
}

/// Grains whose records are permuted together.
#[derive(Debug)]
struct GrainWindow {
    number: u64,
    /// Its grains, in the epoch's order: how many records of the window are before each, and its records.
    grains: Vec<(u64, Range<u64>)>,
    order: Permutation,
}

impl GrainEpochs {
    pub(crate) fn new(table: Arc<GrainTable>, window: u32) -> Self {
        Self { table, window: u64::from(window.max(1)), kept: Mutex::default() }
    }

    pub(crate) const fn table(&self) -> &Arc<GrainTable> {
        &self.table
    }

    /// The order of an epoch. It is made without a look at the table.
    pub(crate) fn epoch(&self, spec: &LedgerSpec, epoch: u64) -> Arc<GrainEpoch> {
        let mut kept = self.kept.lock();
        if let Some((_, order)) = kept.iter().find(|(number, _)| *number == epoch) {
            return Arc::clone(order);
        }
        let order = Arc::new(GrainEpoch::new(Arc::clone(&self.table), self.window, spec, epoch));
        kept.truncate(EPOCHS - 1);
        kept.push_front((epoch, Arc::clone(&order)));
        order
    }
}

impl GrainEpoch {
    fn new(table: Arc<GrainTable>, window: u64, spec: &LedgerSpec, epoch: u64) -> Self {
        let permutation = |n, domain| Permutation::new(n, spec.seed, epoch, &spec.fingerprint, domain);
        Self {
            grains: permutation(table.count(), "grains"),
            within: permutation(spec.records, "windows"),
            table,
            window,
            starts: OnceLock::new(),
            kept: Mutex::default(),
        }
    }

    /// The record at a place of the dataset's order in this epoch. The place is below the number of records.
    pub(crate) fn record(&self, place: u64) -> u64 {
        let number = self.starts().partition_point(|&start| start <= place) - 1;
        let window = self.window(number as u64);
        let index = window.order.forward(place - self.starts()[number]);
        let slot = window.grains.partition_point(|(before, _)| *before <= index) - 1;
        let (before, records) = &window.grains[slot];
        records.start + (index - before)
    }

    /// The place of a record of the dataset.
    pub(crate) fn place(&self, record: u64) -> u64 {
        let grain = self.table.grain_of(record);
        let slot = self.grains.inverse(grain);
        let window = self.window(slot / self.window);
        let (before, records) = &window.grains[index(slot % self.window)];
        self.starts()[index(window.number)] + window.order.inverse(before + (record - records.start))
    }

    /// The places and the records of the grain at a place, if windows have one grain each.
    pub(crate) fn grain_at(&self, place: u64) -> Option<(Range<u64>, Range<u64>)> {
        let number = self.starts().partition_point(|&start| start <= place).checked_sub(1)?;
        let places = self.starts()[number]..*self.starts().get(number + 1)?;
        (self.window == 1).then(|| (places, self.table.records_of(self.grains.forward(number as u64))))
    }

    fn starts(&self) -> &[u64] {
        self.starts.get_or_init(|| {
            let mut starts = vec![0];
            let mut end = 0;
            for slot in 0..self.table.count() {
                let records = self.table.records_of(self.grains.forward(slot));
                end += records.end - records.start;
                if (slot + 1) % self.window == 0 || slot + 1 == self.table.count() {
                    starts.push(end);
                }
            }
            starts
        })
    }

    fn window(&self, number: u64) -> Arc<GrainWindow> {
        let mut kept = self.kept.lock();
        let kept = &mut kept[index(number % 2)];
        match kept {
            Some(window) if window.number == number => Arc::clone(window),
            _ => Arc::clone(kept.insert(Arc::new(self.make(number)))),
        }
    }

    fn make(&self, number: u64) -> GrainWindow {
        let first = number * self.window;
        let mut before = 0;
        let grains = (first..self.table.count().min(first + self.window)).map(|slot| {
            let records = self.table.records_of(self.grains.forward(slot));
            let start = before;
            before += records.end - records.start;
            (start, records)
        });
        let grains = grains.collect();
        GrainWindow { number, grains, order: self.within.part(number, before) }
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a table in memory is no longer than usize::MAX")
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, VecDeque};

    use proptest::prelude::*;

    use super::*;
    use crate::spec::GRAIN_PERMUTATION;

    /// The order of an epoch of grains with these numbers of records.
    fn order(lengths: &[u64], window: u32, seed: u64, epoch: u64) -> GrainEpoch {
        let starts = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end - length)
        });
        let (starts, end) = (starts.collect::<Vec<_>>(), lengths.iter().sum());
        let table = Arc::new(GrainTable::new(&starts, end).unwrap());
        let (fingerprint, grains) = (vec![7; 32], Some(table.order(window)));
        let spec = LedgerSpec { fingerprint, records: end, shuffle: true, seed, grains, ..LedgerSpec::default() };
        let spec = LedgerSpec { permutation: GRAIN_PERMUTATION, ..spec };
        GrainEpoch::new(table, u64::from(window), &spec, epoch)
    }

    fn records(order: &GrainEpoch) -> Vec<u64> {
        (0..order.table.records()).map(|place| order.record(place)).collect()
    }

    /// How often a reader that keeps this many grains reads one, the oldest leaving first.
    fn reads(records: impl IntoIterator<Item = u64>, table: &GrainTable, room: usize) -> u64 {
        let (mut kept, mut reads) = (VecDeque::new(), 0);
        for grain in records.into_iter().map(|record| table.grain_of(record)) {
            match kept.iter().position(|other| *other == grain) {
                Some(place) => drop(kept.remove(place)),
                None => reads += 1,
            }
            kept.push_front(grain);
            kept.truncate(room);
        }
        reads
    }

    #[test]
    fn rule_56_the_order_is_pinned() {
        // Ledgers on disk depend on these numbers: another order is another permutation version.
        assert_eq!(records(&order(&[3, 4, 3], 2, 0, 0)), PINNED_10);
        let imagenet = order(&[1251; 1024], 16, 42, 3);
        assert_eq!([0, 1, 2, 3, 1_000_000].map(|place| imagenet.record(place)), PINNED_IMAGENET);
        let uneven: Vec<u64> = (1..=1000).collect();
        let uneven = order(&uneven, 7, 42, 3);
        assert_eq!([0, 1, 2, 3, 500_499].map(|place| uneven.record(place)), PINNED_UNEVEN);
    }

    const PINNED_10: [u64; 10] = [8, 0, 7, 9, 1, 2, 3, 6, 4, 5];
    const PINNED_IMAGENET: [u64; 5] = [1_109_338, 983_085, 1_258_717, 41_009, 246_835];
    const PINNED_UNEVEN: [u64; 5] = [247_620, 131_657, 247_704, 247_585, 26_652];

    proptest! {
        #[test]
        fn rule_56_every_record_has_one_place_whatever_the_table_and_the_window(
            lengths in prop::collection::vec(1_u64..40, 1..60), window in 1_u32..70, seed: u64, epoch in 0_u64..1000
        ) {
            let order = order(&lengths, window, seed, epoch);
            let all = records(&order);
            prop_assert_eq!(all.iter().copied().collect::<BTreeSet<_>>().len(), all.len());
            for (place, record) in all.into_iter().enumerate() {
                prop_assert!(record < order.table.records());
                prop_assert_eq!(order.place(record), place as u64);
            }
        }

        #[test]
        fn rule_56_the_records_of_a_window_are_all_those_of_as_many_grains_and_of_no_other(
            lengths in prop::collection::vec(1_u64..40, 1..60), window in 1_u32..70, seed: u64, epoch in 0_u64..1000
        ) {
            let order = order(&lengths, window, seed, epoch);
            let all = records(&order);
            let mut seen = BTreeSet::new();
            for bounds in order.starts().windows(2) {
                let own = &all[index(bounds[0])..index(bounds[1])];
                let grains: BTreeSet<u64> = own.iter().map(|&record| order.table.grain_of(record)).collect();
                prop_assert!(grains.len() <= window as usize);
                let records: u64 = grains.iter().map(|&grain| lengths[index(grain)]).sum();
                prop_assert_eq!(records, own.len() as u64);
                prop_assert!(grains.into_iter().all(|grain| seen.insert(grain)), "a grain is in one window");
            }
            prop_assert_eq!(seen.len(), lengths.len());
        }

        #[test]
        fn rule_56_who_keeps_the_grains_of_a_window_reads_each_grain_once(
            lengths in prop::collection::vec(1_u64..40, 1..60), window in 1_u32..70, seed: u64, epoch in 0_u64..1000
        ) {
            let order = order(&lengths, window, seed, epoch);
            prop_assert_eq!(reads(records(&order), &order.table, window as usize), lengths.len() as u64);
        }

        #[test]
        fn the_order_is_the_same_in_whatever_order_it_is_asked_for(
            lengths in prop::collection::vec(1_u64..40, 1..60), window in 1_u32..20, seed: u64,
            places in prop::collection::vec(0_u64..2400, 1..100)
        ) {
            let (asked, fresh) = (order(&lengths, window, seed, 0), || order(&lengths, window, seed, 0));
            for place in places.into_iter().map(|place| place % asked.table.records()) {
                prop_assert_eq!(asked.record(place), fresh().record(place));
            }
        }
    }

    #[test]
    fn rule_56_another_seed_epoch_or_window_is_another_order_and_windows_are_not_alike() {
        let all = |window, seed, epoch| records(&order(&[10; 100], window, seed, epoch));
        let base = all(4, 1, 0);
        for other in [all(4, 2, 0), all(4, 1, 1), all(5, 1, 0), all(4, 0, 1)] {
            assert_ne!(base, other);
        }
        // Where within a window a record stands that a place of the window has.
        let order = order(&[10; 100], 4, 1, 0);
        let inner: BTreeSet<Vec<u64>> =
            (0..25).map(|number| (0..40).map(|place| order.window(number).order.forward(place)).collect()).collect();
        assert_eq!(inner.len(), 25);
    }

    #[test]
    fn rule_56_bytes_of_a_shuffled_epoch_over_those_of_an_ordered_one() {
        const RECORDS: u64 = 64_000;
        for (records, window) in [(1, 16), (10, 16), (100, 16), (100, 4), (1000, 16)] {
            let grains = usize::try_from(RECORDS / records).unwrap();
            let order = order(&vec![records; grains], window, 3, 1);
            let room = window as usize;
            // All grains have as many bytes, so that reads say it.
            let ordered = reads(0..RECORDS, &order.table, room);
            let by_grains = reads(self::records(&order), &order.table, room);
            let one_by_one = Permutation::new(RECORDS, 3, 1, &[7; 32], "records");
            let by_records = reads((0..RECORDS).map(|place| one_by_one.forward(place)), &order.table, room);
            let factor =
                |reads: u64| f64::from(u32::try_from(reads).unwrap()) / f64::from(u32::try_from(ordered).unwrap());
            println!(
                "{records:>4} records per grain, {grains:>5} grains, {window:>2} kept: bytes of an epoch over those of an \
                 ordered one: shuffle = \"shard\" {:.2}, shuffle = true {:.2}",
                factor(by_grains),
                factor(by_records)
            );
            assert_eq!((ordered, by_grains), (grains as u64, grains as u64));
            // By chance, a grain is kept for another of its records in as many cases as part of the grains is kept.
            assert!(records == 1 || by_records > RECORDS / 2, "{by_records} reads");
        }
    }

    #[test]
    fn a_million_grains_are_no_matter() {
        let begun = std::time::Instant::now();
        let order = order(&vec![100; 1_000_000], 16, 3, 1);
        let table = begun.elapsed();
        let record = order.record(99_999_999);
        let first = begun.elapsed().checked_sub(table).unwrap_or_default();
        println!("a million grains: table {table:?}, first record {first:?}, {} windows", order.starts().len() - 1);
        assert_eq!(order.place(record), 99_999_999);
        assert_eq!(order.starts().len(), 62_501);
    }
}
