//! The kernels of libjpeg-turbo for x86-64, by the names of the vendored version's symbols: what ours have to equal.
#![allow(unsafe_code, reason = "they are C functions")]
#![allow(dead_code, reason = "each test takes a part of them")]

// Links the library.
extern crate turbojpeg_sys as _;

use std::array::from_fn;

use forebay_jpeg::idct::Size;

unsafe extern "C" {
    fn jsimd_idct_islow_avx2(table: *const i16, block: *const i16, out: *const *mut u8, column: u32);
    fn jsimd_idct_islow_sse2(table: *const i16, block: *const i16, out: *const *mut u8, column: u32);
    fn jsimd_idct_4x4_sse2(table: *const i16, block: *const i16, out: *const *mut u8, column: u32);
    fn jsimd_idct_2x2_sse2(table: *const i16, block: *const i16, out: *const *mut u8, column: u32);
    fn jsimd_h2v1_fancy_upsample_avx2(down: i32, width: u32, rows: *const *mut u8, out: *const *const *mut u8);
    fn jsimd_h2v2_fancy_upsample_avx2(down: i32, width: u32, rows: *const *mut u8, out: *const *const *mut u8);
    fn jsimd_ycc_extrgb_convert_avx2(
        width: u32,
        planes: *const *const *const u8,
        row: u32,
        out: *const *mut u8,
        rows: i32,
    );
}

/// What the assembler's aligned loads ask for.
#[repr(align(32))]
pub(crate) struct Aligned<T>(pub(crate) T);

/// A block and a table in natural order to 8 x 8 places, of which the size's are written.
pub(crate) fn idct(size: Size, avx2: bool, block: &[i16; 64], table: &[i16; 64]) -> [[u8; 8]; 8] {
    let (block, table) = (Aligned(*block), Aligned(*table));
    let mut out = [[0; 8]; 8];
    let rows = out.each_mut().map(|row| row.as_mut_ptr());
    let kernel = match (size, avx2) {
        (Size::Eight, true) => jsimd_idct_islow_avx2,
        (Size::Eight, false) => jsimd_idct_islow_sse2,
        (Size::Four, _) => jsimd_idct_4x4_sse2,
        (Size::Two, _) => jsimd_idct_2x2_sse2,
        (Size::One, _) => unreachable!("libjpeg-turbo has no kernel for it"),
    };
    // SAFETY: both tables have 64 values, aligned to 32 bytes; eight rows of eight bytes may be written; the caller asked
    // whether there is AVX2.
    unsafe { kernel(table.0.as_ptr(), block.0.as_ptr(), rows.as_ptr(), 0) };
    out
}

/// Room beyond a row, which the kernels read and write in whole vectors.
fn padded(row: &[u8], factor: usize) -> Vec<u8> {
    let mut padded = row.to_vec();
    padded.resize(row.len() * factor + 128, 0);
    padded
}

/// A row of a component, upsampled.
pub(crate) fn across(row: &[u8]) -> Vec<u8> {
    let mut samples = padded(row, 1);
    let mut out = padded(row, 2);
    let rows = [samples.as_mut_ptr()];
    let outs = [out.as_mut_ptr()];
    let width = u32::try_from(row.len()).unwrap();
    // SAFETY: one row, with room for the vectors on both sides.
    unsafe { jsimd_h2v1_fancy_upsample_avx2(1, width, rows.as_ptr(), [outs.as_ptr()].as_ptr()) };
    out.truncate(row.len() * 2);
    out
}

/// The upper and the lower row of pixels that lie in the second of three rows.
pub(crate) fn both(rows: [&[u8]; 3]) -> [Vec<u8>; 2] {
    let mut samples = rows.map(|row| padded(row, 1));
    let mut out = [padded(rows[1], 2), padded(rows[1], 2)];
    let pointers = samples.each_mut().map(Vec::as_mut_ptr);
    let outs = out.each_mut().map(Vec::as_mut_ptr);
    let width = u32::try_from(rows[1].len()).unwrap();
    // SAFETY: one group of two rows is made of the row that is named and its neighbours, which stand beside it; all have
    // room for the vectors.
    unsafe { jsimd_h2v2_fancy_upsample_avx2(2, width, pointers[1..].as_ptr(), [outs.as_ptr()].as_ptr()) };
    out.map(|mut row| {
        row.truncate(rows[1].len() * 2);
        row
    })
}

