//! The inverse DCT: blocks of coefficients to samples, whole (8 x 8) and scaled (4 x 4, 2 x 2, 1 x 1).
//!
//! It is the accurate integer transform after Loeffler, Ligtenberg and Moschytz ("Practical fast 1-D DCT algorithms with 11
//! multiplications", ICASSP 1989) as libjpeg-turbo has it, equal to its x86-64 SIMD for all coefficients, also for those
//! that no encoder writes: products with the quantisation table keep 16 bits, sums wrap, and each pass ends by saturating.

mod factors;
mod lanes;
mod transform;

use std::array::from_fn;

use crate::Path;

/// The coefficients of one block, each in the place that [`ORDER`] gives it.
pub type Block = [i16; 64];

/// Rows of coefficients that one multiplication takes in, side by side.
const ROW_PAIRS: [(usize, usize); 4] = [(0, 4), (2, 6), (7, 5), (3, 1)];

/// The order of columns. With it, the columns' pass leaves its results in the pairs that the rows' pass takes.
const COLUMNS: [usize; 8] = [0, 4, 2, 6, 7, 5, 3, 1];

/// Zigzag index to natural index (row times 8 plus column): figure A.6 of ITU-T T.81.
pub(crate) const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21,
    28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54,
    47, 55, 62, 63,
];

/// Zigzag index to the place in a [`Block`]. The DC coefficient is in place 0.
///
/// A pass of the transform multiplies two rows and adds the products. Processors have an instruction for that, which takes
/// adjacent pairs of 16 bits. So a block has its rows in pairs, four groups of eight:
///
/// ```text
/// column        0     4     2     6     7     5     3     1
///
/// group 0     0 4   0 4   0 4   0 4   0 4   0 4   0 4   0 4    rows
/// group 1     2 6   2 6   2 6   2 6   2 6   2 6   2 6   2 6
/// group 2     7 5   7 5   7 5   7 5   7 5   7 5   7 5   7 5
/// group 3     3 1   3 1   3 1   3 1   3 1   3 1   3 1   3 1
/// ```
///
/// The columns are in the same pairs. At its end, the first pass packs two rows into one vector, with pairs of columns side
/// by side. So whole pairs can be moved to make the groups of the second pass.
pub const ORDER: [u8; 64] = order();

const fn order() -> [u8; 64] {
    let mut places = [0; 64];
    let mut group = 0;
    while group < 4 {
        let mut column = 0;
        while column < 8 {
            let place = group * 16 + column * 2;
            places[ROW_PAIRS[group].0 * 8 + COLUMNS[column]] = place;
            places[ROW_PAIRS[group].1 * 8 + COLUMNS[column]] = place + 1;
            column += 1;
        }
        group += 1;
    }
    let mut order = [0; 64];
    let mut index = 0;
    while index < 64 {
        #[expect(clippy::cast_possible_truncation, reason = "places are below 64")]
        let place = places[ZIGZAG[index] as usize] as u8;
        order[index] = place;
        index += 1;
    }
    order
}

/// A quantisation table, in the order of a [`Block`].
#[derive(Clone, Debug)]
pub struct Quant([i16; 64]);

impl Quant {
    /// From a table in zigzag order, as a file has it. Values above 32767 wrap, as they do in libjpeg-turbo.
    pub fn new(zigzag: &[u16; 64]) -> Self {
        let mut table = [0; 64];
        for (&place, &value) in ORDER.iter().zip(zigzag) {
            table[usize::from(place)] = value.cast_signed();
        }
        Self(table)
    }
}

/// How many samples a block becomes: DCT scaling.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Size {
    /// One sample.
    One,
    /// 2 x 2 samples.
    Two,
    /// 4 x 4 samples.
    Four,
    /// 8 x 8 samples: not scaled.
    Eight,
}

impl Size {
    /// All sizes, the smallest first.
    pub(crate) const ALL: [Self; 4] = [Self::One, Self::Two, Self::Four, Self::Eight];

    /// Samples of a block across, and down.
    pub const fn samples(self) -> usize {
        // The variants count up, and each is twice the one before.
        1 << self as usize
    }

    /// The same where pixels of pictures are counted.
    pub(crate) const fn side(self) -> u32 {
        1 << self as u32
    }

    /// Whether the coefficient with this zigzag index (0 to 63) has any influence on the samples. Others need not be stored
    /// in a block, and do no harm there.
    pub const fn reads(self, zigzag: usize) -> bool {
        let (row, column) = (ZIGZAG[zigzag] / 8, ZIGZAG[zigzag] % 8);
        match self {
            Self::One => zigzag == 0,
            Self::Two => (row == 0 || row % 2 == 1) && (column == 0 || column % 2 == 1),
            // Column 4 decides whether a block counts as flat in its columns, which shows where sums do not fit 16 bits.
            Self::Four => row != 4,
            Self::Eight => true,
        }
    }
}

/// Dequantises and transforms a row of adjacent blocks.
///
/// `lasts` has for each block the zigzag index of its last coefficient that is not zero. A higher index is allowed, and 0
/// means that the block has only its DC coefficient. Block `i` is written to the `size.samples()` columns from `i *
/// size.samples()` on, in the first `size.samples()` rows of `out`. Each row begins `stride` bytes after the one before it.
///
/// # Panics
///
/// If `lasts` has not one value for each block, if a row of samples is longer than `stride`, or if `out` ends before the
/// last row does.
pub fn row(path: Path, size: Size, quant: &Quant, blocks: &[Block], lasts: &[u8], out: &mut [u8], stride: usize) {
    let samples = size.samples();
    assert_eq!(blocks.len(), lasts.len(), "there is one last index for each block");
    assert!(blocks.len() * samples <= stride, "a row of samples fits the stride");
    if blocks.is_empty() {
        return;
    }
    let place = (samples - 1) * stride + blocks.len() * samples;
    assert!(place <= out.len(), "{place} bytes are written, and there are {}", out.len());
    match path {
        #[cfg(target_arch = "x86_64")]
        Path::Avx2 if path.is_available() => {
            #[expect(unsafe_code, reason = "the processor has been asked")]
            // SAFETY: `is_available` says that there is AVX2, which is all that the function asks for.
            unsafe {
                avx2(size, quant, blocks, lasts, out, stride);
            }
        }
        #[cfg(target_arch = "x86_64")]
        _ => transform::row(lanes::sse2::Sse2::new(), size, quant, blocks, lasts, out, stride),
        #[cfg(target_arch = "aarch64")]
        _ => transform::row(lanes::neon::Neon::new(), size, quant, blocks, lasts, out, stride),
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        _ => transform::row(lanes::array::Array::new(), size, quant, blocks, lasts, out, stride),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(size: Size, quant: &Quant, blocks: &[Block], lasts: &[u8], out: &mut [u8], stride: usize) {
    transform::row(lanes::avx2::Avx2::new(), size, quant, blocks, lasts, out, stride);
}

/// The rows of samples of `N` by `N` blocks, a piece of each for every block.
fn lines<const N: usize>(out: &mut [u8], stride: usize, blocks: usize) -> [&mut [[u8; N]]; N] {
    let mut lines = out.chunks_mut(stride);
    from_fn(|_| lines.next().expect("out has as many rows")[..blocks * N].as_chunks_mut().0)
}
