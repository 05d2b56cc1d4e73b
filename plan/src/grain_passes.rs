//! The order of epochs that permute grains, and records within windows of them (semantics rule 56).
//!
//! The grains of a dataset are permuted as records are otherwise. Each `window` grains of that order are a window, and
//! the records of a window are permuted among themselves. So a reader that keeps the grains of a window reads each grain
//! once.
//!
//! A pass costs one look at each of its grains when it is first asked for a record: a permutation of each, well below a
//! microsecond. It keeps 8 bytes per window. A window costs as much per grain, and the last two of a pass are kept.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use forebay_proto::v1::LedgerSpec;
use parking_lot::Mutex;

use crate::{grains::GrainTable, permutation::Permutation, recent::Recent};

/// Passes that are kept at least: the one that is read, the one ahead of it, the one behind, whose receipts are late, and the one
/// with which the epoch of a mixture began.
const LEAST: u64 = 4;
/// And at most. A caller that asks for all turns of a record uses all passes of an epoch.
const MOST: u64 = 64;
/// Windows of all passes that are kept, if that gives more than [`LEAST`].
const WINDOWS: u64 = 1 << 16;

/// Grains that follow each other in the table, and are passed over again and again: those of a dataset once in each epoch, those
/// of a source of a mixture once in each of its cycles.
#[derive(Debug)]
pub(crate) struct GrainPasses {
    table: Arc<GrainTable>,
    own: Range<u64>,
    window: u64,
    kept: Recent<GrainPass>,
}

/// What the order of a pass is made from.
#[derive(Clone, Debug)]
pub(crate) struct PassKeys {
    /// From a grain's place in the pass to the grain, counted from the first one of the pass.
    pub grains: Permutation,
    /// What the permutations of windows are made from.
    pub windows: Permutation,
}

/// The order of one pass.
#[derive(Debug)]
pub(crate) struct GrainPass {
    number: u64,
    table: Arc<GrainTable>,
    own: Range<u64>,
    window: u64,
    keys: PassKeys,
    /// The first place of each window, and the end of the last one.
    starts: OnceLock<Vec<u64>>,
    /// The last two windows, the even one first: readers are in one, and read ahead in the next.
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

impl GrainPasses {
    /// Passes over these grains of the table, in windows of `window` grains, which must be at least one.
    pub(crate) fn new(table: Arc<GrainTable>, own: Range<u64>, window: u32) -> Self {
        let window = u64::from(window.max(1));
        let windows = (own.end - own.start).div_ceil(window).max(1);
        let kept = Recent::new(index((WINDOWS / windows).clamp(LEAST, MOST)));
        Self { table, own, window, kept }
    }

    pub(crate) const fn table(&self) -> &Arc<GrainTable> {
        &self.table
    }

    /// How many grains a pass has.
    pub(crate) const fn count(&self) -> u64 {
        self.own.end - self.own.start
    }

    /// The pass of an epoch over the grains of a whole dataset.
    pub(crate) fn epoch(&self, spec: &LedgerSpec, epoch: u64) -> Arc<GrainPass> {
        let permutation = |n, domain| Permutation::new(n, spec.seed, epoch, &spec.fingerprint, domain);
        let keys =
            || PassKeys { grains: permutation(self.count(), "grains"), windows: permutation(spec.records, "windows") };
        self.pass(epoch, keys)
    }

    /// The pass with this number, which always has the same keys. It is made without a look at the table.
    pub(crate) fn pass(&self, number: u64, keys: impl FnOnce() -> PassKeys) -> Arc<GrainPass> {
        let make = || GrainPass {
            number,
            table: Arc::clone(&self.table),
            own: self.own.clone(),
            window: self.window,
            keys: keys(),
            starts: OnceLock::new(),
            kept: Mutex::default(),
        };
        self.kept.get(|pass| pass.number == number, make)
    }
}

impl GrainPass {
    /// The record of the dataset at a place of the pass, which is below the number of its records.
    pub(crate) fn record(&self, place: u64) -> u64 {
        let number = self.starts().partition_point(|&start| start <= place) - 1;
        let window = self.window(number as u64);
        let index = window.order.forward(place - self.starts()[number]);
        let slot = window.grains.partition_point(|(before, _)| *before <= index) - 1;
        let (before, records) = &window.grains[slot];
        records.start + (index - before)
    }

    /// The place of a record of the dataset, which is in one of the grains of the pass.
    pub(crate) fn place(&self, record: u64) -> u64 {
        let grain = self.table.grain_of(record);
        let slot = self.keys.grains.inverse(grain - self.own.start);
        let window = self.window(slot / self.window);
        let (before, records) = &window.grains[index(slot % self.window)];
        self.starts()[index(window.number)] + window.order.inverse(before + (record - records.start))
    }

    /// The places and the records of the grain at a place, if windows have one grain each.
    pub(crate) fn grain_at(&self, place: u64) -> Option<(Range<u64>, Range<u64>)> {
        let number = self.starts().partition_point(|&start| start <= place).checked_sub(1)?;
        let places = self.starts()[number]..*self.starts().get(number + 1)?;
        (self.window == 1).then(|| (places, self.records_at(number as u64)))
    }

    /// How many grains there are.
    const fn count(&self) -> u64 {
        self.own.end - self.own.start
    }

    /// The records of the grain that has this place among the grains of the pass.
    fn records_at(&self, slot: u64) -> Range<u64> {
        self.table.records_of(self.own.start + self.keys.grains.forward(slot))
    }

    fn starts(&self) -> &[u64] {
        self.starts.get_or_init(|| {
            let mut starts = vec![0];
            let mut end = 0;
            for slot in 0..self.count() {
                let records = self.records_at(slot);
                end += records.end - records.start;
                if (slot + 1) % self.window == 0 || slot + 1 == self.count() {
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
        let grains = (first..self.count().min(first + self.window)).map(|slot| {
            let records = self.records_at(slot);
            let start = before;
            before += records.end - records.start;
            (start, records)
        });
        let grains = grains.collect();
        GrainWindow { number, grains, order: self.keys.windows.part(number, before) }
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
    use crate::grains::GRAIN_PERMUTATION;

    /// The order of an epoch of grains with these numbers of records.
    fn order(lengths: &[u64], window: u32, seed: u64, epoch: u64) -> Arc<GrainPass> {
        let starts = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end - length)
        });
        let (starts, end) = (starts.collect::<Vec<_>>(), lengths.iter().sum());
        let table = Arc::new(GrainTable::new(&starts, end).unwrap());
        let (fingerprint, grains) = (vec![7; 32], Some(table.order(window)));
        let spec = LedgerSpec { fingerprint, records: end, shuffle: true, seed, grains, ..LedgerSpec::default() };
        let spec = LedgerSpec { permutation: GRAIN_PERMUTATION, ..spec };
        let all = 0..table.count();
        GrainPasses::new(table, all, window).epoch(&spec, epoch)
    }

    fn records(order: &GrainPass) -> Vec<u64> {
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
        // Windows differ in the order of their records, too.
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
                 ordered one: shuffle = \"grains\" {:.2}, shuffle = true {:.2}",
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
