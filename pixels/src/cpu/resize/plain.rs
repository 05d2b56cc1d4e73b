//! The two passes in plain code.

use crate::cpu::resize::lines::Lines;
use crate::cpu::resize::taps::{BITS, HALF, Pair, ROUND, Taps};

/// Columns whose sums stay in registers.
const COLUMNS: usize = 16;

/// The pass along the rows, whose pixels have `N` values.
pub(super) fn along<const N: usize>(from: Lines<'_>, taps: &Taps, to: &mut [u8], to_stride: usize) {
    for (number, to) in to.chunks_exact_mut(to_stride).enumerate() {
        let pixels = from.bytes[number * from.stride..].as_chunks::<N>().0;
        let outputs = taps.first.iter().zip(taps.pairs.chunks_exact(taps.per_pixel));
        for (to, (first, pairs)) in to.as_chunks_mut::<N>().0.iter_mut().zip(outputs) {
            let mut sums = [ROUND; N];
            for (weight, pixel) in weights(pairs).zip(&pixels[*first as usize..]) {
                for (sum, value) in sums.iter_mut().zip(pixel) {
                    *sum += weight * i32::from(*value);
                }
            }
            *to = sums.map(rounded);
        }
    }
}

/// The pass down the columns.
pub(super) fn down(from: Lines<'_>, taps: &Taps, at: usize, to: &mut [u8]) {
    let first = taps.first[at] as usize;
    for (block, to) in to.chunks_mut(COLUMNS).enumerate() {
        let mut sums = [ROUND; COLUMNS];
        for (row, weight) in (first..from.count).zip(weights(taps.of(at))) {
            for (sum, value) in sums.iter_mut().zip(&from.bytes[row * from.stride + block * COLUMNS..]) {
                *sum += weight * i32::from(*value);
            }
        }
        to.iter_mut().zip(sums).for_each(|(to, sum)| *to = rounded(sum));
    }
}

fn weights(pairs: &[Pair]) -> impl Iterator<Item = i32> {
    let weight = |upper: i16, lower: i16| (i32::from(upper) << HALF) + i32::from(lower);
    pairs.iter().flat_map(move |pair| [weight(pair[0], pair[2]), weight(pair[1], pair[3])])
}

fn rounded(sum: i32) -> u8 {
    u8::try_from((sum >> BITS).clamp(0, 255)).unwrap_or_default()
}
