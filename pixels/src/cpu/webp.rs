//! WebP, by libwebp: still pictures in part where only a part is wanted, and the first canvas of an animation.

use forebay_webp::{Head, Part, WebpFault};

use crate::buffer::sized;
use crate::cpu::canvas::Canvas;
use crate::cpu::other::colours::blend_all;
use crate::cpu::other::metadata;
use crate::cpu::pixel_kind::PixelKind;
use crate::fault::{Fault, Limits};
use crate::format::Format;
use crate::orientation::Orientation;
use crate::plan::Rect;

/// A picture whose header has been read.
pub(crate) struct OpenWebp<'a> {
    bytes: &'a [u8],
    head: Head,
    orientation: Orientation,
}

impl<'a> OpenWebp<'a> {
    /// Reads a picture's header, and looks whether all of the file is there.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let head = Head::read(bytes).map_err(fault)?;
        Ok(Self { bytes, head, orientation: metadata::of(bytes, Format::WebP).orientation() })
    }

    /// Width and height as stored.
    pub(crate) fn size(&self) -> (u32, u32) {
        self.head.size
    }

    /// Whether something may be transparent.
    pub(crate) fn has_alpha(&self) -> bool {
        self.head.has_alpha
    }

    /// How the stored pixels are turned.
    pub(crate) fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Bytes of each pixel beside the picture as RGB: those that libwebp takes, and colours with alpha.
    pub(crate) fn own_form(&self) -> u8 {
        self.head.own_form() + if self.head.has_alpha { self.head.channels() } else { 0 }
    }

    /// Bytes that libwebp takes for tables at most.
    pub(crate) fn tables(&self) -> u64 {
        self.head.tables()
    }

    /// Decodes at least a part into the canvas, and returns which part the canvas has. It has pixels of this kind, or RGB if the file
    /// has no alpha.
    pub(super) fn read(
        &self,
        part: Rect,
        kind: PixelKind,
        limits: &Limits,
        canvas: &mut Canvas,
    ) -> Result<Rect, Fault> {
        let Rect { left, top, width, height } = part;
        let decoded = self.head.part_for(Part { left, top, width, height });
        let region = Rect { left: decoded.left, top: decoded.top, width: decoded.width, height: decoded.height };
        match kind {
            PixelKind::Rgb(background) if self.head.has_alpha => {
                let (rgb, spare) = canvas.begin(region.width, region.height, limits)?;
                let rgba = sized(spare, rgb.len() / 3 * 4);
                self.head.decode(self.bytes, decoded, rgba).map_err(fault)?;
                blend_all(rgba, background, rgb);
            }
            _ => {
                let len = usize::from(self.head.channels());
                let (pixels, _) = canvas.begin_of(len, (region.width, region.height), limits)?;
                self.head.decode(self.bytes, decoded, pixels).map_err(fault)?;
            }
        }
        Ok(region)
    }
}

fn fault(fault: WebpFault) -> Fault {
    match fault {
        WebpFault::Truncated => Fault::Truncated,
        WebpFault::TooMuchMemory => Fault::Unsupported { kind: format!("WebP: {fault}") },
        WebpFault::Corrupt | WebpFault::NoMemory => Fault::Corrupt { reason: fault.to_string() },
    }
}
