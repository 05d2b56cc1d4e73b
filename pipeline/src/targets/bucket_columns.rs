//! The columns of a stream whose pictures are in buckets: sizes before and after, and what was cut out (semantics rule 64).

use std::sync::Arc;

use forebay_columns::BUCKETED;
use forebay_pixels::{Annotated, Draw, Plan};
use forebay_ring::SlotFrame;

use super::OwnColumn;
use crate::batch_metadata::BatchMetadata;
use crate::classes::StreamClasses;

/// The columns of a stream whose pictures are in buckets.
#[derive(Debug)]
pub(super) struct BucketColumns {
    columns: [OwnColumn; BUCKETED.len()],
    /// The buckets, and the seed of the random choices.
    classes: Option<(Arc<StreamClasses>, u64)>,
    /// For work.
    plan: Plan,
}

impl BucketColumns {
    /// Not written yet, of no stream.
    pub(super) fn new(columns: [OwnColumn; BUCKETED.len()]) -> Self {
        Self { columns, classes: None, plan: Plan::default() }
    }

    /// From now on, they are those of a stream with these classes, and this seed of the random choices.
    pub(super) fn set(&mut self, classes: Arc<StreamClasses>, seed: u64) {
        self.classes = Some((classes, seed));
    }

    /// Writes those of a batch, which has so many places.
    pub(super) fn write(&mut self, metadata: &BatchMetadata, places: usize, frame: &mut SlotFrame) {
        let Self { columns: [planned, sizes, shown, crop], classes, plan } = self;
        let Some(((classes, seed), step)) = classes.as_ref().zip(metadata.step) else { return };
        let (recipe, size) = (classes.recipe(step.class), classes.size(step.class));
        let pair =
            |(first, second): (u32, u32)| [first, second].map(|number| i32::try_from(number).unwrap_or(i32::MAX));
        let made = |place: usize| {
            let origin = metadata.places.origins.get(place).copied().flatten();
            origin.zip(metadata.places.turn(place))
        };
        planned.write(frame, places, |_| i64::try_from(step.turns).unwrap_or(i64::MAX));
        sizes.write_rows(frame, places, |place| {
            let seen = made(place).map_or((0, 0), |(origin, _)| origin.annotated(Annotated::AsSeen));
            pair((seen.1, seen.0))
        });
        let (height, width) = size.sides();
        shown.write_rows(frame, places, |_| pair((height.into(), width.into())));
        crop.write_rows(frame, places, |place| {
            let corner = made(place).and_then(|(origin, turn)| {
                let draw = Draw { seed: *seed, epoch: metadata.epoch, record: turn.key() };
                recipe.corner(&origin, draw, plan)
            });
            pair(corner.unwrap_or((0, 0)))
        });
    }
}
