//! Puts the patches of a picture together again.

/// The rows of pixels of a picture that was cut into square patches: `rows` of `columns` patches, each of `side * side` pixels of
/// `pixel` bytes, one row of a patch after the other. What is behind them, such as padding, is left out.
///
/// # Panics
/// If there are fewer bytes.
pub(crate) fn uncut(patches: &[u8], (rows, columns): (u32, u32), side: u32, pixel: usize) -> Vec<u8> {
    let (rows, columns, side) = (rows as usize, columns as usize, side as usize);
    let line = |row: usize, column: usize| {
        let at = ((row / side * columns + column) * side + row % side) * side * pixel;
        &patches[at..at + side * pixel]
    };
    (0..rows * side).flat_map(|row| (0..columns).flat_map(move |column| line(row, column))).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_patches_side_by_side_are_rows_of_the_picture() {
        // Two rows of three patches of 2 x 2 pixels of two bytes: a pixel tells its row and its column.
        let patch = |row: u8, column: u8| {
            [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(y, x)| [row * 2 + y, column * 2 + x]).into_iter().flatten()
        };
        let mut patches: Vec<u8> = (0..2).flat_map(|row| (0..3).flat_map(move |column| patch(row, column))).collect();
        patches.extend([255; 16]);
        let whole: Vec<u8> = (0..4).flat_map(|row| (0..6).flat_map(move |column| [row, column])).collect();
        assert_eq!(uncut(&patches, (2, 3), 2, 2), whole);
        assert!(uncut(&patches, (0, 0), 2, 2).is_empty());
    }
}
