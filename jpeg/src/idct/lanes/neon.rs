//! Lanes with NEON, which every aarch64 processor has: two vectors of four.
#![allow(unsafe_code, reason = "vectors are loaded from arrays, and stored there")]

use std::arch::aarch64::{
    int32x4_t, uint8x16_t, vaddq_s16, vaddq_s32, vandq_s32, vbslq_s32, vcombine_s8, vcombine_s16, vdupq_n_s32,
    vdupq_n_u8, vdupq_n_u32, veorq_u8, vld1q_s16, vmaxvq_u32, vmlal_n_s16, vmovn_s32, vmull_n_s16, vmulq_s16,
    vorrq_s32, vqmovn_s16, vqmovn_s32, vreinterpretq_s16_s32, vreinterpretq_s32_s16, vreinterpretq_u8_s8,
    vreinterpretq_u32_s32, vshlq_n_s32, vshrn_n_s32, vshrq_n_s32, vst1q_s32, vst1q_u8, vsubq_s32, vuzp1q_s32,
    vuzp2q_s32, vzip1q_u8, vzip2q_u8,
};

use super::Lanes;

/// Calls functions that ask for NEON.
macro_rules! neon {
    ($value:expr) => {
        // SAFETY: every aarch64 processor has NEON, which is all that is asked for.
        #[allow(clippy::multiple_unsafe_ops_per_block, reason = "halves, and constants, are made beside")]
        unsafe {
            $value
        }
    };
}

/// The second of a pair.
const SECONDS: i32 = i32::MIN >> 15;

/// The lower and the upper half.
#[derive(Clone, Copy, Debug)]
pub(in crate::idct) struct Neon(int32x4_t, int32x4_t);

impl Neon {
    pub(in crate::idct) fn new() -> Self {
        neon!(Self(vdupq_n_s32(0), vdupq_n_s32(0)))
    }
}

impl Lanes for Neon {
    #[inline(always)]
    fn load(self, pairs: &[i16; 16]) -> Self {
        let (halves, _) = pairs.as_chunks::<8>();
        // SAFETY: 8 values of 16 bits are read, from an array of that many; they need no alignment.
        let lower = unsafe { vld1q_s16(halves[0].as_ptr()) };
        // SAFETY: as above.
        let upper = unsafe { vld1q_s16(halves[1].as_ptr()) };
        neon!(Self(vreinterpretq_s32_s16(lower), vreinterpretq_s32_s16(upper)))
    }

    #[inline(always)]
    fn times(self, factors: Self) -> Self {
        neon!(Self(times(self.0, factors.0), times(self.1, factors.1)))
    }

    #[inline(always)]
    fn products(self, first: i16, second: i16) -> Self {
        neon!(Self(products(self.0, first, second), products(self.1, first, second)))
    }

    #[inline(always)]
    fn plus_pairs(self, other: Self) -> Self {
        neon!(Self(plus_pairs(self.0, other.0), plus_pairs(self.1, other.1)))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        neon!(Self(vaddq_s32(self.0, other.0), vaddq_s32(self.1, other.1)))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        neon!(Self(vsubq_s32(self.0, other.0), vsubq_s32(self.1, other.1)))
    }

    #[inline(always)]
    fn raised(self, by: i32) -> Self {
        neon!({
            let by = vdupq_n_s32(by);
            Self(vaddq_s32(self.0, by), vaddq_s32(self.1, by))
        })
    }

    #[inline(always)]
    fn shifted<const BY: i32>(self) -> Self {
        neon!(Self(vshrq_n_s32::<BY>(self.0), vshrq_n_s32::<BY>(self.1)))
    }

    #[inline(always)]
    fn firsts(self) -> Self {
        neon!(Self(vshlq_n_s32::<16>(self.0), vshlq_n_s32::<16>(self.1)))
    }

    #[inline(always)]
    fn seconds(self) -> Self {
        neon!({
            let seconds = vdupq_n_s32(SECONDS);
            Self(vandq_s32(self.0, seconds), vandq_s32(self.1, seconds))
        })
    }

    #[inline(always)]
    fn with_seconds_of(self, other: Self) -> Self {
        neon!({
            let firsts = vdupq_n_u32(0xFFFF);
            Self(vbslq_s32(firsts, self.0, other.0), vbslq_s32(firsts, self.1, other.1))
        })
    }

