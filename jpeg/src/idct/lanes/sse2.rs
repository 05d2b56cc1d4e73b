//! Lanes with SSE2, which every x86-64 processor has: two vectors of four.
#![allow(unsafe_code, reason = "vectors are loaded from arrays, and stored there")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi16, _mm_add_epi32, _mm_and_si128, _mm_andnot_si128, _mm_castps_si128, _mm_castsi128_ps,
    _mm_cmpeq_epi8, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_madd_epi16, _mm_movemask_epi8, _mm_mullo_epi16,
    _mm_or_si128, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi8, _mm_set1_epi32, _mm_setzero_si128, _mm_shuffle_ps,
    _mm_slli_epi32, _mm_srai_epi32, _mm_storeu_si128, _mm_sub_epi32, _mm_unpackhi_epi8, _mm_unpackhi_epi64,
    _mm_unpacklo_epi8, _mm_xor_si128,
};

use super::{Lanes, factors};

/// Calls functions that ask for SSE2.
macro_rules! sse2 {
    ($value:expr) => {
        // SAFETY: every x86-64 processor has SSE2, which is all that is asked for.
        #[allow(clippy::multiple_unsafe_ops_per_block, reason = "halves, and constants, are made beside")]
        unsafe {
            $value
        }
    };
}

/// The lower and the upper half.
#[derive(Clone, Copy, Debug)]
pub(in crate::idct) struct Sse2(__m128i, __m128i);

impl Sse2 {
    pub(in crate::idct) fn new() -> Self {
        sse2!(Self(_mm_setzero_si128(), _mm_setzero_si128()))
    }
}

impl Lanes for Sse2 {
    #[inline(always)]
    fn load(self, pairs: &[i16; 16]) -> Self {
        let (halves, _) = pairs.as_chunks::<8>();
        // SAFETY: 8 values of 16 bits are read, from an array of that many; they need no alignment.
        let lower = unsafe { _mm_loadu_si128(halves[0].as_ptr().cast()) };
        // SAFETY: as above.
        let upper = unsafe { _mm_loadu_si128(halves[1].as_ptr().cast()) };
        Self(lower, upper)
    }

    #[inline(always)]
    fn times(self, factors: Self) -> Self {
        sse2!(Self(_mm_mullo_epi16(self.0, factors.0), _mm_mullo_epi16(self.1, factors.1)))
    }

    #[inline(always)]
    fn products(self, first: i16, second: i16) -> Self {
        sse2!({
            let factors = _mm_set1_epi32(factors(first, second));
            Self(_mm_madd_epi16(self.0, factors), _mm_madd_epi16(self.1, factors))
        })
    }

