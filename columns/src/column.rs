//! The values of all records in one column.

use crate::value::span;
use crate::{ColumnType, Element, MAX_DEPTH, Room, Value};

/// The values of a column, record by record.
///
/// A dense record is written by [`push`](Self::push), and so is a plain list. What is nested deeper is written by
/// [`extend`](Self::extend) and [`close`](Self::close), from the inside out.
///
/// ```
/// use forebay_columns::Column;
///
/// let mut boxes = Column::new("f32 [*, 4]".parse()?);
/// boxes.push(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
/// assert_eq!(boxes.value(0).items(), 2);
///
/// // One object of two polygons.
/// let mut polygons = Column::new("f32 [*][*][*, 2]".parse()?);
/// for polygon in [&[0.0_f32, 0.0, 9.0, 0.0, 9.0, 9.0][..], &[1.0, 1.0, 2.0, 2.0]] {
///     polygons.extend(polygon);
///     polygons.close(3);
/// }
/// polygons.close(2);
/// polygons.close(1);
/// assert_eq!((polygons.len(), polygons.value(0).items()), (1, 1));
/// # Ok::<(), forebay_columns::TypeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    of: ColumnType,
    /// For each level, where its lists end; each begins with 0.
    offsets: Vec<Vec<i64>>,
    values: Vec<u8>,
    /// Of each record, as far as one of them is null.
    nulls: Vec<bool>,
    records: usize,
}

impl Column {
    /// A column without records.
    pub fn new(column_type: ColumnType) -> Self {
        let offsets = vec![vec![0]; column_type.depth()];
        Self { of: column_type, offsets, values: Vec::new(), nulls: Vec::new(), records: 0 }
    }

    /// A column of what [`offsets`](Self::offsets), [`bytes`](Self::bytes) and [`is_null`](Self::is_null) gave. Nothing if
    /// they belong to no column of this type.
    ///
    /// ```
    /// use forebay_columns::Column;
    ///
    /// let of: forebay_columns::ColumnType = "u8 [*]".parse()?;
    /// let column = Column::try_from_parts(of.clone(), vec![vec![0, 2, 3]], b"abc".to_vec(), Vec::new(), 2).unwrap();
    /// assert_eq!(column.value(0).bytes(), b"ab");
    /// assert!(Column::try_from_parts(of, vec![vec![0, 2, 4]], b"abc".to_vec(), Vec::new(), 2).is_none());
    /// # Ok::<(), forebay_columns::TypeError>(())
    /// ```
    pub fn try_from_parts(
        of: ColumnType,
        offsets: Vec<Vec<i64>>,
        values: Vec<u8>,
        nulls: Vec<bool>,
        records: usize,
    ) -> Option<Self> {
        if offsets.len() != of.depth() || nulls.len() > records || !values.len().is_multiple_of(of.row_len()) {
            return None;
        }
        let mut lists = records;
        for ends in &offsets {
            let is_rising = ends.first() == Some(&0) && ends.is_sorted() && ends.len() == lists.checked_add(1)?;
            lists = usize::try_from(*ends.last()?).ok().filter(|_| is_rising)?;
        }
        (lists.checked_mul(of.row_len())? == values.len()).then_some(Self { of, offsets, values, nulls, records })
    }

    /// Where the lists of this level end, from 0 on. The outermost level is 1.
    ///
    /// # Panics
    /// The column has no such level.
    pub fn offsets(&self, level: usize) -> &[i64] {
        &self.offsets[level - 1]
    }

    /// The values of all records, one after the other, little-endian.
    pub fn bytes(&self) -> &[u8] {
        &self.values
    }

    /// Whether a record's value is missing.
    pub fn is_null(&self, record: usize) -> bool {
        self.nulls.get(record).copied().unwrap_or(false)
    }

    /// Its type.
    pub fn column_type(&self) -> &ColumnType {
        &self.of
    }

    /// Records that are complete.
    pub fn len(&self) -> usize {
        self.records
    }

    /// Whether no record is complete.
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// A record of a dense column, or a list of rows for a column with one ragged level.
    ///
    /// # Panics
    /// The values are not of the column's type, or are no whole rows, or the column has more levels.
    pub fn push<T: Element>(&mut self, values: &[T]) {
        assert!(self.of.depth() <= 1, "{} is nested: extend and close it", self.of);
        self.extend(values);
        self.close(1);
    }

    /// A record whose value is missing.
    pub fn push_null(&mut self) {
        self.nulls.resize(self.records, false);
        self.nulls.push(true);
        if self.of.depth() == 0 {
            self.values.resize(self.values.len() + self.of.row_len(), 0);
        }
        self.close(1);
    }

    /// Adds values to the innermost list, or to a dense record.
    ///
    /// # Panics
    /// The values are not of the column's type.
    pub fn extend<T: Element>(&mut self, values: &[T]) {
        let is_bytes = T::TYPE.size() == 1 && self.of.element().size() == 1;
        assert!(is_bytes || T::TYPE == self.of.element(), "{} values in {}", T::TYPE, self.of);
        self.values.extend_from_slice(bytemuck::cast_slice(values));
    }

