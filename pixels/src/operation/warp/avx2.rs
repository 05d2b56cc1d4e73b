//! Four numbers of double precision beside each other with AVX2.
#![allow(unsafe_code, reason = "instructions that not every CPU has")]

use std::arch::x86_64::{
    __m128i, __m256d, _mm_cvtepu8_epi32, _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_packs_epi32, _mm_packus_epi16,
    _mm256_add_pd, _mm256_cvtepi32_pd, _mm256_cvtpd_epi32, _mm256_cvttpd_epi32, _mm256_mul_pd, _mm256_set1_pd,
    _mm256_setr_pd, _mm256_sub_pd,
};

use super::rgbx::Rgbx;
use crate::vector::Vectors;

/// Proves that this CPU has AVX2. It can only be made by asking the CPU.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Asks the CPU.
    pub(super) fn found() -> Option<Self> {
        (Vectors::widest() >= Vectors::Avx2).then_some(Self(()))
    }
}

/// The four numbers. There are none without an [`Avx2`].
#[derive(Clone, Copy)]
pub(super) struct Quad(__m256d);

impl Rgbx for Quad {
    type Cpu = Avx2;

    #[inline(always)]
    fn of(_: Avx2, bytes: u32) -> Self {
        // SAFETY: there is an `Avx2`.
        Self(unsafe { widened(bytes) })
    }

    #[inline(always)]
    fn numbers(_: Avx2, [red, green, blue, other]: [f64; 4]) -> Self {
        // SAFETY: there is an `Avx2`.
        Self(unsafe { _mm256_setr_pd(red, green, blue, other) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: there is a `Quad`.
        Self(unsafe { _mm256_add_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: there is a `Quad`.
        Self(unsafe { _mm256_sub_pd(self.0, other.0) })
    }

    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        // SAFETY: there is a `Quad`.
        Self(unsafe { multiplied(self.0, factor) })
    }

    #[inline(always)]
    fn cut(self) -> [u8; 3] {
        // SAFETY: there is a `Quad`.
        unsafe { cut(self.0) }
    }

    #[inline(always)]
    fn rounded(self) -> [u8; 3] {
        // SAFETY: there is a `Quad`. Threads of Rust round to the nearest, halves to even.
        unsafe { rounded(self.0) }
    }
}

/// Four bytes as numbers.
#[inline]
#[target_feature(enable = "avx2")]
fn widened(bytes: u32) -> __m256d {
    _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(bytes.cast_signed())))
}

#[inline]
#[target_feature(enable = "avx2")]
fn multiplied(numbers: __m256d, factor: f64) -> __m256d {
    _mm256_mul_pd(numbers, _mm256_set1_pd(factor))
}

#[inline]
#[target_feature(enable = "avx2")]
fn cut(numbers: __m256d) -> [u8; 3] {
    rgb(_mm256_cvttpd_epi32(numbers))
}

#[inline]
#[target_feature(enable = "avx2")]
fn rounded(numbers: __m256d) -> [u8; 3] {
    rgb(_mm256_cvtpd_epi32(numbers))
}

/// The first three of four whole numbers, as far as they are from 0 to 255.
#[inline]
#[target_feature(enable = "avx2")]
fn rgb(numbers: __m128i) -> [u8; 3] {
    let halves = _mm_packs_epi32(numbers, numbers);
    let bytes = _mm_cvtsi128_si32(_mm_packus_epi16(halves, halves)).to_le_bytes();
    [bytes[0], bytes[1], bytes[2]]
}
