//! What a decoder's values mean, and pixels made of them.

use image::ColorType;

use crate::background::Background;
use crate::cpu::cmyk;
use crate::cpu::pixel_kind::PixelKind;
use crate::fault::Fault;

/// Index of the upper byte of a native-endian 16-bit value.
const UPPER: usize = if cfg!(target_endian = "little") { 1 } else { 0 };

/// The colours of a picture with 8 bits per pixel.
pub(in crate::cpu) type Palette = [[u8; 3]; 256];

/// What values mean beside what the decoder says of them.
#[derive(Clone, Debug, Default)]
pub(in crate::cpu) enum Colours {
    /// Nothing.
    #[default]
    AsDecoded,
    /// Gray values are indices into this.
    Palette(Box<Palette>),
    /// Colours are multiplied by alpha already.
    Premultiplied,
    /// Four channels are the four inks.
    Inks,
    /// The fourth channel says nothing of the colour.
    FirstThree,
    /// This is where there is nothing: alpha is 0 there, and nowhere else.
    Behind([u8; 3]),
    /// Values were stretched from this greatest one, in another way than Pillow does it.
    Stretched(u16),
    /// Channels with these numbers of bits, which were stretched in another way than Pillow's.
    Bits([u8; 3]),
}

impl Colours {
    /// Whether the fourth channel of four is alpha.
    pub(super) fn has_alpha(&self) -> bool {
        matches!(self, Self::AsDecoded | Self::Premultiplied)
    }

    /// Makes pixels of this kind of what a decoder gave.
    ///
    /// # Errors
    /// [`Fault::Unsupported`] for values that are not taken.
    pub(in crate::cpu) fn to_pixels(
        &self,
        color: ColorType,
        raw: &[u8],
        kind: PixelKind,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        let upper = |p: [u8; 8]| [p[UPPER], p[2 + UPPER], p[4 + UPPER], p[6 + UPPER]];
        let mut to = Pixels { raw, kind, out };
        match (self, color) {
            (Self::Palette(palette), ColorType::L8) => to.opaque(|[index]| palette[usize::from(index)]),
            (Self::Premultiplied, ColorType::Rgba8) => to.with_alpha(divided),
            (Self::Premultiplied, ColorType::Rgba16) => to.with_alpha(|p| divided(upper(p))),
            (Self::Inks, ColorType::Rgba8) => to.opaque(|inks: [u8; 4]| cmyk::pixel(inks.map(|ink| 255 - ink))),
            (Self::Inks, ColorType::Rgba16) => to.opaque(|p| cmyk::pixel(upper(p).map(|ink| 255 - ink))),
            (Self::FirstThree, ColorType::Rgba8) => to.opaque(|[r, g, b, _]: [u8; 4]| [r, g, b]),
            (Self::FirstThree, ColorType::Rgba16) => {
                to.opaque(|p| upper(p).first_chunk().copied().unwrap_or_default());
            }
            (Self::Behind(colour), ColorType::Rgba8) => {
                to.opaque(|[r, g, b, a]| if a == 0 { *colour } else { [r, g, b] });
            }
            (Self::Stretched(most), ColorType::L8) => {
                let table = stretches::<256>(*most);
                to.opaque(|[l]| [table[usize::from(l)]; 3]);
            }
            (Self::Stretched(most), ColorType::Rgb8) => {
                let table = stretches::<256>(*most);
                to.opaque(|rgb: [u8; 3]| rgb.map(|value| table[usize::from(value)]));
            }
            (Self::Stretched(most), ColorType::Rgb16) => {
                let table = stretches::<65536>(*most);
                let value = |pair: [u8; 2]| table[usize::from(pair[UPPER]) * 256 + usize::from(pair[1 - UPPER])];
                to.opaque(|p: [u8; 6]| [value([p[0], p[1]]), value([p[2], p[3]]), value([p[4], p[5]])]);
            }
            (Self::Bits(bits), ColorType::Rgb8) => {
                let tables = bits.map(widths);
                to.opaque(|rgb: [u8; 3]| std::array::from_fn(|i| tables[i][usize::from(rgb[i])]));
            }
            _ => to.plain(color)?,
        }
        Ok(())
    }
}

