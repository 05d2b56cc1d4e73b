//! The records of a stream in their order. With static assignment, also the batches that the positions of an epoch
//! make.

use std::collections::BTreeMap;
use std::sync::Arc;

use forebay_pixels::Origin;
use forebay_plan::{Batching, EpochBatches, Plan};
use forebay_sources::{Locator, Source};

use crate::batch::form::Form;
use crate::batch::slots::{PlaceRooms, SizedStep};
use crate::classes::StreamClasses;
use crate::reason::Reason;
use crate::record::Position;

/// Which record is where.
#[derive(Debug)]
pub(crate) struct RecordOrder {
    source: Arc<dyn Source>,
    plan: Arc<Plan>,
    /// Static assignment: the shape of an epoch's batches.
    fixed: Option<Batching>,
    /// Static assignment: the batches of epochs that are not complete.
    epochs: BTreeMap<u64, EpochBatches>,
    /// The classes that steps have, if they have some.
    classes: Option<Arc<StreamClasses>>,
}

impl RecordOrder {
    /// The records of this source as the plan orders them; with static assignment, in batches of this shape.
    pub(crate) fn new(source: Arc<dyn Source>, plan: Arc<Plan>, fixed: Option<Batching>) -> Self {
        Self { source, plan, fixed, epochs: BTreeMap::new(), classes: None }
    }

    /// The same where steps have these classes.
    pub(crate) fn with_classes(self, classes: Option<Arc<StreamClasses>>) -> Self {
        Self { classes, ..self }
    }

    /// Static assignment: the form of a position's batch, with the size of its pictures if steps have classes.
    pub(super) fn form_of(
        &mut self,
        position: &Position,
        floor: impl Fn() -> u64,
    ) -> Option<(Form, Option<SizedStep>)> {
        let classes = self.classes.clone();
        let (batches, index) = self.batch_of(position, floor)?;
        let form = Form::of(batches, index);
        let is_ragged = classes.as_ref().is_some_and(|classes| classes.is_ragged());
        let form = if is_ragged { form.leaving_empty() } else { form };
        let sized = classes.zip(batches.class(index)).map(|(classes, step)| {
            let room = if is_ragged {
                let shown = |place| classes.shown(batches.turn(index, place).record()).unwrap_or((0, 0));
                let mut lengths: Vec<usize> =
                    (0..u64::from(form.own)).map(|place| bytes(&classes, shown(place))).collect();
                lengths.resize(form.places() as usize, 0);
                PlaceRooms::Lengths(lengths)
            } else {
                PlaceRooms::Sized { size: classes.size(step.class), places: form.places() }
            };
            SizedStep { room, step }
        });
        Some((form, sized))
    }

    /// Whether a picture was made of what its record's class follows from.
    pub(super) fn check(&self, record: u64, origin: Origin) -> Result<Origin, Reason> {
        if let Some(classes) = &self.classes {
            classes.check(record, &origin)?;
        }
        Ok(origin)
    }

    /// A record's label.
    pub(crate) fn label(&self, record: u64) -> i64 {
        self.source.label(record)
    }

    /// What makes the whole dataset useless, if something was found. To be asked behind [`label`](Self::label).
    pub(crate) fn failure(&self) -> Option<String> {
        self.source.failure()
    }

    /// Where a record is read from.
    pub(crate) fn locator(&self, record: u64) -> Locator {
        self.source.locator(record)
    }

    /// Static assignment: the batches of a position's epoch, and which of them is its own. Epochs before the
    /// `floor`, which is asked for once an epoch, are complete.
    fn batch_of(&mut self, position: &Position, floor: impl Fn() -> u64) -> Option<(&EpochBatches, u64)> {
        let (epoch, fixed) = (position.epoch, self.fixed?);
        if !self.epochs.contains_key(&epoch) {
            let floor = floor();
            self.epochs.retain(|other, _| *other >= floor);
        }
        let batches = self.epochs.entry(epoch).or_insert_with(|| fixed.epoch(&self.plan, epoch));
        let index = batches.index_of(position.index);
        Some((batches, index))
    }

    /// Whether a position is part of a batch, and not of what the policy for last batches leaves out.
    pub(crate) fn has_batch(&mut self, position: &Position, floor: impl Fn() -> u64) -> bool {
        self.batch_of(position, floor).is_none_or(|(batches, index)| index < batches.batches)
    }
}

/// Bytes of a picture of this height and width.
fn bytes(classes: &StreamClasses, (height, width): (u32, u32)) -> usize {
    classes.recipe(0).output().bytes(width, height)
}
