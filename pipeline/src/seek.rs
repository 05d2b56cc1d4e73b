//! The seek points of a dataset's pictures, kept in memory from the first epoch on. With them, later decodes of a JPEG pass
//! over what a crop does not need (`forebay_pixels::SeekPoints`). Those that an index has are loaded at the beginning.
//!
//! They are kept by record, and never evicted, as in a cache. A block of points has a checksum over its file, so a picture
//! that has changed is decoded as if it had none, and its new points replace them.

mod stored;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use forebay_pixels::SeekPoints;
use forebay_ring::Memory;
use forebay_sources::{Locator, Source};
use parking_lot::Mutex;

use crate::memory::{Promisee, Promises};
use crate::settings::SeekKeeping;

/// Bytes that a picture's points count beside their block: the place in the table, which may be half empty, and what the
/// allocator adds.
const OVERHEAD: u64 = 80;

/// No picture's points take less.
const LEAST: u64 = OVERHEAD + 16;

/// Seek points take at most this part of the dataset's bytes,
const OF_DATASET: u64 = 100;
/// and of the memory that is left when the first stream of the dataset opens.
const OF_MEMORY: u64 = 16;

/// Records whose sizes are added up, at most; those of larger datasets are estimated from as many.
const SIZED: u64 = 4096;

/// The seek points of a dataset's pictures. The threads of all its streams share it.
pub(crate) struct SeekStore {
    budget: u64,
    kept: Mutex<KeptBlocks>,
}

#[derive(Default)]
struct KeptBlocks {
    blocks: HashMap<u64, Box<[u8]>>,
    used: u64,
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SeekFigures {
    /// Pictures that have points.
    pub pictures: u64,
    /// Bytes that they take, including overhead.
    pub bytes: u64,
    /// The most that they may take.
    pub budget: u64,
}

/// A dataset's fingerprint, and where its first record is.
type DatasetKey = ([u8; 32], Locator);

/// The stores of a process. There is one for each dataset. All its streams share it, and it is dropped with the last of them.
#[derive(Debug)]
pub struct SeekStores {
    keeping: SeekKeeping,
    promises: Arc<Promises>,
    open: Mutex<HashMap<DatasetKey, Weak<SeekStore>>>,
}

impl SeekStore {
    /// An empty store of at most `budget` bytes.
    pub(crate) fn new(budget: u64) -> Self {
        Self { budget, kept: Mutex::default() }
    }

    /// Loads what is kept of a record's picture. False if nothing is, and there is no room for more: then it is not worth
    /// looking for points.
    pub(crate) fn load(&self, record: u64, points: &mut SeekPoints) -> bool {
        let kept = self.kept.lock();
        let block = kept.blocks.get(&record);
        points.load(block.map_or(&[], |block| block));
        block.is_some() || kept.used + LEAST <= self.budget
    }

    /// Keeps what a decode has changed in a record's points, as far as there is room.
    pub(crate) fn keep(&self, record: u64, points: &mut SeekPoints) {
        if let Some(block) = points.changed() {
            self.put(record, block);
        }
    }

    /// Keeps a block of an index, unless there are more points of the record. False if there is no room.
    fn offer(&self, record: u64, block: &[u8]) -> bool {
        let is_known = self.kept.lock().blocks.get(&record).is_some_and(|known| known.len() >= block.len());
        is_known || self.put(record, block)
    }

    /// Puts a block in the place of the record's old one. False if there is no room.
    fn put(&self, record: u64, block: &[u8]) -> bool {
        if !self.kept.lock().has_room(record, block, self.budget) {
            return false;
        }
        // Nothing is allocated or freed while others wait.
        let block: Box<[u8]> = block.into();
        let old = self.kept.lock().replace(record, block, self.budget);
        drop(old);
        true
    }

    /// How much is kept.
    pub(crate) fn figures(&self) -> SeekFigures {
        let kept = self.kept.lock();
        SeekFigures { pictures: kept.blocks.len() as u64, bytes: kept.used, budget: self.budget }
    }
}

impl KeptBlocks {
    /// Whether a block can take the place of the record's old one.
    fn has_room(&self, record: u64, block: &[u8], budget: u64) -> bool {
        let (old, new) = (self.cost_of(record), cost(block));
        new <= old || self.used - old + new <= budget
    }

    /// Puts a block in the place of the record's old one, if there is room; an empty block removes the old one. Gives what is
    /// not kept.
    fn replace(&mut self, record: u64, block: Box<[u8]>, budget: u64) -> Option<Box<[u8]>> {
        if !self.has_room(record, &block, budget) {
            return Some(block);
        }
        self.used = self.used - self.cost_of(record) + cost(&block);
        if block.is_empty() { self.blocks.remove(&record) } else { self.blocks.insert(record, block) }
    }

