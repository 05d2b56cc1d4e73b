//! The inverse DCT in plain Rust. Lanes are arrays of eight, and products take pairs of 16 bits as SSE2 and NEON do, so
//! that the compiler finds the instructions.

use std::array::from_fn;

use super::factors::{
    F_0_211, F_0_298, F_0_390, F_0_509, F_0_541, F_0_601, F_0_720, F_0_765, F_0_850, F_0_899, F_1_061, F_1_175,
    F_1_272, F_1_451, F_1_501, F_1_847, F_1_961, F_2_053, F_2_172, F_2_562, F_3_072, F_3_624,
};
use super::{Block, Quant, Size, lines};

/// A value for each column, or each row.
type Lanes = [i32; 8];

/// A pair of values for each column, or each row.
type Pairs = [i16; 16];

pub(super) fn row(size: Size, quant: &Quant, blocks: &[Block], lasts: &[u8], out: &mut [u8], stride: usize) {
    match size {
        Size::One => squares(blocks, out, stride, |_, block| [[one(block[0], quant.0[0])]]),
        Size::Two => squares(blocks, out, stride, |_, block| two(block, quant)),
        Size::Four => squares(blocks, out, stride, |index, block| match lasts[index] {
            0 => [[flat(block[0], quant.0[0]); 4]; 4],
            _ => four(block, quant),
        }),
        Size::Eight => squares(blocks, out, stride, |index, block| match lasts[index] {
            0 => [[flat(block[0], quant.0[0]); 8]; 8],
            _ => eight(block, quant),
        }),
    }
}

fn squares<const N: usize>(
    blocks: &[Block],
    out: &mut [u8],
    stride: usize,
    transform: impl Fn(usize, &Block) -> [[u8; N]; N],
) {
    let mut lines = lines::<N>(out, stride, blocks.len());
    for (index, block) in blocks.iter().enumerate() {
        let square = transform(index, block);
        lines.iter_mut().zip(square).for_each(|(line, samples)| line[index] = samples);
    }
}

/// Products keep their low 16 bits.
fn dequantised(block: &Block, quant: &Quant) -> [Pairs; 4] {
    let mut groups = [[0; 16]; 4];
    for (group, (block, quant)) in groups.iter_mut().zip(block.chunks_exact(16).zip(quant.0.chunks_exact(16))) {
        for (place, (&coefficient, &quant)) in group.iter_mut().zip(block.iter().zip(quant)) {
            *place = coefficient.wrapping_mul(quant);
        }
    }
    groups
}

/// A sample from a value around 0.
#[inline]
fn sample(value: i32) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 0 to 255")]
    let sample = (value.clamp(-128, 127) + 128) as u8;
    sample
}

/// The mean of the block. Here libjpeg-turbo's product has 32 bits, and its table of limits begins anew every 1024.
pub(super) fn one(dc: i16, quant: i16) -> u8 {
    let mean = ((i32::from(dc) * i32::from(quant) + 4) >> 3) & 1023;
    sample(if mean < 512 { mean } else { mean - 1024 })
}

/// Every sample of a block of 8 x 8 or 4 x 4 that has only its DC coefficient.
pub(super) fn flat(dc: i16, quant: i16) -> u8 {
    sample((i32::from(dc.wrapping_mul(quant) << 2) + 16) >> 5)
}

/// Whether rows 1 to 7 are zero.
fn flat_columns(block: &Block) -> bool {
    let first = block[..16].iter().skip(1).step_by(2);
    first.chain(&block[16..]).fold(0, |all, coefficient| all | coefficient) == 0
}

pub(super) fn eight(block: &Block, quant: &Quant) -> [[u8; 8]; 8] {
    let groups = dequantised(block, quant);
    let rows: [[i16; 8]; 8] = if flat_columns(block) {
        [from_fn(|column| groups[0][column * 2] << 2); 8]
    } else {
        eight_pass::<11>(&groups).map(|row| row.map(saturated))
    };
    // A pair of columns of every row.
    let pairs = |pair: usize| from_fn(|place| rows[place / 2][pair * 2 + place % 2]);
    let columns = eight_pass::<18>(&[pairs(0), pairs(1), pairs(2), pairs(3)]);
    from_fn(|row| from_fn(|column| sample(columns[column][row])))
}