    #[inline(always)]
    fn packed(self, other: Self) -> Self {
        neon!(Self(packed(self.0, other.0), packed(self.1, other.1)))
    }

    #[inline(always)]
    fn even_lanes(self, other: Self) -> Self {
        neon!(Self(vuzp1q_s32(self.0, other.0), vuzp1q_s32(self.1, other.1)))
    }

    #[inline(always)]
    fn odd_lanes(self, other: Self) -> Self {
        neon!(Self(vuzp2q_s32(self.0, other.0), vuzp2q_s32(self.1, other.1)))
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
        neon!(Self(vorrq_s32(self.0, other.0), vorrq_s32(self.1, other.1)))
    }

    #[inline(always)]
    fn are_zero(self) -> bool {
        neon!(vmaxvq_u32(vreinterpretq_u32_s32(vorrq_s32(self.0, self.1))) == 0)
    }

    #[inline(always)]
    fn lanes(self) -> [i32; 8] {
        let mut lanes = [0; 8];
        let (halves, _) = lanes.as_chunks_mut::<4>();
        // SAFETY: four lanes are written, to an array of that many; they need no alignment.
        unsafe { vst1q_s32(halves[0].as_mut_ptr(), self.0) };
        // SAFETY: as above.
        unsafe { vst1q_s32(halves[1].as_mut_ptr(), self.1) };
        lanes
    }

    #[inline(always)]
    fn samples(columns: [Self; 8]) -> [[u8; 8]; 8] {
        neon!(samples(columns))
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn times(pairs: int32x4_t, factors: int32x4_t) -> int32x4_t {
    vreinterpretq_s32_s16(vmulq_s16(vreinterpretq_s16_s32(pairs), vreinterpretq_s16_s32(factors)))
}

#[target_feature(enable = "neon")]
#[inline]
fn products(pairs: int32x4_t, first: i16, second: i16) -> int32x4_t {
    vmlal_n_s16(vmull_n_s16(vmovn_s32(pairs), first), vshrn_n_s32::<16>(pairs), second)
}

#[target_feature(enable = "neon")]
#[inline]
fn plus_pairs(pairs: int32x4_t, others: int32x4_t) -> int32x4_t {
    vreinterpretq_s32_s16(vaddq_s16(vreinterpretq_s16_s32(pairs), vreinterpretq_s16_s32(others)))
}

/// libjpeg-turbo's kernels for NEON cut to 16 bits here, and differ where sums do not fit. Those for x86-64 saturate.
#[target_feature(enable = "neon")]
#[inline]
fn packed(first: int32x4_t, second: int32x4_t) -> int32x4_t {
    vreinterpretq_s32_s16(vcombine_s16(vqmovn_s32(first), vqmovn_s32(second)))
}

#[target_feature(enable = "neon")]
#[inline]
fn samples([c0, c1, c2, c3, c4, c5, c6, c7]: [Neon; 8]) -> [[u8; 8]; 8] {
    let mut quarters = [pair(c0, c1), pair(c2, c3), pair(c4, c5), pair(c6, c7)];
    // Bytes of the first and of the second half of all 64, side by side: three times turn columns to rows.
    for _ in 0..3 {
        let [a, b, c, d] = quarters;
        quarters = [vzip1q_u8(a, c), vzip2q_u8(a, c), vzip1q_u8(b, d), vzip2q_u8(b, d)];
    }
    let mut rows = [[0; 8]; 8];
    let bytes = rows.as_flattened_mut().as_chunks_mut::<16>().0;
    for (bytes, quarter) in bytes.iter_mut().zip(quarters) {
        // SAFETY: 16 bytes are written, to an array of that many; they need no alignment.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), quarter) };
    }
    rows
}

/// The samples of two columns.
#[target_feature(enable = "neon")]
#[inline]
fn pair(first: Neon, second: Neon) -> uint8x16_t {
    let first = vqmovn_s16(vcombine_s16(vqmovn_s32(first.0), vqmovn_s32(first.1)));
    let second = vqmovn_s16(vcombine_s16(vqmovn_s32(second.0), vqmovn_s32(second.1)));
    veorq_u8(vreinterpretq_u8_s8(vcombine_s8(first, second)), vdupq_n_u8(0x80))
}
