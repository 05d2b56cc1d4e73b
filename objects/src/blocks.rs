//! Reads objects through the cache, in blocks. Records of large files touch a block or two, and small objects are one
//! block. A block is read from the store once, however many threads want it.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use forebay_sources::{Pulse, Pulses};

use crate::cache::{BlockRead, BlockReader};
use crate::fault::{Fault, FaultKind};
use crate::object::Pin;
use crate::runtime::Disk;
use crate::{Cache, CacheKey, Object};

/// Bytes of a block.
const BLOCK: u64 = 1 << 20;
/// Blocks side by side that are read from the store by one request.
const RUN: usize = 16;

/// The cache of one store.
#[derive(Debug)]
pub(crate) struct Blocks {
    cache: Arc<Cache>,
    disk: &'static Disk,
    /// Which store it is: the same bucket's name may be at several servers.
    store: String,
}

/// A block of an object, and the part of it that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    key: CacheKey,
    /// Where it is in the object.
    place: Range<u64>,
    /// What is wanted, from the beginning of the block.
    wanted: Range<u64>,
}

impl Blocks {
    pub(crate) fn new(cache: Arc<Cache>, disk: &'static Disk, store: String) -> Self {
        Self { cache, disk, store }
    }

    /// Whether the object's version says enough to know its bytes again. A time counts seconds, in which an object may change
    /// more than once.
    pub(crate) fn keeps(object: &Object) -> bool {
        matches!(object.pin(), Pin::Strong(_))
    }

    /// Appends the range's bytes to `buf`. `fetch` reads a range from the store, and beats the pulse that it gets while
    /// bytes arrive. `pulse` beats too, even if another reader fetches the block.
    pub(crate) async fn fill<F: Future<Output = Result<Vec<u8>, Fault>>>(
        &self,
        object: &Object,
        range: &Range<u64>,
        buf: &mut Vec<u8>,
        pulse: &Pulse,
        fetch: impl Fn(Range<u64>, Pulse) -> F,
    ) -> Result<(), Fault> {
        for run in self.blocks(object, range).chunks(RUN) {
            let mut pieces = self.cached(run).await?;
            // The loop repeats only if the reader of a block was dropped before it had the block.
            while pieces.iter().any(Option::is_none) {
                self.complete(run, &mut pieces, pulse, &fetch).await?;
            }
            for piece in pieces.into_iter().flatten() {
                let fits = buf.try_reserve(piece.len()).is_ok();
                if !fits {
                    return Err(Fault::new(FaultKind::Resources, "there is no memory for the bytes"));
                }
                buf.extend_from_slice(&piece);
            }
        }
        Ok(())
    }

    /// The blocks that a range of the object touches.
    fn blocks(&self, object: &Object, range: &Range<u64>) -> Vec<Block> {
        let Some(last) = range.end.checked_sub(1).filter(|_| !range.is_empty()) else { return Vec::new() };
        let version = object.version.as_deref().unwrap_or_default();
        let block = |number: u64| {
            let start = number * BLOCK;
            let place = start..(start + BLOCK).min(object.size);
            let (size, at) = (object.size.to_le_bytes(), start.to_le_bytes());
            let parts = [self.store.as_bytes(), object.key.as_bytes(), version.as_bytes(), &size, &at];
            let wanted = range.start.max(place.start) - start..range.end.min(place.end) - start;
            Block { key: CacheKey::new("block", parts), place, wanted }
        };
        (range.start / BLOCK..=last / BLOCK).map(block).collect()
    }

    /// What the cache has of each block's wanted part.
    async fn cached(&self, blocks: &[Block]) -> Result<Vec<Option<Vec<u8>>>, Fault> {
        let (cache, blocks) = (Arc::clone(&self.cache), blocks.to_vec());
        let read = self.disk.run(move || {
            let part = |block: &Block| {
                let mut part = Vec::new();
                cache.read(&block.key, block.wanted.clone(), &mut part).then_some(part)
            };
            blocks.iter().map(part).collect()
        });
        read.await
    }

