//! The columns of a stream whose pictures are cut into patches: how many there are (semantics rule 65).

use std::sync::Arc;

use forebay_columns::PATCHED;
use forebay_pixels::{Draw, PatchGrid};
use forebay_plan::Plan;
use forebay_proto::Turn;
use forebay_ring::SlotFrame;

use super::OwnColumn;
use crate::batch_metadata::BatchMetadata;
use crate::classes::StreamClasses;
use crate::fill::BatchFill;

/// See the module.
#[derive(Debug)]
pub(super) struct PatchColumns {
    columns: [OwnColumn; PATCHED.len()],
    /// Nothing before the stream is known.
    known: Option<PatchedStream>,
}

/// What the numbers follow from.
#[derive(Debug)]
struct PatchedStream {
    classes: Arc<StreamClasses>,
    plan: Arc<Plan>,
    seed: u64,
}

impl PatchColumns {
    /// Not written yet, of no stream.
    pub(super) fn new(columns: [OwnColumn; PATCHED.len()]) -> Self {
        Self { columns, known: None }
    }

    /// From now on, they are those of a stream with these classes, this plan and this seed of the random choices.
    pub(super) fn set(&mut self, classes: Arc<StreamClasses>, plan: Arc<Plan>, seed: u64) {
        self.known = Some(PatchedStream { classes, plan, seed });
    }

    /// Writes those of a batch, which has so many places.
    pub(super) fn write(&mut self, metadata: &BatchMetadata, places: usize, frame: &mut SlotFrame) {
        let Self { columns: [planned, tokens, grid], known } = self;
        let Some((known, step)) = known.as_ref().zip(metadata.step) else { return };
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let order = known.plan.epoch(metadata.epoch);
        let turns = order.turns_of_step(step.step).map(|turn| (turn.record(), known.draw(metadata.epoch, turn)));
        let all = known.classes.tokens(step.class, turns);
        planned.write(frame, places, |_| whole(step.turns));
        tokens.write(frame, places, |_| whole(all));
        grid.write_rows(frame, places, |place| {
            // A place without a picture has padding alone.
            let (rows, columns) = known.grid(metadata, place).map_or((0, 0), |grid| (grid.rows, grid.columns));
            [rows, columns].map(|number| i32::try_from(number).unwrap_or(i32::MAX))
        });
    }

    /// How far the epoch's own records fill a batch.
    pub(super) fn fill(&self, metadata: &BatchMetadata) -> Option<BatchFill> {
        let (known, step) = self.known.as_ref().zip(metadata.step)?;
        let patches = known.classes.recipe(step.class).patches()?;
        let own = metadata.places.mask.iter().enumerate().filter(|(_, mask)| **mask == 1);
        let grids = own.filter_map(|(place, _)| known.grid(metadata, place));
        let room = u64::from(metadata.shown) * u64::from(patches.length);
        Some(BatchFill { filled: grids.map(PatchGrid::tokens).sum(), room })
    }
}

impl PatchedStream {
    /// The patches of a place, if there is a picture.
    fn grid(&self, metadata: &BatchMetadata, place: usize) -> Option<PatchGrid> {
        let origin = metadata.places.origins.get(place).copied().flatten()?;
        let draw = self.draw(metadata.epoch, metadata.places.turn(place)?);
        self.classes.recipe(metadata.step?.class).patches()?.grid_of(&origin, draw)
    }

    fn draw(&self, epoch: u64, turn: Turn) -> Draw {
        Draw { seed: self.seed, epoch, record: turn.key() }
    }
}
