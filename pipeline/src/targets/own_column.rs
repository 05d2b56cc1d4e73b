//! A column of batches that is the stream's, and not the dataset's.

use forebay_columns::{Column, ColumnType, Element};
use forebay_ring::SlotFrame;

/// A dense column that is the stream's, and not the dataset's.
#[derive(Debug)]
pub(super) struct OwnColumn {
    /// Its place in a batch.
    number: usize,
    /// What is written into it.
    values: Column,
}

impl OwnColumn {
    /// Not written yet: that of this place in a batch, with values of this type.
    pub(super) fn new(number: usize, column_type: &ColumnType) -> Self {
        Self { number, values: Column::new(column_type.clone()) }
    }

    /// Writes a value for each place.
    pub(super) fn write<T: Element>(&mut self, frame: &mut SlotFrame, places: usize, value: impl Fn(usize) -> T) {
        self.write_rows(frame, places, |place| [value(place)]);
    }

    /// Writes a row of values for each place.
    pub(super) fn write_rows<T: Element, const N: usize>(
        &mut self,
        frame: &mut SlotFrame,
        places: usize,
        mut row: impl FnMut(usize) -> [T; N],
    ) {
        self.values = Column::new(self.values.column_type().clone());
        let mut written = frame.column(self.number);
        for place in 0..places {
            self.values.push(&row(place));
            written.push(&self.values.value(place)).expect("a dense column has room for each place");
        }
    }
}
