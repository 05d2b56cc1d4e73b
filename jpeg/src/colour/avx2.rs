//! Colour conversion with AVX2, also directly after the triangle filter. The filter gives even and odd pixels in separate
//! vectors. They are converted like that, and interleaved only once they are bytes.
#![allow(unsafe_code, reason = "vectors are loaded from slices, and stored there")]

use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_cvtepu8_epi16, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_mulhrs_epi16,
    _mm256_mullo_epi16, _mm256_packs_epi32, _mm256_packus_epi16, _mm256_permute2x128_si256, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_shuffle_epi8, _mm256_srai_epi16, _mm256_srai_epi32, _mm256_srli_epi16,
    _mm256_storeu_si256, _mm256_sub_epi16, _mm256_unpackhi_epi16, _mm256_unpacklo_epi16,
};
use std::array::from_fn;
use std::ops::Range;

use super::{SPAN, portable, spans};
use crate::Path;
use crate::upsample::{RowPair, Upsampling};

/// Pixels that are made at once.
const WIDE: usize = 32;

/// Values of chroma that are taken at once, for twice as many pixels.
const VALUES_WIDE: usize = WIDE / 2;

/// Values that are kept for a span of pixels.
const VALUES: usize = 128;

/// Something for 16 even and 16 odd pixels.
#[derive(Clone, Copy)]
struct Halves {
    even: __m256i,
    odd: __m256i,
}

