//! The two passes with AVX2: pixels times pairs of weights by `vpmaddwd`, upper and lower halves apart.
//!
//! Sums of the halves wrap round at 32 bits, as do all sums here; the total fits, so it is right whatever they did.
#![allow(unsafe_code, reason = "instructions that not every CPU has, and loads that read beyond a pixel")]

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm_setr_epi8, _mm256_add_epi32, _mm256_broadcastsi128_si256, _mm256_castsi128_si256,
    _mm256_extract_epi32, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_packs_epi32,
    _mm256_packus_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi32,
    _mm256_srai_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8,
};

use crate::cpu::resize::lines::{BLOCK, GROUP, Lines};
use crate::cpu::resize::taps::{BITS, HALF, Pair, ROUND, Taps};

/// Whether this CPU has the instructions.
pub(super) fn available() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

/// The pass along the rows.
pub(super) fn along(from: Lines<'_>, taps: &Taps, to: &mut [u8], to_stride: usize) {
    let Lines { bytes, stride, count, pixel } = from;
    assert!(pixel == 3, "pixels are three bytes");
    let furthest = taps.first.iter().max().map_or(0, |first| *first as usize);
    assert!(available() && count > 0 && to.len() >= count * to_stride);
    assert!((count - 1) * stride + furthest * 3 + taps.per_pixel * 6 + 4 <= bytes.len(), "rows and slack are there");
    assert!(taps.first.len() * 3 < to_stride, "a row of the result has room for one byte more");
    assert!(taps.pairs.len() == taps.first.len() * taps.per_pixel && taps.per_pixel.is_multiple_of(2));
    let result = to.as_mut_ptr();
    for first in (0..count).step_by(GROUP) {
        // The last row is done more than once if the rows do not fill a group.
        let numbers: [usize; GROUP] = std::array::from_fn(|row| (first + row).min(count - 1));
        let from = numbers.map(|row| bytes[row * stride..].as_ptr());
        let to = numbers.map(|row| result.wrapping_add(row * to_stride));
        // SAFETY: the CPU has AVX2. A load takes 16 bytes, of which 12 are the pixels of two pairs, so that the last one of a
        // row ends 4 bytes after the pixels of all its pairs: inside `bytes`, as asserted. A store writes 4 bytes at three
        // times the output pixel's number: inside its row of `to`, as asserted. Nothing else uses `to` meanwhile.
        unsafe { four_rows(from, to, taps) };
    }
}

/// # Safety
/// As said where it is called: what the pointers have to be good for follows from `taps`.
#[target_feature(enable = "avx2")]
unsafe fn four_rows(from: [*const u8; GROUP], to: [*mut u8; GROUP], taps: &Taps) {
    // Two pixels, channel by channel, as pairs of 16 bits: the first two of a load, and the next two.
    let first = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1));
    let second = _mm256_broadcastsi128_si256(_mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1));
    for (pixel, (start, pairs)) in taps.first.iter().zip(taps.pairs.chunks_exact(taps.per_pixel)).enumerate() {
        let mut at = *start as usize * 3;
        let mut upper = [_mm256_setzero_si256(); 2];
        let mut lower = [_mm256_set1_epi32(ROUND); 2];
        for pairs in pairs.as_chunks::<2>().0 {
            let weights = [both_halves(pairs[0]), both_halves(pairs[1])];
            for two in 0..2 {
                let (near, far) = (from[two * 2].wrapping_add(at), from[two * 2 + 1].wrapping_add(at));
                // SAFETY: `at` is the start of a load in every row, which the caller answers for.
                let pixels = unsafe { two_rows(near, far) };
                for (places, (weight_upper, weight_lower)) in [first, second].into_iter().zip(weights) {
                    let pixels = _mm256_shuffle_epi8(pixels, places);
                    upper[two] = _mm256_add_epi32(upper[two], _mm256_madd_epi16(pixels, weight_upper));
                    lower[two] = _mm256_add_epi32(lower[two], _mm256_madd_epi16(pixels, weight_lower));
                }
            }
            at += 12;
        }
        // Each half of the register has two rows' pixels: the first and third row, the second and fourth.
        let words = _mm256_packs_epi32(rounded(upper[0], lower[0]), rounded(upper[1], lower[1]));
        let bytes = _mm256_packus_epi16(words, words);
        let pixels = [
            _mm256_extract_epi32::<0>(bytes),
            _mm256_extract_epi32::<4>(bytes),
            _mm256_extract_epi32::<1>(bytes),
            _mm256_extract_epi32::<5>(bytes),
        ];
        for (to, bytes) in to.into_iter().zip(pixels) {
            let to = to.wrapping_add(pixel * 3).cast::<[u8; 4]>();
            // SAFETY: 4 bytes at three times the pixel's number are in the row, which the caller answers for. The byte too
            // many is the next pixel's, which comes later, or lies behind the row.
            unsafe { to.write(bytes.to_le_bytes()) };
        }
    }
}

