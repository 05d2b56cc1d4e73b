//! Loads the seek points of an index into a store, while the first epoch has begun.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, Weak};

use forebay_sources::PointFiles;

use crate::seek::SeekStore;
use crate::{thread_class, threads};

/// Starts a thread that loads the points. It ends with the files, when the store has no more room, or with the store.
/// Pictures that are decoded before their points are there are decoded without them.
pub(super) fn load_beside(store: &Arc<SeekStore>, files: PointFiles) {
    let store = Arc::downgrade(store);
    let started = threads::start("forebay-points", move || {
        thread_class::background();
        let before = store.upgrade().map(|store| store.figures());
        match (load(&store, &files), before, store.upgrade().map(|store| store.figures())) {
            (Ok(()), Some(before), Some(after)) => {
                let (pictures, bytes) = (after.pictures - before.pictures.min(after.pictures), after.bytes);
                tracing::info!(pictures, bytes, "loaded the seek points of the index");
            }
            (Ok(()), ..) => {}
            (Err(problem), ..) => {
                tracing::warn!(%problem, "the seek points of the index are not all loaded. Make them again with \"forebay index SOURCE --seek --rebuild\"");
            }
        }
    });
    if let Err(error) = started {
        tracing::warn!("the seek points of the index are not loaded: {error}");
    }
}

fn load(store: &Weak<SeekStore>, files: &PointFiles) -> io::Result<()> {
    files.each(|record, block| match store.upgrade() {
        Some(store) if store.offer(record, block) => ControlFlow::Continue(()),
        _ => ControlFlow::Break(()),
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use forebay_pixels::{SeekPointFinder, sample};
    use forebay_sources::PointsAbout;

    use super::*;
    use crate::seek::tests::decode;

    /// A file of the points of these blocks, as an index has it.
    fn files(blocks: &[&[u8]]) -> PointFiles {
        let about = PointsAbout { fingerprint: [7; 32], records: blocks.len() as u64, pictures: 0 };
        let mut bytes = about.to_bytes().to_vec();
        let mut bound = about.blocks().unwrap();
        bytes.extend(bound.to_le_bytes());
        for block in blocks {
            bound += block.len() as u64;
            bytes.extend(bound.to_le_bytes());
        }
        bytes.extend(blocks.concat());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        PointFiles::open(file, [7; 32], blocks.len() as u64).unwrap()
    }

    fn loaded(blocks: &[&[u8]], budget: u64) -> Arc<SeekStore> {
        let store = Arc::new(SeekStore::new(budget));
        load(&Arc::downgrade(&store), &files(blocks)).unwrap();
        store
    }

    #[test]
    fn rule_8_the_first_epoch_with_the_points_of_an_index_has_the_same_pixels() {
        let [file, other] = [1, 2].map(|seed| sample::photograph(seed, 640, 480));
        let mut finder = SeekPointFinder::default();
        let whole = finder.find(&file).to_vec();
        let foreign = finder.find(&other).to_vec();
        let mut damaged = whole.clone();
        damaged[20] ^= 1;
        let without = SeekStore::new(0);
        for (block, is_good) in [(&whole, true), (&foreign, false), (&damaged, false), (&vec![1; 40], false)] {
            // `decode` is about record 3.
            let store = loaded(&[b"", b"", b"", block], 1 << 20);
            assert_eq!(store.figures().pictures, 1);
            for epoch in 0..6 {
                assert_eq!(decode(&store, &file, epoch), decode(&without, &file, epoch), "epoch {epoch}");
                // Those of this file are complete. Of others, nothing is kept.
                assert_eq!(*store.kept.lock().blocks[&3] == **block, is_good);
            }
        }
    }

    #[test]
    fn rule_31_points_of_an_index_that_do_not_fit_are_not_loaded() {
        let block = [5; 100];
        let of_one = block.len() as u64 + crate::seek::OVERHEAD;
        let store = loaded(&[&block, &block, &block], 2 * of_one + 1);
        assert_eq!((store.figures().pictures, store.figures().bytes), (2, 2 * of_one));
    }

    #[test]
    fn points_that_were_noted_meanwhile_stay_unless_the_index_has_more() {
        let store = Arc::new(SeekStore::new(1 << 20));
        assert!(store.offer(0, &[1; 50]) && store.offer(1, &[1; 50]));
        load(&Arc::downgrade(&store), &files(&[&[2; 40], &[2; 60], &[2; 70]])).unwrap();
        let kept = store.kept.lock();
        let blocks = [0, 1, 2].map(|record| &*kept.blocks[&record]);
        assert_eq!(blocks, [&[1; 50][..], &[2; 60], &[2; 70]]);
    }

    #[test]
    fn loading_ends_with_the_store() {
        let store = Arc::downgrade(&Arc::new(SeekStore::new(1 << 20)));
        load(&store, &files(&[&[1; 50], &[2; 50]])).unwrap();
    }
}