#[target_feature(enable = "avx2")]
pub(super) fn ycc(luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [[u8; 3]]) {
    if luma.len() < WIDE {
        return portable::ycc(luma, cb, cr, out);
    }
    for first in starts(luma.len(), WIDE) {
        let cb = centred(split(load(&cb[first..])));
        let cr = centred(split(load(&cr[first..])));
        store(pixels_of(load(&luma[first..]), cb, cr), &mut out[first..]);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn gray(luma: &[u8], out: &mut [[u8; 3]]) {
    if luma.len() < WIDE {
        return portable::gray(luma, out);
    }
    for first in starts(luma.len(), WIDE) {
        let Halves { even, odd } = split(load(&luma[first..]));
        let luma = _mm256_packus_epi16(even, odd);
        store(side_by_side([luma; 3]), &mut out[first..]);
    }
}

#[target_feature(enable = "avx2")]
pub(super) fn row(luma: &[u8], upsampling: Upsampling, cb: RowPair<'_>, cr: RowPair<'_>, from: usize, out: &mut [u8]) {
    // Samples whose two pixels are both asked for: all but one pixel at either end.
    let end = from + luma.len();
    let samples = from.div_ceil(2)..end / 2;
    let triangle = matches!(upsampling, Upsampling::Across | Upsampling::Both);
    if !triangle || samples.len() < VALUES_WIDE {
        return spans::<SPAN>(Path::Avx2, luma, upsampling, cb, cr, from, out);
    }
    let (left, right) = (samples.start * 2 - from, samples.end * 2 - from);
    spans::<1>(Path::Avx2, &luma[..left], upsampling, cb, cr, from, &mut out[..left * 3]);
    spans::<1>(Path::Avx2, &luma[right..], upsampling, cb, cr, from + right, &mut out[right * 3..]);
    let (luma, (out, _)) = (&luma[left..right], out[left * 3..right * 3].as_chunks_mut());
    let mut values = [[0; VALUES + 2]; 2];
    for first in (0..samples.len()).step_by(VALUES).map(|first| first.min(samples.len() - VALUES_WIDE)) {
        let count = (samples.len() - first).min(VALUES);
        let window = samples.start + first..samples.start + first + count;
        for (rows, values) in [cb, cr].into_iter().zip(&mut values) {
            fill(upsampling, rows, &window, &mut values[..count + 2]);
        }
        let [cb, cr] = &values;
        let pixels = first * 2..(first + count) * 2;
        let (luma, out) = (&luma[pixels.clone()], &mut out[pixels]);
        match upsampling {
            Upsampling::Both => between::<4>(luma, cb, cr, [8, 7], out),
            _ => between::<2>(luma, cb, cr, [1, 2], out),
        }
    }
}

/// The values of samples from which pixels are made, and those of the ones before and after, which at an end of the row
/// are the first and the last themselves.
#[target_feature(enable = "avx2")]
#[inline]
fn fill(upsampling: Upsampling, rows: RowPair<'_>, samples: &Range<usize>, values: &mut [i16]) {
    let (before, after) = (samples.start > 0, samples.end < rows.near.len());
    let window = samples.start - usize::from(before)..samples.end + usize::from(after);
    let inner = &mut values[usize::from(!before)..][..window.len()];
    match upsampling {
        Upsampling::Both => columns(&rows.near[window.clone()], &rows.far[window], inner),
        _ => widened_all(&rows.near[window], inner),
    }
    if !before {
        values[0] = values[1];
    }
    if !after {
        values[samples.len() + 1] = values[samples.len()];
    }
}

/// Pixels of chroma values that are 2^(`SHIFT` - 2) samples, one before and one after them included.
#[target_feature(enable = "avx2")]
#[inline]
fn between<const SHIFT: i32>(luma: &[u8], cb: &[i16], cr: &[i16], round: [i16; 2], out: &mut [[u8; 3]]) {
    for first in starts(luma.len(), WIDE) {
        let cb = triangle::<SHIFT>(window(cb, first / 2), round);
        let cr = triangle::<SHIFT>(window(cr, first / 2), round);
        store(pixels_of(load(&luma[first..]), cb, cr), &mut out[first..]);
    }
}

/// 16 values with the one before and the one after.
fn window(values: &[i16], first: usize) -> &[i16; 18] {
    values[first..].first_chunk().expect("values have neighbours")
}

/// Four times the samples between two rows.
#[target_feature(enable = "avx2")]
#[inline]
fn columns(near: &[u8], far: &[u8], out: &mut [i16]) {
    for first in starts(out.len(), VALUES_WIDE) {
        let near = _mm256_mullo_epi16(widened(&near[first..]), _mm256_set1_epi16(3));
        store_values(_mm256_add_epi16(near, widened(&far[first..])), &mut out[first..]);
    }
}

/// Samples in 16 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn widened_all(row: &[u8], out: &mut [i16]) {
    for first in starts(out.len(), VALUES_WIDE) {
        store_values(widened(&row[first..]), &mut out[first..]);
    }
}

/// Where to begin with `wide` at a time, so that the last ones end with the row: some are made twice.
fn starts(len: usize, wide: usize) -> impl Iterator<Item = usize> {
    (0..len).step_by(wide).map(move |first| first.min(len - wide))
}

/// Of values that are 2^(`SHIFT` - 2) samples: three quarters of one and a quarter of its neighbour. 128 is taken off, and
/// what is left is doubled.
#[target_feature(enable = "avx2")]
#[inline]
fn triangle<const SHIFT: i32>(values: &[i16; 18], round: [i16; 2]) -> Halves {
    let (left, here, right) = (load_values(values), load_values(&values[1..]), load_values(&values[2..]));
    let here = _mm256_mullo_epi16(here, _mm256_set1_epi16(3));
    let (even, odd) = (_mm256_set1_epi16(round[0] - (128 << SHIFT)), _mm256_set1_epi16(round[1] - (128 << SHIFT)));
    let even = _mm256_add_epi16(_mm256_add_epi16(here, even), left);
    let odd = _mm256_add_epi16(_mm256_add_epi16(here, odd), right);
    let (even, odd) = (_mm256_srai_epi16::<SHIFT>(even), _mm256_srai_epi16::<SHIFT>(odd));
    Halves { even: _mm256_add_epi16(even, even), odd: _mm256_add_epi16(odd, odd) }
}

#[target_feature(enable = "avx2")]
#[inline]
fn split(bytes: __m256i) -> Halves {
    Halves { even: _mm256_and_si256(bytes, _mm256_set1_epi16(0xFF)), odd: _mm256_srli_epi16::<8>(bytes) }
}

/// Twice the difference from 128.
#[target_feature(enable = "avx2")]
#[inline]
fn centred(Halves { even, odd }: Halves) -> Halves {
    let centre = _mm256_set1_epi16(256);
    Halves {
        even: _mm256_sub_epi16(_mm256_add_epi16(even, even), centre),
        odd: _mm256_sub_epi16(_mm256_add_epi16(odd, odd), centre),
    }
}

/// 32 pixels from luma bytes and chroma as [`centred`] gives it.
#[target_feature(enable = "avx2")]
#[inline]
fn pixels_of(luma: __m256i, cb: Halves, cr: Halves) -> [__m256i; 3] {
    let luma = split(luma);
    let even = channels(luma.even, cb.even, cr.even);
    let odd = channels(luma.odd, cb.odd, cr.odd);
    side_by_side(from_fn(|channel| _mm256_packus_epi16(even[channel], odd[channel])))
}

/// Red, green and blue before they are limited to bytes. A product by 22970 or 29033, rounded after 15 bits, is for each of
/// the 256 differences the one by 1.402 or 1.772 that is rounded after 16.
#[target_feature(enable = "avx2")]
#[inline]
fn channels(luma: __m256i, cb: __m256i, cr: __m256i) -> [__m256i; 3] {
    let red = _mm256_mulhrs_epi16(cr, _mm256_set1_epi16(22970));
    let blue = _mm256_mulhrs_epi16(cb, _mm256_set1_epi16(29033));
    let green = _mm256_packs_epi32(green(_mm256_unpacklo_epi16(cb, cr)), green(_mm256_unpackhi_epi16(cb, cr)));
    [red, green, blue].map(|difference| _mm256_add_epi16(luma, difference))
}

/// What green adds to luma, from pairs of blue and red differences, in one sum with one rounding.
#[target_feature(enable = "avx2")]
#[inline]
fn green(pairs: __m256i) -> __m256i {
    let factors = _mm256_unpacklo_epi16(_mm256_set1_epi16(-11277), _mm256_set1_epi16(-23401));
    let sum = _mm256_add_epi32(_mm256_madd_epi16(pairs, factors), _mm256_set1_epi32(1 << 15));
    _mm256_srai_epi32::<16>(sum)
}

/// Bytes of three channels, each eight even and eight odd pixels in either half, to 96 bytes of pixels.
///
/// Of the three vectors that half a vector of pixels fills, byte `b` is of channel 0 in the first where `b % 3` is 0, in the
/// second where it is 2, in the third where it is 1. So every channel has each byte once in these three, and one shuffle
/// brings all its pixels to where they are taken from.
#[target_feature(enable = "avx2")]
#[inline]
fn side_by_side(channels: [__m256i; 3]) -> [__m256i; 3] {
    const PLACES: [[u8; 16]; 3] = places();
    const MASKS: [[u8; 16]; 3] = masks();
    let [red, green, blue]: [__m256i; 3] =
        from_fn(|channel| _mm256_shuffle_epi8(channels[channel], twice(&PLACES[channel])));
    let masks: [__m256i; 3] = from_fn(|phase| twice(&MASKS[phase]));
    let first = _mm256_blendv_epi8(_mm256_blendv_epi8(red, green, masks[1]), blue, masks[2]);
    let second = _mm256_blendv_epi8(_mm256_blendv_epi8(red, green, masks[0]), blue, masks[1]);
    let third = _mm256_blendv_epi8(_mm256_blendv_epi8(red, green, masks[2]), blue, masks[0]);
    [
        _mm256_permute2x128_si256::<0x20>(first, second),
        _mm256_permute2x128_si256::<0x30>(third, first),
        _mm256_permute2x128_si256::<0x31>(second, third),
    ]
}

/// For each channel and byte of the three result vectors: the place of its pixel in the source vector.
const fn places() -> [[u8; 16]; 3] {
    let mut places = [[0; 16]; 3];
    let mut byte: u8 = 0;
    while byte < 48 {
        let pixel = byte / 3;
        places[(byte % 3) as usize][(byte % 16) as usize] = pixel / 2 + pixel % 2 * 8;
        byte += 1;
    }
    places
}

/// Every third byte, from byte 0, 1 or 2 on.
const fn masks() -> [[u8; 16]; 3] {
    let mut masks = [[0; 16]; 3];
    let mut byte = 0;
    while byte < 16 {
        masks[byte % 3][byte] = 0xFF;
        byte += 1;
    }
    masks
}

/// The same in both halves.
#[target_feature(enable = "avx2")]
#[inline]
fn twice(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: 16 bytes are read, from an array of that many; they need no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// The first 32 bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8]) -> __m256i {
    let bytes = bytes.first_chunk::<32>().expect("whole vectors are left");
    // SAFETY: 32 bytes are read, from an array of that many; they need no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// The first 16 bytes, in 16 bits each.
#[target_feature(enable = "avx2")]
#[inline]
fn widened(bytes: &[u8]) -> __m256i {
    let bytes = bytes.first_chunk::<16>().expect("whole vectors are left");
    // SAFETY: 16 bytes are read, from an array of that many; they need no alignment.
    _mm256_cvtepu8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// The first 16 values.
#[target_feature(enable = "avx2")]
#[inline]
fn load_values(values: &[i16]) -> __m256i {
    let values = values.first_chunk::<16>().expect("whole vectors are left");
    // SAFETY: 16 values of 16 bits are read, from an array of that many; they need no alignment.
    unsafe { _mm256_loadu_si256(values.as_ptr().cast()) }
}

/// To the first 16 values.
#[target_feature(enable = "avx2")]
#[inline]
fn store_values(vector: __m256i, out: &mut [i16]) {
    let out = out.first_chunk_mut::<16>().expect("whole vectors are left");
    // SAFETY: 16 values of 16 bits are written, to an array of that many; they need no alignment.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), vector) };
}

/// To the first 32 pixels.
#[target_feature(enable = "avx2")]
#[inline]
fn store(vectors: [__m256i; 3], out: &mut [[u8; 3]]) {
    let out = out.first_chunk_mut::<WIDE>().expect("whole vectors are left").as_flattened_mut();
    for (out, vector) in out.as_chunks_mut::<32>().0.iter_mut().zip(vectors) {
        // SAFETY: 32 bytes are written, to an array of that many; they need no alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), vector) };
    }
}
