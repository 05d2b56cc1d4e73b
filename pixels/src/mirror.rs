//! A row of packed RGB, copied with its right end first.

/// Copies `row` into `to`, which is as long. Eight pixels at a time are three words: pixel by pixel takes three times as long.
pub(crate) fn mirror(row: &[u8], to: &mut [u8]) {
    let (left, eights) = row.as_rchunks::<24>();
    let (mirrored, right) = to.as_chunks_mut::<24>();
    for (from, to) in eights.iter().rev().zip(mirrored) {
        *to = eight(from);
    }
    for (from, to) in left.as_chunks::<3>().0.iter().rev().zip(right.as_chunks_mut::<3>().0) {
        *to = *from;
    }
}

/// Eight pixels, the last one first.
fn eight(pixels: &[u8; 24]) -> [u8; 24] {
    const PIXEL: u64 = 0xff_ffff;
    let word = |number: usize| u64::from_le_bytes(pixels.as_chunks::<8>().0[number]);
    let (a, b, c) = (word(0), word(1), word(2));
    let pixel = [
        a & PIXEL,
        (a >> 24) & PIXEL,
        (a >> 48) | ((b & 0xff) << 16),
        (b >> 8) & PIXEL,
        (b >> 32) & PIXEL,
        (b >> 56) | ((c & 0xffff) << 8),
        (c >> 16) & PIXEL,
        c >> 40,
    ];
    let words = [
        pixel[7] | (pixel[6] << 24) | (pixel[5] << 48),
        (pixel[5] >> 16) | (pixel[4] << 8) | (pixel[3] << 32) | (pixel[2] << 56),
        (pixel[2] >> 8) | (pixel[1] << 16) | (pixel[0] << 40),
    ];
    let mut mirrored = [0; 24];
    for (to, word) in mirrored.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    mirrored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pixel_goes_to_the_other_end() {
        for width in 0..70_usize {
            let row: Vec<u8> = (0..width * 3).map(|at| u8::try_from(at).unwrap_or(0)).collect();
            let expected: Vec<u8> = row.rchunks_exact(3).flatten().copied().collect();
            let mut made = vec![255; row.len()];
            mirror(&row, &mut made);
            assert_eq!(made, expected, "{width} pixels");
        }
    }
}
