//! Turning stored pixels as their EXIF orientation says.

use crate::orientation::Orientation;

/// Writes the picture `from` of this width and height, turned, into `to`; both hold pixels of `pixel` bytes, and as many.
pub(super) fn turn(orientation: Orientation, size: (u32, u32), pixel: usize, from: &[u8], to: &mut [u8]) {
    match pixel {
        2 => turned::<2>(orientation, size, from, to),
        4 => turned::<4>(orientation, size, from, to),
        _ => turned::<3>(orientation, size, from, to),
    }
}

fn turned<const N: usize>(orientation: Orientation, (width, height): (u32, u32), from: &[u8], to: &mut [u8]) {
    let (width, height) = (width as usize, height as usize);
    let from = from.as_chunks::<N>().0;
    let to = to.as_chunks_mut::<N>().0;
    let last = width * height - 1;
    if !orientation.swaps_sides() {
        for (row, to) in to.chunks_exact_mut(width).enumerate() {
            let stored_row = match orientation {
                Orientation::Half | Orientation::UpsideDown => height - 1 - row,
                _ => row,
            };
            to.copy_from_slice(&from[stored_row * width..][..width]);
            if matches!(orientation, Orientation::Mirrored | Orientation::Half) {
                to.reverse();
            }
        }
        return;
    }
    // Row r of the result is a column of the stored picture, read downwards or upwards.
    for (row, to) in to.chunks_exact_mut(height).enumerate() {
        for (column, to) in to.iter_mut().enumerate() {
            let transposed = column * width + row;
            *to = from[match orientation {
                Orientation::Right => (height - 1 - column) * width + row,
                Orientation::Transversed => last - transposed,
                Orientation::Left => column * width + (width - 1 - row),
                _ => transposed,
            }];
        }
    }
}