/// A row of luma, blue and red differences to pixels.
pub(crate) fn colours(planes: [&[u8]; 3]) -> Vec<u8> {
    let samples = planes.map(|plane| padded(plane, 1));
    let rows = samples.each_ref().map(|plane| [plane.as_ptr()]);
    let rows = rows.each_ref().map(|rows| rows.as_ptr());
    let mut out = padded(planes[0], 3);
    let outs = [out.as_mut_ptr()];
    let width = u32::try_from(planes[0].len()).unwrap();
    // SAFETY: one row of three planes, with room for the vectors.
    unsafe { jsimd_ycc_extrgb_convert_avx2(width, rows.as_ptr(), 0, outs.as_ptr(), 1) };
    out.truncate(planes[0].len() * 3);
    out
}

/// A row of blocks whose order does not matter, aligned.
pub(crate) fn idct_row(size: Size, blocks: &[[i16; 64]], table: &[i16; 64], out: &mut [u8], stride: usize) {
    let table = Aligned(*table);
    let samples = size.samples();
    assert!(out.len() >= stride * samples && blocks.len() * samples <= stride);
    let rows: [*mut u8; 8] = from_fn(|row| out[row.min(samples - 1) * stride..].as_mut_ptr());
    let kernel = match size {
        Size::Eight => jsimd_idct_islow_avx2,
        Size::Four => jsimd_idct_4x4_sse2,
        Size::Two => jsimd_idct_2x2_sse2,
        Size::One => unreachable!("libjpeg-turbo has no kernel for it"),
    };
    for (column, block) in (0..).step_by(samples).zip(blocks) {
        assert!(block.as_ptr().addr().is_multiple_of(align_of::<Aligned<()>>()));
        // SAFETY: both tables have 64 values, aligned to 32 bytes; the rows have room for all blocks.
        unsafe { kernel(table.0.as_ptr(), block.as_ptr(), rows.as_ptr(), column) };
    }
}

/// Rows with room for vectors, to be upsampled and converted again and again.
pub(crate) struct Pixels {
    luma: Vec<u8>,
    rows: [Vec<u8>; 3],
    chroma: [Vec<u8>; 2],
    out: Vec<u8>,
    width: u32,
}

impl Pixels {
    /// Chroma rows are half as long as that of luma.
    pub(crate) fn new(luma: &[u8], near: &[u8], far: &[u8]) -> Self {
        Self {
            luma: padded(luma, 1),
            rows: [far, near, far].map(|row| padded(row, 1)),
            chroma: [padded(luma, 1), padded(luma, 1)],
            out: padded(luma, 3),
            width: u32::try_from(luma.len()).unwrap(),
        }
    }

    /// One row of pixels: upsampling makes two rows at once, so that it is called for one of both chroma components only.
    pub(crate) fn both_to_colours(&mut self) {
        let rows = self.rows.each_mut().map(Vec::as_mut_ptr);
        let chroma = self.chroma.each_mut().map(Vec::as_mut_ptr);
        let planes = [[self.luma.as_ptr()], [chroma[0].cast_const()], [chroma[1].cast_const()]];
        let planes = planes.each_ref().map(|plane| plane.as_ptr());
        let out = [self.out.as_mut_ptr()];
        // SAFETY: two rows are made of three, all with room for the vectors.
        unsafe { jsimd_h2v2_fancy_upsample_avx2(2, self.width / 2, rows[1..].as_ptr(), [chroma.as_ptr()].as_ptr()) };
        // SAFETY: one row of three planes, with room for the vectors.
        unsafe { jsimd_ycc_extrgb_convert_avx2(self.width, planes.as_ptr(), 0, out.as_ptr(), 1) };
    }
}
