//! What a JPEG's markers say, read without a decoder: kind, size, colours, orientation, and whether its end is there.
//!
//! It forgives what libjpeg forgives, so that all lanes agree on a file (rule 29), and it builds no tables.
//! `forebay_jpeg::Header` builds tables, and is strict, since irregular files are left to libjpeg-turbo.

mod ending;
#[cfg(test)]
mod tests;

use crate::cpu::jpeg::segments::Segments;
use forebay_jpeg::Sampling;

use crate::fault::Fault;
use crate::orientation::Orientation;
use crate::orientation::metadata::{EXIF_HEAD, Metadata};
use crate::sample::JpegColors;
use ending::Restarts;

/// How an APP1 segment with XMP begins.
const XMP_HEAD: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";

/// What a JPEG's markers say.
///
/// ```
/// use forebay_pixels::sample::{JpegColors, photograph};
/// use forebay_pixels::{JpegHead, Sampling};
///
/// let head = JpegHead::read(&photograph(0, 60, 40))?;
/// assert_eq!((head.width, head.height, head.baseline()), (60, 40, true));
/// assert_eq!((head.colors, head.sampling), (Some(JpegColors::YCbCr), Some(Sampling::S444)));
/// # Ok::<(), forebay_pixels::Fault>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JpegHead {
    /// Stored width.
    pub width: u32,
    /// Stored height.
    pub height: u32,
    /// How the pixels are turned.
    pub orientation: Orientation,
    /// Colour components.
    pub components: u8,
    /// What libjpeg takes the components for; none if there are two, or more than four.
    pub colors: Option<JpegColors>,
    /// How finely the chroma of [`JpegColors::YCbCr`] is sampled, or that there is none in [`JpegColors::Gray`]. None of other
    /// colours, and of factors that have no name.
    pub sampling: Option<Sampling>,
    /// The frame's marker (T.81, table B.1).
    process: u8,
    /// Whether the first scan has all components.
    interleaved: bool,
}

/// A frame header.
struct FrameHeader<'a> {
    code: u8,
    precision: u8,
    width: u32,
    height: u32,
    components: u8,
    /// Three bytes for each: its number, its sampling factors, its quantisation table.
    listed: &'a [u8],
}

/// Segments that say what the components are.
#[derive(Clone, Copy, Default)]
struct Marked {
    jfif: bool,
    /// The transform that Adobe's segment names.
    adobe: Option<u8>,
}

impl JpegHead {
    /// Reads the markers up to the first scan, and those behind it to the end marker (rule 29).
    ///
    /// # Errors
    /// [`Fault::Truncated`], [`Fault::Unsupported`] for kinds that libjpeg-turbo does not take, [`Fault::Corrupt`].
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let (head, scan, wanted) = Self::before_scan(bytes)?;
        ending::check(scan, Restarts { wanted, several_scans: head.several_scans() })?;
        Ok(head)
    }

    /// Reads the markers up to the first scan alone, whose bytes are not needed.
    ///
    /// # Errors
    /// As those of [`read`](Self::read), as far as these markers show them.
    pub(crate) fn of_start(bytes: &[u8]) -> Result<Self, Fault> {
        Ok(Self::before_scan(bytes)?.0)
    }

    /// The same, with what follows, and how many restart markers that must have.
    fn before_scan(bytes: &[u8]) -> Result<(Self, &[u8], u64), Fault> {
        let mut segments = Segments::of(bytes);
        let mut metadata = Metadata::default();
        let mut marked = Marked::default();
        let mut frame: Option<FrameHeader<'_>> = None;
        let mut restart_interval = 0;
        let scan = loop {
            let (code, body) = segments.next()?;
            match code {
                0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => frame = Some(FrameHeader::read(code, body)?),
                0xE0 => marked.jfif |= body.len() >= 14 && body.starts_with(b"JFIF\0"),
                0xEE if body.len() >= 12 && body.starts_with(b"Adobe") => marked.adobe = Some(body[11]),
                0xE1 if body.starts_with(EXIF_HEAD) => metadata.add_exif(body),
                0xE1 if body.starts_with(XMP_HEAD) => metadata.xmp = Some(body[XMP_HEAD.len()..].into()),
                // libjpeg refuses one of another length.
                0xDD => restart_interval = body.first_chunk().map_or(0, |bytes| u16::from_be_bytes(*bytes)),
                0xDA => break body,
                _ => {}
            }
        };
        let Some(frame) = frame else {
            return Err(Fault::Corrupt { reason: "the scan begins before any frame header".into() });
        };
        frame.check()?;
        let colors = frame.colors(marked);
        if frame.code == 0xC3 && marked.transforms(frame.components) {
            return Err(Fault::Unsupported { kind: "lossless JPEG whose colours are transformed".to_owned() });
        }
        let head = Self {
            width: frame.width,
            height: frame.height,
            orientation: metadata.orientation(),
            components: frame.components,
            colors,
            sampling: frame.sampling(colors),
            process: frame.code,
            interleaved: scan.first() == Some(&frame.components),
        };
        let wanted = if head.several_scans() { 0 } else { frame.restarts(restart_interval) };
        Ok((head, segments.rest, wanted))
    }

    /// Whether it is baseline, with all components in one scan.
    pub fn baseline(&self) -> bool {
        self.process == 0xC0 && self.interleaved
    }

    /// Whether it is progressive, with Huffman or arithmetic coding.
    pub fn progressive(&self) -> bool {
        matches!(self.process, 0xC2 | 0xCA)
    }

    /// Whether it has a transform and Huffman coding, sequential or progressive.
    pub fn huffman(&self) -> bool {
        matches!(self.process, 0xC0..=0xC2)
    }

    /// Whether libjpeg-turbo can decode parts: sequential with Huffman coding, all components in one scan.
    pub fn parts(&self) -> bool {
        matches!(self.process, 0xC0 | 0xC1) && self.interleaved
    }

    /// Whether it takes several scans: it is progressive, or its first scan leaves components to others. Its coefficients are
    /// kept while it is decoded.
    pub(crate) fn several_scans(&self) -> bool {
        self.progressive() || !self.interleaved
    }

    /// Whether it can be decoded at a part of its size: a lossless one has no transform that would do it.
    pub(crate) fn scales(&self) -> bool {
        self.process != 0xC3
    }
}

