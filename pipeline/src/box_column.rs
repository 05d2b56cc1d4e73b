//! The boxes of a dataset's records, for transforms that draw by them. They are known before a picture is read.

use std::sync::Arc;

use forebay_columns::{Role, Table};
use forebay_pixels::{Annotated, Recipe, RecordBoxes};
use forebay_proto::Turn;
use forebay_sources::Source;
use thiserror::Error;

/// The first column of boxes of a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoxColumn {
    /// Its place in the table.
    pub(crate) column: usize,
    in_fractions: bool,
}

/// A transform that draws by boxes, for a dataset that has none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "transform {place} ({transform}) needs the boxes of each record, and the dataset has no column of boxes. Leave out the \
     transform, or read a dataset with boxes"
)]
pub struct NoBoxes {
    /// Place of the transform in its list, from 0.
    pub place: usize,
    /// Name of the transform.
    pub transform: &'static str,
}

impl BoxColumn {
    /// That of a dataset with these columns.
    pub(crate) fn of(table: &Table) -> Option<Self> {
        let column = table.schema().fields().iter().position(|field| field.role.is_of_boxes())?;
        Some(Self { column, in_fractions: table.schema().fields()[column].role == Role::FractionBoxes })
    }

    /// Gives the boxes of a record, in the order of its objects.
    fn each(self, table: &Table, record: u64, give: &mut dyn FnMut([f32; 4])) {
        let Ok(record) = usize::try_from(record) else { return };
        table.value(self.column, record).bytes().as_chunks().0.iter().map(corners).for_each(give);
    }
}

/// The numbers of a box as a table has them.
pub(crate) fn corners(bytes: &[u8; 16]) -> [f32; 4] {
    [0, 4, 8, 12].map(|at| f32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte])))
}

/// The recipe, with the boxes of a dataset if it draws by them.
///
/// # Errors
/// It does, and the dataset has none.
pub(crate) fn bound(recipe: &Recipe, source: &Arc<dyn Source>, annotated: Annotated) -> Result<Recipe, NoBoxes> {
    let Some((place, transform)) = recipe.drawing_by_boxes() else { return Ok(recipe.clone()) };
    let column = BoxColumn::of(source.targets()).ok_or(NoBoxes { place, transform })?;
    let source = Arc::clone(source);
    // The key of a turn has the number of its repeat in the bits that no record's number has.
    let give = move |key: u64, give: &mut dyn FnMut([f32; 4])| {
        column.each(source.targets(), key & (Turn::RECORDS - 1), give);
    };
    Ok(recipe.clone().with_boxes(RecordBoxes::new(annotated, column.in_fractions, give)))
}
