//! The transform itself, for any lanes. There are two passes, over columns and then over rows. Each adds the parts of the
//! even and of the odd coefficients, and ends by saturating to 16 bits.
#![allow(
    clippy::inline_always,
    reason = "all of it has to be compiled for the instructions of the function that calls it"
)]

use super::factors::{
    F_0_211, F_0_298, F_0_390, F_0_509, F_0_541, F_0_601, F_0_720, F_0_765, F_0_850, F_0_899, F_1_061, F_1_175,
    F_1_272, F_1_451, F_1_501, F_1_847, F_1_961, F_2_053, F_2_172, F_2_562, F_3_072, F_3_624,
};
use super::lanes::Lanes;
use super::{Block, Quant, Size, lines};

/// Pairs of rows, or of columns: 0 and 4, 2 and 6, 7 and 5, 3 and 1.
type Groups<L> = [L; 4];

/// [`super::row`] with the instructions of `lanes`.
#[inline(always)]
pub(super) fn row<L: Lanes>(
    lanes: L,
    size: Size,
    quant: &Quant,
    blocks: &[Block],
    lasts: &[u8],
    out: &mut [u8],
    stride: usize,
) {
    let (dc, factors) = (quant.0[0], load(lanes, &quant.0));
    let blocks_and_lasts = blocks.iter().zip(lasts).enumerate();
    match size {
        Size::One => {
            let [line] = lines::<1>(out, stride, blocks.len());
            line.iter_mut().zip(blocks).for_each(|(sample, block)| *sample = [mean(block[0], dc)]);
        }
        Size::Two => {
            let mut lines = lines::<2>(out, stride, blocks.len());
            for (index, (block, _)) in blocks_and_lasts {
                put(&mut lines, index, two(load(lanes, block), factors));
            }
        }
        Size::Four => {
            let mut lines = lines::<4>(out, stride, blocks.len());
            for (index, (block, &last)) in blocks_and_lasts {
                if last == 0 {
                    put(&mut lines, index, [[alone(block[0], dc); 4]; 4]);
                } else {
                    put(&mut lines, index, four(load(lanes, block), factors));
                }
            }
        }
        Size::Eight => {
            let mut lines = lines::<8>(out, stride, blocks.len());
            for (index, (block, &last)) in blocks_and_lasts {
                if last == 0 {
                    put(&mut lines, index, [[alone(block[0], dc); 8]; 8]);
                } else {
                    put(&mut lines, index, eight(load(lanes, block), factors));
                }
            }
        }
    }
}

#[inline(always)]
fn put<const N: usize>(lines: &mut [&mut [[u8; N]]; N], index: usize, square: [[u8; N]; N]) {
    for (line, samples) in lines.iter_mut().zip(square) {
        line[index] = samples;
    }
}

#[inline(always)]
fn load<L: Lanes>(lanes: L, block: &Block) -> Groups<L> {
    let (groups, _) = block.as_chunks::<16>();
    [lanes.load(&groups[0]), lanes.load(&groups[1]), lanes.load(&groups[2]), lanes.load(&groups[3])]
}

/// A sample from a value around 0.
fn sample(value: i32) -> u8 {
    (value.clamp(-128, 127) + 128).to_le_bytes()[0]
}

/// The mean of the block. In libjpeg-turbo, this product has 32 bits, and the table of limits repeats every 1024 entries.
fn mean(dc: i16, quant: i16) -> u8 {
    let mean = ((i32::from(dc) * i32::from(quant) + 4) >> 3) & 1023;
    sample(if mean < 512 { mean } else { mean - 1024 })
}

/// Every sample of a block of 8 x 8 or 4 x 4 that has only its DC coefficient.
fn alone(dc: i16, quant: i16) -> u8 {
    sample((i32::from(dc.wrapping_mul(quant) << 2) + 16) >> 5)
}

#[inline(always)]
fn dequantised<L: Lanes>([g04, g26, g75, g31]: Groups<L>, [q04, q26, q75, q31]: Groups<L>) -> Groups<L> {
    [g04.times(q04), g26.times(q26), g75.times(q75), g31.times(q31)]
}

/// Two rows of the columns' pass if rows 1 to 7 are zero: there libjpeg-turbo does not saturate, but wraps. `None` if they
/// are not zero.
#[inline(always)]
fn flat_columns<L: Lanes>([g04, g26, g75, g31]: Groups<L>, quant: L) -> Option<L> {
    let others = g04.seconds().or(g26).or(g75.or(g31));
    others.are_zero().then(|| {
        let row = g04.times(quant);
        let row = row.plus_pairs(row);
        let row = row.plus_pairs(row).firsts().shifted::<16>();
        row.packed(row)
    })
}

#[inline(always)]
fn eight<L: Lanes>(block: Groups<L>, quant: Groups<L>) -> [[u8; 8]; 8] {
    let [r01, r23, r45, r67] = if let Some(rows) = flat_columns(block, quant[0]) {
        [rows; 4]
    } else {
        let [r0, r1, r2, r3, r4, r5, r6, r7] = eight_pass::<L, 11>(dequantised(block, quant));
        [r0.packed(r1), r2.packed(r3), r4.packed(r5), r6.packed(r7)]
    };
    // Of four rows each: columns 0 4 in the lower half and 7 5 in the upper, columns 2 6 and 3 1.
    let (upper, upper_other) = (r01.even_lanes(r23), r01.odd_lanes(r23));
    let (lower, lower_other) = (r45.even_lanes(r67), r45.odd_lanes(r67));
    L::samples(eight_pass::<L, 18>([
        upper.lower_halves(lower),
        upper_other.lower_halves(lower_other),
        upper.upper_halves(lower),
        upper_other.upper_halves(lower_other),
    ]))
}

