//! Other colours: every hue turned by the same angle.

use serde::{Deserialize, Serialize};

use super::blend::{byte, float};
use super::hsv::{TurnedHue, by_sector};
use super::pixelwise::{PixelMap, Rgb};
use super::workpiece::Workpiece;
use crate::matching::Match;

/// torchvision's `adjust_hue`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hue {
    /// Part of a full turn, from -0.5 to 0.5. With Pillow's arithmetic, 0 changes some values too.
    pub hue_factor: f64,
}

impl Hue {
    pub(super) const IS_LOCAL: bool = true;

    pub(super) fn problem(self) -> Option<String> {
        let factor = self.hue_factor;
        (!(-0.5..=0.5).contains(&factor)).then(|| format!("hue_factor is {factor}, but must be from -0.5 to 0.5"))
    }

    /// Pillow's turn, of 256: cut off below the point, and then as the byte that wraps around.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Pillow calculates")]
    pub(super) fn turn(self) -> u8 {
        (self.hue_factor * 255.0) as i32 as u8
    }

    #[expect(clippy::cast_possible_truncation, reason = "torch's factor has single precision")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.hue_factor;
        match work.matched {
            Match::Pillow => work.each_pixel(TurnedHue(self.turn())),
            Match::Torch => work.each_pixel(TorchHue(factor as f32)),
        }
    }
}

/// As torchvision turns the hue of a tensor, by this part of a full turn: in single precision all the way.
#[derive(Clone, Copy)]
struct TorchHue(f32);

impl PixelMap for TorchHue {
    #[inline(always)]
    fn map(self, rgb: Rgb) -> Rgb {
        // What torchvision scales by, so that 1.0 becomes 255 although it cuts off below the point.
        const SCALE: f32 = 255.999;
        let unit = |value: i32| float(value) * (1.0 / 255.0);
        let highest = rgb[0].max(rgb[1]).max(rgb[2]);
        let lowest = rgb[0].min(rgb[1]).min(rgb[2]);
        let most = unit(highest);
        let range = most - unit(lowest);
        let saturation = range / most;
        let lacks = [(most - unit(rgb[0])) / range, (most - unit(rgb[1])) / range, (most - unit(rgb[2])) / range];
        let of_red = lacks[2] - lacks[1];
        let of_green = 2.0 + lacks[0] - lacks[2];
        let of_blue = 4.0 + lacks[1] - lacks[0];
        let sixths = if rgb[0] == highest {
            of_red
        } else if rgb[1] == highest {
            of_green
        } else {
            of_blue
        };
        let hue = sixths * (1.0 / 6.0) + 1.0 + self.0;
        let sixths = (hue - hue.floor()) * 6.0;
        let sixths = if sixths < 6.0 { sixths } else { 0.0 };
        let sector = byte(sixths);
        let part = sixths - float(sector);
        let low = (1.0 - saturation) * most;
        let falling = (1.0 - saturation * part) * most;
        let rising = (1.0 - saturation + saturation * part) * most;
        let [red, green, blue] = by_sector(sector, [most, rising, falling, low]);
        let turned = [byte(red * SCALE), byte(green * SCALE), byte(blue * SCALE)];
        if highest == lowest { rgb } else { turned }
    }
}
