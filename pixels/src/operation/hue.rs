//! Other colours: every hue turned by the same angle.

use serde::{Deserialize, Serialize};

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

/// Hue, saturation and value in 8 bits, as Pillow converts them: in single precision, but for the hue's last steps, and cut off
/// below the point.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts of 255 from 0 to 1")]
fn hsv([red, green, blue]: [u8; 3]) -> [u8; 3] {
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    if most == least {
        return [0, 0, most];
    }
    let range = f32::from(most - least);
    let saturation = range / f32::from(most);
    let lack = |value: u8| f32::from(most - value) / range;
    let hue = if red == most {
        lack(blue) - lack(green)
    } else if green == most {
        (2.0 + f64::from(lack(red)) - f64::from(lack(blue))) as f32
    } else {
        (4.0 + f64::from(lack(green)) - f64::from(lack(red))) as f32
    };
    let turn = f64::from(hue) / 6.0 + 1.0;
    // From 5/6 to 11/6, of which the part behind the point is exact.
    let turn = (if turn >= 1.0 { turn - 1.0 } else { turn }) as f32;
    [(f64::from(turn) * 255.0) as u8, (f64::from(saturation) * 255.0) as u8, most]
}

/// For each hue of 8 bits, the sixth of the circle that it lies in, and where there.
struct Sectors([(u8, f32); 256]);

impl Sectors {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 6, and a part of 1")]
    fn new() -> Self {
        let mut sectors = [(0, 0.0); 256];
        for (hue, sector) in (0_u8..=255).zip(&mut sectors) {
            let sixths = f64::from(f32::from(hue)) * 6.0 / 255.0;
            let whole = libm::floor(sixths);
            *sector = (whole as u8 % 6, (sixths - whole) as f32);
        }
        Self(sectors)
    }

    /// Pillow's way back, in double precision, rounded.
    #[expect(clippy::cast_possible_truncation, reason = "Pillow's saturation has single precision")]
    fn rgb(&self, [hue, saturation, value]: [u8; 3]) -> [u8; 3] {
        if saturation == 0 {
            return [value; 3];
        }
        let (sector, part) = self.0[usize::from(hue)];
        let saturation = (f64::from(saturation) / 255.0) as f32;
        let of_value = |lack: f64| rounded(f64::from(value) * (1.0 - lack));
        let low = of_value(saturation.into());
        let falling = of_value((saturation * part).into());
        let rising = of_value(f64::from(saturation) * (1.0 - f64::from(part)));
        match sector {
            0 => [value, rising, low],
            1 => [falling, value, low],
            2 => [low, value, rising],
            3 => [low, falling, value],
            4 => [rising, low, value],
            _ => [value, low, falling],
        }
    }
}

/// From 0 to 255, halves up.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn rounded(value: f64) -> u8 {
    (value + 0.5) as u8
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
