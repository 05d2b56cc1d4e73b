//! TIFF pictures that the `image` crate does not take, or takes for others. They are read as something that it takes, from a copy
//! of the file with a few other bytes, and [`Colours`] has what their values mean.

use std::borrow::Cow;

use super::colours::{Colours, Palette};
use crate::directory::{Directory, Field, SHORT};
use crate::fault::Fault;

/// Tags of TIFF 6.0, section 8.
const BITS_PER_SAMPLE: u16 = 258;
const COMPRESSION: u16 = 259;
const PHOTOMETRIC_INTERPRETATION: u16 = 262;
const FILL_ORDER: u16 = 266;
const SAMPLES_PER_PIXEL: u16 = 277;
const PLANAR_CONFIGURATION: u16 = 284;
const PREDICTOR: u16 = 317;
const COLOR_MAP: u16 = 320;
const EXTRA_SAMPLES: u16 = 338;
/// Offsets and lengths of strips, and of tiles.
const DATA: [[u16; 2]; 2] = [[273, 279], [324, 325]];

/// Values of the photometric interpretation.
const BLACK_IS_ZERO: u16 = 1;
const RGB: u16 = 2;
const PALETTE_COLOR: u16 = 3;
const SEPARATED: u16 = 5;

/// A value of the predictor.
const NO_DIFFERENCES: u16 = 1;

/// A value of the extra samples.
const UNASSOCIATED_ALPHA: u16 = 2;

/// Compressions before which the values may have become differences: LZW, both numbers of deflate, LZMA and Zstandard. With
/// any other one, libtiff and so Pillow take the values as they are, whatever the field says, and the decoder does not.
const OF_DIFFERENCES: [f64; 5] = [5.0, 8.0, 32946.0, 34925.0, 50000.0];

/// JPEG as a compression: the old way and the new one. Their bits have one order.
const JPEG: [f64; 2] = [6.0, 7.0];

/// [`prepared`], of a file that may be a copy.
pub(super) fn prepared_page(file: Cow<'_, [u8]>) -> Result<(Cow<'_, [u8]>, Colours), Fault> {
    let copy = match file {
        Cow::Borrowed(bytes) => return prepared(bytes),
        Cow::Owned(copy) => copy,
    };
    let (made, colours) = prepared(&copy)?;
    let other = match made {
        Cow::Borrowed(_) => None,
        Cow::Owned(other) => Some(other),
    };
    Ok((other.unwrap_or(copy).into(), colours))
}

/// The file in the form for the `image` crate, and what its values mean.
///
/// # Errors
/// [`Fault::Unsupported`] for forms that the decoder takes for others.
fn prepared(bytes: &[u8]) -> Result<(Cow<'_, [u8]>, Colours), Fault> {
    let Some(directory) = Directory::first(bytes) else { return Ok((bytes.into(), Colours::AsDecoded)) };
    let number = |tag: u16| directory.field(tag).and_then(|field| field.number(0));
    let (planar, tiled) = (number(PLANAR_CONFIGURATION) == Some(2.0), directory.field(DATA[1][0]).is_some());
    if planar && tiled {
        // The decoder takes each channel's tiles for further ones of the first channel.
        return Err(unsupported("TIFF with tiles of one channel each"));
    }
    if planar && number(PHOTOMETRIC_INTERPRETATION) == Some(SEPARATED.into()) {
        return Err(unsupported("TIFF with planes of inks"));
    }
    // The decoder forgets the bands beyond four where it joins tiles, and where it adds up differences.
    let says_differences = number(PREDICTOR).is_some_and(|predictor| predictor > 1.0);
    let added_up = says_differences && number(COMPRESSION).is_some_and(|kind| OF_DIFFERENCES.contains(&kind));
    if !planar && (tiled || added_up) && number(SAMPLES_PER_PIXEL).is_some_and(|samples| samples > 4.0) {
        return Err(unsupported("TIFF of more than four bands, in tiles or as differences"));
    }
    let mut file = Cow::Borrowed(bytes);
    if let Some(predictor) =
        directory.field(PREDICTOR).filter(|field| says_differences && !added_up && field.kind == SHORT)
    {
        set(file.to_mut(), predictor, NO_DIFFERENCES, directory.is_little());
    }
    if number(FILL_ORDER) == Some(2.0) && !number(COMPRESSION).is_some_and(|kind| JPEG.contains(&kind)) {
        reverse_bits(&directory, file.to_mut());
    }
    let interpretation = directory.field(PHOTOMETRIC_INTERPRETATION).filter(|field| field.kind == SHORT);
    let mut colours = Colours::AsDecoded;
    if let Some(interpretation) = interpretation {
        let mut read_as = |value: u16| set(file.to_mut(), interpretation, value, directory.is_little());
        if is(interpretation, PALETTE_COLOR) {
            if let Some(palette) = palette(&directory) {
                colours = Colours::Palette(palette);
                read_as(BLACK_IS_ZERO);
            }
        } else if is(interpretation, SEPARATED) && !planar {
            colours = Colours::Inks;
            read_as(RGB);
        } else if number(EXTRA_SAMPLES) == Some(1.0) {
            colours = Colours::Premultiplied;
        } else if !planar && is(interpretation, RGB) && number(SAMPLES_PER_PIXEL) == Some(4.0) {
            // The same holds for a fourth band that is no alpha. As alpha, it is taken into account.
            let extra = directory.field(EXTRA_SAMPLES).filter(|field| field.kind == SHORT && is(*field, 0));
            if let Some(extra) = extra {
                colours = Colours::FirstThree;
                set(file.to_mut(), extra, UNASSOCIATED_ALPHA, directory.is_little());
            }
        }
    }
    Ok((file, colours))
}

fn unsupported(kind: &str) -> Fault {
    Fault::Unsupported { kind: kind.into() }
}

fn is(field: Field<'_>, value: u16) -> bool {
    field.number(0) == Some(value.into())
}

/// Writes another value of 16 bits.
fn set(file: &mut [u8], field: Field<'_>, value: u16, is_little: bool) {
    let value = if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
    if let Some(place) = file.get_mut(field.at..field.at + 2) {
        place.copy_from_slice(&value);
    }
}

/// The colours of a picture with 8 bits per pixel: their upper bytes, as Pillow takes them.
fn palette(directory: &Directory<'_>) -> Option<Box<Palette>> {
    let bits = directory.field(BITS_PER_SAMPLE)?;
    let map = directory.field(COLOR_MAP)?;
    if bits.len() != 1 || bits.number(0) != Some(8.0) || (map.kind, map.len()) != (SHORT, 3 * 256) {
        return None;
    }
    let upper = usize::from(directory.is_little());
    // First all the reds, then the greens, then the blues.
    let value = |index: usize, channel: usize| map.data[2 * (256 * channel + index) + upper];
    Some(Box::new(std::array::from_fn(|index| std::array::from_fn(|channel| value(index, channel)))))
}

/// Turns the bits of each byte of the picture's data around: they come lowest first (fill order 2).
fn reverse_bits(directory: &Directory<'_>, file: &mut [u8]) {
    let mut left = file.len();
    for [offsets, lengths] in DATA {
        let (Some(offsets), Some(lengths)) = (directory.field(offsets), directory.field(lengths)) else { continue };
        for (offset, length) in offsets.numbers().zip(lengths.numbers()) {
            // Parts that lie over each other are no reason to go on for ever.
            let length = length.min(left);
            left -= length;
            for byte in file.get_mut(offset..offset.saturating_add(length)).unwrap_or_default() {
                *byte = byte.reverse_bits();
            }
        }
    }
}
