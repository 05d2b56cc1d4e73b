//! What one record has in a column, borrowed from where it is kept.

use crate::{ColumnType, Element, MAX_DEPTH, Room};

/// One record's value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// Items of the outermost level; of a dense column 1.
    items: usize,
    /// For each further level, the offsets of its items: one more than the level above has items. Only differences count.
    inner: [&'a [i64]; MAX_DEPTH - 1],
    bytes: &'a [u8],
    is_null: bool,
}

impl<'a> Value<'a> {
    pub(crate) fn new(items: usize, inner: [&'a [i64]; MAX_DEPTH - 1], bytes: &'a [u8], is_null: bool) -> Self {
        Self { items, inner, bytes, is_null }
    }

    /// The value is missing. A dense column then has zeros, and a ragged one an empty list.
    pub fn is_null(&self) -> bool {
        self.is_null
    }

    /// Items of the outermost level: objects, for a column of objects. A dense column has 1.
    pub fn items(&self) -> usize {
        self.items
    }

    /// All rows of the record, one after the other, little-endian.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The offsets of the items of level 2 or 3, one more than the level above has items.
    pub(crate) fn inner(&self, level: usize) -> &'a [i64] {
        self.inner[level - 2]
    }

    /// The innermost lists, each with the number of its outermost item: its object. The rows are bytes.
    ///
    /// ```
    /// use forebay_columns::Column;
    ///
    /// let mut polygons = Column::new("f32 [*][*, 2]".parse()?);
    /// for corners in [&[0.0_f32, 0.0, 9.0, 0.0, 9.0, 9.0][..], &[1.0, 1.0]] {
    ///     polygons.extend(corners);
    ///     polygons.close(2);
    /// }
    /// polygons.close(1);
    /// let lists = polygons.value(0).lists(polygons.column_type());
    /// assert_eq!(lists.iter().map(|(object, rows)| (*object, rows.len())).collect::<Vec<_>>(), [(0, 24), (1, 8)]);
    /// # Ok::<(), forebay_columns::TypeError>(())
    /// ```
    pub fn lists(&self, column: &ColumnType) -> Vec<(usize, &'a [u8])> {
        if column.depth() < 2 {
            return vec![(0, self.bytes)];
        }
        let row = column.row_len();
        let from_first = |offsets: &[i64], at: usize| {
            usize::try_from(offsets[at] - offsets[0]).expect("offsets count what is in memory")
        };
        let mut found = Vec::new();
        for object in 0..self.items {
            let mut lists: Vec<std::ops::Range<usize>> = std::iter::once(object..object + 1).collect();
            for level in 2..=column.depth() {
                let offsets = self.inner(level);
                let inside = lists.into_iter().flatten();
                lists = inside.map(|list| from_first(offsets, list)..from_first(offsets, list + 1)).collect();
            }
            found.extend(lists.into_iter().map(|rows| (object, &self.bytes[rows.start * row..rows.end * row])));
        }
        found
    }

    /// The values as numbers. Values of another type give `None`.
    pub fn numbers<T: Element>(&self, column: &ColumnType) -> Option<Vec<T>> {
        (column.element() == T::TYPE)
            .then(|| self.bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect())
    }

    /// How much it takes at each level.
    pub(crate) fn room(&self, column: &ColumnType) -> Room {
        let mut counts = [0; MAX_DEPTH];
        if column.depth() > 0 {
            counts[0] = self.items as u64;
        }
        for level in 2..=column.depth() {
            counts[level - 1] = span(self.inner(level));
        }
        Room(counts)
    }
}

/// The length from the first to the last of these offsets.
pub(crate) fn span(offsets: &[i64]) -> u64 {
    match (offsets.first(), offsets.last()) {
        (Some(first), Some(last)) => last.abs_diff(*first),
        _ => 0,
    }
}
