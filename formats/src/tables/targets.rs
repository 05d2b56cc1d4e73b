//! Further fields of a table as columns: numbers, bools, texts, and lists of them (semantics rule 45).

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use forebay_columns::{Column, ColumnType, Element, ElementType};

/// The values of a field, as far as they were read.
#[derive(Debug)]
pub(crate) struct TargetReader {
    column: Column,
}

impl TargetReader {
    /// A column for a field of this type.
    ///
    /// # Errors
    /// No column can have its values. The text is a sentence.
    pub(crate) fn new(of: &DataType) -> Result<Self, String> {
        let (element, depth, dims) = shape(of).ok_or_else(|| {
            format!("it has the type {of}. A column has integers, floats, bools or texts, or lists of them.")
        })?;
        let column = ColumnType::try_new(element, depth, &dims).map_err(|error| format!("{error}."))?;
        Ok(Self { column: Column::new(column) })
    }

    /// Adds the values of these rows.
    ///
    /// # Errors
    /// A row is not what the others are. It is named by its place in the column, with a sentence about it.
    pub(crate) fn push(&mut self, array: &ArrayRef) -> Result<(), (usize, String)> {
        let expected = self.column.column_type();
        let found =
            shape(array.data_type()).and_then(|(element, depth, dims)| ColumnType::try_new(element, depth, &dims).ok());
        if found.as_ref() != Some(expected) {
            let of = array.data_type();
            let problem =
                format!("The values are {of} here, and {expected} in the files before. Write all with one type.");
            return Err((self.column.len(), problem));
        }
        let nulls = array.logical_nulls();
        for row in 0..array.len() {
            let place = self.column.len();
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                self.column.push_null();
                continue;
            }
            let done = if self.column.column_type().depth() == 0 {
                dense(&mut self.column, array, row, row + 1).map(|()| self.column.close(1))
            } else {
                list(&mut self.column, array, row, 1)
            };
            done.map_err(|problem| (place, problem.to_owned()))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Column {
        self.column
    }
}

/// A null within a list has no place in a column.
const NULL_INSIDE: &str = "There is a null within the list. Write a value, or a shorter list.";
const WRONG_LIST: &str = "The list leads out of its values.";

/// The values of a column for a type: their type, the ragged levels, the fixed dimensions.
fn shape(of: &DataType) -> Option<(ElementType, usize, Vec<u32>)> {
    let element = match of {
        DataType::Boolean => ElementType::Bool,
        DataType::Int8 => ElementType::I8,
        DataType::Int16 => ElementType::I16,
        DataType::Int32 => ElementType::I32,
        DataType::Int64 => ElementType::I64,
        DataType::UInt8 => ElementType::U8,
        DataType::UInt16 => ElementType::U16,
        DataType::UInt32 => ElementType::U32,
        DataType::UInt64 => ElementType::U64,
        DataType::Float16 => ElementType::F16,
        DataType::Float32 => ElementType::F32,
        DataType::Float64 => ElementType::F64,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => return Some((ElementType::U8, 1, Vec::new())),
        DataType::Dictionary(_, values) if is_text(values) => return shape(values),
        DataType::List(inner) | DataType::LargeList(inner) => {
            let (element, depth, dims) = shape(inner.data_type())?;
            return Some((element, depth + 1, dims));
        }
        DataType::FixedSizeList(inner, len) => {
            let (element, depth, dims) = shape(inner.data_type())?;
            let len = u32::try_from(*len).ok()?;
            // What is ragged within leaves no room for a fixed dimension around it.
            let fixed = depth == 0;
            let dims = if fixed { [&[len], &dims[..]].concat() } else { dims };
            return Some((element, depth + usize::from(!fixed), dims));
        }
        _ => return None,
    };
    Some((element, 0, Vec::new()))
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Writes the list of this row, as a list of this level, and ends it.
fn list(column: &mut Column, array: &ArrayRef, row: usize, level: usize) -> Result<(), &'static str> {
    match array.data_type() {
        DataType::Utf8 => column.extend(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => column.extend(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => column.extend(array.as_string_view().value(row).as_bytes()),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let key = dictionary.keys().slice(row, 1);
            let key = super::labels::key(&key, 0).filter(|key| *key < dictionary.values().len()).ok_or(WRONG_LIST)?;
            return list(column, dictionary.values(), key, level);
        }
        DataType::List(_) => items(column, &array.as_list::<i32>().value(row), level)?,
        DataType::LargeList(_) => items(column, &array.as_list::<i64>().value(row), level)?,
        DataType::FixedSizeList(..) => items(column, &array.as_fixed_size_list().value(row), level)?,
        _ => return Err(WRONG_LIST),
    }
    column.close(level);
    Ok(())
}

/// The items of a list: lists of the next level, or rows.
fn items(column: &mut Column, values: &ArrayRef, level: usize) -> Result<(), &'static str> {
    if values.logical_null_count() > 0 {
        return Err(NULL_INSIDE);
    }
    if level == column.column_type().depth() {
        return dense(column, values, 0, values.len());
    }
    (0..values.len()).try_for_each(|row| list(column, values, row, level + 1))
}

/// The values of dense rows.
fn dense(column: &mut Column, array: &ArrayRef, start: usize, end: usize) -> Result<(), &'static str> {
    fn numbers<T: ArrowPrimitiveType>(column: &mut Column, array: &ArrayRef, start: usize, end: usize)
    where
        T::Native: Element,
    {
        column.extend(&array.as_primitive::<T>().values()[start..end]);
    }
    match array.data_type() {
        DataType::Boolean => {
            let bools = array.as_boolean();
            (start..end).for_each(|row| column.extend(&[u8::from(bools.value(row))]));
        }
        DataType::Int8 => numbers::<Int8Type>(column, array, start, end),
        DataType::Int16 => numbers::<Int16Type>(column, array, start, end),
        DataType::Int32 => numbers::<Int32Type>(column, array, start, end),
        DataType::Int64 => numbers::<Int64Type>(column, array, start, end),
        DataType::UInt8 => numbers::<UInt8Type>(column, array, start, end),
        DataType::UInt16 => numbers::<UInt16Type>(column, array, start, end),
        DataType::UInt32 => numbers::<UInt32Type>(column, array, start, end),
        DataType::UInt64 => numbers::<UInt64Type>(column, array, start, end),
        DataType::Float16 => numbers::<Float16Type>(column, array, start, end),
        DataType::Float32 => numbers::<Float32Type>(column, array, start, end),
        DataType::Float64 => numbers::<Float64Type>(column, array, start, end),
        DataType::FixedSizeList(..) => {
            for row in start..end {
                let values = array.as_fixed_size_list().value(row);
                if values.logical_null_count() > 0 {
                    return Err(NULL_INSIDE);
                }
                dense(column, &values, 0, values.len())?;
            }
        }
        _ => return Err(WRONG_LIST),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Int64Builder, ListBuilder, StringBuilder};
    use arrow_array::{BooleanArray, DictionaryArray, Float16Array, Int32Array, NullArray, StringArray};

