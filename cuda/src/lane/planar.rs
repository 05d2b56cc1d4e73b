//! From planes on the host to RGB, as libjpeg does it: chroma upsampled by triangles ("fancy"), then the JFIF colours in its
//! fixed point. What a GPU's kernel will do is checked against this.

use forebay_pixels::{Rect, Sampling};

use crate::frame::{Plane, Surface};

/// A decoded picture's planes, in memory of the host.
#[derive(Clone, Copy, Debug)]
pub struct Planar<'a> {
    surface: Surface,
    bytes: &'a [u8],
}

/// How a sample between two is rounded: added in even columns, added in odd ones, bits that are dropped.
type Rounding = [u32; 3];
const ACROSS: Rounding = [1, 2, 2];
const ACROSS_AND_DOWN: Rounding = [8, 7, 4];

impl<'a> Planar<'a> {
    /// The planes of a surface; `bytes` begin with its first one.
    ///
    /// # Panics
    /// If there are fewer bytes than the surface has.
    pub fn new(surface: Surface, bytes: &'a [u8]) -> Self {
        Self { surface, bytes: &bytes[..surface.bytes()] }
    }

    /// The picture's width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        (self.surface.frame().width, self.surface.frame().height)
    }

    /// Writes a part of the picture as packed RGB.
    ///
    /// # Panics
    /// If the part is not in the picture, or `out` has not 3 bytes for each of its pixels.
    pub fn rgb(&self, part: Rect, out: &mut [u8]) {
        let Rect { left, top, width, height } = part;
        assert_eq!(out.len(), width as usize * height as usize * 3, "the part fills the buffer");
        let (left, width) = (left as usize, width as usize);
        let mut chroma = [vec![0; width], vec![0; width]];
        for (row, out) in (top as usize..).zip(out.chunks_exact_mut(width * 3)) {
            let luma = &self.row(0, row)[left..][..width];
            let pixels = out.as_chunks_mut::<3>().0.iter_mut().zip(luma);
            if self.surface.frame().sampling == Sampling::Gray {
                pixels.for_each(|(pixel, y)| *pixel = [*y; 3]);
                continue;
            }
            for (number, chroma) in chroma.iter_mut().enumerate() {
                self.chroma_row(number + 1, row, left, chroma);
            }
            for (((pixel, y), cb), cr) in pixels.zip(&chroma[0]).zip(&chroma[1]) {
                *pixel = colour(*y, *cb, *cr);
            }
        }
    }

    /// A row of colour differences at the picture's resolution, from column `left` on.
    fn chroma_row(&self, number: usize, row: usize, left: usize, out: &mut [u8]) {
        let plane = self.plane(number);
        // libjpeg has no triangle across planes of two columns or fewer.
        let wide = plane.width > 2;
        match self.surface.frame().sampling {
            Sampling::Gray => {}
            Sampling::S444 => out.copy_from_slice(&self.row(number, row)[left..][..out.len()]),
            Sampling::S422 if wide => {
                let near = self.row(number, row);
                across(left, plane.width, |x| u32::from(near[x]), ACROSS, out);
            }
            Sampling::S420 if wide => {
                let (near, far) = self.near_and_far(number, row);
                across(left, plane.width, |x| 3 * u32::from(near[x]) + u32::from(far[x]), ACROSS_AND_DOWN, out);
            }
            Sampling::S440 => {
                let (near, far) = self.near_and_far(number, row);
                let rounding = if row.is_multiple_of(2) { 1 } else { 2 };
                for ((near, far), out) in near.iter().zip(far).skip(left).zip(out) {
                    *out = byte((3 * u32::from(*near) + u32::from(*far) + rounding) >> 2);
                }
            }
            sampling @ (Sampling::S422 | Sampling::S420 | Sampling::S411) => {
                let (across, down) = sampling.factors();
                let near = self.row(number, row / down as usize);
                for (x, out) in (left..).zip(out) {
                    *out = near[x / across as usize];
                }
            }
        }
    }

    /// The row of a half-high plane in which a picture's row lies, and the nearest other one; at the edges the same.
    fn near_and_far(&self, number: usize, row: usize) -> (&'a [u8], &'a [u8]) {
        let (near, last) = (row / 2, self.plane(number).height - 1);
        let far = if row.is_multiple_of(2) { near.saturating_sub(1) } else { (near + 1).min(last) };
        (self.row(number, near), self.row(number, far))
    }

    fn row(&self, number: usize, row: usize) -> &'a [u8] {
        let plane = self.plane(number);
        &self.bytes[plane.offset + row * plane.pitch..][..plane.width]
    }

    fn plane(&self, number: usize) -> Plane {
        self.surface.planes()[number]
    }
}

/// A row from column `left` on, made of one half as wide with `len` samples: three parts of the nearer sample and one of
/// the other; the first and the last column have no other.
fn across(left: usize, len: usize, sample: impl Fn(usize) -> u32, [even, odd, shift]: Rounding, out: &mut [u8]) {
    for (x, out) in (left..).zip(out) {
        let near = x / 2;
        let (other, bias) =
            if x.is_multiple_of(2) { (near.saturating_sub(1), even) } else { ((near + 1).min(len - 1), odd) };
        *out = byte((3 * sample(near) + sample(other) + bias) >> shift);
    }
}

/// JFIF's colours in libjpeg's fixed point of 16 bits.
fn colour(y: u8, cb: u8, cr: u8) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let (y, cb, cr) = (i32::from(y), i32::from(cb) - 128, i32::from(cr) - 128);
    #[expect(clippy::cast_sign_loss, reason = "clamped to a byte")]
    let clamp = |value: i32| value.clamp(0, 255) as u8;
    [
        clamp(y + ((91_881 * cr + HALF) >> 16)),
        clamp(y + ((-22_554 * cb - 46_802 * cr + HALF) >> 16)),
        clamp(y + ((116_130 * cb + HALF) >> 16)),
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "a mean of bytes is a byte")]
fn byte(mean: u32) -> u8 {
    mean as u8
}