    fn cost_of(&self, record: u64) -> u64 {
        self.blocks.get(&record).map_or(0, |block| cost(block))
    }
}

/// What a block counts; one without points is not kept.
fn cost(block: &[u8]) -> u64 {
    if block.is_empty() { 0 } else { block.len() as u64 + OVERHEAD }
}

impl Promisee for SeekStore {
    fn untaken(&self) -> u64 {
        self.budget - self.kept.lock().used
    }
}

impl fmt::Debug for SeekStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeekStore").field("figures", &self.figures()).finish_non_exhaustive()
    }
}

impl SeekStores {
    /// Makes an empty set of stores. Their budgets count towards `promises`.
    pub fn new(keeping: SeekKeeping, promises: Arc<Promises>) -> Self {
        Self { keeping, promises, open: Mutex::default() }
    }

    /// The store of this dataset, which is made if no stream has it. `None` if no points are kept, or if the system does not
    /// say how much memory there is: pictures are decoded all the same.
    pub(crate) fn open(&self, source: &dyn Source) -> Option<Arc<SeekStore>> {
        self.open_within(source, Memory::now)
    }

    fn open_within(
        &self,
        source: &dyn Source,
        memory: impl FnOnce() -> std::io::Result<Memory>,
    ) -> Option<Arc<SeekStore>> {
        if self.keeping == SeekKeeping::Off {
            return None;
        }
        // Another folder with files of the same names and sizes is another dataset here, as for a cache.
        let key = (source.fingerprint(), source.locator(0));
        let mut stores = self.open.lock();
        if let Some(store) = stores.get(&key).and_then(Weak::upgrade) {
            return Some(store);
        }
        stores.retain(|_, store| store.strong_count() > 0);
        let made = self.promises.promise(|promised| {
            let left = memory()?.available.saturating_sub(promised);
            let budget = (bytes_of(source) / OF_DATASET).min(left / OF_MEMORY);
            Ok::<_, std::io::Error>(Arc::new(SeekStore::new(budget)))
        });
        let store = made.inspect_err(|error| tracing::warn!("no seek points are kept: {error}")).ok()?;
        stores.insert(key, Arc::downgrade(&store));
        let files = source.point_files();
        if !files.is_empty() {
            stored::load_beside(&store, files);
        }
        Some(store)
    }
}

/// The bytes of a dataset, about.
fn bytes_of(source: &dyn Source) -> u64 {
    let records = source.len();
    let sized = records.min(SIZED);
    let total: u128 = (0..sized).map(|n| u128::from(source.size(spread(n, records, sized)))).sum();
    u64::try_from(total * u128::from(records) / u128::from(sized.max(1))).unwrap_or(u64::MAX)
}

