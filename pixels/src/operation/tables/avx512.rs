//! Tables of 256 bytes in four vectors each, looked up 64 bytes at a time.
#![allow(unsafe_code, reason = "instructions that not every CPU has")]

use std::arch::x86_64::{
    __m512i, _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_movepi8_mask, _mm512_permutex2var_epi8,
    _mm512_storeu_si512,
};

use super::{Tables, looked_up};
use crate::vector::Vectors;

const LANES: usize = 64;

/// Three vectors, after which the channels begin again with red.
const BLOCK: usize = 3 * LANES;

/// A table in four vectors.
type Quarters = [__m512i; 4];

/// For each vector of a block, which of its bytes are green, and which are blue.
const CHANNELS: [[u64; 2]; 3] = {
    let mut masks = [[0; 2]; 3];
    let mut at = 0;
    while at < BLOCK {
        if at % 3 > 0 {
            masks[at / LANES][at % 3 - 1] |= 1 << (at % LANES);
        }
        at += 1;
    }
    masks
};

/// Whether this CPU has the instructions.
pub(super) fn available() -> bool {
    Vectors::widest() == Vectors::Avx512 && std::arch::is_x86_feature_detected!("avx512vbmi")
}

/// Replaces the values of all pixels, packed RGB.
pub(super) fn look_up(bytes: &mut [u8], tables: &Tables) {
    assert!(available(), "whoever calls has asked");
    // SAFETY: the CPU has all that the function is compiled for.
    unsafe { by_vectors(bytes, tables) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn by_vectors(bytes: &mut [u8], tables: &Tables) {
    let [red, green, blue] = [quarters(&tables[0]), quarters(&tables[1]), quarters(&tables[2])];
    let is_one = tables[0] == tables[1] && tables[1] == tables[2];
    let (blocks, rest) = bytes.as_chunks_mut::<BLOCK>();
    for block in blocks {
        for (bytes, [is_green, is_blue]) in block.as_chunks_mut::<LANES>().0.iter_mut().zip(CHANNELS) {
            let values = load(bytes);
            let mut found = permuted(red, values);
            if !is_one {
                found = _mm512_mask_blend_epi8(is_green, found, permuted(green, values));
                found = _mm512_mask_blend_epi8(is_blue, found, permuted(blue, values));
            }
            // SAFETY: 64 bytes may be written there.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), found) };
        }
    }
    for rgb in rest.as_chunks_mut::<3>().0 {
        *rgb = looked_up(tables, *rgb);
    }
}

/// The entries of a table at these places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn permuted([first, second, third, fourth]: Quarters, at: __m512i) -> __m512i {
    // The lower 7 bits of a place choose among two vectors, and the highest bit between the two pairs.
    let (low, high) = (_mm512_permutex2var_epi8(first, at, second), _mm512_permutex2var_epi8(third, at, fourth));
    _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn quarters(table: &[u8; 256]) -> Quarters {
    let [first, second, third, fourth] = table.as_chunks::<LANES>().0 else { unreachable!("256 is four times 64") };
    [load(first), load(second), load(third), load(fourth)]
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn load(bytes: &[u8; LANES]) -> __m512i {
    // SAFETY: 64 bytes may be read there.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
