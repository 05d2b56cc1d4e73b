//! The columns of an index: Arrow arrays by name, one value per record.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{ArrowPrimitiveType, Int64Type};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, LargeStringArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use forebay_columns::Table;
use forebay_sources::Options;

use crate::faults::Faults;
use crate::paths::Paths;
use crate::values::Values;

/// What is wrong with each record that cannot be read.
pub(crate) const FAULT: &str = "fault";

/// What is wrong with an index, as the rest of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadIndex(pub String);

/// What every kind of dataset takes from an index.
pub(crate) struct Opening<'a> {
    pub columns: IndexColumns<'a>,
    pub options: &'a Options,
    pub classes: Vec<String>,
    pub targets: Table,
    pub fingerprint: [u8; 32],
}

/// The columns of an index that is being made.
#[derive(Debug, Default)]
pub(crate) struct NewColumns {
    pub(crate) fields: Vec<Field>,
    pub(crate) arrays: Vec<ArrayRef>,
}

impl NewColumns {
    pub(crate) fn array(&mut self, field: Field, array: ArrayRef) {
        self.fields.push(field);
        self.arrays.push(array);
    }

    /// A column of numbers.
    pub(crate) fn numbers<T: ArrowPrimitiveType>(&mut self, name: &str, values: &mut Values<T::Native>) {
        let array = PrimitiveArray::<T>::new(values.share(), None);
        self.array(Field::new(name, T::DATA_TYPE, false), Arc::new(array));
    }

    /// A column of texts. Paths that are no UTF-8 make it a column of bytes.
    pub(crate) fn paths(&mut self, name: &str, paths: &mut Paths) {
        let offsets = OffsetBuffer::new(paths.offsets.share());
        let bytes = paths.bytes.share().into_inner();
        let (of, array): (_, ArrayRef) = match LargeStringArray::try_new(offsets.clone(), bytes.clone(), None) {
            Ok(texts) => (DataType::LargeUtf8, Arc::new(texts)),
            Err(_) => (DataType::LargeBinary, Arc::new(LargeBinaryArray::new(offsets, bytes, None))),
        };
        self.array(Field::new(name, of, false), array);
    }

    /// The faults of some records.
    pub(crate) fn faults<'a>(&mut self, records: usize, fault: impl Fn(u64) -> Option<&'a str>) {
        self.texts(FAULT, records, fault);
    }

    /// What some records have. Without any such record there is no column.
    pub(crate) fn texts<S: AsRef<str>>(&mut self, name: &str, records: usize, text: impl Fn(u64) -> Option<S>) {
        let texts: LargeStringArray = (0..records as u64).map(text).collect();
        if texts.null_count() < records {
            self.array(Field::new(name, DataType::LargeUtf8, true), Arc::new(texts));
        }
    }
}

/// The columns of an index that is opened.
#[derive(Debug)]
pub(crate) struct IndexColumns<'a> {
    pub(crate) rows: &'a RecordBatch,
}

impl<'a> IndexColumns<'a> {
    /// Records of the dataset.
    pub(crate) fn len(&self) -> usize {
        self.rows.num_rows()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.rows.column_by_name(name).is_some()
    }

    /// A column of this type, without nulls.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn array(&self, name: &str) -> Result<&'a ArrayRef, BadIndex> {
        let array = self.rows.column_by_name(name).ok_or_else(|| BadIndex(format!("it has no column \"{name}\"")))?;
        if array.null_count() > 0 {
            return Err(BadIndex(format!("a value of its column \"{name}\" is null")));
        }
        Ok(array)
    }

    /// A column of numbers.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn numbers<T: ArrowPrimitiveType>(&self, name: &str) -> Result<Values<T::Native>, BadIndex> {
        let array = self.array(name)?.as_primitive_opt::<T>().ok_or_else(|| wrong_type(name))?;
        Ok(Values::from(array.values().clone()))
    }

    /// A column of labels, which may be absent: then no record has one.
    ///
    /// # Errors
    /// It is no column of labels.
    pub(crate) fn labels(&self, name: &str) -> Result<Values<i64>, BadIndex> {
        if self.has(name) { self.numbers::<Int64Type>(name) } else { Ok(Values::default()) }
    }

    /// A column of paths. No path has a zero byte.
    ///
    /// # Errors
    /// There is no such column, or a path cannot be one.
    pub(crate) fn paths(&self, name: &str) -> Result<Paths, BadIndex> {
        let array = self.array(name)?;
        let (offsets, bytes): (&OffsetBuffer<i64>, &Buffer) = match array.data_type() {
            DataType::LargeUtf8 => {
                let texts = array.as_string::<i64>();
                (texts.offsets(), texts.values())
            }
            DataType::LargeBinary => {
                let texts = array.as_binary::<i64>();
                (texts.offsets(), texts.values())
            }
            _ => return Err(wrong_type(name)),
        };
        if bytes.contains(&0) {
            return Err(BadIndex(format!("a value of its column \"{name}\" has a zero byte")));
        }
        let bytes = ScalarBuffer::new(bytes.clone(), 0, bytes.len());
        Ok(Paths { bytes: bytes.into(), offsets: offsets.inner().clone().into() })
    }

    /// The faults of all records that have one.
    ///
    /// # Errors
    /// The column is none of texts.
    pub(crate) fn faults(&self) -> Result<Faults, BadIndex> {
        Ok(self.texts(FAULT)?.collect())
    }

    /// The records that have a text in a column, with their texts. The column may be absent.
    ///
    /// # Errors
    /// The column is none of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<impl Iterator<Item = (u64, &'a str)>, BadIndex> {
        let texts = match self.rows.column_by_name(name) {
            Some(array) => Some(array.as_string_opt::<i64>().ok_or_else(|| wrong_type(name))?),
            None => None,
        };
        let texts = (0..).zip(texts.into_iter().flatten());
        Ok(texts.filter_map(|(record, text)| Some((record, text?))))
    }
}

pub(crate) fn wrong_type(name: &str) -> BadIndex {
    BadIndex(format!("its column \"{name}\" has another type than an index has there"))
}