/// The `n`th of so many records that are spread evenly over all.
fn spread(n: u64, records: u64, sized: u64) -> u64 {
    u64::try_from(u128::from(n) * u128::from(records) / u128::from(sized)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use forebay_pixels::{CpuDecoder, Draw, Limits, Recipe, sample};
    use forebay_sources::ReadError;

    use super::*;

    /// A dataset of which nothing is known but how large its records are.
    #[derive(Debug)]
    struct Sized {
        name: &'static str,
        sizes: Vec<u64>,
    }

    impl Source for Sized {
        fn len(&self) -> u64 {
            self.sizes.len() as u64
        }

        fn classes(&self) -> &[String] {
            &[]
        }

        fn label(&self, _: u64) -> i64 {
            -1
        }

        fn locator(&self, _: u64) -> Locator {
            Locator::file(self.name)
        }

        fn size(&self, record: u64) -> u64 {
            self.sizes[usize::try_from(record).unwrap()]
        }

        fn read(&self, _: u64, _: u64, _: &mut Vec<u8>) -> Result<(), ReadError> {
            unreachable!("no picture is read")
        }

        fn fingerprint(&self) -> [u8; 32] {
            [7; 32]
        }

        fn shard_name(&self, _: u64) -> &str {
            self.name
        }
    }

    fn open(stores: &SeekStores, dataset: &Sized, available: u64) -> Option<Arc<SeekStore>> {
        stores.open_within(dataset, || Ok(Memory { available, limited_by: "the test".into() }))
    }

    fn stores(keeping: SeekKeeping) -> (SeekStores, Arc<Promises>) {
        let promises = Arc::new(Promises::default());
        (SeekStores::new(keeping, Arc::clone(&promises)), promises)
    }

    /// Decodes a picture as training does in this epoch, with what the store keeps of record 3.
    pub(super) fn decode(store: &SeekStore, file: &[u8], epoch: u64) -> Vec<u8> {
        let (recipe, draw) = (Recipe::training(32).unwrap(), Draw { seed: 1, epoch, record: 3 });
        let (mut out, mut points) = (vec![0; recipe.place_len()], SeekPoints::default());
        let is_wanted = store.load(3, &mut points);
        assert!(is_wanted || store.figures().budget < LEAST, "there is room");
        CpuDecoder::new().decode_seeking((file, &mut points), &recipe, draw, &Limits::default(), &mut out).unwrap();
        store.keep(3, &mut points);
        out
    }

    #[test]
    fn rule_31_the_budget_is_a_hundredth_of_the_dataset_and_a_sixteenth_of_the_memory_that_is_left() {
        let (stores, promises) = stores(SeekKeeping::Memory);
        let dataset = |name| Sized { name, sizes: vec![100, 300, 200_000] };
        let first = open(&stores, &dataset("/a"), 1 << 30).unwrap();
        assert_eq!(first.figures(), SeekFigures { pictures: 0, bytes: 0, budget: 2004 });
        // Others are told of it, and what they take counts here.
        let promised = promises.promise(|promised| Ok::<_, ()>(Arc::new(SeekStore::new(promised)))).unwrap();
        assert_eq!(promised.figures().budget, 2004);
        let second = open(&stores, &dataset("/b"), 4008 + 160).unwrap();
        assert_eq!(second.figures().budget, 10);
        let shared = open(&stores, &dataset("/a"), 0).unwrap();
        assert!(Arc::ptr_eq(&first, &shared), "streams of a dataset share one");
        assert_eq!(open(&stores, &dataset("/c"), 0).unwrap().figures().budget, 0);
        drop((first, shared));
        assert_eq!(open(&stores, &dataset("/a"), 4096 + 16 * 20).unwrap().figures().budget, (4096 + 320 - 2014) / 16);
    }

    #[test]
    fn without_seek_points_there_is_no_store() {
        let (stores, _) = stores(SeekKeeping::Off);
        assert!(open(&stores, &Sized { name: "/a", sizes: vec![1 << 30] }, 1 << 40).is_none());
    }

    #[test]
    fn the_size_of_a_large_dataset_is_estimated_from_records_all_over_it() {
        let sizes = (0..2 * SIZED).map(|record| if record < SIZED { 90 } else { 30 }).collect();
        assert_eq!(bytes_of(&Sized { name: "/a", sizes }), (90 + 30) * SIZED);
        let sizes = vec![u64::MAX; 3];
        assert_eq!(bytes_of(&Sized { name: "/a", sizes }), u64::MAX, "a size that no dataset has");
    }

    #[test]
    fn points_are_kept_extended_and_replaced_and_change_no_pixel() {
        let store = SeekStore::new(1 << 20);
        let [file, other] = [1, 2].map(|seed| sample::photograph(seed, 640, 480));
        let without = SeekStore::new(0);
        let mut sizes = Vec::new();
        for epoch in 0..12 {
            assert_eq!(decode(&store, &file, epoch), decode(&without, &file, epoch), "epoch {epoch}");
            sizes.push(store.figures().bytes);
        }
        assert!(sizes.is_sorted() && sizes[0] > OVERHEAD, "{sizes:?}");
        assert_eq!(without.figures(), SeekFigures { pictures: 0, bytes: 0, budget: 0 });
        for epoch in 0..3 {
            assert_eq!(decode(&store, &other, epoch), decode(&without, &other, epoch), "the file has changed");
        }
        let figures = store.figures();
        assert!(figures.pictures == 1 && figures.bytes > OVERHEAD, "{figures:?}");
    }

    #[test]
    fn rule_31_blocks_that_do_not_fit_are_not_kept_and_an_empty_one_gives_its_room_back() {
        let mut kept = KeptBlocks::default();
        let budget = 2 * (100 + OVERHEAD);
        let block = |len: usize| vec![1; len].into_boxed_slice();
        assert!(kept.replace(1, block(100), budget).is_none());
        assert!(kept.replace(2, block(90), budget).is_none());
        assert_eq!(kept.replace(3, block(1), budget), Some(block(1)), "no room");
        assert_eq!(kept.replace(2, block(101), budget), Some(block(101)), "nor for what has grown");
        assert_eq!(kept.replace(2, block(100), budget), Some(block(90)));
        assert_eq!(kept.used, budget);
        assert_eq!(kept.replace(1, block(0), budget), Some(block(100)));
        assert_eq!((kept.used, kept.blocks.len()), (100 + OVERHEAD, 1));
        assert_eq!(kept.replace(9, block(0), budget), None);
        assert_eq!((kept.used, kept.blocks.len()), (100 + OVERHEAD, 1));
    }
}
