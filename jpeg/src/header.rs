//! The markers of a picture up to its first scan: what it is, with its tables (ITU T.81, annex B).
//!
//! Anything irregular is refused, since this crate decodes only sound pictures. It need not forgive what libjpeg forgives.
//! `read.rs` has what a file's header is as a whole.

#[cfg(test)]
pub(crate) mod crafted;
#[cfg(test)]
mod tests;

use crate::fault::{Fault, Unsupported};
use crate::huffman::{Class, Code, read_codes};

/// How finely the chroma is sampled, by its usual name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sampling {
    /// One component.
    Gray,
    /// 4:4:4: chroma as fine as luma.
    S444,
    /// 4:2:2: half as fine across.
    S422,
    /// 4:2:0: half as fine across and down.
    S420,
    /// 4:4:0: half as fine down.
    S440,
    /// 4:1:1: a quarter as fine across.
    S411,
}

impl Sampling {
    /// Luma samples per chroma sample, across and down.
    pub fn factors(self) -> (u32, u32) {
        match self {
            Self::Gray | Self::S444 => (1, 1),
            Self::S422 => (2, 1),
            Self::S420 => (2, 2),
            Self::S440 => (1, 2),
            Self::S411 => (4, 1),
        }
    }
}

/// What a picture says of itself before its first scan.
///
/// ```
/// use forebay_jpeg::{Fault, Header};
///
/// assert_eq!(Header::read(b"GIF89a").unwrap_err(), Fault::Irregular("it does not begin with SOI"));
/// ```
#[derive(Clone, Debug)]
pub struct Header {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// Gray, or how the chroma is sampled.
    pub sampling: Sampling,
    /// Scans of the picture: 1 if it is sequential, and several if it is progressive.
    pub scans: u32,
    /// Whether it is progressive (SOF2). Then the scans have tables of their own, and those here are for the first of them.
    pub(crate) progressive: bool,
    pub(crate) components: [Component; 3],
    pub(crate) quants: [[u16; 64]; 4],
    pub(crate) dc_codes: [Code; 4],
    pub(crate) ac_codes: [Code; 4],
    /// MCUs between restart markers; 0: none.
    pub(crate) restart_interval: u32,
    /// Where the scan's data begins in the file; of a progressive picture, where the first scan's marker is.
    pub(crate) data_start: usize,
}

/// Which tables a component uses.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Component {
    /// Its name in scan headers.
    pub(crate) id: u8,
    pub(crate) quant: usize,
    pub(crate) dc: usize,
    pub(crate) ac: usize,
}

/// A component as its frame header has it.
#[derive(Clone, Copy, Default)]
struct Framed {
    id: u8,
    factors: (u8, u8),
    quant: u8,
}

/// What has been met on the way.
#[derive(Default)]
struct MetSegments {
    size: Option<(u16, u16)>,
    progressive: bool,
    framed: [Framed; 3],
    count: usize,
    jfif: bool,
    adobe: Option<u8>,
    quants: [Option<[u16; 64]>; 4],
    dc_codes: [Option<Code>; 4],
    ac_codes: [Option<Code>; 4],
    restart_interval: u16,
}

