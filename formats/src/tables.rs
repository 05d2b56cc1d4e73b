//! What the formats of tables share (Parquet, Arrow): which column is the picture, which is the label, and how the values
//! of the others become columns.

mod choice;
mod huggingface;
mod labels;
mod targets;

pub(crate) use choice::Choice;
pub(crate) use huggingface::class_names;
pub(crate) use labels::LabelReader;
pub(crate) use targets::TargetReader;

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray};

/// The values of a field of a batch, by the names that lead to it. Nothing, if there is no such field.
///
/// A row is null if one of the structures around the field is.
pub(crate) fn field(batch: &RecordBatch, path: &[String]) -> Option<ArrayRef> {
    let (first, rest) = path.split_first()?;
    let mut array = ArrayRef::clone(batch.column_by_name(first)?);
    for name in rest {
        let structure = array.as_any().downcast_ref::<StructArray>()?;
        let inner = structure.column_by_name(name)?;
        let nulls = arrow_buffer::NullBuffer::union(structure.nulls(), inner.nulls());
        let data = inner.to_data().into_builder().nulls(nulls).build().ok()?;
        array = arrow_array::make_array(data);
    }
    Some(array)
}