    /// Ends a list of this level: 1 ends the record.
    ///
    /// # Panics
    /// The column has no such level, or what was added is no whole row.
    pub fn close(&mut self, level: usize) {
        let depth = self.of.depth();
        assert!((1..=depth.max(1)).contains(&level), "{} has no level {level}", self.of);
        assert_eq!(self.values.len() % self.of.row_len(), 0, "{} has whole rows", self.of);
        if depth == 0 {
            let rows = self.values.len() / self.of.row_len();
            assert_eq!(rows, self.records + 1, "a record of {} is one row", self.of);
        } else {
            let items = self.items(level);
            self.offsets[level - 1].push(items);
        }
        if level == 1 {
            self.records += 1;
        }
    }

    /// Items that a list of this level counts: those of the next one, or rows.
    fn items(&self, level: usize) -> i64 {
        let items = match self.offsets.get(level) {
            Some(inner) => inner.len() - 1,
            None => self.values.len() / self.of.row_len(),
        };
        i64::try_from(items).expect("what is in memory can be counted")
    }

    /// The value of a record.
    ///
    /// # Panics
    /// There is no such record.
    pub fn value(&self, record: usize) -> Value<'_> {
        assert!(record < self.records, "record {record} of {}", self.records);
        let is_null = self.is_null(record);
        let mut inner: [&[i64]; MAX_DEPTH - 1] = [&[]; MAX_DEPTH - 1];
        let (mut start, mut end) = (record, record + 1);
        let mut items = 1;
        for (level, offsets) in self.offsets.iter().enumerate() {
            if level > 0 {
                inner[level - 1] = &offsets[start..=end];
            }
            (start, end) = (place(offsets[start]), place(offsets[end]));
            if level == 0 {
                items = end - start;
            }
        }
        let row = self.of.row_len();
        Value::new(items, inner, &self.values[start * row..end * row], is_null)
    }

    /// What the longest record takes at each level.
    pub fn room(&self) -> Room {
        (0..self.records).map(|record| self.value(record).room(&self.of)).fold(Room::default(), Room::max)
    }

    /// Adds the records of another column of the same type.
    ///
    /// # Panics
    /// The other column has another type.
    pub fn append(&mut self, other: &Self) {
        assert_eq!(self.of, other.of, "columns of one type");
        if !other.nulls.is_empty() {
            self.nulls.resize(self.records, false);
            self.nulls.extend_from_slice(&other.nulls);
        }
        for (own, theirs) in self.offsets.iter_mut().zip(&other.offsets) {
            let base = own.last().copied().unwrap_or(0);
            own.extend(theirs[1..].iter().map(|offset| base + offset));
        }
        self.values.extend_from_slice(&other.values);
        self.records += other.records;
    }

    /// The first records.
    ///
    /// ```
    /// use forebay_columns::Column;
    ///
    /// let mut texts = Column::new("u8 [*]".parse()?);
    /// for text in ["first", "second", "third"] {
    ///     texts.push(text.as_bytes());
    /// }
    /// let two = texts.first(2);
    /// assert_eq!((two.len(), two.value(1).bytes()), (2, &b"second"[..]));
    /// # Ok::<(), forebay_columns::TypeError>(())
    /// ```
    ///
    /// # Panics
    /// There are fewer records.
    #[must_use]
    pub fn first(&self, records: usize) -> Self {
        assert!(records <= self.records, "{records} records of {}", self.records);
        let (mut offsets, mut items) = (Vec::with_capacity(self.offsets.len()), records);
        for ends in &self.offsets {
            offsets.push(ends[..=items].to_vec());
            items = place(ends[items]);
        }
        let values = self.values[..items * self.of.row_len()].to_vec();
        let nulls = self.nulls[..self.nulls.len().min(records)].to_vec();
        Self { of: self.of.clone(), offsets, values, nulls, records }
    }

    /// Whether both have the same objects in every record: lists of equal lengths at the outermost level.
    pub fn has_the_objects_of(&self, other: &Self) -> bool {
        self.offsets.first() == other.offsets.first()
    }

    /// Gives `update` bytes that differ whenever two columns' values differ.
    pub fn digest(&self, update: &mut dyn FnMut(&[u8])) {
        update(self.of.to_string().as_bytes());
        update(&[0]);
        update(&(self.records as u64).to_le_bytes());
        for offsets in &self.offsets {
            update(&span(offsets).to_le_bytes());
            for offset in offsets {
                update(&offset.to_le_bytes());
            }
        }
        for record in self.nulls.iter().enumerate().filter(|(_, null)| **null).map(|(record, _)| record as u64) {
            update(&record.to_le_bytes());
        }
        update(&u64::MAX.to_le_bytes());
        update(&self.values);
    }
}

fn place(offset: i64) -> usize {
    usize::try_from(offset).expect("offsets count what is in memory")
}
