//! Hue, saturation and value, and the way back to red, green and blue.

/// Hue, saturation and value in 8 bits, as Pillow converts them: in single precision, but for the hue's last steps, and cut off
/// below the point.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "parts of 255 from 0 to 1")]
pub(super) fn hsv([red, green, blue]: [u8; 3]) -> [u8; 3] {
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
pub(super) struct Sectors([(u8, f32); 256]);

impl Sectors {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 6, and a part of 1")]
    pub(super) fn new() -> Self {
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
    pub(super) fn rgb(&self, [hue, saturation, value]: [u8; 3]) -> [u8; 3] {
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
