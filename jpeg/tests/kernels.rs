//! The kernels of every path against those of libjpeg-turbo, on sane and on wild data.
#![cfg(target_arch = "x86_64")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "shared/turbo.rs"]
mod turbo;

use std::array::from_fn;

use forebay_jpeg::Path;
use forebay_jpeg::colour;
use forebay_jpeg::idct::{self, Block, ORDER, Quant, Size};
use forebay_jpeg::upsample::{self, RowPair, Upsampling};
use proptest::prelude::*;

/// Row times 8 plus column of each zigzag index, walked along the diagonals.
fn zigzag() -> [usize; 64] {
    let mut places: [usize; 64] = from_fn(|place| place);
    places.sort_by_key(|place| {
        let (row, column) = (place / 8, place % 8);
        (row + column, if (row + column) % 2 == 0 { column } else { row })
    });
    places
}

/// Whether there is anything to compare with; libjpeg-turbo's own choice falls on the same kernels.
fn has_avx2() -> bool {
    Path::Avx2.is_available()
}

/// Blocks in zigzag order, with the index of their last coefficient.
fn blocks() -> impl Strategy<Value = Vec<([i16; 64], u8)>> {
    let coefficient = prop_oneof![
        6 => Just(0_i16),
        8 => -40..40_i16,
        2 => -2048..2048_i16,
        1 => any::<i16>(),
        1 => prop_oneof![Just(i16::MIN), Just(i16::MAX), Just(8191), Just(8192), Just(-8193), Just(16384)],
    ];
    let sane = -300..300_i16;
    let last = prop_oneof![3 => 0..64_usize, 1 => Just(0), 1 => Just(1), 1 => prop_oneof![Just(5_usize), Just(6)]];
    let block =
        (prop::collection::vec(coefficient, 64), sane, last, 0..8_u8).prop_map(|(coefficients, sane, last, kind)| {
            let mut block: [i16; 64] = coefficients.try_into().unwrap();
            if kind < 4 {
                block[0] = sane;
                block[1..].iter_mut().for_each(|coefficient| *coefficient %= 100);
            }
            if kind == 5 {
                // Only the first row, whose columns are flat.
                let zigzag = zigzag();
                (0..64).filter(|&index| zigzag[index] >= 8).for_each(|index| block[index] = 0);
            }
            block[last + 1..].fill(0);
            let last = block.iter().rposition(|&coefficient| coefficient != 0).unwrap_or(0);
            (block, u8::try_from(last).unwrap())
        });
    prop::collection::vec(block, 1..9)
}

fn table() -> impl Strategy<Value = [u16; 64]> {
    let value = prop_oneof![8 => 1..100_u16, 2 => 1..256_u16, 1 => any::<u16>()];
    prop_oneof![1 => Just([1; 64]), 2 => prop::collection::vec(value, 64).prop_map(|table| table.try_into().unwrap())]
}

/// Samples of all sizes, some of them the least or the most.
fn noise(seed: u32, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    let sample = |number: u32| match number >> 8 & 7 {
        0 => 0,
        1 => 255,
        _ => number.to_le_bytes()[0],
    };
    (0..len).map(|_| sample(random())).collect()
}

