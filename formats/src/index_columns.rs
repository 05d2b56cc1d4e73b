//! The columns of an index: Arrow arrays by name, one value per record.

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Int64Type};
use arrow_array::{Array, ArrayRef, LargeBinaryArray, LargeStringArray, PrimitiveArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use forebay_columns::Table;
use forebay_sources::{Options, Oversight, Sizes};

use crate::faults::Faults;
pub(crate) use crate::index_blocks::BadIndex;
use crate::index_blocks::IndexBlocks;
use crate::paths::{Paths, RecordPaths};
use crate::stored_array::{Extent, StoredArray};
use crate::values::{IndexNumber, Values};

/// What is wrong with each record that cannot be read.
pub(crate) const FAULT: &str = "fault";

/// What every kind of dataset takes from an index.
pub(crate) struct Opening<'a> {
    pub columns: IndexColumns,
    pub options: &'a Options,
    pub classes: Vec<String>,
    pub targets: Table,
    pub fingerprint: [u8; 32],
    pub sizes: Sizes,
    pub oversights: Vec<Oversight>,
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
    pub(crate) fn numbers<T: ArrowPrimitiveType<Native: IndexNumber>>(
        &mut self,
        name: &str,
        values: &mut Values<T::Native>,
    ) {
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
pub(crate) struct IndexColumns {
    pub schema: Schema,
    /// How many records there are.
    pub records: usize,
    /// One for each field of the schema.
    pub arrays: Vec<StoredArray>,
    pub blocks: Arc<IndexBlocks>,
}

impl IndexColumns {
    /// Records of the dataset.
    pub(crate) fn len(&self) -> usize {
        self.records
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.found(name).is_some()
    }

    /// Whether a column is the index's own, and none of the dataset's columns beside pictures and labels.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.schema.field_with_name(name).is_ok_and(|field| field.metadata().is_empty())
    }

    fn found(&self, name: &str) -> Option<&StoredArray> {
        self.arrays.get(self.schema.index_of(name).ok()?)
    }

    /// A column without nulls.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn array(&self, name: &str) -> Result<&StoredArray, BadIndex> {
        let array = self.found(name).ok_or_else(|| BadIndex(format!("it has no column \"{name}\"")))?;
        if array.nulls > 0 {
            return Err(BadIndex(format!("a value of its column \"{name}\" is null")));
        }
        Ok(array)
    }

    /// A column of numbers.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn numbers<T: ArrowPrimitiveType<Native: IndexNumber>>(
        &self,
        name: &str,
    ) -> Result<Values<T::Native>, BadIndex> {
        let array = self.array(name)?;
        if array.data_type != T::DATA_TYPE {
            return Err(wrong_type(name));
        }
        Ok(array.stored::<T::Native>(0, array.len)?.into())
    }

    /// A column of labels, which may be absent: then no record has one.
    ///
    /// # Errors
    /// It is no column of labels.
    pub(crate) fn labels(&self, name: &str) -> Result<Values<i64>, BadIndex> {
        if self.has(name) { self.numbers::<Int64Type>(name) } else { Ok(Values::default()) }
    }

    /// A column of paths. They are checked when they are read.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn paths(&self, name: &str) -> Result<RecordPaths, BadIndex> {
        let array = self.array(name)?;
        if !matches!(array.data_type, DataType::LargeUtf8 | DataType::LargeBinary) {
            return Err(wrong_type(name));
        }
        let len = array.buffers.get(1).and_then(|bytes| usize::try_from(bytes.len).ok()).unwrap_or(0);
        let (bytes, offsets) = (array.stored::<u8>(1, len)?, array.stored::<i64>(0, array.len.saturating_add(1))?);
        Ok(RecordPaths::Stored { bytes, offsets })
    }

    /// The faults of all records that have one.
    ///
    /// # Errors
    /// The column is none of texts.
    pub(crate) fn faults(&self) -> Result<Faults, BadIndex> {
        Ok(self.texts(FAULT)?.into_iter().collect())
    }

    /// The records that have a text in a column, with their texts. The column may be absent.
    ///
    /// # Errors
    /// The column is none of texts.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<(u64, String)>, BadIndex> {
        let Some(array) = self.found(name) else { return Ok(Vec::new()) };
        if array.data_type != DataType::LargeUtf8 {
            return Err(wrong_type(name));
        }
        let wrong = || BadIndex(format!("a text of its column \"{name}\" is none"));
        let (bytes, offsets) =
            (array.buffers.get(1).copied().unwrap_or_default(), array.stored::<i64>(0, array.len.saturating_add(1))?);
        let is_null = array.null_places()?;
        let (mut found, mut behind) = (Vec::new(), 0);
        for place in (0..array.len).filter(|place| !is_null.get(*place).is_some_and(|null| *null)) {
            let bounds = offsets.range::<i64>(place..place + 2).unwrap_or_default();
            let bound = |which: usize| bounds.get(which).and_then(|bound| u64::try_from(*bound).ok());
            let (start, end) = bound(0).zip(bound(1)).ok_or_else(wrong)?;
            // Texts that overlap could take any memory.
            if start < behind || end < start || end > bytes.len {
                return Err(wrong());
            }
            behind = end;
            let text = array.bytes(Extent { start: bytes.start + start, len: end - start })?;
            found.push((place as u64, String::from_utf8(text).map_err(|_| wrong())?));
        }
        match self.blocks.failure() {
            None => Ok(found),
            Some(_) => Err(BadIndex(format!("its column \"{name}\" cannot be read"))),
        }
    }
}

pub(crate) fn wrong_type(name: &str) -> BadIndex {
    BadIndex(format!("its column \"{name}\" has another type than an index has there"))
}