/// One pass over pairs 0 4, 2 6, 7 5 and 3 1, rounded and shifted.
#[inline]
fn eight_pass<const SHIFT: u32>([g04, g26, g75, g31]: &[Pairs; 4]) -> [Lanes; 8] {
    let sum = from_fn(|lane| i32::from(g04[lane * 2].wrapping_add(g04[lane * 2 + 1])) << 13);
    let difference = from_fn(|lane| i32::from(g04[lane * 2].wrapping_sub(g04[lane * 2 + 1])) << 13);
    let t3 = products(g26, F_0_541 + F_0_765, F_0_541);
    let t2 = products(g26, F_0_541, F_0_541 - F_1_847);
    let even = [plus(&sum, &t3), plus(&difference, &t2), minus(&difference, &t2), minus(&sum, &t3)];

    let z34: Pairs = from_fn(|place| g75[place].wrapping_add(g31[place]));
    let g71: Pairs = from_fn(|place| if place % 2 == 0 { g75[place] } else { g31[place] });
    let g35: Pairs = from_fn(|place| if place % 2 == 0 { g31[place] } else { g75[place] });
    let z3 = products(&z34, F_1_175 - F_1_961, F_1_175);
    let z4 = products(&z34, F_1_175, F_1_175 - F_0_390);
    let odd = [
        plus(&products(&g71, -F_0_899, F_1_501 - F_0_899), &z4),
        plus(&products(&g35, F_3_072 - F_2_562, -F_2_562), &z3),
        plus(&products(&g35, -F_2_562, F_2_053 - F_2_562), &z4),
        plus(&products(&g71, F_0_298 - F_0_899, -F_0_899), &z3),
    ];
    from_fn(|place| {
        if place < 4 {
            descaled::<SHIFT>(&plus(&even[place], &odd[place]))
        } else {
            descaled::<SHIFT>(&minus(&even[7 - place], &odd[7 - place]))
        }
    })
}

pub(super) fn four(block: &Block, quant: &Quant) -> [[u8; 4]; 4] {
    // Row 4 is not read, not even by the question whether rows are zero.
    let mut block = *block;
    block[..16].iter_mut().skip(1).step_by(2).for_each(|coefficient| *coefficient = 0);
    let groups = dequantised(&block, quant);
    let rows: [[i16; 8]; 4] = if flat_columns(&block) {
        [from_fn(|column| groups[0][column * 2] << 2); 4]
    } else {
        four_pass::<12>(&groups).map(|row| row.map(saturated))
    };
    let pairs = |pair: usize| from_fn(|place| rows.get(place / 2).map_or(0, |row| row[pair * 2 + place % 2]));
    let columns = four_pass::<19>(&[pairs(0), pairs(1), pairs(2), pairs(3)]);
    from_fn(|row| from_fn(|column| sample(columns[column][row])))
}

/// As [`eight_pass`], without row 4 and to four values.
#[inline]
fn four_pass<const SHIFT: u32>([g04, g26, g75, g31]: &[Pairs; 4]) -> [Lanes; 4] {
    let t0 = from_fn(|lane| i32::from(g04[lane * 2]) << 14);
    let t2 = products(g26, F_1_847, -F_0_765);
    let even = [plus(&t0, &t2), minus(&t0, &t2)];
    let odd = [
        plus(&products(g31, F_0_899, F_2_562), &products(g75, -F_0_509, -F_0_601)),
        plus(&products(g31, -F_2_172, F_1_061), &products(g75, -F_0_211, F_1_451)),
    ];
    [
        descaled::<SHIFT>(&plus(&even[0], &odd[0])),
        descaled::<SHIFT>(&plus(&even[1], &odd[1])),
        descaled::<SHIFT>(&minus(&even[1], &odd[1])),
        descaled::<SHIFT>(&minus(&even[0], &odd[0])),
    ]
}

pub(super) fn two(block: &Block, quant: &Quant) -> [[u8; 2]; 2] {
    let [g04, _, g75, g31] = &dequantised(block, quant);
    let even = from_fn(|lane| i32::from(g04[lane * 2]) << 15);
    let odd = plus(&products(g31, -F_1_272, F_3_624), &products(g75, -F_0_720, F_0_850));
    let rows = [descaled::<13>(&plus(&even, &odd)), descaled::<13>(&minus(&even, &odd))];
    rows.map(|row| {
        // Column 0 is not saturated here; the order of the others is 7 5 3 1.
        let even = row[0] << 15;
        let odd = [(row[4], -F_0_720), (row[5], F_0_850), (row[6], -F_1_272), (row[7], F_3_624)]
            .map(|(value, factor)| i32::from(saturated(value)) * i32::from(factor));
        let odd = odd.into_iter().fold(0, i32::wrapping_add);
        [even.wrapping_add(odd), even.wrapping_sub(odd)].map(|value| sample(value.wrapping_add(1 << 19) >> 20))
    })
}

/// Of every pair, the sum of its products with two factors.
#[inline]
fn products(pairs: &Pairs, first: i16, second: i16) -> Lanes {
    from_fn(|lane| {
        (i32::from(pairs[lane * 2]) * i32::from(first)).wrapping_add(i32::from(pairs[lane * 2 + 1]) * i32::from(second))
    })
}

#[inline]
fn plus(left: &Lanes, right: &Lanes) -> Lanes {
    from_fn(|lane| left[lane].wrapping_add(right[lane]))
}

#[inline]
fn minus(left: &Lanes, right: &Lanes) -> Lanes {
    from_fn(|lane| left[lane].wrapping_sub(right[lane]))
}

/// Divided by 2^`SHIFT`, halves upward.
#[inline]
fn descaled<const SHIFT: u32>(lanes: &Lanes) -> Lanes {
    lanes.map(|value| value.wrapping_add(1 << (SHIFT - 1)) >> SHIFT)
}

#[inline]
fn saturated(value: i32) -> i16 {
    #[expect(clippy::cast_possible_truncation, reason = "it is clamped")]
    let saturated = value.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    saturated
}
