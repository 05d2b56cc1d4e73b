//! Hue, saturation and value in 8 bits, as Pillow has them, and the way back to red, green and blue.
//!
//! Pillow calculates partly in double precision. Here all is in single precision or in whole numbers, which CPUs do for many
//! pixels at once. The tests compare it with Pillow's way for every input there is.

use super::blend::{byte, float};
use super::pixelwise::{PixelMap, Rgb};

/// What Pillow's saturation and the parts of a sixth of the circle are counted in, as a product.
const WHOLE: i32 = 255 * 255;

/// Red, green and blue become hue, saturation and value.
#[derive(Clone, Copy)]
pub(super) struct ToHsv;

/// Hue, saturation and value become red, green and blue.
#[derive(Clone, Copy)]
pub(super) struct FromHsv;

/// The hue is turned by a part of 256 of the circle.
#[derive(Clone, Copy)]
pub(super) struct TurnedHue(pub(super) u8);

impl PixelMap for ToHsv {
    #[inline(always)]
    fn map(self, rgb: Rgb) -> Rgb {
        hsv(rgb)
    }
}

impl PixelMap for FromHsv {
    #[inline(always)]
    fn map(self, hsv: Rgb) -> Rgb {
        rgb(hsv)
    }
}

impl PixelMap for TurnedHue {
    #[inline(always)]
    fn map(self, colour: Rgb) -> Rgb {
        let [hue, saturation, value] = hsv(colour);
        rgb([(hue + i32::from(self.0)) & 255, saturation, value])
    }
}

/// Hue, saturation and value, cut off below the point.
#[inline(always)]
fn hsv([red, green, blue]: Rgb) -> Rgb {
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    let range = most - least;
    // How far the value between them is from the highest one, as a part of the range. The highest lacks nothing, the lowest all.
    let lack = float(2 * most + least - red - green - blue) / float(range);
    let (is_red, is_green) = (red == most, green == most);
    let of_red = if blue <= green { 1.0 - lack } else { lack - 1.0 };
    let of_green = if blue <= red { 1.0 + lack } else { 3.0 - lack };
    let of_blue = if red <= green { 3.0 + lack } else { 5.0 - lack };
    let sixths = if is_red {
        of_red
    } else if is_green {
        of_green
    } else {
        of_blue
    };
    let turn = sixths / 6.0;
    let turn = if turn < 0.0 { turn + 1.0 } else { turn };
    let saturation = float(range) / float(most);
    let (hue, saturation) = (byte(turn * 255.0), byte(saturation * 255.0));
    if range == 0 { [0, 0, most] } else { [hue, saturation, most] }
}

/// Red, green and blue, rounded.
#[inline(always)]
fn rgb([hue, saturation, value]: Rgb) -> Rgb {
    // The last hue of all is the first one again, and 255 parts are a sixth.
    let sixths = if hue < 255 { hue * 6 } else { 0 };
    let sector = sixths / 255;
    let part = sixths - sector * 255;
    let low = part_of(value, WHOLE - saturation * 255);
    let falling = part_of(value, WHOLE - saturation * part);
    let rising = part_of(value, WHOLE - saturation * (255 - part));
    by_sector(sector, [value, rising, falling, low])
}

/// The product of a value and a part of [`WHOLE`], rounded. The exact product fits into single precision.
#[inline(always)]
fn part_of(value: i32, part: i32) -> i32 {
    byte(float(value * part) * (1.0 / float(WHOLE)) + 0.5)
}

/// Red, green and blue in a sixth of the circle, from the highest value, those that rise and fall there, and the lowest one. The
/// comparisons are such that a compiler does not make a jump table of them, which vectors do not have.
#[inline(always)]
pub(super) fn by_sector<T: Copy>(sector: i32, [most, rising, falling, low]: [T; 4]) -> [T; 3] {
    let up_to = |last: i32, within: T, beyond: T| if sector <= last { within } else { beyond };
    [
        up_to(0, most, up_to(1, falling, up_to(3, low, up_to(4, rising, most)))),
        up_to(0, rising, up_to(2, most, up_to(3, falling, low))),
        up_to(1, low, up_to(2, rising, up_to(4, most, falling))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hue and saturation with Pillow's precisions, step by step.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "as Pillow calculates")]
    fn of_pillow([red, green, blue]: Rgb) -> Rgb {
        let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
        if most == least {
            return [0, 0, most];
        }
        let lack = |value: i32| f64::from((most - value) as f32 / (most - least) as f32);
        let hue = if red == most {
            (lack(blue) as f32 - lack(green) as f32).into()
        } else if green == most {
            2.0 + lack(red) - lack(blue)
        } else {
            4.0 + lack(green) - lack(red)
        };
        let turn = f64::from(hue as f32) / 6.0 + 1.0;
        let turn = (if turn >= 1.0 { turn - 1.0 } else { turn }) as f32;
        let saturation = f64::from((most - least) as f32 / most as f32);
        [(f64::from(turn) * 255.0) as i32, (saturation * 255.0) as i32, most]
    }

    /// The way back with Pillow's precisions.
    #[expect(clippy::cast_possible_truncation, reason = "as Pillow calculates")]
    fn back_by_pillow([hue, saturation, value]: Rgb) -> Rgb {
        if saturation == 0 {
            return [value; 3];
        }
        let sixths = f64::from(hue) * 6.0 / 255.0;
        let sector = libm::floor(sixths);
        let (part, saturation) = ((sixths - sector) as f32, (f64::from(saturation) / 255.0) as f32);
        let of_value = |lack: f64| (f64::from(value) * (1.0 - lack) + 0.5) as i32;
        let low = of_value(saturation.into());
        let falling = of_value((saturation * part).into());
        let rising = of_value(f64::from(saturation) * (1.0 - f64::from(part)));
        match sector as i32 % 6 {
            0 => [value, rising, low],
            1 => [falling, value, low],
            2 => [low, value, rising],
            3 => [low, falling, value],
            4 => [rising, low, value],
            _ => [value, low, falling],
        }
    }

    /// Hue and saturation depend on the order of the colours and on their distances: the lowest value may be 0 for the hue.
    #[test]
    fn single_precision_gives_pillow_s_hue_and_saturation_of_every_colour() {
        for most in 0..256 {
            for middle in 0..=most {
                for [red, green, blue] in [[2, 1, 0], [2, 0, 1], [1, 2, 0], [0, 2, 1], [1, 0, 2], [0, 1, 2]] {
                    let of = |rank: usize| [0, middle, most][rank];
                    let colour = [of(red), of(green), of(blue)];
                    assert_eq!(hsv(colour), of_pillow(colour), "{colour:?}");
                }
                let two = [most, middle, middle];
                assert_eq!(hsv(two), of_pillow(two), "{two:?}");
            }
        }
    }

    #[test]
    fn whole_numbers_give_pillow_s_colours_of_every_hue_saturation_and_value() {
        for hue in 0..256 {
            for saturation in 0..256 {
                for value in 0..256 {
                    let colour = [hue, saturation, value];
                    assert_eq!(rgb(colour), back_by_pillow(colour), "{colour:?}");
                }
            }
        }
    }
}
