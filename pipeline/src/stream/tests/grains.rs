//! A dataset whose records are read in grains, through all stages (semantics rule 56).

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZero;

use forebay_sources::Grains;
use parking_lot::Mutex;

use super::*;

/// Grains that the dataset keeps, and that a window has.
const WINDOW: u32 = 4;

/// A dataset that reads whole grains, and keeps the latest [`WINDOW`] of them.
#[derive(Debug)]
struct Grained {
    starts: Vec<u64>,
    records: u64,
    reading: Mutex<Reading>,
}

#[derive(Debug, Default)]
struct Reading {
    kept: VecDeque<u64>,
    /// The grains that were read, in this order.
    reads: Vec<u64>,
    bytes: u32,
}

impl Grained {
    /// 60 grains of 20 to 39 records.
    fn new() -> Self {
        let lengths = (0..60).map(|grain| 20 + grain * 7 % 20);
        let bounds = lengths.scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let mut starts: Vec<u64> = [0].into_iter().chain(bounds).collect();
        let records = starts.pop().unwrap();
        Self { starts, records, reading: Mutex::default() }
    }
}

impl Source for Grained {
    fn len(&self) -> u64 {
        self.records
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn label(&self, _record: u64) -> i64 {
        -1
    }

    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("{record}.ppm"))
    }

    fn size(&self, record: u64) -> u64 {
        Synthetic::default().size(record)
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let (grain, mut reading) = (self.grains().of(record), self.reading.lock());
        if let Some(place) = reading.kept.iter().position(|kept| *kept == grain) {
            reading.kept.remove(place);
        } else {
            let index = usize::try_from(grain).unwrap();
            let end = self.starts.get(index + 1).copied().unwrap_or(self.records);
            reading.bytes += u32::try_from((end - self.starts[index]) * self.size(record)).unwrap();
            reading.reads.push(grain);
        }
        reading.kept.push_front(grain);
        reading.kept.truncate(WINDOW as usize);
        Synthetic::default().read(record, room, buf)
    }

    fn fingerprint(&self) -> [u8; 32] {
        [41; 32]
    }

    fn grains(&self) -> Grains<'_> {
        Grains::Starts(&self.starts)
    }

    fn shard_name(&self, _record: u64) -> &'static str {
        "grained"
    }
}

/// The records of an epoch in the order in which they were delivered, and what was read for them. One thread reads, so
/// that it reads in the epoch's order.
fn epoch(shuffle: Shuffle) -> (Vec<u64>, Reading) {
    let source = Arc::new(Grained::new());
    let one = PrefetchSettings { threads: 1, ..PrefetchSettings::default() };
    let test_stream = TestStream::open(Arc::clone(&source) as Arc<dyn Source>, one, |settings| {
        (settings.shuffle, settings.seed, settings.epochs) = (shuffle, 7, Some(1));
    });
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = test_stream.attach(folder.path());
    let batches = source.records.div_ceil(BATCH as u64);
    let seen = (0..batches).flat_map(|_| batch(&mut trainer)).collect();
    assert!(matches!(trainer.next(None, &mut Patient).unwrap(), Next::EpochEnd(0)));
    let audit = trainer.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].complete, audit[0].adds_up), (true, Some(true)));
    test_stream.close(trainer);
    (seen, std::mem::take(&mut *source.reading.lock()))
}

#[test]
fn rule_56_a_shuffled_epoch_reads_each_grain_once_and_no_more_bytes_than_an_ordered_one() {
    let source = Grained::new();
    let grains = source.starts.len();
    let (ordered, in_order) = epoch(Shuffle::Off);
    let (by_grains, in_windows) = epoch(Shuffle::Grains { window: NonZero::new(WINDOW).unwrap() });
    let (by_records, at_random) = epoch(Shuffle::Records);
    let all: Vec<u64> = (0..source.records).collect();
    assert_eq!((&ordered, in_order.reads.len()), (&all, grains));
    for seen in [&by_grains, &by_records] {
        assert_ne!(*seen, all);
        assert_eq!(seen.iter().copied().collect::<BTreeSet<_>>().len(), all.len());
    }
    assert_eq!(in_windows.reads.len(), grains);
    assert_eq!(in_windows.reads.iter().collect::<BTreeSet<_>>().len(), grains, "each grain once");
    let records: u64 = in_windows.reads[..WINDOW as usize]
        .iter()
        .map(|&grain| all.iter().filter(|&&record| source.grains().of(record) == grain).count() as u64)
        .sum();
    let window = &by_grains[..usize::try_from(records).unwrap()];
    let of_window: BTreeSet<u64> = window.iter().map(|&record| source.grains().of(record)).collect();
    assert_eq!(of_window, in_windows.reads[..WINDOW as usize].iter().copied().collect());
    let factor = |reading: &Reading| f64::from(reading.bytes) / f64::from(in_order.bytes);
    println!(
        "{} records in {grains} grains, {WINDOW} of them kept. Bytes of an epoch over those of an ordered one: \
         shuffle = \"grains\" {:.2}, shuffle = true {:.2}",
        all.len(),
        factor(&in_windows),
        factor(&at_random)
    );
    assert_eq!(in_windows.bytes, in_order.bytes);
    assert!(at_random.bytes > in_order.bytes * 20, "{} bytes", at_random.bytes);
}

#[test]
fn rule_22_and_56_a_run_over_grains_continues_where_its_state_was_taken() {
    let window = Shuffle::Grains { window: NonZero::new(WINDOW).unwrap() };
    let (whole, _) = epoch(window);
    let test_stream = TestStream::open(Arc::new(Grained::new()), PrefetchSettings::default(), |settings| {
        (settings.shuffle, settings.seed, settings.epochs) = (window, 7, Some(1));
    });
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = test_stream.attach(folder.path());
    let seen: Vec<u64> = (0..40).flat_map(|_| batch(&mut trainer)).collect();
    assert_eq!(seen, whole[..160]);
    let state = trainer.state(&mut Patient).unwrap();
    assert_eq!([batch(&mut trainer), batch(&mut trainer)].concat(), whole[160..168]);
    trainer.restore(&state, &mut Patient).unwrap();
    assert_eq!(batch(&mut trainer), whole[160..164]);
    test_stream.close(trainer);
}
