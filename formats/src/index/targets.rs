//! The further columns of a dataset in an index, as Arrow has them: lists in lists, and texts. Their exact types are in the
//! metadata of their fields.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, LargeBinaryArray, LargeListArray, LargeStringArray, make_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field as ArrowField};
use forebay_columns::{Column, ColumnType, ElementType, Field, Role, Schema, Table};

use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::stored_array::{Extent, StoredArray};

const NAME: &str = "forebay.name";
const TYPE: &str = "forebay.type";
const ROLE: &str = "forebay.role";
const OBJECTS: &str = "forebay.objects";
/// Which keypoints change places in a mirrored picture, if that is known.
const FLIP: &str = "forebay.flip";

/// Adds the columns of a table.
pub(super) fn write(table: &Table, columns: &mut NewColumns) -> Result<(), BadIndex> {
    for (field, column) in table.schema().fields().iter().zip(table.columns()) {
        let array = array(column).map_err(|error| BadIndex(error.to_string()))?;
        // Another column of the index may have the name. Readers of the file then see both.
        let is_taken = columns.fields.iter().any(|taken| *taken.name() == field.name);
        let name = if is_taken { format!("{}_column", field.name) } else { field.name.clone() };
        let mut metadata = HashMap::from([
            (NAME.to_owned(), field.name.clone()),
            (TYPE.to_owned(), field.column_type.to_string()),
            (ROLE.to_owned(), field.role.name().to_owned()),
        ]);
        if let Some(objects) = &field.objects {
            metadata.insert(OBJECTS.to_owned(), objects.clone());
        }
        if !field.flip.is_empty() {
            let numbers: Vec<String> = field.flip.iter().map(u32::to_string).collect();
            metadata.insert(FLIP.to_owned(), numbers.join(","));
        }
        let of = array.data_type().clone();
        columns.array(ArrowField::new(name, of, array.null_count() > 0).with_metadata(metadata), array);
    }
    Ok(())
}

/// The columns that were written. All of them are read.
///
/// # Errors
/// They are no columns of a dataset.
pub(super) fn read(columns: &IndexColumns) -> Result<Table, BadIndex> {
    let (mut fields, mut values) = (Vec::new(), Vec::new());
    for (field, array) in columns.schema.fields().iter().zip(&columns.arrays) {
        let Some(name) = field.metadata().get(NAME) else { continue };
        let wrong = || BadIndex(format!("its column \"{}\" is not what its type says", field.name()));
        let of: ColumnType = field.metadata().get(TYPE).and_then(|of| of.parse().ok()).ok_or_else(wrong)?;
        let role = field.metadata().get(ROLE).and_then(|role| Role::named(role)).ok_or_else(wrong)?;
        values.push(column(of.clone(), array)?.ok_or_else(wrong)?);
        let objects = field.metadata().get(OBJECTS).cloned();
        let flip = field.metadata().get(FLIP).map_or(Some(Vec::new()), |flip| {
            flip.split(',').map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()
        });
        let flip = flip.ok_or_else(wrong)?;
        fields.push(Field { objects, ..Field::new(name, of) }.with_role(role).with_flip(&flip));
    }
    let schema = Schema::try_new(fields).map_err(|error| BadIndex(error.to_string()))?;
    Table::try_new(schema, values, columns.len()).map_err(|error| BadIndex(error.to_string()))
}

/// The values of a column, level by level from the inside out.
fn array(column: &Column) -> Result<ArrayRef, arrow_schema::ArrowError> {
    let of = column.column_type();
    let offsets = |level: usize| OffsetBuffer::new(ScalarBuffer::from(column.offsets(level).to_vec()));
    let bytes = Buffer::from_slice_ref(column.bytes());
    let mut level = of.depth();
    let mut array: ArrayRef = if is_text(of) {
        level -= 1;
        let offsets = offsets(of.depth());
        match LargeStringArray::try_new(offsets.clone(), bytes.clone(), None) {
            Ok(texts) => Arc::new(texts),
            Err(_) => Arc::new(LargeBinaryArray::new(offsets, bytes, None)),
        }
    } else {
        let values = column.bytes().len() / of.element().size();
        make_array(ArrayData::builder(stored(of.element())).len(values).add_buffer(bytes).build()?)
    };
    for &dim in of.dims().iter().rev() {
        let dim = i32::try_from(dim).map_err(|error| arrow_schema::ArrowError::ComputeError(error.to_string()))?;
        array = Arc::new(FixedSizeListArray::try_new(item(&array), dim, array, None)?);
    }
    for level in (1..=level).rev() {
        array = Arc::new(LargeListArray::try_new(item(&array), offsets(level), array, None)?);
    }
    if (0..column.len()).any(|record| column.is_null(record)) {
        let nulls: NullBuffer = (0..column.len()).map(|record| !column.is_null(record)).collect();
        array = make_array(array.to_data().into_builder().nulls(Some(nulls)).build()?);
    }
    Ok(array)
}

fn item(array: &ArrayRef) -> Arc<ArrowField> {
    Arc::new(ArrowField::new("item", array.data_type().clone(), false))
}