impl Marked {
    /// Whether the markers say that red, green and blue (or their complements) were transformed. libjpeg-turbo does not undo that
    /// in a lossless picture. Without a marker, it takes three components for red, green and blue.
    fn transforms(self, components: u8) -> bool {
        match components {
            3 => self.jfif || self.adobe == Some(1),
            4 => self.adobe == Some(2),
            _ => false,
        }
    }
}

impl<'a> FrameHeader<'a> {
    fn read(code: u8, body: &'a [u8]) -> Result<Self, Fault> {
        let [precision, h1, h0, w1, w0, components, ref listed @ ..] = *body else {
            return Err(Fault::Corrupt { reason: "the frame header is too short".into() });
        };
        let side = |high, low| u32::from(u16::from_be_bytes([high, low]));
        Ok(Self { code, precision, width: side(w1, w0), height: side(h1, h0), components, listed })
    }

    fn check(&self) -> Result<(), Fault> {
        let kind = match (self.code, self.precision) {
            (0xC5..=0xC7 | 0xCD..=0xCF, _) => "hierarchical JPEG".to_owned(),
            (0xCB, _) => "lossless JPEG with arithmetic coding".to_owned(),
            (_, 8) => String::new(),
            (0xC3, bits @ 2..=16) => format!("lossless JPEG of {bits} bits"),
            (_, bits @ (12 | 16)) => format!("{bits}-bit JPEG"),
            (_, bits) => return Err(Fault::Corrupt { reason: format!("its values have {bits} bits") }),
        };
        if !kind.is_empty() {
            return Err(Fault::Unsupported { kind });
        }
        if self.width == 0 || self.height == 0 {
            return Err(Fault::Corrupt { reason: "the frame header declares no pixels".into() });
        }
        Ok(())
    }

    /// Numbers and sampling factors of the components.
    fn listed(&self) -> impl Iterator<Item = (u8, [u8; 2])> {
        self.listed.as_chunks::<3>().0.iter().map(|[id, factors, _]| (*id, [factors >> 4, factors & 15]))
    }

    /// Restart markers that a scan of all components has inside.
    fn restarts(&self, interval: u16) -> u64 {
        // The only component of a scan comes in blocks one by one, whatever its factors (T.81, A.2.2).
        let factors =
            |place: usize| self.listed().map(|(_, factors)| u64::from(factors[place])).max().unwrap_or(1).max(1);
        let [across, down] = if self.components == 1 { [1; 2] } else { [factors(0), factors(1)] };
        let block = if self.code == 0xC3 { 1 } else { 8 };
        let mcus = u64::from(self.width).div_ceil(across * block) * u64::from(self.height).div_ceil(down * block);
        if interval == 0 { 0 } else { mcus.div_ceil(u64::from(interval)).saturating_sub(1) }
    }

    /// As libjpeg guesses: by JFIF's segment, else by Adobe's, else by the components' numbers.
    fn colors(&self, marked: Marked) -> Option<JpegColors> {
        let named_rgb = self.listed().map(|(id, _)| id).eq(*b"RGB");
        Some(match (self.components, marked) {
            (1, _) => JpegColors::Gray,
            (3, Marked { jfif: false, adobe: Some(0) }) => JpegColors::Rgb,
            (3, Marked { jfif: false, adobe: None }) if named_rgb => JpegColors::Rgb,
            (3, _) => JpegColors::YCbCr,
            (4, Marked { adobe: None | Some(0), .. }) => JpegColors::Cmyk,
            (4, _) => JpegColors::Ycck,
            _ => return None,
        })
    }

    fn sampling(&self, colors: Option<JpegColors>) -> Option<Sampling> {
        if colors == Some(JpegColors::Gray) {
            return Some(Sampling::Gray);
        }
        let mut factors = self.listed().map(|(_, factors)| factors);
        let [luma, blue, red] = [factors.next()?, factors.next()?, factors.next()?];
        if colors != Some(JpegColors::YCbCr) || blue != red || blue.contains(&0) {
            return None;
        }
        let is = |sampling: &Sampling| {
            let (across, down) = sampling.factors();
            [u32::from(blue[0]) * across, u32::from(blue[1]) * down] == luma.map(u32::from)
        };
        [Sampling::S444, Sampling::S422, Sampling::S420, Sampling::S440, Sampling::S411].into_iter().find(is)
    }
}