    use super::*;

    fn column(array: &ArrayRef) -> Result<Column, (usize, String)> {
        let mut reader = TargetReader::new(array.data_type()).map_err(|problem| (usize::MAX, problem))?;
        reader.push(&array.slice(0, 1))?;
        reader.push(&array.slice(1, array.len() - 1))?;
        Ok(reader.finish())
    }

    #[test]
    fn rule_45_numbers_bools_and_texts_become_columns_and_nulls_stay_nulls() {
        let numbers = column(&as_array(Int32Array::from(vec![Some(3), None, Some(5)]))).unwrap();
        assert_eq!(numbers.column_type().to_string(), "i32");
        let value = |record: usize| (numbers.value(record).is_null(), numbers.value(record).bytes().to_vec());
        assert_eq!([value(0), value(1)], [(false, vec![3, 0, 0, 0]), (true, vec![0; 4])]);
        let bools = column(&as_array(BooleanArray::from(vec![true, false]))).unwrap();
        assert_eq!((bools.column_type().to_string(), bools.value(0).bytes()), ("bool".into(), &[1][..]));
        let half = Float16Array::from_iter_values([1.0, 2.0].map(half_of));
        assert_eq!(column(&as_array(half)).unwrap().column_type().to_string(), "f16");
        let dictionary: DictionaryArray<Int32Type> = vec![Some("ab"), None, Some("")].into_iter().collect();
        for texts in [Arc::new(StringArray::from(vec![Some("ab"), None, Some("")])) as ArrayRef, Arc::new(dictionary)] {
            let texts = column(&texts).unwrap();
            assert_eq!(texts.column_type().to_string(), "u8 [*]");
            let value = |record: usize| (texts.value(record).is_null(), texts.value(record).bytes());
            assert_eq!([value(0), value(1), value(2)], [(false, &b"ab"[..]), (true, &[]), (false, &[])]);
        }
    }

