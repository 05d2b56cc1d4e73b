//! Other colours: every hue turned by the same angle.

use serde::{Deserialize, Serialize};

use super::hsv::{Sectors, hsv};
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

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as the references calculate")]
    pub(super) fn carry_out(self, work: &mut Workpiece<'_>) {
        let factor = self.hue_factor;
        match work.matched {
            Match::Pillow => {
                // Truncated, and then as the byte that wraps around.
                let turn = (factor * 255.0) as i32 as u8;
                let sectors = Sectors::new();
                work.each_pixel(|rgb| {
                    let [hue, saturation, value] = hsv(rgb);
                    sectors.rgb([hue.wrapping_add(turn), saturation, value])
                });
            }
            Match::Torch => work.each_pixel(|rgb| turned(rgb, factor as f32)),
        }
    }
}

/// As torchvision turns the hue of a tensor: in single precision all the way.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn turned(rgb: [u8; 3], factor: f32) -> [u8; 3] {
    // What torchvision scales by, so that 1.0 becomes 255 although it cuts off below the point.
    const SCALE: f32 = 255.999;
    let highest = rgb[0].max(rgb[1]).max(rgb[2]);
    if rgb == [highest; 3] {
        return rgb;
    }
    let unit = |value: u8| f32::from(value) * (1.0 / 255.0);
    let ([red, green, blue], most) = (rgb.map(unit), unit(highest));
    let range = most - red.min(green).min(blue);
    let saturation = range / most;
    let lack = |value: f32| (most - value) / range;
    let sixths = if rgb[0] == highest {
        lack(blue) - lack(green)
    } else if rgb[1] == highest {
        2.0 + lack(red) - lack(blue)
    } else {
        4.0 + lack(green) - lack(red)
    };
    let hue = sixths * (1.0 / 6.0) + 1.0 + factor;
    let sixths = (hue - hue.floor()) * 6.0;
    let sector = sixths.floor();
    let part = sixths - sector;
    let low = (1.0 - saturation) * most;
    let falling = (1.0 - saturation * part) * most;
    let rising = (1.0 - saturation + saturation * part) * most;
    let turned = match sector as u8 % 6 {
        0 => [most, rising, low],
        1 => [falling, most, low],
        2 => [low, most, rising],
        3 => [low, falling, most],
        4 => [rising, low, most],
        _ => [most, low, falling],
    };
    turned.map(|value| (value * SCALE) as u8)
}
