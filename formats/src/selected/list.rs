//! The file of `select`: numbers of records, or a bool for each record, as an array of `NumPy` or a column of a table.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use forebay_columns::ElementType;
use forebay_printable::printable;
use forebay_sources::{Selection, SourceError};

use crate::address::Address;
use crate::named_column::COLUMN;
use crate::npy::NpyArray;
use crate::{arrow, parquet};

/// Bytes that a file of `NumPy` may have beside its values.
const MOST_HEAD: u64 = 16 << 10;

/// What was read of a list so far.
#[derive(Debug)]
struct RecordList {
    records: u64,
    /// Entries that were read.
    entries: u64,
    /// A bit for each record.
    words: Vec<u64>,
    /// Whether its entries are bools. Nothing before the first one.
    is_bools: Option<bool>,
}

/// Reads the list in a file.
///
/// # Errors
/// It is no list of records of a dataset that has so many. The first entry that is wrong is named.
pub(super) fn read(name: &str, records: u64) -> Result<Selection, SourceError> {
    let (file, column) = name.rsplit_once(COLUMN).map_or((name, None), |(file, column)| (file, Some(column)));
    let wrong =
        |problem: String| SourceError::Selection { problem: format!("select = \"{}\": {problem}.", printable(name)) };
    let address = Address::file(file);
    let beginning = address.beginning(6);
    let mut list = RecordList::new(records);
    let mut each = |array: &ArrayRef| list.add(array);
    if beginning.starts_with(b"PAR1") {
        parquet::visit_column(&address, column, records, &mut each)?.map_err(wrong)?;
    } else if beginning == *b"ARROW1" || beginning.starts_with(&[0xff; 4]) {
        arrow::visit_column(&address, column, records, &mut each)?.map_err(wrong)?;
    } else {
        // Each record is in it at most once, so the file of a list is no larger.
        let most = records.saturating_mul(8).saturating_add(MOST_HEAD);
        let bytes = address.small(most).map_err(|error| wrong(error.to_string().trim_end_matches('.').to_owned()))?;
        let bytes = bytes.ok_or_else(|| {
            wrong(format!(
                "it has more bytes than a list of the {records} records of the dataset. Check that it is the right file"
            ))
        })?;
        if column.is_some() {
            return Err(wrong("it is no table, so it has no column of a name. Leave \"?column=\" out".to_owned()));
        }
        let array = NpyArray::parse(&bytes).map_err(|problem| {
            wrong(format!("{problem}. It must be an array of NumPy (.npy), or an Arrow or parquet file"))
        })?;
        list.add_array(&array).map_err(wrong)?;
    }
    list.finish().map_err(wrong)
}

impl RecordList {
    fn new(records: u64) -> Self {
        let words = vec![0; usize::try_from(records.div_ceil(64)).unwrap_or(usize::MAX)];
        Self { records, entries: 0, words, is_bools: None }
    }

    /// Adds an array of `NumPy`.
    fn add_array(&mut self, array: &NpyArray) -> Result<(), String> {
        if array.shape.len() != 1 {
            let shape = array.shape.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            return Err(format!("its shape is ({shape}), and a list has one dimension"));
        }
        let mut values = array.bytes.chunks_exact(array.element.size());
        macro_rules! numbers {
            ($number:ty) => {
                values.try_for_each(|bytes| {
                    self.number(<$number>::from_le_bytes(bytes.try_into().expect("a whole value")).into())
                })
            };
        }
        match array.element {
            ElementType::Bool => values.try_for_each(|byte| self.truth(byte != [0])),
            ElementType::U8 => numbers!(u8),
            ElementType::I8 => numbers!(i8),
            ElementType::U16 => numbers!(u16),
            ElementType::I16 => numbers!(i16),
            ElementType::U32 => numbers!(u32),
            ElementType::I32 => numbers!(i32),
            ElementType::U64 => numbers!(u64),
            ElementType::I64 => numbers!(i64),
            ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64 => {
                Err(not_numbers(&array.element.to_string()))
            }
        }
    }

    /// Adds values of a column.
    ///
    /// # Errors
    /// They are no record numbers or bools.
    fn add(&mut self, array: &ArrayRef) -> Result<(), String> {
        match array.data_type() {
            DataType::Boolean => array.as_boolean().iter().try_for_each(|truth| match truth {
                Some(truth) => self.truth(truth),
                None => Err(self.null()),
            }),
            DataType::Int8 => self.add_numbers::<Int8Type>(array),
            DataType::Int16 => self.add_numbers::<Int16Type>(array),
            DataType::Int32 => self.add_numbers::<Int32Type>(array),
            DataType::Int64 => self.add_numbers::<Int64Type>(array),
            DataType::UInt8 => self.add_numbers::<UInt8Type>(array),
            DataType::UInt16 => self.add_numbers::<UInt16Type>(array),
            DataType::UInt32 => self.add_numbers::<UInt32Type>(array),
            DataType::UInt64 => self.add_numbers::<UInt64Type>(array),
            other => Err(not_numbers(&other.to_string())),
        }
    }

    fn add_numbers<T: ArrowPrimitiveType<Native: Into<i128>>>(&mut self, array: &ArrayRef) -> Result<(), String> {
        array.as_primitive::<T>().iter().try_for_each(|number| match number {
            Some(number) => self.number(number.into()),
            None => Err(self.null()),
        })
    }

    fn null(&self) -> String {
        format!("its entry {} is null. Leave such rows out", self.entries)
    }

    /// The next entry, as the number of a record.
    fn number(&mut self, number: i128) -> Result<(), String> {
        let (entry, last) = (self.entries, self.records.saturating_sub(1));
        let record = u64::try_from(number).ok().filter(|record| *record < self.records);
        let record =
            record.ok_or_else(|| format!("its entry {entry} is {number}, and the dataset has records 0 to {last}"))?;
        let word = &mut self.words[usize::try_from(record / 64).expect("a word of a list in memory")];
        if *word >> (record % 64) & 1 == 1 {
            return Err(format!("its entry {entry} is {number}, which is in it already. Name each record once"));
        }
        *word |= 1 << (record % 64);
        (self.entries, self.is_bools) = (entry + 1, Some(false));
        Ok(())
    }

    /// The next entry, as whether the next record is selected.
    fn truth(&mut self, is_selected: bool) -> Result<(), String> {
        let record = self.entries;
        if record >= self.records {
            return Err(format!(
                "it has a bool beyond those of the dataset's {} records. Give one for each record",
                self.records
            ));
        }
        self.words[usize::try_from(record / 64).expect("a word of a list in memory")] |=
            u64::from(is_selected) << (record % 64);
        (self.entries, self.is_bools) = (record + 1, Some(true));
        Ok(())
    }

    /// The records that it selects.
    fn finish(self) -> Result<Selection, String> {
        if self.is_bools == Some(true) && self.entries != self.records {
            return Err(format!(
                "it has {} bools, and the dataset has {} records. Give one for each record",
                self.entries, self.records
            ));
        }
        let word = |record: u64| self.words[usize::try_from(record / 64).expect("a word of a list in memory")];
        Ok(Selection::of(self.records, |record| word(record) >> (record % 64) & 1 == 1))
    }
}

fn not_numbers(of: &str) -> String {
    format!("its values are {of}, and record numbers are integers. Convert them, or give a bool for each record")
}