/// What a decoder gave, and the pixels that are made of it.
struct Pixels<'a> {
    raw: &'a [u8],
    kind: PixelKind,
    out: &'a mut [u8],
}

impl Pixels<'_> {
    fn plain(&mut self, color: ColorType) -> Result<(), Fault> {
        match color {
            ColorType::L8 => self.opaque(|[l]| [l; 3]),
            ColorType::La8 => self.with_alpha(|[l, a]| [l, l, l, a]),
            ColorType::Rgb8 => self.opaque(|rgb| rgb),
            ColorType::Rgba8 => self.with_alpha(|rgba| rgba),
            ColorType::L16 => self.opaque(|l: [u8; 2]| [l[UPPER]; 3]),
            ColorType::La16 => {
                self.with_alpha(|p: [u8; 4]| [p[UPPER], p[UPPER], p[UPPER], p[2 + UPPER]]);
            }
            ColorType::Rgb16 => self.opaque(|p: [u8; 6]| [p[UPPER], p[2 + UPPER], p[4 + UPPER]]),
            ColorType::Rgba16 => {
                self.with_alpha(|p: [u8; 8]| [p[UPPER], p[2 + UPPER], p[4 + UPPER], p[6 + UPPER]]);
            }
            other => return Err(Fault::Unsupported { kind: format!("picture of colour type {other:?}") }),
        }
        Ok(())
    }

    /// Of colours without alpha.
    fn opaque<const N: usize>(&mut self, colour: impl Fn([u8; N]) -> [u8; 3]) {
        match self.kind {
            PixelKind::Rgb(_) => self.each(colour),
            PixelKind::Rgba => self.each(|p| {
                let [r, g, b] = colour(p);
                [r, g, b, u8::MAX]
            }),
        }
    }

    /// Of colours with alpha.
    fn with_alpha<const N: usize>(&mut self, rgba: impl Fn([u8; N]) -> [u8; 4]) {
        match self.kind {
            PixelKind::Rgb(background) => self.each(|p| {
                let [r, g, b, a] = rgba(p);
                background.under([r, g, b], a)
            }),
            PixelKind::Rgba => self.each(rgba),
        }
    }

    fn each<const N: usize, const M: usize>(&mut self, pixel: impl Fn([u8; N]) -> [u8; M]) {
        for (out, raw) in self.out.as_chunks_mut::<M>().0.iter_mut().zip(self.raw.as_chunks::<N>().0) {
            *out = pixel(*raw);
        }
    }
}

/// Lays RGB with alpha, packed, on a background.
pub(in crate::cpu) fn blend_all(rgba: &[u8], background: Background, rgb: &mut [u8]) {
    Pixels { raw: rgba, kind: PixelKind::Rgb(background), out: rgb }.with_alpha(|rgba| rgba);
}

/// A colour that was multiplied by its alpha, divided by it as Pillow does it.
fn divided([r, g, b, alpha]: [u8; 4]) -> [u8; 4] {
    let divided = |value: u8| (u32::from(value) * 255).checked_div(alpha.into()).unwrap_or(0).min(255);
    let [r, g, b] = [r, g, b].map(|value| u8::try_from(divided(value)).unwrap_or(u8::MAX));
    [r, g, b, alpha]
}

/// By value that was stretched to the whole range from this greatest one: what Pillow stretches to 8 bits.
fn stretches<const N: usize>(most: u16) -> Vec<u8> {
    let (most, range) = (f64::from(most), f64::from(u32::try_from(N - 1).unwrap_or(u32::MAX)));
    let stretch = |value: u32| (f64::from(value) * most / range).round() / most * 255.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 255")]
    (0..N).map(|value| stretch(u32::try_from(value).unwrap_or(0)).round_ties_even().min(255.0) as u8).collect()
}

/// By value whose upper bits alone were in the file: what Pillow makes of these bits.
fn widths(bits: u8) -> ByteValues {
    let most = (1_u32 << bits.clamp(1, 8)) - 1;
    std::array::from_fn(|value| {
        let stored = u32::try_from(value).unwrap_or(0) >> (8 - bits.clamp(1, 8));
        u8::try_from(stored * 255 / most).unwrap_or(u8::MAX)
    })
}

/// A channel's values.
type ByteValues = [u8; 256];
