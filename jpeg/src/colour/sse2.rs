//! Colour conversion with SSE2, which every x86-64 processor has. Even and odd pixels are converted apart, as pairs of
//! pixels are what can be laid side by side without shuffles of bytes.
#![allow(unsafe_code, reason = "vectors are loaded from arrays")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi16, _mm_add_epi32, _mm_and_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_madd_epi16,
    _mm_mulhi_epi16, _mm_packs_epi32, _mm_packus_epi16, _mm_set1_epi16, _mm_set1_epi32, _mm_setzero_si128,
    _mm_srai_epi16, _mm_srai_epi32, _mm_srli_epi16, _mm_sub_epi16, _mm_unpackhi_epi8, _mm_unpackhi_epi16,
    _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi8, _mm_unpacklo_epi16, _mm_unpacklo_epi32,
};

use super::portable;

/// Pixels that are made at once.
const WIDE: usize = 16;

#[target_feature(enable = "sse2")]
pub(super) fn ycc(luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [[u8; 3]]) {
    let (luma, luma_end) = luma.as_chunks::<WIDE>();
    let ((cb, cb_end), (cr, cr_end)) = (cb.as_chunks::<WIDE>(), cr.as_chunks::<WIDE>());
    let (out, out_end) = out.as_chunks_mut::<WIDE>();
    for (((luma, cb), cr), out) in luma.iter().zip(cb).zip(cr).zip(out) {
        let [luma_even, luma_odd] = split(luma);
        let ([cb_even, cb_odd], [cr_even, cr_odd]) = (split(cb), split(cr));
        let even = channels(luma_even, centred(cb_even), centred(cr_even));
        let odd = channels(luma_odd, centred(cb_odd), centred(cr_odd));
        side_by_side(
            _mm_packus_epi16(even[0], odd[0]),
            _mm_packus_epi16(even[1], odd[1]),
            _mm_packus_epi16(even[2], odd[2]),
            out.as_flattened_mut(),
        );
    }
    portable::ycc(luma_end, cb_end, cr_end, out_end);
}

/// Even and odd ones of 16 bytes.
#[target_feature(enable = "sse2")]
#[inline]
fn split(bytes: &[u8; WIDE]) -> [__m128i; 2] {
    // SAFETY: 16 bytes are read, from an array of that many; they need no alignment.
    let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    [_mm_and_si128(bytes, _mm_set1_epi16(0xFF)), _mm_srli_epi16::<8>(bytes)]
}

/// Twice the difference from 128.
#[target_feature(enable = "sse2")]
#[inline]
fn centred(chroma: __m128i) -> __m128i {
    _mm_sub_epi16(_mm_add_epi16(chroma, chroma), _mm_set1_epi16(256))
}

/// Red, green and blue before they are limited to bytes, as `portable.rs` has them.
#[target_feature(enable = "sse2")]
#[inline]
fn channels(luma: __m128i, cb: __m128i, cr: __m128i) -> [__m128i; 3] {
    let red = _mm_add_epi16(half(_mm_mulhi_epi16(cr, _mm_set1_epi16(26345))), _mm_srai_epi16::<1>(cr));
    let blue = _mm_add_epi16(half(_mm_mulhi_epi16(cb, _mm_set1_epi16(-14942))), cb);
    let green = _mm_packs_epi32(green(_mm_unpacklo_epi16(cb, cr)), green(_mm_unpackhi_epi16(cb, cr)));
    [_mm_add_epi16(luma, red), _mm_add_epi16(luma, green), _mm_add_epi16(luma, blue)]
}

/// Halved, halves upward.
#[target_feature(enable = "sse2")]
#[inline]
fn half(value: __m128i) -> __m128i {
    _mm_srai_epi16::<1>(_mm_add_epi16(value, _mm_set1_epi16(1)))
}

/// What green adds to luma, from pairs of blue and red differences.
#[target_feature(enable = "sse2")]
#[inline]
fn green(pairs: __m128i) -> __m128i {
    let factors = _mm_unpacklo_epi16(_mm_set1_epi16(-11277), _mm_set1_epi16(-23401));
    let sum = _mm_add_epi32(_mm_madd_epi16(pairs, factors), _mm_set1_epi32(1 << 15));
    _mm_srai_epi32::<16>(sum)
}

/// Bytes of eight even and eight odd pixels, pixel by pixel.
#[target_feature(enable = "sse2")]
#[inline]
fn side_by_side(red: __m128i, green: __m128i, blue: __m128i, out: &mut [u8]) {
    // A pair of pixels is red and green, blue and the next red, the next green and blue, in two bytes each.
    let first = _mm_unpacklo_epi8(red, green);
    let second = _mm_unpacklo_epi8(blue, _mm_unpackhi_epi64(red, red));
    let third = _mm_unpackhi_epi8(green, blue);
    let zero = _mm_setzero_si128();
    let (lower, lower_third) = (_mm_unpacklo_epi16(first, second), _mm_unpacklo_epi16(third, zero));
    let (upper, upper_third) = (_mm_unpackhi_epi16(first, second), _mm_unpackhi_epi16(third, zero));
    let pairs = [
        _mm_unpacklo_epi32(lower, lower_third),
        _mm_unpackhi_epi32(lower, lower_third),
        _mm_unpacklo_epi32(upper, upper_third),
        _mm_unpackhi_epi32(upper, upper_third),
    ];
    // Each pair is written with two bytes that the next one overwrites, and the last one without.
    for (two, pairs) in pairs.into_iter().enumerate() {
        let (one, other) =
            (_mm_cvtsi128_si64(pairs).to_le_bytes(), _mm_cvtsi128_si64(_mm_unpackhi_epi64(pairs, pairs)));
        out[two * 12..][..8].copy_from_slice(&one);
        let rest = &mut out[two * 12 + 6..];
        let len = rest.len().min(8);
        rest[..len].copy_from_slice(&other.to_le_bytes()[..len]);
    }
}
