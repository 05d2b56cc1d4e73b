//! Colour conversion in plain Rust. Planes of a few pixels are made first, with products of 16 bits that the compiler finds
//! instructions for, and laid side by side after that.

/// Pixels that are made at once.
const SPAN: usize = 32;

pub(super) fn ycc(luma: &[u8], cb: &[u8], cr: &[u8], out: &mut [[u8; 3]]) {
    let spans = luma.chunks(SPAN).zip(cb.chunks(SPAN)).zip(cr.chunks(SPAN)).zip(out.chunks_mut(SPAN));
    for (((luma, cb), cr), out) in spans {
        let mut planes = [[0; SPAN]; 3];
        let [red, green, blue] = &mut planes;
        for ((((&luma, &cb), &cr), red), (green, blue)) in
            luma.iter().zip(cb).zip(cr).zip(red).zip(green.iter_mut().zip(blue))
        {
            [*red, *green, *blue] = pixel(luma, cb, cr);
        }
        let [red, green, blue] = &planes;
        for ((out, &red), (&green, &blue)) in out.iter_mut().zip(red).zip(green.iter().zip(blue)) {
            *out = [red, green, blue];
        }
    }
}

pub(super) fn gray(luma: &[u8], out: &mut [[u8; 3]]) {
    for (out, &luma) in out.iter_mut().zip(luma) {
        *out = [luma; 3];
    }
}

/// Twice the differences from 128 are taken, so that all factors are below 2^15 and products are shifted by 16.
#[inline]
fn pixel(luma: u8, cb: u8, cr: u8) -> [u8; 3] {
    let luma = i16::from(luma);
    let (cb, cr) = (i16::from(cb) * 2 - 256, i16::from(cr) * 2 - 256);
    // 0.402, -0.228, and for green the whole sum with one rounding.
    let red = luma + (cr >> 1) + half(product(cr, 26345));
    let blue = luma + cb + half(product(cb, -14942));
    let green = luma + ((i32::from(cb) * -11277 + i32::from(cr) * -23401 + 32768) >> 16) as i16;
    [red, green, blue].map(sample)
}

/// The upper 16 bits.
#[inline]
fn product(left: i16, right: i16) -> i16 {
    ((i32::from(left) * i32::from(right)) >> 16) as i16
}

/// Halved, halves upward.
#[inline]
fn half(value: i16) -> i16 {
    (value + 1) >> 1
}

#[inline]
fn sample(value: i16) -> u8 {
    value.clamp(0, 255).to_le_bytes()[0]
}