#[inline(always)]
fn eight_pass<L: Lanes, const SHIFT: i32>([g04, g26, g75, g31]: Groups<L>) -> [L; 8] {
    // Sums of 16 bits, which wrap.
    let (r0, r4) = (g04.firsts(), g04.seconds());
    let t0 = r0.plus(r4).shifted::<3>().raised(1 << (SHIFT - 1));
    let t1 = r0.minus(r4).shifted::<3>().raised(1 << (SHIFT - 1));
    let t3 = g26.products(F_0_541 + F_0_765, F_0_541);
    let t2 = g26.products(F_0_541, F_0_541 - F_1_847);
    let (e0, e1, e2, e3) = (t0.plus(t3), t1.plus(t2), t1.minus(t2), t0.minus(t3));

    let z34 = g75.plus_pairs(g31);
    let z3 = z34.products(F_1_175 - F_1_961, F_1_175);
    let z4 = z34.products(F_1_175, F_1_175 - F_0_390);
    let g71 = g75.with_seconds_of(g31);
    let g35 = g31.with_seconds_of(g75);
    let o0 = g71.products(-F_0_899, F_1_501 - F_0_899).plus(z4);
    let o1 = g35.products(F_3_072 - F_2_562, -F_2_562).plus(z3);
    let o2 = g35.products(-F_2_562, F_2_053 - F_2_562).plus(z4);
    let o3 = g71.products(F_0_298 - F_0_899, -F_0_899).plus(z3);

    [
        e0.plus(o0).shifted::<SHIFT>(),
        e1.plus(o1).shifted::<SHIFT>(),
        e2.plus(o2).shifted::<SHIFT>(),
        e3.plus(o3).shifted::<SHIFT>(),
        e3.minus(o3).shifted::<SHIFT>(),
        e2.minus(o2).shifted::<SHIFT>(),
        e1.minus(o1).shifted::<SHIFT>(),
        e0.minus(o0).shifted::<SHIFT>(),
    ]
}

#[inline(always)]
fn four<L: Lanes>([g04, g26, g75, g31]: Groups<L>, quant: Groups<L>) -> [[u8; 4]; 4] {
    // Row 4 is not read, not even by the question whether rows are zero.
    let block = [g04.minus(g04.seconds()), g26, g75, g31];
    let [r01, r23] = if let Some(rows) = flat_columns(block, quant[0]) {
        [rows; 2]
    } else {
        let [r0, r1, r2, r3] = four_pass::<L, 12>(dequantised(block, quant));
        [r0.packed(r1), r2.packed(r3)]
    };
    // Columns 0 4 and 7 5, columns 2 6 and 3 1; lower halves count from here on.
    let (first, second) = (r01.even_lanes(r23), r01.odd_lanes(r23));
    let [c0, c1, c2, c3] = four_pass::<L, 19>([first, second, first.upper_halves(first), second.upper_halves(second)]);
    let [r0, r1, r2, r3, ..] = L::samples([c0, c1, c2, c3, c0, c1, c2, c3]);
    let cut = |[a, b, c, d, ..]: [u8; 8]| [a, b, c, d];
    [cut(r0), cut(r1), cut(r2), cut(r3)]
}

#[inline(always)]
fn four_pass<L: Lanes, const SHIFT: i32>([g04, g26, g75, g31]: Groups<L>) -> [L; 4] {
    let t0 = g04.firsts().shifted::<2>().raised(1 << (SHIFT - 1));
    let t2 = g26.products(F_1_847, -F_0_765);
    let (e0, e1) = (t0.plus(t2), t0.minus(t2));
    let o0 = g31.products(F_0_899, F_2_562).plus(g75.products(-F_0_509, -F_0_601));
    let o1 = g31.products(-F_2_172, F_1_061).plus(g75.products(-F_0_211, F_1_451));
    [
        e0.plus(o0).shifted::<SHIFT>(),
        e1.plus(o1).shifted::<SHIFT>(),
        e1.minus(o1).shifted::<SHIFT>(),
        e0.minus(o0).shifted::<SHIFT>(),
    ]
}

/// Here column 0 is not saturated after the first pass.
#[inline(always)]
fn two<L: Lanes>(block: Groups<L>, quant: Groups<L>) -> [[u8; 2]; 2] {
    let [g04, _, g75, g31] = dequantised(block, quant);
    let even = g04.firsts().shifted::<1>().raised(1 << 12);
    let odd = g31.products(-F_1_272, F_3_624).plus(g75.products(-F_0_720, F_0_850));
    let (upper, lower) = (even.plus(odd).shifted::<13>(), even.minus(odd).shifted::<13>());
    // Of both rows: columns 7 5, then 3 1, in the upper half; what the lower one has does not matter.
    let odd = upper.packed(lower);
    let (odd75, odd31) = (odd.even_lanes(odd), odd.odd_lanes(odd));
    let odd = odd31.products(-F_1_272, F_3_624).plus(odd75.products(-F_0_720, F_0_850));
    let (even, odd) = ([upper.lanes()[0], lower.lanes()[0]], odd.lanes());
    let row = |even: i32, odd: i32| {
        let even = (even << 15).wrapping_add(1 << 19);
        [sample(even.wrapping_add(odd) >> 20), sample(even.wrapping_sub(odd) >> 20)]
    };
    [row(even[0], odd[4]), row(even[1], odd[5])]
}
