//! Which records the batch has that was made last, for people who want to see it drawn again.

use forebay_proto::Turn;
use parking_lot::Mutex;

use crate::batch_metadata::BatchMetadata;

/// The first records of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatestTurns {
    /// Their epoch.
    pub epoch: u64,
    /// Each record with its repeat, in the order of their places.
    pub turns: Vec<Turn>,
}

/// The batch that was made last. The batch stage never waits for a reader.
#[derive(Debug, Default)]
pub(crate) struct LatestBatch(Mutex<LatestTurns>);

/// Records of a batch that are noted.
const MOST: usize = 24;

impl LatestBatch {
    /// Notes a batch, unless it is being looked at.
    pub(crate) fn note(&self, BatchMetadata { epoch, places, .. }: &BatchMetadata) {
        let Some(mut latest) = self.0.try_lock() else { return };
        latest.epoch = *epoch;
        latest.turns.clear();
        let own = (0..places.records.len()).filter(|place| places.mask.get(*place) == Some(&1));
        latest.turns.extend(own.filter_map(|place| places.turn(place)).take(MOST));
    }

    /// The batch. Without a record if there was none yet.
    pub(crate) fn turns(&self) -> LatestTurns {
        self.0.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_metadata::MetadataPlaces;

    fn batch(epoch: u64, records: impl Iterator<Item = i64>) -> BatchMetadata {
        let records: Vec<i64> = records.collect();
        let mask = records.iter().map(|record| u8::from(*record >= 0 && *record != 7)).collect();
        let repeats = records.iter().map(|record| u16::from(*record == 5)).collect();
        let places = MetadataPlaces { records, repeats, mask, ..MetadataPlaces::default() };
        let (partners, returned) = Default::default();
        let (step, claims, bad) = (None, Vec::new(), Vec::new());
        BatchMetadata { batch: 0, epoch, shown: 0, valid: 0, places, partners, returned, step, claims, bad }
    }

    #[test]
    fn the_first_own_records_of_the_last_batch_are_known_with_their_repeats() {
        let latest = LatestBatch::default();
        assert_eq!(latest.turns(), LatestTurns::default());
        latest.note(&batch(3, 0..100));
        latest.note(&batch(4, [5, 7, -1, 6].into_iter()));
        assert_eq!(latest.turns(), LatestTurns { epoch: 4, turns: vec![Turn::new(5, 1), Turn::first(6)] });
        latest.note(&batch(5, 10..100));
        assert_eq!(latest.turns().turns.len(), MOST);
    }

    #[test]
    fn the_batch_stage_does_not_wait_for_a_reader() {
        let latest = LatestBatch::default();
        let read = latest.0.lock();
        latest.note(&batch(3, 0..4));
        drop(read);
        assert_eq!(latest.turns(), LatestTurns::default());
    }
}
