//! The columns of a stream whose steps have a form: buckets, patches, or ragged pictures.

use std::sync::Arc;

use forebay_columns::{Schema, SchemaError};
use forebay_pixels::Recipe;
use forebay_plan::Plan;
use forebay_ring::SlotFrame;

use super::OwnColumn;
use super::bucket_columns::BucketColumns;
use super::patch_columns::PatchColumns;
use super::ragged_columns::RaggedColumns;
use crate::batch_metadata::BatchMetadata;
use crate::classes::StreamClasses;
use crate::fill::BatchFill;
use crate::settings::StepForm;

/// See the module.
#[derive(Debug)]
pub(super) struct FormColumns {
    /// What becomes of the pictures of each class. Nothing before the stream's classes are known.
    classes: Option<Arc<StreamClasses>>,
    kind: FormKind,
}

#[derive(Debug)]
enum FormKind {
    Buckets(Box<BucketColumns>),
    Patches(Box<PatchColumns>),
    Ragged(Box<RaggedColumns>),
}

impl FormColumns {
    /// A schema with theirs behind its own.
    ///
    /// # Errors
    /// A column has one of their names, or there are too many.
    pub(super) fn after(schema: Schema, form: &StepForm) -> Result<Schema, SchemaError> {
        match form {
            StepForm::Buckets(_) => schema.with_buckets(),
            StepForm::Patches(_) => schema.with_patches(),
            StepForm::Ragged { .. } => schema.with_ragged(),
        }
    }

    /// Those of no stream yet. `own` gives each column by its place behind the first one.
    pub(super) fn new(form: &StepForm, own: impl Fn(usize) -> OwnColumn) -> Self {
        let kind = match form {
            StepForm::Buckets(_) => FormKind::Buckets(Box::new(BucketColumns::new(std::array::from_fn(own)))),
            StepForm::Patches(_) => FormKind::Patches(Box::new(PatchColumns::new(std::array::from_fn(own)))),
            StepForm::Ragged { .. } => FormKind::Ragged(Box::new(RaggedColumns::new(std::array::from_fn(own)))),
        };
        Self { classes: None, kind }
    }

    /// From now on, they are those of a stream with these classes, this plan and this seed of the random choices.
    pub(super) fn set(&mut self, classes: Arc<StreamClasses>, plan: &Arc<Plan>, seed: u64) {
        match &mut self.kind {
            FormKind::Buckets(columns) => columns.set(Arc::clone(&classes), seed),
            FormKind::Patches(columns) => columns.set(Arc::clone(&classes), Arc::clone(plan), seed),
            FormKind::Ragged(columns) => columns.set(Arc::clone(&classes)),
        }
        self.classes = Some(classes);
    }

    /// What becomes of the pictures of a batch.
    pub(super) fn recipe(&self, metadata: &BatchMetadata) -> Option<&Arc<Recipe>> {
        Some(self.classes.as_ref()?.recipe(metadata.step?.class))
    }

    /// How far the records of a batch fill it.
    pub(super) fn fill(&self, metadata: &BatchMetadata) -> Option<BatchFill> {
        match &self.kind {
            FormKind::Buckets(_) | FormKind::Ragged(_) => {
                Some(BatchFill { filled: metadata.valid.into(), room: metadata.shown.into() })
            }
            FormKind::Patches(columns) => columns.fill(metadata),
        }
    }

    /// Writes those of a batch, which has so many places.
    pub(super) fn write(&mut self, metadata: &BatchMetadata, places: usize, frame: &mut SlotFrame) {
        match &mut self.kind {
            FormKind::Buckets(columns) => columns.write(metadata, places, frame),
            FormKind::Patches(columns) => columns.write(metadata, places, frame),
            FormKind::Ragged(columns) => columns.write(metadata, places, frame),
        }
    }
}
