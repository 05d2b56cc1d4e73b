//! What a file is, from its content alone: format, size and orientation, without decoding it.

use crate::cpu::avif::OpenAvif;
use crate::cpu::jpeg::head::JpegHead;
use crate::cpu::jxl::{self, OpenJxl};
use crate::cpu::other::OpenOther;
use crate::cpu::upright::Form;
use crate::cpu::webp::OpenWebp;
use crate::fault::{Fault, Limits};
use crate::format::Format;
use crate::orientation::Orientation;
use crate::origin::Origin;
use crate::output::Mode;
use crate::transform_list::Input;

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Format of the file.
    pub format: Format,
    /// Width as seen, after the orientation.
    pub width: u32,
    /// Height as seen, after the orientation.
    pub height: u32,
    /// How the stored pixels are turned.
    pub orientation: Orientation,
    /// Whether it is a JPEG of several scans, progressive or not, whose coefficients are kept in memory while it is decoded.
    pub several_scans: bool,
    /// Colour components of a JPEG; 0 of another format.
    components: u8,
    /// Bytes of each pixel in the decoder's own form.
    own_form: u8,
    /// Bytes that its decoder takes beside them: parts of the file that it copies, and tables.
    beside: u64,
}

/// Sides of the largest unit in which a JPEG's coefficients are kept, in pixels: four blocks of eight.
const LARGEST_UNIT: u64 = 32;

/// Reads format, size and orientation of a file's bytes. It reads only the header.
///
/// # Errors
/// [`Fault::Empty`], [`Fault::NotAPicture`], [`Fault::Unsupported`], [`Fault::Truncated`] and [`Fault::Corrupt`] as far as
/// the header shows them.
pub fn probe(bytes: &[u8]) -> Result<Probe, Fault> {
    probe_page(bytes, 0)
}

/// [`probe`], of another page of a file than the first, as [`Input::page`](crate::Input::page) counts them.
///
/// # Errors
/// Those of [`probe`], and [`Fault::NoPage`].
pub fn probe_page(bytes: &[u8], page: u32) -> Result<Probe, Fault> {
    let format = Format::of(bytes)?;
    if page > 0 && format != Format::Tiff {
        return Err(Fault::NoPage { page, pages: 1 });
    }
    if format == Format::Jpeg {
        let head @ JpegHead { width, height, orientation, components, .. } = JpegHead::read(bytes)?;
        let (width, height) = orientation.seen(width, height);
        let several_scans = head.several_scans();
        let own_form = if components == 4 { 4 } else { 0 };
        return Ok(Probe { format, width, height, orientation, several_scans, components, own_form, beside: 0 });
    }
    if format == Format::WebP {
        let open = OpenWebp::open(bytes)?;
        let orientation = open.orientation();
        let (width, height) = orientation.seen(open.size().0, open.size().1);
        let (own_form, beside) = (open.own_form(), open.tables());
        return Ok(Probe { format, width, height, orientation, several_scans: false, components: 0, own_form, beside });
    }
    if format == Format::Avif {
        let open = OpenAvif::open(bytes)?;
        let orientation = open.orientation();
        let (width, height) = orientation.seen(open.size().0, open.size().1);
        let (own_form, beside) = (open.own_form(), open.beside());
        return Ok(Probe { format, width, height, orientation, several_scans: false, components: 0, own_form, beside });
    }
    if format == Format::Jxl {
        let open = OpenJxl::open(bytes)?;
        let orientation = open.orientation();
        let (width, height) = orientation.seen(open.size().0, open.size().1);
        let (own_form, beside) = (open.own_form(), jxl::LITTLE);
        return Ok(Probe { format, width, height, orientation, several_scans: false, components: 0, own_form, beside });
    }
    let open = OpenOther::open(bytes, format, page, &Limits::default())?;
    let orientation = open.orientation();
    let (width, height) = orientation.seen(open.size().0, open.size().1);
    // The decoder of GIFs keeps the profile and the text of a file in lists that grow.
    let lists = if format == Format::Gif { 2 } else { 0 };
    let beside = (lists + u64::from(open.copies())) * bytes.len() as u64;
    let own_form = open.own_form();
    Ok(Probe { format, width, height, orientation, several_scans: false, components: 0, own_form, beside })
}

impl Probe {
    /// What the picture is made of that a recipe is carried out on.
    pub(crate) fn origin(&self, is_turned: bool) -> Origin {
        let stored = self.orientation.seen(self.width, self.height);
        Origin::of_file(stored, self.orientation, self.orientation.adjusted(is_turned))
    }

    /// What a recipe with this input is carried out on, before the file is decoded; or what is kept of it in a form.
    pub fn origin_before(&self, input: Input, kept: Option<Form>) -> Origin {
        let origin = self.origin(input.adjust_orientation);
        let (width, height) = origin.size;
        Origin { size: kept.map_or(origin.size, |form| form.size(width, height)), ..origin }
    }

    /// Whether the decoder will take the picture, as far as its size decides that. It depends on the file and the limits alone, so
    /// that all nodes of a run agree, whatever their memory is.
    ///
    /// # Errors
    /// [`Fault::TooLarge`], [`Fault::TooLong`] and [`Fault::TooMuchMemory`].
    pub fn check(&self, limits: &Limits) -> Result<(), Fault> {
        limits.check_picture(self.width, self.height)?;
        if self.format == Format::Jpeg { Ok(()) } else { limits.check_memory((self.width, self.height), self.own_form) }
    }

    /// Bytes that decoding the whole picture takes at most, beside what a recipe makes of it: its pixels as RGB; beside
    /// them, one after the other, the decoder's own form of them and the turned ones; and the coefficients of a JPEG of
    /// several scans, of two bytes, with 8 bytes for each block of 64.
    pub fn decode_bytes(&self) -> u64 {
        self.decode_bytes_in(Mode::Rgb)
    }

    /// The same, as pixels of this mode. Where there is no alpha, it is added in a second copy of them.
    pub(crate) fn decode_bytes_in(&self, mode: Mode) -> u64 {
        let (made, added) = if mode.has_alpha() { (4, 4) } else { (3, 0) };
        let pixels = u64::from(self.width) * u64::from(self.height);
        let own_form = u64::from(self.own_form);
        let turned = if self.orientation == Orientation::AsStored { 0 } else { mode.pixel_len() as u64 };
        let unit = |side: u32| u64::from(side).next_multiple_of(LARGEST_UNIT);
        let components = if self.several_scans { u64::from(self.components) } else { 0 };
        let blocks = (unit(self.width) / 8).saturating_mul(unit(self.height) / 8).saturating_mul(components);
        let coefficients = blocks.saturating_mul(64 * 2 + 8);
        pixels
            .saturating_mul(made + turned.max(own_form).max(added))
            .saturating_add(coefficients)
            .saturating_add(self.beside)
    }
}
