//! The inverse DCT with AVX2: a vector holds a pair of 16 bits, or a sum of 32 bits, for each of eight columns or rows.
//! What is computed, and why it wraps where it does, is told by `portable.rs`.
#![allow(unsafe_code, reason = "vectors are loaded from arrays")]

use std::arch::x86_64::{
    __m256i, _mm_cvtsi128_si64, _mm_extract_epi64, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
    _mm256_blend_epi16, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_madd_epi16, _mm256_mullo_epi16, _mm256_or_si256, _mm256_packs_epi16, _mm256_packs_epi32,
    _mm256_permute2x128_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_setr_epi8, _mm256_shuffle_epi8,
    _mm256_shuffle_ps, _mm256_slli_epi16, _mm256_slli_epi32, _mm256_srai_epi32, _mm256_sub_epi32, _mm256_testz_si256,
    _mm256_unpackhi_epi32, _mm256_unpacklo_epi32, _mm256_xor_si256,
};

use super::factors::{
    F_0_211, F_0_298, F_0_390, F_0_509, F_0_541, F_0_601, F_0_765, F_0_899, F_1_061, F_1_175, F_1_451, F_1_501,
    F_1_847, F_1_961, F_2_053, F_2_172, F_2_562, F_3_072,
};
use super::{Block, Quant, Size, lines, portable};

/// Pairs of rows, or of columns: 0 and 4, 2 and 6, 7 and 5, 3 and 1.
type Groups = [__m256i; 4];