    fn as_array(array: impl Array + 'static) -> ArrayRef {
        Arc::new(array)
    }

    fn half_of(value: f32) -> <Float16Type as ArrowPrimitiveType>::Native {
        <Float16Type as ArrowPrimitiveType>::Native::from_f32(value)
    }

    #[test]
    fn rule_45_lists_become_ragged_levels_and_fixed_lists_dimensions() {
        let mut boxes = ListBuilder::new(FixedSizeListBuilder::new(Float32Builder::new(), 4));
        for row in [&[[1.0_f32, 2.0, 3.0, 4.0], [5.0; 4]][..], &[], &[[9.0; 4]]] {
            for each in row {
                boxes.values().values().append_slice(each);
                boxes.values().append(true);
            }
            boxes.append(true);
        }
        let boxes = column(&as_array(boxes.finish())).unwrap();
        assert_eq!(boxes.column_type().to_string(), "f32 [*, 4]");
        assert_eq!([0, 1, 2].map(|record| boxes.value(record).items()), [2, 0, 1]);
        let floats = boxes.value(0).numbers::<f32>(boxes.column_type()).unwrap();
        assert_eq!(floats, [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 5.0]);

        let mut texts = ListBuilder::new(StringBuilder::new());
        texts.append_value([Some("one"), Some("")]);
        texts.append_null();
        let texts = column(&as_array(texts.finish())).unwrap();
        assert_eq!(texts.column_type().to_string(), "u8 [*][*]");
        assert_eq!((texts.value(0).items(), texts.value(0).bytes()), (2, &b"one"[..]));
        assert!(texts.value(1).is_null());

        let mut nested = ListBuilder::new(ListBuilder::new(Int64Builder::new()));
        nested.append_value([Some([Some(1), Some(2)]), Some([Some(3), Some(4)])]);
        nested.append_value([Some([Some(1), Some(2)])]);
        assert_eq!(column(&as_array(nested.finish())).unwrap().column_type().to_string(), "i64 [*][*]");
    }

    #[test]
    fn a_null_within_a_list_and_a_type_that_no_column_has_are_refused() {
        let mut lists = ListBuilder::new(Int64Builder::new());
        lists.append_value([Some(1)]);
        lists.append_value([Some(1), None]);
        let (place, problem) = column(&as_array(lists.finish())).unwrap_err();
        assert_eq!((place, problem.as_str()), (1, NULL_INSIDE));
        assert!(column(&as_array(NullArray::new(2))).unwrap_err().1.contains("it has the type Null"));
        let mut reader = TargetReader::new(&DataType::Int32).unwrap();
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
        assert!(reader.push(&texts).unwrap_err().1.contains("in the files before"));
    }
}
