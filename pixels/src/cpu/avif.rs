//! AVIF, by dav1d and our own colours: the whole picture is decoded, and the part that is wanted gets colours.

use std::time::Instant;

use forebay_avif::{AvifFault, Head, Part};

use crate::buffer::sized;
use crate::cpu::canvas::Canvas;
use crate::cpu::other::colours::blend_all;
use crate::cpu::pixel_kind::PixelKind;
use crate::fault::{Fault, Limits};
use crate::orientation::Orientation;
use crate::plan::Rect;

/// A picture whose container has been read.
pub(crate) struct OpenAvif<'a> {
    bytes: &'a [u8],
    head: Head,
}

impl<'a> OpenAvif<'a> {
    /// Reads a file's container.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        Ok(Self { bytes, head: Head::read(bytes).map_err(fault)? })
    }

    /// Width and height as stored.
    pub(crate) fn size(&self) -> (u32, u32) {
        self.head.size
    }

    /// How the stored pixels are turned. The container says it, and EXIF counts for nothing (ISO/IEC 23008-12).
    pub(crate) fn orientation(&self) -> Orientation {
        Orientation::from_exif(self.head.orientation.into())
    }

    /// Whether something may be transparent, and whether values have more than 8 bits.
    pub(crate) fn depth(&self) -> (bool, bool) {
        (self.head.has_alpha, self.head.depth > 8)
    }

    /// Pictures of an image sequence beside one.
    pub(crate) fn further_pictures(&self) -> u64 {
        u64::from(self.head.pictures) - 1
    }

    /// The ICC profile, if the container has one.
    pub(crate) fn profile(&self) -> Option<&[u8]> {
        Some(self.head.profile(self.bytes)).filter(|profile| !profile.is_empty())
    }

    /// Whether the colours are sRGB by their numbers of ITU-T H.273, which count where there is no profile. Programs show the curve of
    /// BT.709 as that of sRGB.
    pub(crate) fn is_named_srgb(&self) -> bool {
        matches!(self.head.named_colours, None | Some((1 | 2, 1 | 2 | 6 | 13)))
    }

    /// Bytes of each pixel beside the picture as RGB: those that dav1d takes, and colours with alpha.
    pub(crate) fn own_form(&self) -> u8 {
        self.head.own_form() + if self.head.has_alpha { 4 } else { 0 }
    }

    /// Bytes that dav1d takes beside them at most.
    pub(crate) fn beside(&self) -> u64 {
        self.head.beside()
    }

    /// Decodes a part into the canvas, as pixels of this kind, or as RGB if the file has no alpha.
    pub(super) fn read(
        &self,
        region: Rect,
        kind: PixelKind,
        limits: &Limits,
        begun: Instant,
        canvas: &mut Canvas,
    ) -> Result<(), Fault> {
        let Rect { left, top, width, height } = region;
        let pixel = if self.head.has_alpha { kind.pixel_len() } else { 3 };
        let (pixels, spare) = canvas.begin_of(pixel, (width, height), limits)?;
        limits.check_time(begun)?;
        let decoded = self.head.decode(self.bytes);
        limits.check_time(begun)?;
        let decoded = decoded.map_err(fault)?;
        let part = Part { left, top, width, height };
        match kind {
            PixelKind::Rgb(background) if self.head.has_alpha => {
                let rgba = sized(spare, pixels.len() / 3 * 4);
                decoded.to_rgba(part, rgba);
                blend_all(rgba, background, pixels);
            }
            PixelKind::Rgba if self.head.has_alpha => decoded.to_rgba(part, pixels),
            _ => decoded.to_rgb(part, pixels),
        }
        Ok(())
    }
}

fn fault(fault: AvifFault) -> Fault {
    match fault {
        AvifFault::Truncated => Fault::Truncated,
        AvifFault::Unsupported(_) | AvifFault::TooMuchMemory => Fault::Unsupported { kind: fault.to_string() },
        AvifFault::Corrupt(_) | AvifFault::NoMemory => Fault::Corrupt { reason: fault.to_string() },
    }
}