    /// Adds the wanted parts of blocks that are missing. First it reads and keeps the blocks that no other reader is
    /// fetching. Only then does it wait for the others, so that readers never wait for each other.
    async fn complete<F: Future<Output = Result<Vec<u8>, Fault>>>(
        &self,
        blocks: &[Block],
        pieces: &mut [Option<Vec<u8>>],
        pulse: &Pulse,
        fetch: &impl Fn(Range<u64>, Pulse) -> F,
    ) -> Result<(), Fault> {
        let missing: Vec<usize> = (0..blocks.len()).filter(|&place| pieces[place].is_none()).collect();
        let waiting = Arc::new(Pulses::default());
        waiting.join(pulse.clone());
        let reads = self.cache.shared_reads().join(missing.iter().map(|&place| blocks[place].key), &waiting, pulse);
        let (mut mine, mut others) = (Vec::new(), Vec::new());
        for (place, read) in missing.into_iter().zip(reads) {
            match read {
                BlockRead::Mine(reader) => mine.push((place, reader)),
                BlockRead::Others(outcome) => others.push((place, outcome)),
            }
        }
        self.read(blocks, mine, pieces, |range| fetch(range, waiting.all())).await?;
        for (place, outcome) in others {
            if let Ok(outcome) = outcome.await {
                pieces[place] = Some(blocks[place].wanted_of(&outcome?)?);
            }
        }
        Ok(())
    }

    /// Reads blocks, adjacent ones at once, and passes them to the readers that wait for them.
    async fn read<F: Future<Output = Result<Vec<u8>, Fault>>>(
        &self,
        blocks: &[Block],
        mut mine: Vec<(usize, BlockReader)>,
        pieces: &mut [Option<Vec<u8>>],
        fetch: impl Fn(Range<u64>) -> F,
    ) -> Result<(), Fault> {
        let places: Vec<Block> = mine.iter().map(|(place, _)| blocks[*place].clone()).collect();
        // Another reader may have stored these blocks since the lookup, so look again.
        for ((place, _), found) in mine.iter().zip(self.cached(&places).await?) {
            pieces[*place] = found;
        }
        mine.retain(|(place, _)| pieces[*place].is_none());
        while let Some(&(first, _)) = mine.first() {
            let count = (first..).zip(&mine).take_while(|(expected, (place, _))| expected == place).count();
            let run = &blocks[first..first + count];
            let fetched = fetch(run[0].place.start..run[count - 1].place.end).await;
            let kept = match fetched {
                Ok(bytes) => self.keep(run.to_vec(), bytes).await,
                Err(fault) => Err(fault),
            };
            let behind = mine.split_off(count);
            for ((place, reader), index) in std::mem::replace(&mut mine, behind).into_iter().zip(0..) {
                let outcome = kept.as_ref().map(|blocks| Bytes::clone(&blocks[index])).map_err(Fault::clone);
                if let Ok(bytes) = &outcome {
                    pieces[place] = Some(blocks[place].wanted_of(bytes)?);
                }
                reader.end(outcome);
            }
            kept?;
        }
        Ok(())
    }

    /// Keeps blocks that are side by side, and gives the bytes of each.
    async fn keep(&self, run: Vec<Block>, bytes: Vec<u8>) -> Result<Vec<Bytes>, Fault> {
        let cache = Arc::clone(&self.cache);
        let kept = self.disk.run(move || {
            let mut rest = Bytes::from(bytes);
            let mut blocks = Vec::with_capacity(run.len());
            for block in &run {
                let length = usize::try_from(block.place.end - block.place.start).ok()?;
                let whole = (length <= rest.len()).then(|| rest.split_to(length))?;
                cache.write(&block.key, &whole);
                blocks.push(whole);
            }
            Some(blocks)
        });
        kept.await?.ok_or_else(short)
    }
}

impl Block {
    /// The wanted part of the block's bytes.
    fn wanted_of(&self, bytes: &[u8]) -> Result<Vec<u8>, Fault> {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let wanted = bytes.get(place(self.wanted.start)..place(self.wanted.end));
        wanted.map(<[u8]>::to_vec).ok_or_else(short)
    }
}

