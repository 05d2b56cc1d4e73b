//! Fields within structures and within lists of structures. In a list of structures, a row has a list of the field's values.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, FixedSizeListArray, GenericListArray, OffsetSizeTrait, RecordBatch, make_array};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields};

/// The type of the field that these names lead to, if there is one.
pub(crate) fn type_of(fields: &Fields, path: &[String]) -> Option<DataType> {
    let (first, rest) = path.split_first()?;
    type_within(fields.find(first)?.1.data_type(), rest)
}

fn type_within(of: &DataType, path: &[String]) -> Option<DataType> {
    let Some((name, rest)) = path.split_first() else { return Some(of.clone()) };
    Some(match of {
        DataType::Struct(fields) => type_within(fields.find(name)?.1.data_type(), rest)?,
        DataType::List(item) => DataType::List(list_item(type_within(item.data_type(), path)?)),
        DataType::LargeList(item) => DataType::LargeList(list_item(type_within(item.data_type(), path)?)),
        DataType::FixedSizeList(item, len) => {
            DataType::FixedSizeList(list_item(type_within(item.data_type(), path)?), *len)
        }
        _ => return None,
    })
}

/// What the lists of a field's values have.
pub(crate) fn list_item(of: DataType) -> Arc<Field> {
    Arc::new(Field::new_list_field(of, true))
}

/// The values of the field that these names lead to. Nothing, if there is no such field.
///
/// A row is null if one of the structures around the field is, and so is an item of a list.
pub(crate) fn values(batch: &RecordBatch, path: &[String]) -> Option<ArrayRef> {
    let (first, rest) = path.split_first()?;
    values_within(ArrayRef::clone(batch.column_by_name(first)?), rest)
}

fn values_within(array: ArrayRef, path: &[String]) -> Option<ArrayRef> {
    fn list<O: OffsetSizeTrait>(array: &GenericListArray<O>, path: &[String]) -> Option<ArrayRef> {
        let values = values_within(ArrayRef::clone(array.values()), path)?;
        let item = list_item(values.data_type().clone());
        let list = GenericListArray::try_new(item, array.offsets().clone(), values, array.nulls().cloned());
        Some(Arc::new(list.ok()?))
    }
    let Some((name, rest)) = path.split_first() else { return Some(array) };
    match array.data_type() {
        DataType::Struct(_) => {
            let structure = array.as_struct();
            let inner = structure.column_by_name(name)?;
            let nulls = NullBuffer::union(structure.nulls(), inner.nulls());
            let data = inner.to_data().into_builder().nulls(nulls).build().ok()?;
            values_within(make_array(data), rest)
        }
        DataType::List(_) => list(array.as_list::<i32>(), path),
        DataType::LargeList(_) => list(array.as_list::<i64>(), path),
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            let values = values_within(ArrayRef::clone(lists.values()), path)?;
            let item = list_item(values.data_type().clone());
            let list = FixedSizeListArray::try_new(item, lists.value_length(), values, lists.nulls().cloned());
            Some(Arc::new(list.ok()?))
        }
        _ => None,
    }
}

/// The leaves that hold the values of the field that these names lead to, counted over the leaves of all fields.
pub(crate) fn leaves(fields: &Fields, path: &[String]) -> Option<Range<usize>> {
    let (name, rest) = path.split_first()?;
    let (place, field) = fields.find(name)?;
    let before: usize = fields[..place].iter().map(|field| leaves_count(field.data_type())).sum();
    let Range { start, end } = leaves_within(field.data_type(), rest)?;
    Some(before + start..before + end)
}

fn leaves_within(of: &DataType, path: &[String]) -> Option<Range<usize>> {
    if path.is_empty() {
        return Some(0..leaves_count(of));
    }
    match of {
        DataType::Struct(fields) => leaves(fields, path),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            leaves_within(item.data_type(), path)
        }
        _ => None,
    }
}

fn leaves_count(of: &DataType) -> usize {
    match of {
        DataType::Struct(fields) => fields.iter().map(|field| leaves_count(field.data_type())).sum(),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::Map(item, _) => leaves_count(item.data_type()),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, of: DataType) -> Field {
        Field::new(name, of, true)
    }

    fn path(names: &str) -> Vec<String> {
        names.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn a_field_in_a_list_of_structures_has_a_list_and_the_leaves_are_counted_in_the_order_of_the_fields() {
        let point = DataType::Struct(vec![field("x", DataType::Int8), field("y", DataType::Int16)].into());
        let object = vec![
            field("id", DataType::Int64),
            field("bbox", DataType::new_list(DataType::Float32, true)),
            field("at", point.clone()),
        ];
        let objects = DataType::new_list(DataType::Struct(object.into()), true);
        let pairs = DataType::FixedSizeList(Arc::new(field("item", point)), 2);
        let fields: Fields = vec![
            field("n", DataType::Int8),
            field("objects", objects),
            field("pairs", pairs),
            field("end", DataType::Utf8),
        ]
        .into();
        let list = |of| DataType::new_list(of, true);
        for (names, of, places) in [
            ("n", DataType::Int8, 0..1),
            ("objects.id", list(DataType::Int64), 1..2),
            ("objects.bbox", list(list(DataType::Float32)), 2..3),
            ("objects.at.y", list(DataType::Int16), 4..5),
            ("pairs.x", DataType::new_fixed_size_list(DataType::Int8, 2, true), 5..6),
            ("end", DataType::Utf8, 7..8),
        ] {
            assert_eq!(
                (type_of(&fields, &path(names)), leaves(&fields, &path(names))),
                (Some(of), Some(places)),
                "{names}"
            );
        }
        assert_eq!(leaves(&fields, &path("objects")), Some(1..5));
        for names in ["objects.none", "n.x", "objects.id.x", "none"] {
            assert_eq!((type_of(&fields, &path(names)), leaves(&fields, &path(names))), (None, None), "{names}");
        }
    }
}
