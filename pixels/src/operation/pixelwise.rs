//! Loops over pixels, in blocks whose channels lie apart, so that a CPU calculates several pixels at once.

use super::tables::{Tables, looked_up};
use crate::vector::{self, VectorLoop};

/// Pixels of a block.
const BLOCK: usize = 64;

/// Red, green and blue, from 0 to 255.
pub(super) type Rgb = [i32; 3];

/// What becomes of each pixel. The method must be inlined.
pub(super) trait PixelMap: Copy {
    /// The new pixel; only the lowest 8 bits count.
    fn map(self, rgb: Rgb) -> Rgb;
}

/// A number that is wanted of each pixel. The method must be inlined.
pub(super) trait PixelNumber: Copy {
    /// From 0 to 255.
    fn number(self, rgb: Rgb) -> i32;
}

struct EachPixel<'a, M> {
    pixels: &'a mut [[u8; 3]],
    tables: Option<&'a Tables>,
    map: M,
}

struct Summing<'a, N> {
    pixels: &'a [[u8; 3]],
    tables: Option<&'a Tables>,
    number: N,
    sum: &'a mut u64,
}

/// The channels of a block.
type Planes = [[i32; BLOCK]; 3];

/// Replaces each pixel, after its values were looked up in tables.
pub(super) fn each(pixels: &mut [[u8; 3]], tables: Option<&Tables>, map: impl PixelMap) {
    vector::run(EachPixel { pixels, tables, map });
}

/// The sum of a number of each pixel, as tables would change it.
pub(super) fn sum(pixels: &[[u8; 3]], tables: Option<&Tables>, number: impl PixelNumber) -> u64 {
    let mut sum = 0;
    vector::run(Summing { pixels, tables, number, sum: &mut sum });
    sum
}

impl<M: PixelMap> VectorLoop for EachPixel<'_, M> {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the lowest 8 bits are wanted")]
    #[expect(clippy::needless_range_loop, reason = "the number of a pixel in all three channels")]
    fn run(self) {
        let Self { pixels, tables, map } = self;
        let (blocks, rest) = pixels.as_chunks_mut::<BLOCK>();
        for block in blocks {
            let mut planes = apart(block, tables);
            for at in 0..BLOCK {
                let rgb = map.map([planes[0][at], planes[1][at], planes[2][at]]);
                (planes[0][at], planes[1][at], planes[2][at]) = (rgb[0], rgb[1], rgb[2]);
            }
            for (at, pixel) in block.iter_mut().enumerate() {
                *pixel = [planes[0][at] as u8, planes[1][at] as u8, planes[2][at] as u8];
            }
        }
        for pixel in rest {
            let [red, green, blue] = map.map(whole(*pixel, tables));
            *pixel = [red as u8, green as u8, blue as u8];
        }
    }
}

impl<N: PixelNumber> VectorLoop for Summing<'_, N> {
    #[inline(always)]
    #[expect(clippy::cast_sign_loss, reason = "numbers are not below 0")]
    #[expect(clippy::needless_range_loop, reason = "the number of a pixel in all three channels")]
    fn run(self) {
        let Self { pixels, tables, number, sum } = self;
        let (blocks, rest) = pixels.as_chunks::<BLOCK>();
        for block in blocks {
            let planes = apart(block, tables);
            let mut total = 0;
            for at in 0..BLOCK {
                total += number.number([planes[0][at], planes[1][at], planes[2][at]]);
            }
            *sum += total as u64;
        }
        for pixel in rest {
            *sum += number.number(whole(*pixel, tables)) as u64;
        }
    }
}

#[inline(always)]
fn apart(block: &[[u8; 3]; BLOCK], tables: Option<&Tables>) -> Planes {
    let mut block = *block;
    if let Some(tables) = tables {
        for pixel in &mut block {
            *pixel = looked_up(tables, *pixel);
        }
    }
    let mut planes = [[0; BLOCK]; 3];
    for (at, [red, green, blue]) in block.iter().enumerate() {
        planes[0][at] = i32::from(*red);
        planes[1][at] = i32::from(*green);
        planes[2][at] = i32::from(*blue);
    }
    planes
}

#[inline(always)]
fn whole(pixel: [u8; 3], tables: Option<&Tables>) -> Rgb {
    let [red, green, blue] = tables.map_or(pixel, |tables| looked_up(tables, pixel));
    [i32::from(red), i32::from(green), i32::from(blue)]
}
