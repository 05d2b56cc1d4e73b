//! Reads objects through the cache, in blocks. Records of large files touch a block or two, and small objects are one
//! block. A block is read from the store once, however many threads want it.

use std::future::Future;
use std::ops::Range;
use std::sync::Arc;

use tokio::sync::Mutex;

use crate::fault::{Fault, FaultKind};
use crate::object::Pin;
use crate::runtime::Disk;
use crate::{Cache, CacheKey, Object};

/// Bytes of a block.
const BLOCK: u64 = 1 << 20;
/// Blocks side by side that are read from the store by one request.
const RUN: usize = 16;
/// Locks for the blocks that are being read. Two blocks rarely have the same one.
const LOCKS: usize = 1024;

/// The cache of one store.
#[derive(Debug)]
pub(crate) struct Blocks {
    cache: Arc<Cache>,
    disk: &'static Disk,
    /// Which store it is: the same bucket's name may be at several endpoints.
    store: String,
    /// Whoever reads a block from the store has its lock.
    locks: Vec<Mutex<()>>,
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
        Self { cache, disk, store, locks: (0..LOCKS).map(|_| Mutex::new(())).collect() }
    }

    /// Whether the object's version says enough to know its bytes again.
    pub(crate) fn keeps(object: &Object) -> bool {
        matches!(object.pin(), Pin::Strong(_) | Pin::Time(_))
    }

    /// Appends the range's bytes to `buf`. `fetch` reads a range from the store.
    pub(crate) async fn fill<F: Future<Output = Result<Vec<u8>, Fault>>>(
        &self,
        object: &Object,
        range: &Range<u64>,
        buf: &mut Vec<u8>,
        fetch: impl Fn(Range<u64>) -> F,
    ) -> Result<(), Fault> {
        for run in self.blocks(object, range).chunks(RUN) {
            let cached = self.cached(run).await?;
            let pieces = match cached.iter().position(Option::is_none) {
                None => cached,
                Some(_) => self.fetched(run, &fetch).await?,
            };
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

    /// The wanted part of each block. Blocks that the cache has not got by now are read and kept.
    async fn fetched<F: Future<Output = Result<Vec<u8>, Fault>>>(
        &self,
        blocks: &[Block],
        fetch: &impl Fn(Range<u64>) -> F,
    ) -> Result<Vec<Option<Vec<u8>>>, Fault> {
        let mut places: Vec<_> = blocks.iter().map(|block| lock_of(&block.key)).collect();
        // Always in the same order, so nobody waits for somebody who waits for them.
        places.sort_unstable();
        places.dedup();
        let mut locks = Vec::new();
        for place in places {
            locks.push(self.locks[place].lock().await);
        }
        let mut pieces = self.cached(blocks).await?;
        let mut next = 0;
        while let Some(first) = pieces[next..].iter().position(Option::is_none).map(|place| next + place) {
            let missing = pieces[first..].iter().take_while(|piece| piece.is_none()).count();
            next = first + missing;
            let run = &blocks[first..next];
            let bytes = fetch(run[0].place.start..run[missing - 1].place.end).await?;
            for (piece, part) in pieces[first..next].iter_mut().zip(self.keep(run.to_vec(), bytes).await?) {
                *piece = Some(part);
            }
        }
        Ok(pieces)
    }

    /// Keeps blocks that are side by side, and gives the wanted part of each.
    async fn keep(&self, run: Vec<Block>, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>, Fault> {
        let cache = Arc::clone(&self.cache);
        let kept = self.disk.run(move || {
            let mut parts = Vec::new();
            let mut rest = &bytes[..];
            for block in &run {
                let length = usize::try_from(block.place.end - block.place.start).ok()?;
                let (whole, behind) = rest.split_at_checked(length)?;
                cache.write(&block.key, whole);
                let wanted = usize::try_from(block.wanted.start).ok()?..usize::try_from(block.wanted.end).ok()?;
                parts.push(whole.get(wanted)?.to_vec());
                rest = behind;
            }
            Some(parts)
        });
        kept.await?.ok_or_else(|| Fault::late("the store sent fewer bytes than were asked for"))
    }
}

fn lock_of(key: &CacheKey) -> usize {
    usize::from(u16::from_le_bytes(key.first())) % LOCKS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::disk;

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
        assert!(keeps(Some("7f")) && keeps(Some("@Mon, 23 Nov 2026 10:00:00 GMT")));
        assert!(!keeps(Some("W/7f")) && !keeps(None));
    }
}