/// libjpeg-turbo's scaling to one sample, as its documentation of the table of limits has it.
fn mean(dc: i16, quant: u16) -> u8 {
    let index = ((i32::from(dc) * i32::from(quant.cast_signed()) + 4) >> 3).rem_euclid(1024);
    match index {
        0..128 => u8::try_from(index + 128).unwrap(),
        128..512 => 255,
        512..896 => 0,
        _ => u8::try_from(index - 896).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_row_of_blocks_becomes_the_samples_of_libjpeg_turbo(blocks in blocks(), table in table(), margin in 0..9_usize) {
        prop_assume!(has_avx2());
        let zigzag = zigzag();
        let quant = Quant::new(&table);
        let lasts: Vec<u8> = blocks.iter().map(|(_, last)| *last).collect();
        for size in [Size::One, Size::Two, Size::Four, Size::Eight] {
            let samples = size.samples();
            let stride = blocks.len() * samples + margin;
            let mut wanted = vec![7; stride * samples];
            let mut ours: Vec<Block> = Vec::new();
            for (index, (block, _)) in blocks.iter().enumerate() {
                let (mut natural, mut natural_table) = ([0; 64], [0; 64]);
                let mut placed = [0; 64];
                for at in 0..64 {
                    natural[zigzag[at]] = block[at];
                    natural_table[zigzag[at]] = table[at].cast_signed();
                    if size.reads(at) {
                        placed[usize::from(ORDER[at])] = block[at];
                    }
                }
                ours.push(placed);
                let square = if size == Size::One {
                    [[mean(block[0], table[0]); 8]; 8]
                } else {
                    let square = turbo::idct(size, true, &natural, &natural_table);
                    prop_assert_eq!(square, turbo::idct(size, false, &natural, &natural_table));
                    square
                };
                for (row, line) in square[..samples].iter().enumerate() {
                    wanted[row * stride + index * samples..][..samples].copy_from_slice(&line[..samples]);
                }
            }
            for path in Path::available() {
                let mut out = vec![7; stride * samples];
                idct::row(path, size, &quant, &ours, &lasts, &mut out, stride);
                prop_assert_eq!(&out, &wanted, "{:?}, {:?}", path, size);
                // A last index may be too high.
                out.fill(7);
                idct::row(path, size, &quant, &ours, &vec![63; lasts.len()], &mut out, stride);
                prop_assert_eq!(&out, &wanted, "{:?}, {:?}, not knowing the last", path, size);
            }
        }
    }

    #[test]
    fn a_row_of_chroma_is_upsampled_as_libjpeg_turbo_does(
        width in 3..300_usize,
        seed in any::<u32>(),
        (from, end) in (0..1000_usize, 0..1000_usize),
    ) {
        prop_assume!(has_avx2());
        let [above, here, below] = &[1, 2, 3].map(|row| noise(seed ^ row, width));
        let [upper, lower] = turbo::both([above, here, below]);
        let across = turbo::across(here);
        let down = |far: &[u8], round: u16| -> Vec<u8> {
            let value = |(&near, &far): (&u8, &u8)| u8::try_from((u16::from(near) * 3 + u16::from(far) + round) / 4);
            here.iter().zip(far).map(|pair| value(pair).unwrap()).collect()
        };
        let cases = [
            (Upsampling::Both, above, false, upper),
            (Upsampling::Both, below, true, lower),
            (Upsampling::Across, here, false, across),
            (Upsampling::Down, above, false, down(above, 1)),
            (Upsampling::Down, below, true, down(below, 2)),
            (Upsampling::Repeat(1), here, false, here.clone()),
            (Upsampling::Repeat(4), here, false, here.iter().flat_map(|&sample| [sample; 4]).collect()),
        ];
        for (upsampling, far, below, wanted) in cases {
            let rows = RowPair { near: here, far, below };
            let (from, end) = (from % (wanted.len() + 1), end % (wanted.len() + 1));
            let (from, end) = (from.min(end), from.max(end));
            for span in [0..wanted.len(), from..end] {
                let mut out = vec![0; span.len()];
                upsample::row(upsampling, rows, span.start, &mut out);
                prop_assert_eq!(&out[..], &wanted[span], "{:?}", upsampling);
            }
        }
    }

    #[test]
    fn a_row_made_at_once_equals_upsampling_and_then_colour(
        width in 1..400_usize,
        seed in any::<u32>(),
        (from, end) in (0..2000_usize, 0..2000_usize),
        below in any::<bool>(),
    ) {
        let luma = noise(seed, 1600);
        let [cb_near, cb_far, cr_near, cr_far] = [1, 2, 3, 4].map(|plane| noise(seed ^ plane, width));
        let (cb_near, cb_far, cr_near, cr_far) = (&cb_near[..], &cb_far[..], &cr_near[..], &cr_far[..]);
        let cb = RowPair { near: cb_near, far: cb_far, below };
        let cr = RowPair { near: cr_near, far: cr_far, below };
        let all = [Upsampling::Both, Upsampling::Across, Upsampling::Down, Upsampling::Repeat(1), Upsampling::Repeat(2)];
        for upsampling in all.into_iter().chain([Upsampling::Repeat(4)]) {
            let width = cb_near.len() * upsampling.across();
            let (from, end) = (from % (width + 1), end % (width + 1));
            let (from, end) = (from.min(end), from.max(end));
            let luma = &luma[..end - from];
            let mut upsampled = [vec![0; luma.len()], vec![0; luma.len()]];
            let mut wanted = vec![0; luma.len() * 3];
            for (out, rows) in upsampled.iter_mut().zip([cb, cr]) {
                upsample::row(upsampling, rows, from, out);
            }
            colour::ycc(Path::Portable, luma, &upsampled[0], &upsampled[1], &mut wanted);
            for path in Path::available() {
                let mut out = vec![0; luma.len() * 3];
                colour::row(path, luma, upsampling, cb, cr, from, &mut out);
                prop_assert_eq!(&out, &wanted, "{:?}, {:?}", path, upsampling);
                colour::ycc(path, luma, &upsampled[0], &upsampled[1], &mut out);
                prop_assert_eq!(&out, &wanted, "{:?}", path);
            }
        }
    }
}

#[test]
fn every_colour_is_converted_as_libjpeg_turbo_does() {
    if !has_avx2() {
        println!("skipped: this processor has no AVX2, and libjpeg-turbo's kernels for it are what is compared with");
        return;
    }
    let luma: Vec<u8> = (0..=255).collect();
    for cb in 0..=255 {
        for cr in 0..=255 {
            let wanted = turbo::colours([&luma, &[cb; 256], &[cr; 256]]);
            for path in Path::available() {
                let mut out = [0; 768];
                colour::ycc(path, &luma, &[cb; 256], &[cr; 256], &mut out);
                assert_eq!(&out[..], &wanted, "{path:?}, {cb}, {cr}");
                // Too few for vectors.
                out.fill(0);
                for (luma, out) in luma.chunks(15).zip(out.chunks_mut(45)) {
                    let chroma = [[cb; 15], [cr; 15]];
                    let [cb, cr] = chroma.each_ref().map(|chroma| &chroma[..luma.len()]);
                    colour::ycc(path, luma, cb, cr, out);
                }
                assert_eq!(&out[..], &wanted, "{path:?}, {cb}, {cr}, few at a time");
            }
        }
    }
}

#[test]
fn gray_pixels_are_their_luma_three_times() {
    let luma: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let wanted: Vec<u8> = luma.iter().flat_map(|&luma| [luma; 3]).collect();
    for path in Path::available() {
        for width in (0..70).chain([1000]) {
            let mut out = vec![0; width * 3];
            colour::gray(path, &luma[..width], &mut out);
            assert_eq!(out, wanted[..width * 3], "{path:?}, {width}");
        }
    }
}

#[test]
fn the_order_has_every_place_once_and_dc_first() {
    let mut places = ORDER;
    places.sort_unstable();
    assert_eq!(places, from_fn::<u8, 64, _>(|place| u8::try_from(place).unwrap()));
    assert_eq!(ORDER[0], 0);
}
