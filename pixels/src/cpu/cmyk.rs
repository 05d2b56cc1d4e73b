//! CMYK to RGB, as Pillow does it. Of a JPEG, values are taken as stored inverted, whatever the Adobe marker says.

/// Converts `cmyk`, four bytes a pixel, to `rgb`, three bytes a pixel.
pub(super) fn to_rgb(cmyk: &[u8], rgb: &mut [u8]) {
    for (inks, rgb) in cmyk.as_chunks::<4>().0.iter().zip(rgb.as_chunks_mut::<3>().0) {
        *rgb = pixel(*inks);
    }
}

/// The colour of inverted inks.
pub(super) fn pixel([c, m, y, k]: [u8; 4]) -> [u8; 3] {
    [c, m, y].map(|ink| k - product(255 - ink, k))
}

/// `a * b / 255`, rounded.
fn product(a: u8, b: u8) -> u8 {
    let product = u32::from(a) * u32::from(b) + 128;
    u8::try_from(((product >> 8) + product) >> 8).unwrap_or(u8::MAX)
}
