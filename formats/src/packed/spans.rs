//! Where the bytes of millions of records are, in three lists of numbers, which may be part of an index.

use crate::values::Values;

/// The stored bytes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Number of the file.
    pub file: u32,
    /// First byte.
    pub offset: u64,
    /// How many.
    pub len: u64,
}

/// The spans of all records, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spans {
    pub(crate) files: Values<u32>,
    pub(crate) offsets: Values<u64>,
    pub(crate) lens: Values<u64>,
}

impl Spans {
    pub(crate) fn push(&mut self, span: Span) {
        self.files.push(span.file);
        self.offsets.push(span.offset);
        self.lens.push(span.len);
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The span of a record.
    ///
    /// # Panics
    /// There is no such record.
    pub(crate) fn at(&self, index: usize) -> Span {
        Span { file: self.files.at(index), offset: self.offsets.at(index), len: self.lens.at(index) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Span> {
        (0..self.len()).map(|index| self.at(index))
    }
}

impl FromIterator<Span> for Spans {
    fn from_iter<I: IntoIterator<Item = Span>>(spans: I) -> Self {
        let mut all = Self::default();
        spans.into_iter().for_each(|span| all.push(span));
        all
    }
}