#[target_feature(enable = "avx2")]
pub(super) fn row(size: Size, quant: &Quant, blocks: &[Block], lasts: &[u8], out: &mut [u8], stride: usize) {
    let factors = load(&quant.0);
    match size {
        Size::One | Size::Two => portable::row(size, quant, blocks, lasts, out, stride),
        Size::Four => {
            let mut lines = lines::<4>(out, stride, blocks.len());
            for (index, (block, &last)) in blocks.iter().zip(lasts).enumerate() {
                let flat = (last == 0).then(|| [portable::flat(block[0], quant.0[0]); 4]);
                let square = flat.map_or_else(|| four(&load(block), &factors), |line| [line; 4]);
                lines.iter_mut().zip(square).for_each(|(line, samples)| line[index] = samples);
            }
        }
        Size::Eight => {
            let mut lines = lines::<8>(out, stride, blocks.len());
            for (index, (block, &last)) in blocks.iter().zip(lasts).enumerate() {
                let flat = (last == 0).then(|| [portable::flat(block[0], quant.0[0]); 8]);
                let square = flat.map_or_else(|| eight(&load(block), &factors), |line| [line; 8]);
                lines.iter_mut().zip(square).for_each(|(line, samples)| line[index] = samples);
            }
        }
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(block: &Block) -> Groups {
    let (groups, _) = block.as_chunks::<16>();
    std::array::from_fn(|group| {
        // SAFETY: 16 values of 16 bits are read, from an array of that many; they need no alignment.
        unsafe { _mm256_loadu_si256(groups[group].as_ptr().cast()) }
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn eight(block: &Groups, quant: &Groups) -> [[u8; 8]; 8] {
    let rows = if flat_columns(block) {
        [flat_rows(block[0], quant[0]); 4]
    } else {
        let rows = eight_pass::<11>(dequantised(block, quant));
        std::array::from_fn(|pair| _mm256_packs_epi32(rows[pair * 2], rows[pair * 2 + 1]))
    };
    // Of rows 0 to 3, and of rows 4 to 7: columns 0 4 and 7 5, columns 2 6 and 3 1.
    let (upper, upper_other) = (pairs::<0x88>(rows[0], rows[1]), pairs::<0xDD>(rows[0], rows[1]));
    let (lower, lower_other) = (pairs::<0x88>(rows[2], rows[3]), pairs::<0xDD>(rows[2], rows[3]));
    let columns = eight_pass::<18>([
        _mm256_permute2x128_si256::<0x20>(upper, lower),
        _mm256_permute2x128_si256::<0x20>(upper_other, lower_other),
        _mm256_permute2x128_si256::<0x31>(upper, lower),
        _mm256_permute2x128_si256::<0x31>(upper_other, lower_other),
    ]);
    let (left, right) = columns.split_at(4);
    let (left, right) =
        (samples([left[0], left[1], left[2], left[3]]), samples([right[0], right[1], right[2], right[3]]));
    // Rows 0 and 1, 4 and 5; rows 2 and 3, 6 and 7.
    let (even, odd) = (_mm256_unpacklo_epi32(left, right), _mm256_unpackhi_epi32(left, right));
    let [r0, r1, r4, r5] = quarters(even);
    let [r2, r3, r6, r7] = quarters(odd);
    [r0, r1, r2, r3, r4, r5, r6, r7]
}

#[target_feature(enable = "avx2")]
#[inline]
fn eight_pass<const SHIFT: i32>([g04, g26, g75, g31]: Groups) -> [__m256i; 8] {
    // Sums of 16 bits, which wrap, in the upper halves of 32.
    let r0 = _mm256_slli_epi32::<16>(g04);
    let r4 = _mm256_and_si256(g04, _mm256_set1_epi32(!0xFFFF));
    let round = _mm256_set1_epi32(1 << (SHIFT - 1));
    let sum = _mm256_add_epi32(_mm256_srai_epi32::<3>(_mm256_add_epi32(r0, r4)), round);
    let difference = _mm256_add_epi32(_mm256_srai_epi32::<3>(_mm256_sub_epi32(r0, r4)), round);
    let t3 = products(g26, F_0_541 + F_0_765, F_0_541);
    let t2 = products(g26, F_0_541, F_0_541 - F_1_847);

    let z34 = _mm256_add_epi16(g75, g31);
    let g71 = _mm256_blend_epi16::<0xAA>(g75, g31);
    let g35 = _mm256_blend_epi16::<0xAA>(g31, g75);
    let z3 = products(z34, F_1_175 - F_1_961, F_1_175);
    let z4 = products(z34, F_1_175, F_1_175 - F_0_390);

    let even = [
        _mm256_add_epi32(sum, t3),
        _mm256_add_epi32(difference, t2),
        _mm256_sub_epi32(difference, t2),
        _mm256_sub_epi32(sum, t3),
    ];
    let odd = [
        _mm256_add_epi32(products(g71, -F_0_899, F_1_501 - F_0_899), z4),
        _mm256_add_epi32(products(g35, F_3_072 - F_2_562, -F_2_562), z3),
        _mm256_add_epi32(products(g35, -F_2_562, F_2_053 - F_2_562), z4),
        _mm256_add_epi32(products(g71, F_0_298 - F_0_899, -F_0_899), z3),
    ];
    std::array::from_fn(|place| {
        _mm256_srai_epi32::<SHIFT>(if place < 4 {
            _mm256_add_epi32(even[place], odd[place])
        } else {
            _mm256_sub_epi32(even[7 - place], odd[7 - place])
        })
    })
}

#[target_feature(enable = "avx2")]
#[inline]
fn four(block: &Groups, quant: &Groups) -> [[u8; 4]; 4] {
    // Row 4 is not read, not even by the question whether rows are zero.
    let block = &[_mm256_and_si256(block[0], _mm256_set1_epi32(0xFFFF)), block[1], block[2], block[3]];
    let rows = if flat_columns(block) {
        [flat_rows(block[0], quant[0]); 2]
    } else {
        let rows = four_pass::<12>(dequantised(block, quant));
        [_mm256_packs_epi32(rows[0], rows[1]), _mm256_packs_epi32(rows[2], rows[3])]
    };
    // Columns 0 4 and 7 5, columns 2 6 and 3 1; the upper half is turned down. What is in the other does not matter.
    let (first, second) = (pairs::<0x88>(rows[0], rows[1]), pairs::<0xDD>(rows[0], rows[1]));
    let turned = |vector| _mm256_permute2x128_si256::<0x01>(vector, vector);
    let columns = four_pass::<19>([first, second, turned(first), turned(second)]);
    let [upper, lower, ..] = quarters(samples(columns));
    let (upper, lower) = (upper.as_chunks().0, lower.as_chunks().0);
    [upper[0], upper[1], lower[0], lower[1]]
}

#[target_feature(enable = "avx2")]
#[inline]
fn four_pass<const SHIFT: i32>([g04, g26, g75, g31]: Groups) -> [__m256i; 4] {
    let round = _mm256_set1_epi32(1 << (SHIFT - 1));
    let t0 = _mm256_add_epi32(_mm256_srai_epi32::<2>(_mm256_slli_epi32::<16>(g04)), round);
    let t2 = products(g26, F_1_847, -F_0_765);
    let even = [_mm256_add_epi32(t0, t2), _mm256_sub_epi32(t0, t2)];
    let odd = [
        _mm256_add_epi32(products(g31, F_0_899, F_2_562), products(g75, -F_0_509, -F_0_601)),
        _mm256_add_epi32(products(g31, -F_2_172, F_1_061), products(g75, -F_0_211, F_1_451)),
    ];
    [
        _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even[0], odd[0])),
        _mm256_srai_epi32::<SHIFT>(_mm256_add_epi32(even[1], odd[1])),
        _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even[1], odd[1])),
        _mm256_srai_epi32::<SHIFT>(_mm256_sub_epi32(even[0], odd[0])),
    ]
}

/// Products keep their low 16 bits.
#[target_feature(enable = "avx2")]
#[inline]
fn dequantised(block: &Groups, quant: &Groups) -> Groups {
    std::array::from_fn(|group| _mm256_mullo_epi16(block[group], quant[group]))
}

/// Whether rows 1 to 7 are zero.
#[target_feature(enable = "avx2")]
#[inline]
fn flat_columns(block: &Groups) -> bool {
    let r4 = _mm256_and_si256(block[0], _mm256_set1_epi32(!0xFFFF));
    let all = _mm256_or_si256(_mm256_or_si256(r4, block[1]), _mm256_or_si256(block[2], block[3]));
    _mm256_testz_si256(all, all) == 1
}

/// Two rows of what the columns' pass leaves where there is only row 0: here sums wrap, and are not saturated.
#[target_feature(enable = "avx2")]
#[inline]
fn flat_rows(g04: __m256i, quant: __m256i) -> __m256i {
    let scaled = _mm256_slli_epi16::<2>(_mm256_mullo_epi16(g04, quant));
    let scaled = _mm256_srai_epi32::<16>(_mm256_slli_epi32::<16>(scaled));
    _mm256_packs_epi32(scaled, scaled)
}

/// Of every pair, the sum of its products with two factors.
#[target_feature(enable = "avx2")]
#[inline]
fn products(pairs: __m256i, first: i16, second: i16) -> __m256i {
    let factors = i32::from(second) << 16 | i32::from(first) & 0xFFFF;
    _mm256_madd_epi16(pairs, _mm256_set1_epi32(factors))
}

/// In each half, two pairs of the first vector and two of the second.
#[target_feature(enable = "avx2")]
#[inline]
fn pairs<const WHICH: i32>(first: __m256i, second: __m256i) -> __m256i {
    _mm256_castps_si256(_mm256_shuffle_ps::<WHICH>(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second)))
}

/// Four columns of eight rows to bytes, four rows in each half.
#[target_feature(enable = "avx2")]
#[inline]
fn samples([c0, c1, c2, c3]: [__m256i; 4]) -> __m256i {
    let words = (_mm256_packs_epi32(c0, c1), _mm256_packs_epi32(c2, c3));
    let bytes = _mm256_xor_si256(_mm256_packs_epi16(words.0, words.1), _mm256_set1_epi8(i8::MIN));
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