impl Header {
    /// The tables up to the first scan. Nothing is known of the scans of a progressive picture.
    pub(crate) fn read_tables(bytes: &[u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(&[0xFF, 0xD8]) {
            return Err(Fault::Irregular("it does not begin with SOI"));
        }
        let mut met = MetSegments::default();
        let mut at = 2;
        loop {
            let marker_at = at;
            let marker = next_marker(bytes, &mut at)?;
            if matches!(marker, 0x01 | 0xD0..=0xD9) {
                return Err(Fault::Irregular("the header has a marker without a segment"));
            }
            let segment = next_segment(bytes, &mut at)?;
            match marker {
                0xDA if met.progressive => return met.finish_progressive(marker_at),
                0xDA => return met.finish(segment, at),
                0xDB => met.quantisation(segment)?,
                0xC4 => read_codes(segment, |class, index, code| match class {
                    Class::Dc => met.dc_codes[index] = Some(code),
                    Class::Ac => met.ac_codes[index] = Some(code),
                })?,
                0xC0..=0xCF => met.frame(marker, segment)?,
                0xDD => {
                    let &[high, low] = segment else { return Err(Fault::Irregular("a DRI of another length than 4")) };
                    met.restart_interval = u16::from_be_bytes([high, low]);
                }
                0xE0 => met.jfif |= segment.len() >= 14 && segment.starts_with(b"JFIF\0"),
                0xEE if segment.len() >= 12 && segment.starts_with(b"Adobe") => met.adobe = Some(segment[11]),
                0xE0..=0xEF | 0xFE => {}
                0xF7 => return Err(Unsupported::Lossless.into()),
                _ => return Err(Fault::Irregular("the header has an unknown marker")),
            }
        }
    }
}

impl MetSegments {
    fn quantisation(&mut self, mut segment: &[u8]) -> Result<(), Fault> {
        while let [kind, rest @ ..] = segment {
            let wide = kind >> 4 != 0;
            let table = self.quants.get_mut(usize::from(kind & 15)).ok_or(Fault::Irregular("a fifth DQT table"))?;
            let bytes = if wide { 128 } else { 64 };
            let (values, rest) = rest.split_at_checked(bytes).ok_or(Fault::Irregular("a DQT that is too short"))?;
            let value = |i: usize| {
                if wide { u16::from_be_bytes([values[2 * i], values[2 * i + 1]]) } else { u16::from(values[i]) }
            };
            *table = Some(std::array::from_fn(value));
            segment = rest;
        }
        Ok(())
    }

    fn frame(&mut self, marker: u8, segment: &[u8]) -> Result<(), Fault> {
        match marker {
            0xC0..=0xC2 => {}
            0xC5 | 0xC6 => return Err(Unsupported::Hierarchical.into()),
            0xC3 | 0xC7 => return Err(Unsupported::Lossless.into()),
            _ => return Err(Unsupported::Arithmetic.into()),
        }
        if self.size.is_some() {
            return Err(Fault::Irregular("a second frame header"));
        }
        let &[precision, h0, h1, w0, w1, count, ref rest @ ..] = segment else {
            return Err(Fault::Irregular("a frame header that is too short"));
        };
        if precision != 8 {
            return Err(Unsupported::Precision.into());
        }
        if !matches!(count, 1 | 3) {
            return Err(Unsupported::Components.into());
        }
        self.count = usize::from(count);
        if rest.len() != 3 * self.count {
            return Err(Fault::Irregular("a frame header of another length than its components take"));
        }
        for (framed, part) in self.framed.iter_mut().zip(rest.chunks_exact(3)) {
            *framed = Framed { id: part[0], factors: (part[1] >> 4, part[1] & 15), quant: part[2] };
        }
        let (width, height) = (u16::from_be_bytes([w0, w1]), u16::from_be_bytes([h0, h1]));
        if height == 0 {
            return Err(Unsupported::NoHeight.into());
        }
        if width == 0 {
            return Err(Fault::Irregular("a picture without width"));
        }
        self.size = Some((width, height));
        self.progressive = marker == 0xC2;
        Ok(())
    }

    /// The scan header, after which data begins.
    fn finish(self, segment: &[u8], data_start: usize) -> Result<Header, Fault> {
        let (width, height) = self.size.ok_or(Fault::Irregular("a scan before the frame header"))?;
        let framed = &self.framed[..self.count];
        let [count, rest @ ..] = segment else { return Err(Fault::Irregular("an empty scan header")) };
        if matches!(count, 1..=3) && usize::from(*count) < self.count {
            return Err(Unsupported::SeveralScans.into());
        }
        if usize::from(*count) != self.count || rest.len() != 2 * self.count + 3 {
            return Err(Fault::Irregular("a scan header of another length than its components take"));
        }
        if rest[2 * self.count..] != [0, 63, 0] {
            return Err(Fault::Irregular("a sequential scan of a part of the spectrum"));
        }
        let mut header = self.header((width, height), data_start)?;
        for ((component, framed), part) in header.components.iter_mut().zip(framed).zip(rest.chunks_exact(2)) {
            if part[0] != framed.id {
                return Err(Fault::Irregular("a scan with its components in another order than the frame's"));
            }
            let (dc, ac) = (usize::from(part[1] >> 4), usize::from(part[1] & 15));
            let known = |tables: [bool; 4], index: usize| tables.get(index).copied().unwrap_or(false);
            if !known(self.dc_codes.each_ref().map(Option::is_some), dc)
                || !known(self.ac_codes.each_ref().map(Option::is_some), ac)
            {
                return Err(Unsupported::NoTables.into());
            }
            *component = Component { dc, ac, ..*component };
        }
        for component in &header.components[..self.count] {
            if !header.dc_codes[component.dc].is_for_dc() {
                return Err(Fault::Irregular("a DC code with a symbol above 15"));
            }
        }
        Ok(header)
    }

