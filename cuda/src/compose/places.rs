//! Where a round after the first takes its pixels from, as the kernel takes it: `struct places` of `kernels/picture.h`.

use forebay_pixels::{BoxShape, Interpolation, MovedBy, MovedFrom, RoundSource};

use super::changes::colour;

/// Members of eight bytes and of four.
const DOUBLES: usize = 11;
const SINGLES: usize = 20;
/// Bytes of `struct places`.
const PLACES: usize = DOUBLES * 8 + SINGLES * 4;

/// The kernel's number of a source.
pub(super) fn source_number(source: &RoundSource) -> u32 {
    match source {
        RoundSource::Sums => 0,
        RoundSource::Own => 1,
        RoundSource::Smoothed { .. } => 2,
        RoundSource::Blurred { .. } => 3,
        RoundSource::Boxed(_) => 4,
        RoundSource::Moved(moved) => match moved.by {
            MovedBy::WholeSteps => 5,
            MovedBy::Steps => 6,
            MovedBy::Places => 7,
            MovedBy::TorchPlaces => 8,
            MovedBy::TorchNearest => 9,
            MovedBy::TorchNearestProjected => 10,
        },
    }
}

/// Bytes that a source takes.
pub(super) fn source_len(source: &RoundSource) -> usize {
    match source {
        RoundSource::Sums | RoundSource::Own => 0,
        RoundSource::Smoothed { .. } | RoundSource::Boxed(_) | RoundSource::Moved(_) => PLACES,
        RoundSource::Blurred { along, down } => PLACES + (along.len() + down.len()) * 4,
    }
}

/// Writes a source into the bytes that it takes.
pub(super) fn write_source(source: &RoundSource, to: &mut [u8]) {
    match source {
        RoundSource::Sums | RoundSource::Own => {}
        RoundSource::Smoothed { factor } => {
            let mut singles = [0; SINGLES];
            singles[15] = factor.to_bits();
            write(&[0.0; DOUBLES], &singles, to);
        }
        RoundSource::Blurred { along, down } => {
            let (places, weights) = to.split_at_mut(PLACES);
            let mut singles = [0; SINGLES];
            let reach = |weights: &[f32]| u32::try_from(weights.len() - 1).expect("kernels are small");
            [singles[16], singles[17]] = [reach(along), reach(down)];
            write(&[0.0; DOUBLES], &singles, places);
            for (to, weight) in weights.as_chunks_mut::<4>().0.iter_mut().zip(along.iter().chain(down)) {
                *to = weight.to_le_bytes();
            }
        }
        RoundSource::Boxed(BoxShape { down, reach, whole, end }) => {
            let mut singles = [0; SINGLES];
            singles[16..].copy_from_slice(&[
                if *down { 0 } else { *reach },
                if *down { *reach } else { 0 },
                *whole,
                *end,
            ]);
            write(&[0.0; DOUBLES], &singles, to);
        }
        RoundSource::Moved(moved) => {
            let (doubles, singles) = members(moved);
            write(&doubles, &singles, to);
        }
    }
}

/// The members of a move, in their order.
fn members(moved: &MovedFrom) -> ([f64; DOUBLES], [u32; SINGLES]) {
    let MovedFrom { column, row, depth, fill, fill_bytes, near, filter, .. } = moved;
    let mut doubles = [0.0; DOUBLES];
    let lines = column.iter().chain(row).chain(depth).chain(fill.iter().flatten());
    doubles.iter_mut().zip(lines).for_each(|(to, number)| *to = *number);
    let mut singles = [0; SINGLES];
    let near = near.column.iter().chain(&near.row).chain(&near.depth).chain(&near.half).chain(&near.to_half);
    let filter = match filter {
        Interpolation::Nearest => 0,
        Interpolation::Bilinear => 1,
        Interpolation::Bicubic | Interpolation::Lanczos3 => 2,
    };
    let last = [filter, fill.is_some().into(), colour(*fill_bytes)];
    singles.iter_mut().zip(near.map(|number| number.to_bits()).chain(last)).for_each(|(to, number)| *to = number);
    (doubles, singles)
}

fn write(doubles: &[f64; DOUBLES], singles: &[u32; SINGLES], to: &mut [u8]) {
    let (first, last) = to.split_at_mut(DOUBLES * 8);
    first.as_chunks_mut::<8>().0.iter_mut().zip(doubles).for_each(|(to, number)| *to = number.to_le_bytes());
    last.as_chunks_mut::<4>().0.iter_mut().zip(singles).for_each(|(to, number)| *to = number.to_le_bytes());
}