    #[inline(always)]
    fn plus_pairs(self, other: Self) -> Self {
        sse2!(Self(_mm_add_epi16(self.0, other.0), _mm_add_epi16(self.1, other.1)))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        sse2!(Self(_mm_add_epi32(self.0, other.0), _mm_add_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        sse2!(Self(_mm_sub_epi32(self.0, other.0), _mm_sub_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn raised(self, by: i32) -> Self {
        sse2!({
            let by = _mm_set1_epi32(by);
            Self(_mm_add_epi32(self.0, by), _mm_add_epi32(self.1, by))
        })
    }

    #[inline(always)]
    fn shifted<const BY: i32>(self) -> Self {
        sse2!(Self(_mm_srai_epi32::<BY>(self.0), _mm_srai_epi32::<BY>(self.1)))
    }

    #[inline(always)]
    fn firsts(self) -> Self {
        sse2!(Self(_mm_slli_epi32::<16>(self.0), _mm_slli_epi32::<16>(self.1)))
    }

    #[inline(always)]
    fn seconds(self) -> Self {
        sse2!({
            let firsts = _mm_set1_epi32(0xFFFF);
            Self(_mm_andnot_si128(firsts, self.0), _mm_andnot_si128(firsts, self.1))
        })
    }

    #[inline(always)]
    fn with_seconds_of(self, other: Self) -> Self {
        sse2!({
            let firsts = _mm_set1_epi32(0xFFFF);
            let seconds = other.seconds();
            Self(
                _mm_or_si128(_mm_and_si128(self.0, firsts), seconds.0),
                _mm_or_si128(_mm_and_si128(self.1, firsts), seconds.1),
            )
        })
    }

    #[inline(always)]
    fn packed(self, other: Self) -> Self {
        sse2!(Self(_mm_packs_epi32(self.0, other.0), _mm_packs_epi32(self.1, other.1)))
    }

    #[inline(always)]
    fn even_lanes(self, other: Self) -> Self {
        sse2!(Self(shuffled::<0x88>(self.0, other.0), shuffled::<0x88>(self.1, other.1)))
    }

    #[inline(always)]
    fn odd_lanes(self, other: Self) -> Self {
        sse2!(Self(shuffled::<0xDD>(self.0, other.0), shuffled::<0xDD>(self.1, other.1)))
    }

    #[inline(always)]
    fn lower_halves(self, other: Self) -> Self {
        Self(self.0, other.0)
    }

    #[inline(always)]
    fn upper_halves(self, other: Self) -> Self {
        Self(self.1, other.1)
    }

    #[inline(always)]
    fn or(self, other: Self) -> Self {
        sse2!(Self(_mm_or_si128(self.0, other.0), _mm_or_si128(self.1, other.1)))
    }

    #[inline(always)]
    fn are_zero(self) -> bool {
        sse2!({
            let zero = _mm_cmpeq_epi8(_mm_or_si128(self.0, self.1), _mm_setzero_si128());
            _mm_movemask_epi8(zero) == 0xFFFF
        })
    }

    #[inline(always)]
    fn lanes(self) -> [i32; 8] {
        let mut lanes = [0; 8];
        let (halves, _) = lanes.as_chunks_mut::<4>();
        // SAFETY: four lanes are written, to an array of that many; they need no alignment.
        unsafe { _mm_storeu_si128(halves[0].as_mut_ptr().cast(), self.0) };
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(halves[1].as_mut_ptr().cast(), self.1) };
        lanes
    }

    #[inline(always)]
    fn samples(columns: [Self; 8]) -> [[u8; 8]; 8] {
        sse2!(samples(columns))
    }
}

#[target_feature(enable = "sse2")]
#[inline]
fn samples([c0, c1, c2, c3, c4, c5, c6, c7]: [Sse2; 8]) -> [[u8; 8]; 8] {
    let [r0, r1, r2, r3] = rows(
        [_mm_packs_epi32(c0.0, c1.0), _mm_packs_epi32(c2.0, c3.0)],
        [_mm_packs_epi32(c4.0, c5.0), _mm_packs_epi32(c6.0, c7.0)],
    );
    let [r4, r5, r6, r7] = rows(
        [_mm_packs_epi32(c0.1, c1.1), _mm_packs_epi32(c2.1, c3.1)],
        [_mm_packs_epi32(c4.1, c5.1), _mm_packs_epi32(c6.1, c7.1)],
    );
    [r0, r1, r2, r3, r4, r5, r6, r7]
}

/// Four rows of columns 0 to 3 and 4 to 7, which are turned by laying bytes of both side by side three times.
#[target_feature(enable = "sse2")]
#[inline]
fn rows(left: [__m128i; 2], right: [__m128i; 2]) -> [[u8; 8]; 4] {
    let centre = _mm_set1_epi8(i8::MIN);
    let left = _mm_xor_si128(_mm_packs_epi16(left[0], left[1]), centre);
    let right = _mm_xor_si128(_mm_packs_epi16(right[0], right[1]), centre);
    // Columns 0 4, then 1 5; columns 2 6, then 3 7.
    let (lower, upper) = (_mm_unpacklo_epi8(left, right), _mm_unpackhi_epi8(left, right));
    let (even, odd) = (_mm_unpacklo_epi8(lower, upper), _mm_unpackhi_epi8(lower, upper));
    let (lower, upper) = (_mm_unpacklo_epi8(even, odd), _mm_unpackhi_epi8(even, odd));
    let [r0, r1, r2, r3] = [lower, _mm_unpackhi_epi64(lower, lower), upper, _mm_unpackhi_epi64(upper, upper)];
    [
        _mm_cvtsi128_si64(r0).to_le_bytes(),
        _mm_cvtsi128_si64(r1).to_le_bytes(),
        _mm_cvtsi128_si64(r2).to_le_bytes(),
        _mm_cvtsi128_si64(r3).to_le_bytes(),
    ]
}

#[target_feature(enable = "sse2")]
#[inline]
fn shuffled<const WHICH: i32>(first: __m128i, second: __m128i) -> __m128i {
    _mm_castps_si128(_mm_shuffle_ps::<WHICH>(_mm_castsi128_ps(first), _mm_castsi128_ps(second)))
}
