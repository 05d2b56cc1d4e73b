//! Which MCUs of a picture have seek points. It follows from the picture alone, so that a block need not say it.

/// How close together seek points are, and how much they may take.
///
/// ```
/// let spacing = forebay_jpeg::Spacing::default();
/// assert_eq!((spacing.every, spacing.columns, spacing.share), (8, 60, 8));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spacing {
    /// MCUs from one point to the next in a row; at least 1.
    pub every: u16,
    /// How many percent of the columns have points, counted from the left. Crops rarely begin in the others.
    pub columns: u8,
    /// Bytes of points per 1,024 bytes of file, at most. Where points would take more, they are as far apart as they must be.
    /// A picture whose row starts alone would take more has none.
    pub share: u32,
}

/// Bytes of a block without points.
pub(super) const HEAD: usize = 13;

/// Bytes of a point in a block, about.
const POINT: u64 = 6;

/// Points of a picture, at most: 1.5 MB of memory while it is decoded.
const MOST: u32 = 1 << 16;

/// The points of a picture: a number for each, row after row.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Grid {
    /// MCUs from one to the next in a row.
    pub(crate) every: u32,
    /// Points of a row; 0 if the picture has none.
    pub(crate) per_row: u32,
    /// Rows of MCUs.
    rows: u32,
}

impl Default for Spacing {
    fn default() -> Self {
        Self { every: 8, columns: 60, share: 8 }
    }
}

impl Grid {
    /// The points of a picture with these numbers of columns and rows of MCUs, in a file of `file` bytes.
    pub(crate) fn new(spacing: Spacing, mcus: (u32, u32), file: usize) -> Self {
        let (columns, rows) = mcus;
        let room = (file as u64).saturating_mul(u64::from(spacing.share)) / 1024;
        let end = (columns * u32::from(spacing.columns.min(100))).div_ceil(100).max(1);
        let points = u32::try_from(room.saturating_sub(HEAD as u64) / POINT).unwrap_or(u32::MAX).min(MOST);
        let most = points / rows.max(1);
        if most == 0 {
            return Self::default();
        }
        let every = u32::from(spacing.every.max(1)).max(end.div_ceil(most));
        Self { every, per_row: end.div_ceil(every), rows }
    }

    /// Points of the picture.
    pub(crate) fn count(&self) -> usize {
        (self.rows * self.per_row) as usize
    }

    /// The number of a row's first point: that of its first MCU.
    pub(crate) fn first_of(&self, row: u32) -> usize {
        (row * self.per_row) as usize
    }

    /// The number of the last point at or before a column of a row. There are points.
    pub(crate) fn last_before(&self, row: u32, column: u32) -> usize {
        self.first_of(row) + (column / self.every).min(self.per_row - 1) as usize
    }

    /// The number of the first point at or behind a column of a row, which may be a later row's.
    pub(crate) fn first_behind(&self, row: u32, column: u32) -> usize {
        self.first_of(row) + column.div_ceil(self.every).min(self.per_row) as usize
    }

    /// The first column that has a point, from this one on. There are points.
    pub(crate) fn next_column(&self, column: u32) -> Option<u32> {
        let place = column.div_ceil(self.every);
        (place < self.per_row).then_some(place * self.every)
    }

    /// Row and column of a point's MCU.
    pub(crate) fn place(&self, number: usize) -> (u32, u32) {
        let number = u32::try_from(number).expect("there are fewer points than that");
        (number / self.per_row, number % self.per_row * self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLIMITED: Spacing = Spacing { every: 16, columns: 60, share: u32::MAX };

    #[test]
    fn points_are_in_the_left_columns_of_every_row_and_are_found_by_row_and_column() {
        // 60 % of 63 columns are 38: points in the columns 0, 16 and 32.
        let grid = Grid::new(UNLIMITED, (63, 5), 1);
        assert_eq!((grid.per_row, grid.count()), (3, 15));
        assert_eq!([0, 15, 16, 31, 32, 62].map(|column| grid.last_before(2, column)), [6, 6, 7, 7, 8, 8]);
        assert_eq!([0, 1, 16, 17, 33, 63].map(|column| grid.first_behind(2, column)), [6, 7, 7, 8, 9, 9]);
        assert_eq!([0, 1, 32, 33].map(|column| grid.next_column(column)), [Some(0), Some(16), Some(32), None]);
        assert_eq!([6, 7, 8, 9].map(|number| grid.place(number)), [(2, 0), (2, 16), (2, 32), (3, 0)]);
    }

    #[test]
    fn points_are_farther_apart_where_they_would_take_too_much_of_the_file() {
        let spacing = Spacing { every: 4, columns: 100, share: 8 };
        let per_row = |file| Grid::new(spacing, (64, 10), file).per_row;
        // 13 bytes and 160 points of 6 bytes are 8 of 1,024 parts of 124,544 bytes.
        assert_eq!([124_544, 124_543, 63_104, 32_384, 9_344, 9_343].map(per_row), [16, 13, 8, 4, 1, 0]);
    }

    #[test]
    fn the_largest_picture_has_no_more_points_than_memory_is_meant_for() {
        let spacing = Spacing { every: 1, columns: 100, share: u32::MAX };
        let grid = Grid::new(spacing, (8192, 8192), usize::MAX);
        assert_eq!((grid.every, grid.per_row, grid.count()), (1024, 8, MOST as usize));
    }
}
