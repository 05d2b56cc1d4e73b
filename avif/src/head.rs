//! What a file says of its picture, before that is decoded.

use std::borrow::Cow;
use std::ops::Range;

use crate::boxes::{boxes, only};
use crate::calls::{self, Allowance, Planes};
use crate::decoded::Decoded;
use crate::fault::AvifFault;
use crate::items::Items;
use crate::obus::has_too_many_frames;
use crate::properties::{Config, Nclx, Properties};
use crate::sequence;

/// What a file says of its picture.
#[derive(Clone, Debug)]
pub struct Head {
    /// Width and height as stored.
    pub size: (u32, u32),
    /// How the stored picture is turned to be seen, as the number that EXIF has for it. EXIF itself counts for nothing.
    pub orientation: u8,
    /// Bits of a value: 8, 10 or 12.
    pub depth: u8,
    /// Pictures: 1, or those of an image sequence.
    pub pictures: u32,
    /// Whether something may be transparent.
    pub has_alpha: bool,
    /// Primaries and transfer of the colours (ITU-T H.273), where the container has them.
    pub named_colours: Option<(u16, u16)>,
    profile: Range<usize>,
    colour: Coded,
    alpha: Option<Coded>,
    is_multiplied: bool,
    nclx: Option<Nclx>,
}

/// AV1 data of an item.
#[derive(Clone, Debug)]
struct Coded {
    extents: Vec<Range<usize>>,
    operating_point: u8,
    config: Config,
}

impl Head {
    /// Reads the container.
    ///
    /// # Errors
    /// [`AvifFault`], [`AvifFault::Unsupported`] also for a grid of pictures and a sequence without a still picture.
    pub fn read(bytes: &[u8]) -> Result<Self, AvifFault> {
        let found = boxes(bytes, true)?;
        let moov = only(&found, *b"moov")?;
        let Some(meta) = only(&found, *b"meta")? else {
            return Err(match moov {
                Some(_) => AvifFault::Unsupported("of a sequence without a still picture"),
                None => AvifFault::Truncated,
            });
        };
        let items = Items::read(bytes, meta).map_err(|fault| cut(fault, bytes, meta))?;
        let mut head = Self::of_items(bytes, &items).map_err(|fault| cut(fault, bytes, meta))?;
        // A sequence that is damaged has its still picture.
        head.pictures = moov.and_then(|moov| sequence::pictures(moov).ok()).unwrap_or(0).max(1);
        Ok(head)
    }

    fn of_items(bytes: &[u8], items: &Items<'_>) -> Result<Self, AvifFault> {
        match &items.kind(items.primary)? {
            b"av01" => {}
            b"grid" => return Err(AvifFault::Unsupported("of a grid of pictures")),
            b"iovl" | b"tmap" | b"iden" => return Err(AvifFault::Unsupported("of a picture that is made of others")),
            _ => return Err(AvifFault::Unsupported("whose picture is in another format")),
        }
        let properties = items.properties(items.primary)?;
        let (size, colour) = coded(items, items.primary, &properties)?;
        let (mut alpha, mut is_multiplied) = (None, false);
        if let Some((item, multiplied)) = items.alpha_of(items.primary)? {
            if items.kind(item)? != *b"av01" {
                return Err(AvifFault::Unsupported("of a grid of pictures"));
            }
            let mut properties = items.properties(item)?;
            properties.size = properties.size.or(Some(size));
            let (alpha_size, coded) = coded(items, item, &properties)?;
            if (alpha_size, coded.config.depth) != (size, colour.config.depth) {
                return Err(AvifFault::Unsupported("whose alpha has another size or depth"));
            }
            (alpha, is_multiplied) = (Some(coded), multiplied);
        }
        let within = |part: &[u8]| {
            let begin = part.as_ptr().addr() - bytes.as_ptr().addr();
            begin..begin + part.len()
        };
        Ok(Self {
            size,
            orientation: properties.orientation(),
            depth: colour.config.depth,
            pictures: 1,
            has_alpha: alpha.is_some(),
            named_colours: properties.nclx.map(|nclx| (nclx.primaries, nclx.transfer)),
            profile: properties.profile.map_or(0..0, within),
            colour,
            alpha,
            is_multiplied,
            nclx: properties.nclx,
        })
    }

