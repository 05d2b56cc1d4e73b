//! Labels of a table: integers as they are, and texts as classes.

use std::collections::BTreeMap;

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::DataType;
use forebay_printable::printable;

use crate::label_column::{WRITTEN_LIST, is_written_list, sort_numbers};

/// The labels so far.
#[derive(Debug, Default)]
pub(crate) struct LabelReader {
    /// Integers, or places in `texts` in order of appearance. Nulls are -1.
    values: Vec<i64>,
    texts: BTreeMap<String, i64>,
    /// Classes are sorted as numbers if all of them are.
    by_number: bool,
    /// Whether texts were seen, and integers.
    has_texts: bool,
    has_integers: bool,
    /// The first row without a label, and the first one with a label.
    null: Option<usize>,
    given: Option<usize>,
    /// Names of the classes that the table has beside its integers.
    names: Vec<String>,
}

impl LabelReader {
    /// `names` are the names of the classes, where the labels are numbers of these. With `by_number`, texts that are all numbers
    /// are sorted as numbers.
    pub(crate) fn new(names: Vec<String>, by_number: bool) -> Self {
        Self { by_number, names, ..Self::default() }
    }

    /// Adds the labels of these rows.
    ///
    /// # Errors
    /// One of them is no label. It is named by its place among the labels, with a sentence about it.
    pub(crate) fn push(&mut self, array: &dyn Array) -> Result<(), (usize, String)> {
        let nulls = array.logical_nulls();
        for row in 0..array.len() {
            let place = self.values.len();
            let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
            let value = if is_null { None } else { self.value(array, row).map_err(|error| (place, error))? };
            let seen = if value.is_some() { &mut self.given } else { &mut self.null };
            seen.get_or_insert(place);
            self.values.push(value.unwrap_or(-1));
        }
        match (self.null, self.given) {
            (Some(null), Some(given)) => Err((
                null,
                format!("The label is null, and record {given} has one. Write it, or give labels=\"none\"."),
            )),
            _ if self.has_texts && self.has_integers => {
                let mixed = "The label has another type than in the files before. Write all with one type.";
                Err((self.values.len().saturating_sub(1), mixed.into()))
            }
            _ => Ok(()),
        }
    }

    /// A label, or nothing for a null of a dictionary.
    fn value(&mut self, array: &dyn Array, row: usize) -> Result<Option<i64>, String> {
        fn integer<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Result<i64, String>
        where
            i64: TryFrom<T::Native>,
        {
            let value = array.as_primitive::<T>().value(row);
            i64::try_from(value).map_err(|_| format!("The label {value:?} is larger than a label can be."))
        }
        let value = match array.data_type() {
            DataType::Int8 => integer::<Int8Type>(array, row)?,
            DataType::Int16 => integer::<Int16Type>(array, row)?,
            DataType::Int32 => integer::<Int32Type>(array, row)?,
            DataType::Int64 => integer::<Int64Type>(array, row)?,
            DataType::UInt8 => integer::<UInt8Type>(array, row)?,
            DataType::UInt16 => integer::<UInt16Type>(array, row)?,
            DataType::UInt32 => integer::<UInt32Type>(array, row)?,
            DataType::UInt64 => integer::<UInt64Type>(array, row)?,
            DataType::Boolean => i64::from(array.as_boolean().value(row)),
            DataType::Utf8 => return self.text(array.as_string::<i32>().value(row)).map(Some),
            DataType::LargeUtf8 => return self.text(array.as_string::<i64>().value(row)).map(Some),
            DataType::Utf8View => return self.text(array.as_string_view().value(row)).map(Some),
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                let key = key(dictionary.keys(), row).filter(|key| *key < dictionary.values().len());
                let key = key.ok_or("The label is a number of a dictionary that does not have it.")?;
                let values = dictionary.values();
                return if values.is_null(key) { Ok(None) } else { self.value(values, key) };
            }
            other => {
                return Err(format!(
                    "The label has the type {other}, which cannot be a label. A label is an integer, a text or a bool: name another column, or give labels=\"none\"."
                ));
            }
        };
        self.has_integers = true;
        if !self.names.is_empty() && usize::try_from(value).map_or(value != -1, |value| value >= self.names.len()) {
            let classes = self.names.len();
            return Err(format!("The label is {value}, and the table names {classes} classes. Correct one of them."));
        }
        Ok(Some(value))
    }

    fn text(&mut self, text: &str) -> Result<i64, String> {
        // Any text is a class where texts were asked for.
        if self.by_number && is_written_list(text.as_bytes()) {
            return Err(format!("The label \"{}\" {WRITTEN_LIST}.", printable(text)));
        }
        self.has_texts = true;
        let next = i64::try_from(self.texts.len()).expect("fewer texts than i64::MAX fit into memory");
        match self.texts.get(text) {
            Some(&place) => Ok(place),
            None => Ok(*self.texts.entry(text.to_owned()).or_insert(next)),
        }
    }

    /// The labels and the names of their classes. No labels, if all are null.
    pub(crate) fn finish(self) -> (Vec<i64>, Vec<String>) {
        if self.given.is_none() {
            return (Vec::new(), Vec::new());
        }
        if !self.has_texts {
            return (self.values, self.names);
        }
        let mut classes: Vec<(String, i64)> = self.texts.into_iter().collect();
        if self.by_number {
            sort_numbers(&mut classes, |(name, _)| name.as_bytes());
        }
        // By their order of appearance, the places in the sorted order.
        let mut sorted = vec![0; classes.len()];
        for (place, (_, appearance)) in (0..).zip(&classes) {
            sorted[usize::try_from(*appearance).expect("a place in the list")] = place;
        }
        let sorted = |value: &i64| sorted[usize::try_from(*value).expect("a place in the list")];
        (self.values.iter().map(sorted).collect(), classes.into_iter().map(|(name, _)| name).collect())
    }
}

