//! Photograph-like pictures out of nothing: for demonstrations, benchmarks and tests, the same on every machine.
//!
//! A picture is a sky-to-ground gradient under noise whose power falls with its frequency as in photographs, with
//! one shape in the middle whose form and colour tell its class, and a little sensor noise over all.

mod jpeg;
mod mask;

pub use jpeg::{JpegColors, JpegForm};
pub use mask::{mask_png, mask_png_of};

/// Number of classes that [`photograph`] can show: five shapes in two colours each.
pub const CLASSES: u64 = COLORS.len() as u64;

/// Colours of the shapes, by class.
const COLORS: [[f32; 3]; 10] = [
    [200.0, 40.0, 40.0],
    [40.0, 160.0, 60.0],
    [50.0, 80.0, 210.0],
    [220.0, 190.0, 40.0],
    [160.0, 60.0, 180.0],
    [30.0, 180.0, 190.0],
    [240.0, 130.0, 30.0],
    [230.0, 230.0, 230.0],
    [40.0, 40.0, 50.0],
    [150.0, 100.0, 60.0],
];

/// Octaves of the noise; each has half the wavelength of the one before.
const OCTAVES: u32 = 7;
/// Strength of an octave relative to the one before.
const FALL: f32 = 0.74;

/// A JPEG of `width` x `height` pixels of the class `index % CLASSES`; each index gives another picture. At 500 x 375 it
/// has about the 100 KB of a photograph of that size.
///
/// # Panics
/// If a side is 0 or above 65,500, which no JPEG can have.
pub fn photograph(index: u64, width: u32, height: u32) -> Vec<u8> {
    // Three of four photographs of ImageNet keep their colours at full resolution.
    let sampling = if index % 4 == 3 { [2, 2] } else { [1, 1] };
    let form = JpegForm { quality: 92, sampling, ..JpegForm::default() };
    form.encode(&photograph_rgb(index, width, height), width, height).expect("sides from 1 to 65,500 can be encoded")
}

/// The pixels of [`photograph`] before they are encoded: packed RGB.
#[expect(clippy::cast_precision_loss, reason = "sides of pictures fit a float")]
pub fn photograph_rgb(index: u64, width: u32, height: u32) -> Vec<u8> {
    let scene = Scene::new(index);
    let unit = 1.0 / width.min(height) as f32;
    let mut rgb = Vec::with_capacity(width as usize * height as usize * 3);
    for y in 0..height {
        for x in 0..width {
            let from_middle = [(x as f32 - width as f32 / 2.0) * unit, (y as f32 - height as f32 / 2.0) * unit];
            rgb.extend(scene.pixel([x, y], from_middle, y as f32 / height as f32));
        }
    }
    rgb
}

/// What one index decides.
struct Scene {
    seed: u64,
    shape: u64,
    color: [f32; 3],
    sky: [f32; 3],
    ground: [f32; 3],
    middle: [f32; 2],
    radius: f32,
}

impl Scene {
    fn new(index: u64) -> Self {
        let class = index % CLASSES;
        let unit = |number| unit(hash(index, number, 0, 0));
        let muted =
            |number| [60.0 + 120.0 * unit(number), 60.0 + 120.0 * unit(number + 1), 60.0 + 120.0 * unit(number + 2)];
        Self {
            seed: index,
            shape: class % 5,
            color: COLORS[usize::try_from(class).expect("there are few classes")],
            sky: muted(10),
            ground: muted(20),
            middle: [0.3 * (unit(1) - 0.5), 0.3 * (unit(2) - 0.5)],
            radius: 0.2 + 0.2 * unit(3),
        }
    }

    /// Red, green, blue at pixel `at`, which is `from_middle` shorter sides from the middle and `depth` of the height down.
    fn pixel(&self, at: [u32; 2], from_middle: [f32; 2], depth: f32) -> [u8; 3] {
        let texture = self.texture(at);
        let inside = self.inside(from_middle);
        std::array::from_fn(|channel| {
            let back = self.sky[channel] + (self.ground[channel] - self.sky[channel]) * depth + 120.0 * texture;
            let front = self.color[channel] + 70.0 * texture;
            let grain = unit(hash(self.seed, u64::from(at[0]), u64::from(at[1]), 100 + channel as u64)) - 0.5;
            to_byte(back + (front - back) * inside + 16.0 * grain)
        })
    }

    /// Noise around 0 whose power falls with its frequency.
    #[expect(clippy::cast_precision_loss, reason = "a part of a lattice cell is a small number")]
    fn texture(&self, [x, y]: [u32; 2]) -> f32 {
        let mut sum = 0.0;
        let mut strength = 1.0;
        for octave in 0..OCTAVES {
            let cell = 1 << (OCTAVES - octave);
            let (left, top) = (x / cell, y / cell);
            let (right, down) = (smooth((x % cell) as f32 / cell as f32), smooth((y % cell) as f32 / cell as f32));
            let knot =
                |i, j| unit(hash(self.seed, u64::from(left + i), u64::from(top + j), u64::from(octave) + 1)) - 0.5;
            let above = knot(0, 0) + (knot(1, 0) - knot(0, 0)) * right;
            let below = knot(0, 1) + (knot(1, 1) - knot(0, 1)) * right;
            sum += strength * (above + (below - above) * down);
            strength *= FALL;
        }
        sum
    }

    /// 1 inside the shape, 0 outside, with a soft edge.
    fn inside(&self, from_middle: [f32; 2]) -> f32 {
        let x = (from_middle[0] - self.middle[0]) / self.radius;
        let y = (from_middle[1] - self.middle[1]) / self.radius;
        let round = (x * x + y * y).sqrt();
        let distance = match self.shape {
            0 => round - 1.0,
            1 => x.abs().max(y.abs()) - 0.85,
            2 => (y - 0.7).max(1.8 * x.abs() - y - 0.9),
            3 => (round - 0.75).abs() - 0.25,
            _ => x.abs().min(y.abs()).max(x.abs().max(y.abs()) - 0.7) - 0.3,
        };
        (0.5 - distance * 30.0).clamp(0.0, 1.0)
    }
}

fn hash(seed: u64, x: u64, y: u64, layer: u64) -> u64 {
    let mut z =
        seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (x << 40 | y << 16 | layer).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z = (z ^ (z >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    z ^ (z >> 32)
}

/// The upper bits as a number in [0, 1).
#[expect(clippy::cast_precision_loss, reason = "24 bits fit a float exactly")]
fn unit(hash: u64) -> f32 {
    (hash >> 40) as f32 / (1u32 << 24) as f32
}

fn smooth(part: f32) -> f32 {
    part * part * (3.0 - 2.0 * part)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "such casts saturate, which is meant")]
fn to_byte(value: f32) -> u8 {
    value.round() as u8
}