    /// The first scan header of a progressive picture, whose marker is at `marker_at`.
    fn finish_progressive(&self, marker_at: usize) -> Result<Header, Fault> {
        let size = self.size.ok_or(Fault::Irregular("a scan before the frame header"))?;
        let mut header = self.header(size, marker_at)?;
        header.progressive = true;
        Ok(header)
    }

    /// The header with all tables, before anything is known of the scans.
    fn header(&self, (width, height): (u16, u16), data_start: usize) -> Result<Header, Fault> {
        let sampling = self.sampling()?;
        let mut components = [Component::default(); 3];
        for (component, framed) in components.iter_mut().zip(&self.framed[..self.count]) {
            (component.id, component.quant) = (framed.id, usize::from(framed.quant));
            if self.quants.get(component.quant).is_none_or(Option::is_none) {
                return Err(Fault::Irregular("a component without its quantisation table"));
            }
        }
        Ok(Header {
            width: u32::from(width),
            height: u32::from(height),
            sampling,
            scans: 1,
            progressive: false,
            components,
            quants: self.quants.map(|table| table.unwrap_or([0; 64])),
            dc_codes: self.dc_codes.clone().map(Option::unwrap_or_default),
            ac_codes: self.ac_codes.clone().map(Option::unwrap_or_default),
            restart_interval: u32::from(self.restart_interval),
            data_start,
        })
    }

    fn sampling(&self) -> Result<Sampling, Fault> {
        let factors = self.framed.map(|framed| framed.factors);
        if factors[..self.count].iter().any(|&(h, v)| !matches!(h, 1..=4) || !matches!(v, 1..=4)) {
            return Err(Fault::Irregular("sampling factors other than 1 to 4"));
        }
        if self.count == 1 {
            // The blocks of a scan with one component come one by one, whatever its factors (T.81, A.2.2).
            return Ok(Sampling::Gray);
        }
        if !self.is_ycc() {
            return Err(Unsupported::Rgb.into());
        }
        match factors {
            [(1, 1), (1, 1), (1, 1)] => Ok(Sampling::S444),
            [(2, 1), (1, 1), (1, 1)] => Ok(Sampling::S422),
            [(2, 2), (1, 1), (1, 1)] => Ok(Sampling::S420),
            [(1, 2), (1, 1), (1, 1)] => Ok(Sampling::S440),
            [(4, 1), (1, 1), (1, 1)] => Ok(Sampling::S411),
            _ => Err(Unsupported::Sampling.into()),
        }
    }

    /// What libjpeg takes three components for: JFIF says `YCbCr`, Adobe's marker says which, else the ids tell.
    fn is_ycc(&self) -> bool {
        match (self.jfif, self.adobe) {
            (true, _) => true,
            (false, Some(transform)) => transform != 0,
            (false, None) => self.framed.map(|framed| framed.id) != *b"RGB",
        }
    }
}

/// The code of the next marker. Moves `at` behind it. Only fill bytes may come before it.
pub(crate) fn next_marker(bytes: &[u8], at: &mut usize) -> Result<u8, Fault> {
    if *bytes.get(*at).ok_or(Fault::Truncated)? != 0xFF {
        return Err(Fault::Irregular("there are bytes between two segments"));
    }
    loop {
        *at += 1;
        match *bytes.get(*at).ok_or(Fault::Truncated)? {
            0xFF => {}
            0 => return Err(Fault::Irregular("there are bytes between two segments")),
            marker => {
                *at += 1;
                return Ok(marker);
            }
        }
    }
}

/// The bytes of the segment behind a marker. Moves `at` behind it.
pub(crate) fn next_segment<'a>(bytes: &'a [u8], at: &mut usize) -> Result<&'a [u8], Fault> {
    let length = usize::from(u16_at(bytes, *at).ok_or(Fault::Truncated)?);
    let segment = bytes.get(*at + 2..*at + length.max(2)).ok_or(Fault::Truncated)?;
    if length < 2 {
        return Err(Fault::Irregular("a segment is shorter than its length"));
    }
    *at += length;
    Ok(segment)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}
