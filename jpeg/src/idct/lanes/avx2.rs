//! Lanes with AVX2: one vector.
#![allow(unsafe_code, reason = "instructions that not every processor has, and loads from arrays")]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
    _mm256_blend_epi16, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_mullo_epi16, _mm256_or_si256, _mm256_packs_epi16, _mm256_packs_epi32,
    _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_shuffle_ps, _mm256_slli_epi32, _mm256_srai_epi32, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_testz_si256, _mm256_unpackhi_epi32, _mm256_unpacklo_epi32, _mm256_xor_si256,
};

use super::{Lanes, factors};

/// That there is one proves that the processor has AVX2: the first is made by a function that asks for it, all others of
/// that one.
#[derive(Clone, Copy, Debug)]
pub(in crate::idct) struct Avx2(__m256i);

impl Avx2 {
    #[target_feature(enable = "avx2")]
    pub(in crate::idct) fn new() -> Self {
        Self(_mm256_setzero_si256())
    }
}

/// Calls functions that ask for AVX2, where there are lanes.
macro_rules! avx2 {
    ($value:expr) => {
        // SAFETY: lanes are among the operands, which proves that there is AVX2. Nothing else is asked for.
        #[allow(clippy::multiple_unsafe_ops_per_block, reason = "constants are made beside")]
        Avx2(unsafe { $value })
    };
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn load(self, pairs: &[i16; 16]) -> Self {
        // SAFETY: 16 values of 16 bits are read, from an array of that many; they need no alignment. There is AVX2, since
        // there is self.
        Self(unsafe { _mm256_loadu_si256(pairs.as_ptr().cast()) })
    }

    #[inline(always)]
    fn times(self, factors: Self) -> Self {
        avx2!(_mm256_mullo_epi16(self.0, factors.0))
    }

    #[inline(always)]
    fn products(self, first: i16, second: i16) -> Self {
        avx2!(_mm256_madd_epi16(self.0, _mm256_set1_epi32(factors(first, second))))
    }

    #[inline(always)]
    fn plus_pairs(self, other: Self) -> Self {
        avx2!(_mm256_add_epi16(self.0, other.0))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        avx2!(_mm256_add_epi32(self.0, other.0))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        avx2!(_mm256_sub_epi32(self.0, other.0))
    }

    #[inline(always)]
    fn raised(self, by: i32) -> Self {
        avx2!(_mm256_add_epi32(self.0, _mm256_set1_epi32(by)))
    }

    #[inline(always)]
    fn shifted<const BY: i32>(self) -> Self {
        avx2!(_mm256_srai_epi32::<BY>(self.0))
    }

    #[inline(always)]
    fn firsts(self) -> Self {
        avx2!(_mm256_slli_epi32::<16>(self.0))
    }

    #[inline(always)]
    fn seconds(self) -> Self {
        avx2!(_mm256_and_si256(self.0, _mm256_set1_epi32(!0xFFFF)))
    }

    #[inline(always)]
    fn with_seconds_of(self, other: Self) -> Self {
        avx2!(_mm256_blend_epi16::<0xAA>(self.0, other.0))
    }

    #[inline(always)]
    fn packed(self, other: Self) -> Self {
        avx2!(_mm256_packs_epi32(self.0, other.0))
    }

    #[inline(always)]
    fn even_lanes(self, other: Self) -> Self {
        avx2!(shuffled::<0x88>(self.0, other.0))
    }

    #[inline(always)]
    fn odd_lanes(self, other: Self) -> Self {
        avx2!(shuffled::<0xDD>(self.0, other.0))
    }

    #[inline(always)]
    fn lower_halves(self, other: Self) -> Self {
        avx2!(_mm256_permute2x128_si256::<0x20>(self.0, other.0))
    }

    #[inline(always)]
    fn upper_halves(self, other: Self) -> Self {
        avx2!(_mm256_permute2x128_si256::<0x31>(self.0, other.0))
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        avx2!(_mm256_or_si256(self.0, other.0))
    }

    #[inline(always)]
    fn are_zero(self) -> bool {
        // SAFETY: there is AVX2, since there is self; nothing else is asked for.
        unsafe { _mm256_testz_si256(self.0, self.0) == 1 }
    }

    #[inline(always)]
    fn lanes(self) -> [i32; 8] {
        let mut lanes = [0; 8];
        // SAFETY: eight lanes are written, to an array of that many; they need no alignment. There is AVX2, since there is
        // self.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), self.0) };
        lanes
    }

    #[inline(always)]
    fn samples(columns: [Self; 8]) -> [[u8; 8]; 8] {
        // SAFETY: there is AVX2, since there are columns; nothing else is asked for.
        unsafe { samples(columns.map(|Self(column)| column)) }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn samples([c0, c1, c2, c3, c4, c5, c6, c7]: [__m256i; 8]) -> [[u8; 8]; 8] {
    let left = squares([c0, c1, c2, c3]);
    let right = squares([c4, c5, c6, c7]);
    // Rows 0 and 1, 4 and 5; rows 2 and 3, 6 and 7.
    let [r0, r1, r4, r5] = quarters(_mm256_unpacklo_epi32(left, right));
    let [r2, r3, r6, r7] = quarters(_mm256_unpackhi_epi32(left, right));
    [r0, r1, r2, r3, r4, r5, r6, r7]
}

/// Four columns, as bytes of four rows in each half.
#[target_feature(enable = "avx2")]
#[inline]
fn squares([c0, c1, c2, c3]: [__m256i; 4]) -> __m256i {
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(c0, c1), _mm256_packs_epi32(c2, c3));
    let bytes = _mm256_xor_si256(bytes, _mm256_set1_epi8(i8::MIN));
    let turn = _mm256_setr_epi8(
        0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15, //
        0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15,
    );
    _mm256_shuffle_epi8(bytes, turn)
}

#[target_feature(enable = "avx2")]
#[inline]
fn quarters(vector: __m256i) -> [[u8; 8]; 4] {
    let (lower, upper) = (_mm256_castsi256_si128(vector), _mm256_extracti128_si256::<1>(vector));
    [
        _mm_cvtsi128_si64(lower).to_le_bytes(),
        _mm_extract_epi64::<1>(lower).to_le_bytes(),
        _mm_cvtsi128_si64(upper).to_le_bytes(),
        _mm_extract_epi64::<1>(upper).to_le_bytes(),
    ]
}

#[target_feature(enable = "avx2")]
#[inline]
fn shuffled<const WHICH: i32>(first: __m256i, second: __m256i) -> __m256i {
    _mm256_castps_si256(_mm256_shuffle_ps::<WHICH>(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second)))
}