/// The key of a row of a dictionary.
pub(super) fn key(keys: &dyn Array, row: usize) -> Option<usize> {
    fn of<T: ArrowPrimitiveType>(keys: &dyn Array, row: usize) -> Option<usize>
    where
        i128: From<T::Native>,
    {
        usize::try_from(i128::from(keys.as_primitive::<T>().value(row))).ok()
    }
    match keys.data_type() {
        DataType::Int8 => of::<Int8Type>(keys, row),
        DataType::Int16 => of::<Int16Type>(keys, row),
        DataType::Int32 => of::<Int32Type>(keys, row),
        DataType::Int64 => of::<Int64Type>(keys, row),
        DataType::UInt8 => of::<UInt8Type>(keys, row),
        DataType::UInt16 => of::<UInt16Type>(keys, row),
        DataType::UInt32 => of::<UInt32Type>(keys, row),
        DataType::UInt64 => of::<UInt64Type>(keys, row),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, DictionaryArray, Int64Array, NullArray, StringArray, UInt64Array};

    use super::*;

    fn read(arrays: &[&dyn Array], names: &[&str]) -> Result<(Vec<i64>, Vec<String>), (usize, String)> {
        let mut reader = LabelReader::new(names.iter().map(|&name| name.to_owned()).collect(), true);
        arrays.iter().try_for_each(|array| reader.push(*array))?;
        Ok(reader.finish())
    }

    #[test]
    fn integers_are_labels_and_texts_are_classes_in_sorted_order() {
        let integers: (Vec<i64>, Vec<String>) = (vec![7, -1, 7], vec![]);
        assert_eq!(read(&[&Int64Array::from(vec![7, -1]), &Int64Array::from(vec![7])], &[]).unwrap(), integers);
        let texts = StringArray::from(vec!["dog", "cat", "dog"]);
        let classes = (vec![1, 0, 1], vec!["cat".to_owned(), "dog".to_owned()]);
        assert_eq!(read(&[&texts], &[]).unwrap(), classes);
        let numbers = StringArray::from(vec!["30.5", "4.0", "-1.0"]);
        let sorted = ["-1.0", "4.0", "30.5"].map(str::to_owned).to_vec();
        assert_eq!(read(&[&numbers], &[]).unwrap(), (vec![2, 1, 0], sorted), "in the order of their numbers");
        let mut as_texts = LabelReader::new(Vec::new(), false);
        as_texts.push(&numbers).unwrap();
        assert_eq!(as_texts.finish().1, ["-1.0", "30.5", "4.0"], "texts that were asked for");
        let dictionary: DictionaryArray<Int32Type> = vec!["dog", "cat", "dog"].into_iter().collect();
        assert_eq!(read(&[&dictionary], &[]).unwrap(), classes);
        assert_eq!(read(&[&BooleanArray::from(vec![true, false])], &[]).unwrap(), (vec![1, 0], vec![]));
        let named = read(&[&Int64Array::from(vec![1, -1])], &["a", "b"]).unwrap();
        assert_eq!(named, (vec![1, -1], vec!["a".to_owned(), "b".to_owned()]));
    }

    #[test]
    fn labels_that_cannot_be_are_named_by_their_place() {
        let place = |arrays: &[&dyn Array], names: &[&str]| read(arrays, names).unwrap_err().0;
        let first = Int64Array::from(vec![Some(0), Some(1)]);
        assert_eq!(place(&[&first, &Int64Array::from(vec![Some(1), None])], &[]), 3);
        assert_eq!(place(&[&Int64Array::from(vec![None, Some(1)])], &[]), 0);
        assert_eq!(place(&[&first, &Int64Array::from(vec![2])], &["a", "b"]), 2);
        assert_eq!(place(&[&first, &StringArray::from(vec!["x"])], &[]), 2);
        assert_eq!(place(&[&UInt64Array::from(vec![u64::MAX])], &[]), 0);
        let wrong_key = DictionaryArray::<Int32Type>::try_new(
            vec![Some(0), None].into_iter().collect(),
            Arc::new(StringArray::from(vec!["x"])),
        );
        assert_eq!(place(&[&wrong_key.unwrap()], &[]), 1, "a null");
        assert_eq!(read(&[&NullArray::new(3)], &[]).unwrap(), (vec![], vec![]), "no row has a label");
    }
}
