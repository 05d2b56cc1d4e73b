//! Tables that map each value of each channel to another: the effect of operations on single values.

#[cfg(target_arch = "x86_64")]
mod avx512;

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

/// Replaces the values of all pixels.
pub(super) fn look_up(pixels: &mut [[u8; 3]], tables: &Tables) {
    #[cfg(target_arch = "x86_64")]
    if avx512::available() {
        return avx512::look_up(pixels.as_flattened_mut(), tables);
    }
    for rgb in pixels {
        *rgb = looked_up(tables, *rgb);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pixels_of_any_number_are_looked_up_in_the_table_of_their_channel() {
        let inverted = table(|value| !value);
        let mixed = [inverted, table(|value| value.wrapping_mul(7)), table(|value| value / 3)];
        for tables in [mixed, [inverted; 3]] {
            for count in 0..200_u16 {
                let pixels: Vec<[u8; 3]> = (0..count)
                    .map(|number| [number, number + 100, number * 3].map(|value| value.to_le_bytes()[0]))
                    .collect();
                let mut found = pixels.clone();
                look_up(&mut found, &tables);
                let expected: Vec<_> = pixels.into_iter().map(|pixel| looked_up(&tables, pixel)).collect();
                assert_eq!(found, expected, "{count} pixels");
            }
        }
    }
}
