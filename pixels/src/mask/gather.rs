//! Writes the numbers of a mask into its place: for each pixel of the result the one that it shows.

use super::lines::{BORDER, LinePair, MaskLines};
use super::npy::NpyMask;
use super::png::{PngFrame, Samples};
use super::{MaskDepth, MaskFault};

/// Fills `out` from a mask that was decoded.
///
/// # Errors
/// The mask's numbers are of a wider type than the column's.
pub(super) fn gather(
    frame: &PngFrame,
    lines: &MaskLines,
    depth: MaskDepth,
    fill: i32,
    out: &mut [u8],
) -> Result<(), MaskFault> {
    let wrong = |found: &str| Err(MaskFault::Depth { found: found.into(), column: depth.name() });
    match (frame.samples(), depth) {
        (Samples::Packed(bits), MaskDepth::U8) => {
            write(lines, [fill.to_le_bytes()[0]], out, |x, y| frame.packed(x, y, bits));
        }
        (Samples::Packed(bits), MaskDepth::U16) => {
            write(lines, two(fill), out, |x, y| [frame.packed(x, y, bits)[0], 0]);
        }
        (Samples::Packed(bits), MaskDepth::I32) => {
            write(lines, fill.to_le_bytes(), out, |x, y| [frame.packed(x, y, bits)[0], 0, 0, 0]);
        }
        (Samples::Grey16, MaskDepth::U16) => write(lines, two(fill), out, |x, y| frame.grey16(x, y)),
        (Samples::Grey16, MaskDepth::I32) => write(lines, fill.to_le_bytes(), out, |x, y| {
            let [low, high] = frame.grey16(x, y);
            [low, high, 0, 0]
        }),
        (Samples::Rgb, MaskDepth::I32) => write(lines, fill.to_le_bytes(), out, |x, y| {
            let [red, green, blue] = frame.rgb(x, y);
            [red, green, blue, 0]
        }),
        (Samples::Grey16, MaskDepth::U8) => return wrong("grey of 16 bits"),
        (Samples::Rgb, MaskDepth::U8 | MaskDepth::U16) => return wrong("red, green and blue"),
    }
    Ok(())
}

/// Fills `out` from an array whose numbers fit into the column.
pub(super) fn gather_array(array: &NpyMask<'_>, lines: &MaskLines, depth: MaskDepth, fill: i32, out: &mut [u8]) {
    match depth {
        MaskDepth::U8 => write(lines, [fill.to_le_bytes()[0]], out, |x, y| array.number(x, y)),
        MaskDepth::U16 => write(lines, two(fill), out, |x, y| array.number(x, y)),
        MaskDepth::I32 => write(lines, fill.to_le_bytes(), out, |x, y| array.number(x, y)),
    }
}

/// Fills `out` from numbers of the column's type, in rows of this length.
pub(super) fn gather_numbers(
    (numbers, row): (&[u8], usize),
    lines: &MaskLines,
    depth: MaskDepth,
    fill: i32,
    out: &mut [u8],
) {
    match depth {
        MaskDepth::U8 => write(lines, [fill.to_le_bytes()[0]], out, |x, y| at(numbers, y * row + x)),
        MaskDepth::U16 => write(lines, two(fill), out, |x, y| at(numbers, y * row + x)),
        MaskDepth::I32 => write(lines, fill.to_le_bytes(), out, |x, y| at(numbers, y * row + x)),
    }
}

/// The number at this place.
fn at<const N: usize>(numbers: &[u8], place: usize) -> [u8; N] {
    numbers.as_chunks().0[place]
}

fn two(fill: i32) -> [u8; 2] {
    let [low, high, ..] = fill.to_le_bytes();
    [low, high]
}

/// Goes through the result row by row. `number` is the one of a pixel of the mask.
fn write<const N: usize>(lines: &MaskLines, fill: [u8; N], out: &mut [u8], number: impl Fn(usize, usize) -> [u8; N]) {
    let LinePair { columns, rows } = &lines.last;
    let number = |column: u32, row: u32| {
        let (x, y) = if lines.swapped { (row, column) } else { (column, row) };
        number(x as usize, y as usize)
    };
    let of_rows = out.as_chunks_mut::<N>().0.chunks_exact_mut(columns.len());
    if !lines.are_straight() {
        for (row, out) in (0..).zip(of_rows) {
            for (column, out) in (0..).zip(out) {
                *out = lines.at(column, row).map_or(fill, |(column, row)| number(column, row));
            }
        }
        return;
    }
    for (&row, out) in rows.iter().zip(of_rows) {
        if row == BORDER {
            out.fill(fill);
            continue;
        }
        for (&column, out) in columns.iter().zip(out) {
            *out = if column == BORDER { fill } else { number(column, row) };
        }
    }
}