fn short() -> Fault {
    Fault::late("the store sent fewer bytes than were asked for")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;
    use crate::runtime::{disk, handle};

    #[test]
    fn a_range_is_parts_of_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let blocks =
            Blocks::new(Cache::open(&folder.path().join("c"), 1 << 30).unwrap(), disk("").unwrap(), "s3://b/".into());
        let object = Object { key: "a".into(), size: 3 * BLOCK + 10, version: Some("7f".into()) };
        let of = |range: Range<u64>| {
            let found = blocks.blocks(&object, &range);
            found.into_iter().map(|block| (block.place, block.wanted)).collect::<Vec<_>>()
        };
        assert_eq!(of(5..9), [(0..BLOCK, 5..9)]);
        assert_eq!(of(BLOCK - 1..BLOCK + 1), [(0..BLOCK, BLOCK - 1..BLOCK), (BLOCK..2 * BLOCK, 0..1)]);
        assert_eq!(of(3 * BLOCK..3 * BLOCK + 10), [(3 * BLOCK..3 * BLOCK + 10, 0..10)]);
        assert_eq!(of(0..3 * BLOCK + 10).len(), 4);
        assert_eq!(of(7..7), []);
    }

    #[test]
    fn rule_54_readers_that_wait_for_blocks_share_one_attempt_and_its_outage() {
        const READERS: usize = 100;
        let folder = tempfile::tempdir().unwrap();
        let blocks =
            Blocks::new(Cache::open(&folder.path().join("c"), 1 << 30).unwrap(), disk("").unwrap(), "s3://b/".into());
        let object = Object { key: "a".into(), size: 4 * BLOCK, version: Some("7f".into()) };
        let joined: Vec<_> = (0..READERS).map(|_| Arc::new(AtomicBool::new(false))).collect();
        let (fetches, outage) = (AtomicUsize::new(0), Fault::late("a test"));
        // The store says nothing until all readers wait for it. They hear its pulse.
        let fetch = |range: Range<u64>, pulse: Pulse| {
            let (fetches, joined, outage) = (&fetches, &joined, outage.clone());
            async move {
                assert_eq!(range, 0..2 * BLOCK);
                fetches.fetch_add(1, Ordering::Relaxed);
                while !joined.iter().all(|joined| joined.load(Ordering::Relaxed)) {
                    pulse.beat();
                    tokio::task::yield_now().await;
                }
                Err(outage)
            }
        };
        let reads = joined.iter().zip(0..).map(|(joined, number)| {
            let heard = Arc::clone(joined);
            let pulse = Pulse::new(move || heard.store(true, Ordering::Relaxed));
            let (range, blocks, object) = (BLOCK - 1 - number..BLOCK + 1 + number, &blocks, &object);
            async move { blocks.fill(object, &range, &mut Vec::new(), &pulse, fetch).await }
        });
        let read = handle("").unwrap().block_on(futures_util::future::join_all(reads));
        assert_eq!(read, vec![Err(outage.clone()); READERS]);
        assert_eq!(fetches.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn blocks_of_other_objects_versions_and_stores_have_other_keys() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("c"), 1 << 30).unwrap();
        let key = |store: &str, key: &str, version: &str, size: u64, start: u64| {
            let object = Object { key: key.into(), size, version: Some(version.into()) };
            Blocks::new(Arc::clone(&cache), disk("").unwrap(), store.into()).blocks(&object, &(start..start + 1))[0].key
        };
        let one = key("s", "a", "1", 10 * BLOCK, 0);
        assert_eq!(one, key("s", "a", "1", 10 * BLOCK, BLOCK - 1));
        for other in [
            key("t", "a", "1", 10 * BLOCK, 0),
            key("s", "b", "1", 10 * BLOCK, 0),
            key("s", "a", "2", 10 * BLOCK, 0),
            key("s", "a", "1", 10 * BLOCK + 1, 0),
            key("s", "a", "1", 10 * BLOCK, BLOCK),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn only_versions_that_tell_bytes_apart_are_kept() {
        let keeps = |version: Option<&str>| {
            Blocks::keeps(&Object { key: "a".into(), size: 1, version: version.map(str::to_owned) })
        };
        assert!(keeps(Some("7f")));
        assert!(!keeps(Some("@Mon, 23 Nov 2026 10:00:00 GMT")) && !keeps(Some("W/7f")) && !keeps(None));
    }
}