/// Lists of bytes are texts, as far as they are UTF-8.
fn is_text(of: &ColumnType) -> bool {
    of.element() == ElementType::U8 && of.depth() > 0 && of.dims().is_empty()
}

/// A column of what an array has. Nothing if that is not of this type.
///
/// # Errors
/// The array cannot be read.
fn column(of: ColumnType, array: &StoredArray) -> Result<Option<Column>, BadIndex> {
    let (records, nulls) = (array.len, array.null_places()?);
    let mut offsets = Vec::with_capacity(of.depth());
    let mut array = array;
    let levels = of.depth() - usize::from(is_text(&of));
    for _ in 0..levels {
        let (DataType::LargeList(_), Some(child)) = (&array.data_type, &array.child) else { return Ok(None) };
        offsets.push(array.offsets()?);
        array = child;
    }
    let values = if is_text(&of) {
        if !matches!(array.data_type, DataType::LargeUtf8 | DataType::LargeBinary) {
            return Ok(None);
        }
        offsets.push(array.offsets()?);
        array.buffer(1)?
    } else {
        for &dim in of.dims() {
            let (DataType::FixedSizeList(_, len), Some(child)) = (&array.data_type, &array.child) else {
                return Ok(None);
            };
            if u32::try_from(*len).ok() != Some(dim) {
                return Ok(None);
            }
            array = child;
        }
        if array.data_type != stored(of.element()) {
            return Ok(None);
        }
        // What pads the buffer is none of them.
        let Some(len) = (array.len as u64).checked_mul(of.element().size() as u64) else { return Ok(None) };
        match array.buffers.first() {
            Some(buffer) if len <= buffer.len => array.bytes(Extent { len, ..*buffer })?,
            _ => return Ok(None),
        }
    };
    if of.element() == ElementType::Bool && values.iter().any(|&value| value > 1) {
        return Ok(None);
    }
    Ok(Column::try_from_parts(of, offsets, values, nulls, records))
}

/// The type that keeps these values in an Arrow file.
fn stored(element: ElementType) -> DataType {
    match element {
        ElementType::U8 | ElementType::Bool => DataType::UInt8,
        ElementType::F16 => DataType::Float16,
        ElementType::F32 => DataType::Float32,
        ElementType::Bf16 | ElementType::U16 => DataType::UInt16,
        ElementType::I8 => DataType::Int8,
        ElementType::I16 => DataType::Int16,
        ElementType::I32 => DataType::Int32,
        ElementType::I64 => DataType::Int64,
        ElementType::U32 => DataType::UInt32,
        ElementType::U64 => DataType::UInt64,
        ElementType::F64 => DataType::Float64,
    }
}

#[cfg(test)]
mod tests {
    use super::super::about::About;
    use super::super::file::{self, IndexFile};
    use super::*;

    fn filled(of: &str, fill: impl FnOnce(&mut Column)) -> Column {
        let mut column = Column::new(of.parse().unwrap());
        fill(&mut column);
        column
    }

    #[test]
    fn rule_53_columns_of_every_form_are_the_same_behind_an_index() {
        let dir = tempfile::tempdir().unwrap();
        let columns = [
            filled("i64", |column| {
                column.push(&[7_i64]);
                column.push_null();
            }),
            filled("bool", |column| [0_u8, 1].into_iter().for_each(|value| column.push(&[value]))),
            filled("bf16 [2, 3]", |column| (0..2).for_each(|_| column.push(&[half::bf16::ONE; 6]))),
            filled("f32 [*, 4]", |column| {
                column.push(&[1.0_f32; 8]);
                column.push_null();
            }),
            filled("u8 [*]", |column| ["größe", ""].into_iter().for_each(|text| column.push(text.as_bytes()))),
            filled("u8 [*][*]", |column| {
                for text in [&b"a"[..], b"\xff"] {
                    column.extend(text);
                    column.close(2);
                }
                column.close(1);
                column.close(1);
            }),
            filled("f32 [*][*][*, 2]", |column| {
                column.extend(&[0.5_f32; 6]);
                column.close(3);
                column.close(2);
                column.close(1);
                column.close(1);
            }),
        ];
        for kept in columns {
            let mut made = NewColumns::default();
            let values = array(&kept).unwrap();
            made.array(ArrowField::new("x", values.data_type().clone(), true), values);
            let path = dir.path().join("x.arrow");
            file::write(&path, &About::default(), made).unwrap();
            let opened = IndexFile::open(&path).unwrap().columns;
            let made = &opened.arrays[0];
            let back = column(kept.column_type().clone(), made).unwrap().unwrap();
            let digest = |column: &Column| {
                let mut bytes = Vec::new();
                column.digest(&mut |more| bytes.extend_from_slice(more));
                bytes
            };
            assert_eq!(digest(&back), digest(&kept), "{}", kept.column_type());
            let other = if kept.column_type().depth() == 0 { "f64 [*]" } else { "f64" };
            assert!(column(other.parse().unwrap(), made).unwrap().is_none());
        }
    }
}
