//! The columns of a stream whose pictures each have a size of their own (semantics rule 63).

use std::sync::Arc;

use forebay_columns::RAGGED;
use forebay_ring::SlotFrame;

use super::OwnColumn;
use crate::batch_metadata::BatchMetadata;
use crate::classes::StreamClasses;

/// See the module.
#[derive(Debug)]
pub(super) struct RaggedColumns {
    columns: [OwnColumn; RAGGED.len()],
    /// The sizes of the pictures.
    classes: Option<Arc<StreamClasses>>,
}

impl RaggedColumns {
    /// Not written yet, of no stream.
    pub(super) fn new(columns: [OwnColumn; RAGGED.len()]) -> Self {
        Self { columns, classes: None }
    }

    /// From now on, they are those of a stream with these sizes.
    pub(super) fn set(&mut self, classes: Arc<StreamClasses>) {
        self.classes = Some(classes);
    }

    /// Writes those of a batch, which has so many places.
    pub(super) fn write(&mut self, metadata: &BatchMetadata, places: usize, frame: &mut SlotFrame) {
        let Self { columns: [planned, shown], classes } = self;
        let Some((classes, step)) = classes.as_ref().zip(metadata.step) else { return };
        planned.write(frame, places, |_| i64::try_from(step.turns).unwrap_or(i64::MAX));
        shown.write_rows(frame, places, |place| {
            // The pixels of a place without a record of its own are not in the slot.
            let is_own = metadata.places.mask.get(place) == Some(&1);
            let turn = metadata.places.turn(place).filter(|_| is_own);
            let (height, width) = turn.and_then(|turn| classes.shown(turn.record())).unwrap_or((0, 0));
            [height, width].map(|side| i32::try_from(side).unwrap_or(i32::MAX))
        });
    }
}