/// The pass down the columns.
pub(super) fn down(from: Lines<'_>, taps: &Taps, at: usize, to: &mut [u8]) {
    let Lines { bytes, stride, count, .. } = from;
    assert!(available() && count > 0);
    assert!(to.len().is_multiple_of(BLOCK), "a row of the result has whole blocks");
    assert!((count - 1) * stride + to.len() <= bytes.len(), "rows and slack are there");
    // SAFETY: the CPU has AVX2. Rows are picked below `count`, and loads take a block each, as many as `to` has: they lie
    // in `bytes`, as asserted.
    unsafe { one_row(from, taps, at, to) };
}

/// # Safety
/// As said where it is called.
#[target_feature(enable = "avx2")]
unsafe fn one_row(from: Lines<'_>, taps: &Taps, at: usize, to: &mut [u8]) {
    let zero = _mm256_setzero_si256();
    let first = taps.first[at] as usize;
    for (block, to) in to.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
        let mut upper = [zero; 4];
        let mut lower = [_mm256_set1_epi32(ROUND); 4];
        for (number, pair) in taps.of(at).iter().enumerate() {
            // A pair that is not full has a weight of 0 for a row that may not exist.
            let rows = [0, 1].map(|second| (first + number * 2 + second).min(from.count - 1));
            let [even, odd] = rows.map(|row| {
                let block = from.bytes.as_ptr().wrapping_add(row * from.stride + block * BLOCK);
                // SAFETY: a block of one of the rows, which the caller answers for.
                unsafe { _mm256_loadu_si256(block.cast()) }
            });
            let (weight_upper, weight_lower) = both_halves(*pair);
            let (near, far) = (_mm256_unpacklo_epi8(even, odd), _mm256_unpackhi_epi8(even, odd));
            let values = [
                _mm256_unpacklo_epi8(near, zero),
                _mm256_unpackhi_epi8(near, zero),
                _mm256_unpacklo_epi8(far, zero),
                _mm256_unpackhi_epi8(far, zero),
            ];
            for ((upper, lower), values) in upper.iter_mut().zip(&mut lower).zip(values) {
                *upper = _mm256_add_epi32(*upper, _mm256_madd_epi16(values, weight_upper));
                *lower = _mm256_add_epi32(*lower, _mm256_madd_epi16(values, weight_lower));
            }
        }
        // Packing puts the columns back into the order that unpacking took them out of.
        let near = _mm256_packs_epi32(rounded(upper[0], lower[0]), rounded(upper[1], lower[1]));
        let far = _mm256_packs_epi32(rounded(upper[2], lower[2]), rounded(upper[3], lower[3]));
        let bytes = _mm256_packus_epi16(near, far);
        // SAFETY: `to` has the bytes of a register.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), bytes) };
    }
}

/// A pair's upper and lower halves, each for all lanes.
#[target_feature(enable = "avx2")]
fn both_halves([first, second, first_lower, second_lower]: Pair) -> (__m256i, __m256i) {
    let both = |first: i16, second: i16| {
        let [a, b] = first.to_le_bytes();
        let [c, d] = second.to_le_bytes();
        _mm256_set1_epi32(i32::from_le_bytes([a, b, c, d]))
    };
    (both(first, second), both(first_lower, second_lower))
}

/// The sums of the halves put together, without the bits after the point.
#[target_feature(enable = "avx2")]
fn rounded(upper: __m256i, lower: __m256i) -> __m256i {
    _mm256_srai_epi32::<{ BITS.cast_signed() }>(_mm256_add_epi32(
        _mm256_slli_epi32::<{ HALF.cast_signed() }>(upper),
        lower,
    ))
}

/// 16 bytes each of two rows.
///
/// # Safety
/// Both pointers are good for reads of 16 bytes.
#[target_feature(enable = "avx2")]
unsafe fn two_rows(first: *const u8, second: *const u8) -> __m256i {
    // SAFETY: the caller answers for both loads, which need no alignment.
    let first = unsafe { _mm_loadu_si128(first.cast()) };
    // SAFETY: as above.
    let second = unsafe { _mm_loadu_si128(second.cast()) };
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(first), second)
}
