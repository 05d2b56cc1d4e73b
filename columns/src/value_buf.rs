//! A value of its own, for changes on the way from a table into a batch.

use crate::{ColumnType, Element, MAX_DEPTH, Value};

/// A copy of a record's value, which can be changed. Its memory is used again for the next one.
///
/// ```
/// use forebay_columns::{Column, ValueBuf};
///
/// let mut areas = Column::new("f32 [*]".parse()?);
/// areas.push(&[1.0_f32, 2.0, 3.0]);
/// let mut copy = ValueBuf::default();
/// copy.copy(&areas.value(0), areas.column_type(), |object| object != 1);
/// copy.each(|[area]: [f32; 1]| [area * 10.0]);
/// assert_eq!(copy.value().numbers::<f32>(areas.column_type()), Some(vec![10.0, 30.0]));
/// # Ok::<(), forebay_columns::TypeError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ValueBuf {
    items: usize,
    inner: [Vec<i64>; MAX_DEPTH - 1],
    bytes: Vec<u8>,
    is_null: bool,
}

impl ValueBuf {
    /// Becomes a copy of a value, with those of its outermost items that `keep` names by their numbers. A dense value is
    /// copied whole.
    pub fn copy(&mut self, value: &Value<'_>, column: &ColumnType, keep: impl FnMut(usize) -> bool) {
        let depth = column.depth();
        self.is_null = value.is_null();
        self.bytes.clear();
        for (level, offsets) in (2..).zip(&mut self.inner) {
            offsets.clear();
            offsets.extend((level <= depth).then_some(0));
        }
        if depth == 0 {
            self.items = value.items();
            self.bytes.extend_from_slice(value.bytes());
            return;
        }
        self.items = 0;
        self.add(value, column, keep);
    }

    /// Adds those of the outermost items of another value of the same column that `keep` names. The column is ragged.
    ///
    /// ```
    /// use forebay_columns::{Column, ValueBuf};
    ///
    /// let mut areas = Column::new("f32 [*]".parse()?);
    /// areas.push(&[1.0_f32, 2.0]);
    /// areas.push(&[3.0_f32, 4.0]);
    /// let mut both = ValueBuf::default();
    /// both.copy(&areas.value(0), areas.column_type(), |_| true);
    /// both.extend(&areas.value(1), areas.column_type(), |object| object == 1);
    /// assert_eq!(both.value().numbers::<f32>(areas.column_type()), Some(vec![1.0, 2.0, 4.0]));
    /// # Ok::<(), forebay_columns::TypeError>(())
    /// ```
    pub fn extend(&mut self, value: &Value<'_>, column: &ColumnType, keep: impl FnMut(usize) -> bool) {
        self.is_null &= value.is_null();
        self.add(value, column, keep);
    }

    fn add(&mut self, value: &Value<'_>, column: &ColumnType, mut keep: impl FnMut(usize) -> bool) {
        let depth = column.depth();
        for item in (0..value.items()).filter(|item| keep(*item)) {
            self.items += 1;
            let (mut start, mut end) = (item, item + 1);
            for level in 2..=depth {
                let theirs = value.inner(level);
                let own = &mut self.inner[level - 2];
                let base = own.last().copied().unwrap_or(0) - theirs[start];
                own.extend(theirs[start + 1..=end].iter().map(|offset| base + offset));
                let below = |offset: i64| usize::try_from(offset - theirs[0]).expect("offsets count what is in memory");
                (start, end) = (below(theirs[start]), below(theirs[end]));
            }
            let row = column.row_len();
            self.bytes.extend_from_slice(&value.bytes()[start * row..end * row]);
        }
    }

    /// Replaces each `N` values that follow each other. Values that are left over stay as they are.
    pub fn each<T: Element, const N: usize>(&mut self, mut replace: impl FnMut([T; N]) -> [T; N]) {
        for bytes in self.bytes.chunks_exact_mut(size_of::<[T; N]>()) {
            let mut values = [T::zeroed(); N];
            bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
            bytes.copy_from_slice(bytemuck::cast_slice(&replace(values)));
        }
    }

    /// Lets groups of `N` values change places within each object: each row of a column whose rows have several groups by its last
    /// dimension but one, otherwise each innermost list, or the whole of a dense value. `partner` is given a place and how many
    /// groups the object has. It says the number of the group that comes to this place. If the object has none of that number,
    /// the place keeps its own one.
    ///
    /// ```
    /// use forebay_columns::{Column, ValueBuf};
    ///
    /// let mut eyes = Column::new("f32 [*, 2, 3]".parse()?);
    /// eyes.push(&[1.0_f32, 1.0, 2.0, 5.0, 1.0, 0.0]);
    /// let mut copy = ValueBuf::default();
    /// copy.copy(&eyes.value(0), eyes.column_type(), |_| true);
    /// copy.exchange::<f32, 3>(eyes.column_type(), |eye, count| count - 1 - eye);
    /// assert_eq!(copy.value().numbers::<f32>(eyes.column_type()), Some(vec![5.0, 1.0, 0.0, 1.0, 1.0, 2.0]));
    /// # Ok::<(), forebay_columns::TypeError>(())
    /// ```
    pub fn exchange<T: Element, const N: usize>(
        &mut self,
        column: &ColumnType,
        partner: impl Fn(usize, usize) -> usize,
    ) {
        let each = size_of::<[T; N]>();
        let mut before = Vec::new();
        let mut exchange = |object: &mut [u8]| {
            before.clear();
            before.extend_from_slice(object);
            let count = object.len() / each;
            for (place, bytes) in object.chunks_exact_mut(each).enumerate() {
                let from = partner(place, count);
                if from < count {
                    bytes.copy_from_slice(&before[from * each..(from + 1) * each]);
                }
            }
        };
        if let [.., count, _] = *column.dims() {
            let object = (count as usize * each).max(each);
            return self.bytes.chunks_exact_mut(object).for_each(exchange);
        }
        if column.depth() < 2 {
            return exchange(&mut self.bytes);
        }
        let row = column.row_len();
        let place = |offset: i64| usize::try_from(offset).expect("offsets count what is in memory") * row;
        for ends in self.inner[column.depth() - 2].windows(2) {
            exchange(&mut self.bytes[place(ends[0])..place(ends[1])]);
        }
    }

    /// The value.
    pub fn value(&self) -> Value<'_> {
        Value::new(self.items, self.inner.each_ref().map(Vec::as_slice), &self.bytes, self.is_null)
    }
}