    /// The ICC profile of a file, whose bytes these are; empty if it has none.
    pub fn profile<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.profile.clone()]
    }

    /// Bytes of each pixel that [`decode`](Self::decode) takes at most: the planes, and what dav1d keeps beside them.
    pub fn own_form(&self) -> u8 {
        self.coded().map(|coded| coded.config.bytes_of_pixel()).sum()
    }

    /// Bytes that [`decode`](Self::decode) takes at most beside them.
    pub fn beside(&self) -> u64 {
        self.coded().map(|coded| coded.beside(self.size)).fold(0, u64::saturating_add)
    }

    fn coded(&self) -> impl Iterator<Item = &Coded> {
        std::iter::once(&self.colour).chain(&self.alpha)
    }

    /// Decodes the picture, and its alpha.
    ///
    /// # Errors
    /// [`AvifFault`].
    ///
    /// # Panics
    /// If the bytes are other ones than those of the head.
    pub fn decode(&self, bytes: &[u8]) -> Result<Decoded, AvifFault> {
        let colour = self.planes(&self.colour, bytes)?;
        let alpha = self.alpha.as_ref().map(|alpha| self.planes(alpha, bytes)).transpose()?;
        Decoded::new(colour, alpha, self.nclx, self.is_multiplied)
    }

    fn planes(&self, coded: &Coded, bytes: &[u8]) -> Result<Planes, AvifFault> {
        let data = match &coded.extents[..] {
            [only] => Cow::Borrowed(&bytes[only.clone()]),
            several => Cow::Owned(several.iter().flat_map(|extent| &bytes[extent.clone()]).copied().collect()),
        };
        if has_too_many_frames(&data) {
            return Err(AvifFault::Unsupported("with more frames than a picture should have"));
        }
        let pixels = u64::from(self.size.0) * u64::from(self.size.1);
        let of_pixels = pixels.saturating_mul(coded.config.bytes_of_pixel().into());
        let memory = of_pixels.saturating_add(coded.beside(self.size));
        let allowance = Allowance { pixels: u32::try_from(pixels).unwrap_or(u32::MAX), memory };
        let planes = calls::decode(&data, coded.operating_point, allowance)?;
        if planes.size != self.size {
            return Err(AvifFault::Unsupported("whose data have another size than the picture"));
        }
        if planes.depth != self.depth {
            return Err(AvifFault::Corrupt("its data have another depth than the file says"));
        }
        Ok(planes)
    }
}

impl Coded {
    /// Bytes that any picture may take for tables and for the rows of a tile.
    const LITTLE: u64 = 4 << 20;
    /// Pixels to whose multiples dav1d rounds the sides of planes.
    const GRID: u64 = 128;

    /// Bytes that the decoder takes at most beside those of the pixels: its planes are larger than the picture, and data in several parts
    /// are put together.
    fn beside(&self, (width, height): (u32, u32)) -> u64 {
        let side = |side: u32| u64::from(side).next_multiple_of(Self::GRID) + Self::GRID;
        let around = side(width).saturating_mul(side(height)) - u64::from(width) * u64::from(height);
        let parts = self.extents.iter().map(|extent| extent.len() as u64).fold(0, u64::saturating_add);
        let copied = if self.extents.len() > 1 { parts } else { 0 };
        around.saturating_mul(self.config.bytes_of_pixel().into()).saturating_add(Self::LITTLE + copied)
    }
}

impl Config {
    /// Bytes of a pixel that the decoder takes: planes, rounded up, and beside them 2 for filters, segments and edges of rows.
    fn bytes_of_pixel(self) -> u8 {
        let halves = match (self.is_gray, self.halved) {
            (true, _) => 2_u8,
            (false, [true, true]) => 3,
            (false, [true, false]) => 4,
            (false, _) => 6,
        };
        let bytes = if self.depth > 8 { 2 } else { 1 };
        (halves * bytes).div_ceil(2) + 2
    }
}

/// The size of an item, and its data.
fn coded(items: &Items<'_>, item: u32, properties: &Properties<'_>) -> Result<((u32, u32), Coded), AvifFault> {
    let size = properties.size.ok_or(AvifFault::Corrupt("a picture has no size"))?;
    let config = properties.config.ok_or(AvifFault::Corrupt("a picture has no configuration"))?;
    let mut extents = items.extents(item)?;
    let all = extents.iter().map(ExactSizeIterator::len).fold(0, usize::saturating_add);
    // Ranges may lie over each other, but not so often that the data are longer than the file could be.
    if all > items.len() {
        return Err(AvifFault::Corrupt("an item is longer than the file"));
    }
    extents.retain(|extent| !extent.is_empty());
    if extents.is_empty() {
        return Err(AvifFault::Corrupt("an item has no data"));
    }
    Ok((size, Coded { extents, operating_point: properties.operating_point, config }))
}

/// What is damaged in the last box of a file may only have been cut off.
fn cut(fault: AvifFault, bytes: &[u8], meta: &[u8]) -> AvifFault {
    let is_last = bytes.as_ptr_range().end == meta.as_ptr_range().end;
    if is_last && matches!(fault, AvifFault::Corrupt(_)) { AvifFault::Truncated } else { fault }
}
