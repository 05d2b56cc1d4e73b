//! The columns of a stream whose pictures are cut into patches: how many there are (semantics rule 65).

use std::sync::Arc;

use forebay_columns::PATCHED;
use forebay_plan::Plan;
use forebay_ring::SlotFrame;

use super::OwnColumn;
use crate::batch_metadata::BatchMetadata;
use crate::classes::StreamClasses;

/// See the module.
#[derive(Debug)]
pub(super) struct PatchColumns {
    columns: [OwnColumn; PATCHED.len()],
    /// The lengths, and the records of each step.
    classes: Option<(Arc<StreamClasses>, Arc<Plan>)>,
}

impl PatchColumns {
    /// Not written yet, of no stream.
    pub(super) fn new(columns: [OwnColumn; PATCHED.len()]) -> Self {
        Self { columns, classes: None }
    }

    /// From now on, they are those of a stream with these classes and this plan.
    pub(super) fn set(&mut self, classes: Arc<StreamClasses>, plan: Arc<Plan>) {
        self.classes = Some((classes, plan));
    }

    /// Writes those of a batch, which has so many places.
    pub(super) fn write(&mut self, metadata: &BatchMetadata, places: usize, frame: &mut SlotFrame) {
        let Self { columns: [planned, tokens, grid], classes } = self;
        let Some(((classes, plan), step)) = classes.as_ref().zip(metadata.step) else { return };
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let all = classes.tokens(step.class, plan.epoch(metadata.epoch).records_of_step(step.step));
        planned.write(frame, places, |_| whole(step.turns));
        tokens.write(frame, places, |_| whole(all));
        let patches = classes.recipe(step.class).patches();
        grid.write_rows(frame, places, |place| {
            let origin = metadata.places.origins.get(place).copied().flatten();
            let grid = origin.and_then(|origin| patches?.grid_of(&origin));
            // A place without a picture has padding alone.
            let (rows, columns) = grid.map_or((0, 0), |grid| (grid.rows, grid.columns));
            [rows, columns].map(|number| i32::try_from(number).unwrap_or(i32::MAX))
        });
    }
}
