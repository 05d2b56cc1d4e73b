//! For each channel and value, another value: what becomes of pixels under operations that look at single values.

/// The tables of red, green and blue.
pub(super) type Tables = [[u8; 256]; 3];

/// The table of a function.
pub(super) fn table(value: impl Fn(u8) -> u8) -> [u8; 256] {
    let mut table = [0; 256];
    for (from, to) in (0..=255).zip(&mut table) {
        *to = value(from);
    }
    table
}

/// A pixel with the values of the tables.
#[inline(always)]
pub(super) fn looked_up(tables: &Tables, [red, green, blue]: [u8; 3]) -> [u8; 3] {
    [tables[0][usize::from(red)], tables[1][usize::from(green)], tables[2][usize::from(blue)]]
}
