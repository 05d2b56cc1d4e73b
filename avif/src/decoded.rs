//! A decoded picture: its planes, of which 8-bit colours are made where they are wanted.

use crate::calls::{Layout, Planes, Row};
use crate::colour::RowMaker;
use crate::fault::AvifFault;
use crate::matrix::{self, Matrix};
use crate::part::Part;
use crate::properties::Nclx;

/// A decoded picture, in the decoder's memory.
#[derive(Debug)]
pub struct Decoded {
    colour: Planes,
    alpha: Option<Planes>,
    matrix: (Matrix, bool),
    is_multiplied: bool,
}

impl Decoded {
    pub(crate) fn new(
        colour: Planes,
        alpha: Option<Planes>,
        nclx: Option<Nclx>,
        is_multiplied: bool,
    ) -> Result<Self, AvifFault> {
        let matrix = matrix::of(&colour, nclx)?;
        Ok(Self { colour, alpha, matrix, is_multiplied })
    }

    /// Bytes that the decoder has taken at most for the picture and its alpha.
    pub fn memory(&self) -> usize {
        self.colour.memory.max(self.alpha.as_ref().map_or(0, |alpha| alpha.memory))
    }

    /// Makes red, green and blue of a part, row by row. Alpha counts for nothing.
    ///
    /// # Panics
    /// If the part is not in the picture, or `out` has not just the bytes of its pixels.
    pub fn to_rgb(&self, part: Part, out: &mut [u8]) {
        self.check(part, out.len(), 3);
        let mut rows = RowMaker::new(&self.colour, self.matrix, part);
        for (row, out) in out.chunks_exact_mut(part.width as usize * 3).enumerate() {
            let [red, green, blue] = rows.row(row);
            for (out, (red, (green, blue))) in
                out.as_chunks_mut().0.iter_mut().zip(red.iter().zip(green.iter().zip(blue)))
            {
                *out = [byte(*red), byte(*green), byte(*blue)];
            }
        }
    }

    /// Makes red, green, blue and alpha of a part, row by row. Colours are those that are laid over something by their alpha. Without
    /// alpha, all is opaque.
    ///
    /// # Panics
    /// If the part is not in the picture, or `out` has not just the bytes of its pixels.
    pub fn to_rgba(&self, part: Part, out: &mut [u8]) {
        self.check(part, out.len(), 4);
        let mut rows = RowMaker::new(&self.colour, self.matrix, part);
        let mut alpha = vec![u16::MAX; part.width as usize];
        let most = f32::from((1_u16 << self.colour.depth) - 1);
        for (row, out) in out.chunks_exact_mut(part.width as usize * 4).enumerate() {
            if let Some(planes) = &self.alpha {
                alphas(planes, part.top as usize + row, part.left as usize, &mut alpha);
            } else {
                alpha.fill((1 << self.colour.depth) - 1);
            }
            let [red, green, blue] = rows.row(row);
            let colours = red.iter().zip(green.iter().zip(blue));
            for (out, (alpha, (red, (green, blue)))) in out.as_chunks_mut().0.iter_mut().zip(alpha.iter().zip(colours))
            {
                let (colour, alpha) = ([*red, *green, *blue], f32::from(*alpha) / most);
                let [red, green, blue] = match (self.is_multiplied, self.divides_bytes()) {
                    (false, _) => colour.map(byte),
                    (true, true) => colour.map(byte).map(|value| divided_byte(value, byte(alpha))),
                    (true, false) => colour.map(|value| byte(divided(value, alpha))),
                };
                *out = [red, green, blue, byte(alpha)];
            }
        }
    }

    fn check(&self, part: Part, len: usize, channels: usize) {
        assert!(part.is_in(self.colour.size), "the part is in the picture");
        assert_eq!(len, part.area() * channels, "the part fills the buffer");
    }

    /// Whether colours become bytes before they are divided by their alpha: libavif does so where it has a faster way.
    fn divides_bytes(&self) -> bool {
        let Planes { layout, depth, .. } = self.colour;
        match self.matrix {
            (Matrix::Weights { .. }, _) => matches!(layout, Layout::Gray | Layout::Full),
            (Matrix::Identity, is_full_range) => layout == Layout::Full && depth == 8 && is_full_range,
            (Matrix::YCgCo, _) => false,
        }
    }
}

/// The byte of a value from 0 to 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
fn byte(value: f32) -> u8 {
    (0.5 + value * 255.0) as u8
}

fn divided(value: f32, alpha: f32) -> f32 {
    if alpha == 0.0 { 0.0 } else { (value / alpha).min(1.0) }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
fn divided_byte(value: u8, alpha: u8) -> u8 {
    match alpha {
        0 => 0,
        255 => value,
        _ => (f32::from(value) * 255.0 / f32::from(alpha) + 0.5).floor().min(255.0) as u8,
    }
}

/// The alphas of a row, from a column on, in the whole range.
fn alphas(planes: &Planes, row: usize, from: usize, out: &mut [u16]) {
    let most = (1_u16 << planes.depth) - 1;
    let [least, range] = [16_u32, 219].map(|value| value << (planes.depth - 8));
    let whole = |value: u16| {
        let value = value.min(most);
        if planes.is_full_range {
            return value;
        }
        let stretched = (u32::from(value).saturating_sub(least) * u32::from(most) + range / 2) / range;
        u16::try_from(stretched).unwrap_or(most).min(most)
    };
    match planes.row(0, row) {
        Row::Bytes(row) => out.iter_mut().zip(&row[from..]).for_each(|(out, value)| *out = whole((*value).into())),
        Row::Shorts(row) => out.iter_mut().zip(&row[from..]).for_each(|(out, value)| *out = whole(*value)),
    }
}
