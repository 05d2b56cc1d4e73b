//! The scans of a progressive picture: their headers, and whether together they give all bits of all coefficients
//! (ITU T.81, annex G).
//!
//! All headers are read before any data is decoded. What is not regular is refused, so that this decoder and libjpeg agree on
//! where each scan begins and ends, whatever is in its data.

#[cfg(test)]
mod tests;

use crate::fault::{Fault, Unsupported};
use crate::frame::{Frame, Scale};
use crate::header::{Component, Header, next_marker, next_segment};
use crate::huffman::{Class, Code, read_codes};
use crate::progressive::bands::Band;

/// Bytes that are searched together for a marker.
const CHUNK: usize = 32;

/// A scan's header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanHeader {
    /// The numbers of its components, as many as `count`.
    components: [usize; 3],
    count: usize,
    /// For each of them, its DC code. An AC scan has one component, whose AC code is the last number.
    pub(crate) dc: [usize; 3],
    pub(crate) ac: usize,
    /// The first and the last of its coefficients, in zigzag order.
    band: (usize, usize),
    /// The bit that the scan before had as its lowest, or 0 if this is the first with these coefficients.
    high: u8,
    /// The lowest bit that the scan has.
    pub(crate) low: u8,
    /// Where its data begins in the file.
    pub(crate) data_start: usize,
}

/// Goes from scan to scan.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Script {
    /// Where the next marker is.
    at: usize,
    /// MCUs between restart markers in the next scan; 0: none.
    pub(crate) restart_interval: u32,
    /// The components of the frame, as many as `count`.
    components: [Component; 3],
    count: usize,
}

/// The Huffman codes that scans refer to; those that the file does not have are without symbols.
#[derive(Debug, Default)]
pub(crate) struct ScanCodes {
    pub(crate) dc: [Code; 4],
    pub(crate) ac: [Code; 4],
}

/// By component and coefficient: the lowest bit that is known, or -1 before the first scan with it.
struct Known([[i8; 64]; 3]);

impl ScanHeader {
    /// From a segment's bytes. The components are in the order of the frame header.
    fn read(segment: &[u8], components: &[Component], data_start: usize) -> Result<Self, Fault> {
        let irregular = Fault::Irregular("a scan header of another length than its components take");
        let (&count, rest) = segment.split_first().ok_or(irregular)?;
        let count = usize::from(count);
        if !(1..=components.len()).contains(&count) || rest.len() != 2 * count + 3 {
            return Err(irregular);
        }
        let (listed, spectrum) = rest.split_at(2 * count);
        let mut scan = Self {
            components: [0; 3],
            count,
            dc: [0; 3],
            ac: usize::from(listed[1] & 15),
            band: (usize::from(spectrum[0]), usize::from(spectrum[1])),
            high: spectrum[2] >> 4,
            low: spectrum[2] & 15,
            data_start,
        };
        let mut from = 0;
        for (i, part) in listed.chunks_exact(2).enumerate() {
            let found = components[from..].iter().position(|component| component.id == part[0]);
            scan.components[i] =
                from + found.ok_or(Fault::Irregular("a scan with its components in another order than the frame's"))?;
            from = scan.components[i] + 1;
            scan.dc[i] = usize::from(part[1] >> 4);
        }
        let (first, last) = scan.band;
        let is_dc = first == 0 && last == 0;
        let is_ac = first > 0 && first <= last && last < 64 && count == 1;
        if !is_dc && !is_ac {
            return Err(Fault::Irregular("a progressive scan of an impossible part of the spectrum"));
        }
        // Refinement of DC has no code.
        let needs_dc = is_dc && scan.high == 0;
        if needs_dc && scan.dc[..count].iter().any(|&code| code > 3) || is_ac && scan.ac > 3 {
            return Err(Unsupported::NoTables.into());
        }
        Ok(scan)
    }

    /// The numbers of its components.
    pub(crate) fn components(&self) -> &[usize] {
        &self.components[..self.count]
    }

    /// Its part of every block.
    pub(crate) fn band(&self) -> Band {
        Band { first: self.band.0, last: self.band.1, low: self.low }
    }

    /// Whether it has the DC coefficients.
    pub(crate) fn is_dc(&self) -> bool {
        self.band.0 == 0
    }

    /// Whether it has one more bit of coefficients that others have begun.
    pub(crate) fn refines(&self) -> bool {
        self.high > 0
    }

    /// Columns and rows of its MCUs. One component alone has its own blocks for MCUs.
    pub(crate) fn mcus(&self, frame: &Frame) -> (u32, u32) {
        if self.count == 1 { frame.layouts[self.components[0]].picture_blocks } else { frame.mcus }
    }

    /// Blocks of an MCU.
    fn mcu_blocks(&self, frame: &Frame) -> u64 {
        if self.count == 1 {
            return 1;
        }
        let blocks = |&component: &usize| frame.layouts[component].blocks;
        self.components().iter().map(blocks).map(|(across, down)| u64::from(across * down)).sum()
    }
}

impl ScanCodes {
    fn read(&mut self, segment: &[u8]) -> Result<(), Fault> {
        read_codes(segment, |class, index, code| match class {
            Class::Dc => self.dc[index] = code,
            Class::Ac => self.ac[index] = code,
        })
    }
}

impl Script {
    /// Begins before the first scan of a picture.
    pub(crate) fn new(header: &Header, count: usize) -> Self {
        let Header { data_start: at, restart_interval, components, .. } = *header;
        Self { at, restart_interval, components, count }
    }

    /// The next scan; none at the end of the picture. The Huffman codes before it are read if they are wanted.
    pub(crate) fn next(&mut self, file: &[u8], mut codes: Option<&mut ScanCodes>) -> Result<Option<ScanHeader>, Fault> {
        loop {
            let marker = next_marker(file, &mut self.at)?;
            if marker == 0xD9 {
                return Ok(None);
            }
            if !matches!(marker, 0xC4 | 0xDA | 0xDD | 0xE0..=0xEF | 0xFE) {
                return Err(Fault::Irregular("a marker that does not belong between scans"));
            }
            let segment = next_segment(file, &mut self.at)?;
            match marker {
                0xDA => return ScanHeader::read(segment, &self.components[..self.count], self.at).map(Some),
                0xC4 => {
                    if let Some(codes) = &mut codes {
                        codes.read(segment)?;
                    }
                }
                0xDD => {
                    let &[high, low] = segment else { return Err(Fault::Irregular("a DRI of another length than 4")) };
                    self.restart_interval = u32::from(u16::from_be_bytes([high, low]));
                }
                _ => {}
            }
        }
    }

    /// Leaves a scan whose data is at `at`, or behind it, and goes to the marker that follows it.
    pub(crate) fn leave(&mut self, file: &[u8], mut at: usize) -> Result<(), Fault> {
        loop {
            (self.at, at) = match marker_in_data(file, at)? {
                (_, 0xD0..=0xD7, behind) => (behind, behind),
                (marker_at, ..) => {
                    self.at = marker_at;
                    return Ok(());
                }
            };
        }
    }

    /// The same, where the scan's data begins at `at` and has to have this many restart markers in it.
    fn leave_checked(&mut self, file: &[u8], mut at: usize, restarts: u32) -> Result<(), Fault> {
        let irregular = Fault::Irregular("restart markers other than the scan's");
        for number in 0.. {
            match marker_in_data(file, at)? {
                (_, code @ 0xD0..=0xD7, behind) => {
                    if number == restarts || u32::from(code - 0xD0) != number % 8 {
                        return Err(irregular);
                    }
                    at = behind;
                }
                (marker_at, ..) => {
                    self.at = marker_at;
                    return if number == restarts { Ok(()) } else { Err(irregular) };
                }
            }
        }
        Ok(())
    }
}

/// The place of the next marker in a scan's data, its code, and the place behind it.
fn marker_in_data(file: &[u8], at: usize) -> Result<(usize, u8, usize), Fault> {
    let marker_at = next_pair(file, at).ok_or(Fault::Truncated)?;
    let mut behind = marker_at;
    let code = next_marker(file, &mut behind)?;
    Ok((marker_at, code, behind))
}

/// Where the next FF is that has something other than 0 behind it.
fn next_pair(file: &[u8], at: usize) -> Option<usize> {
    let rest = file.get(at..)?;
    let behind = rest.get(1..)?;
    let is_pair = |(&first, &second): (&u8, &u8)| first == 0xFF && second != 0;
    // Almost no chunk has one: to see that takes no branch for each byte.
    let chunks = rest.chunks_exact(CHUNK).zip(behind.chunks_exact(CHUNK));
    let clean =
        chunks.take_while(|(rest, behind)| !rest.iter().zip(*behind).fold(false, |any, pair| any | is_pair(pair)));
    let from = clean.count() * CHUNK;
    rest[from..].iter().zip(&behind[from..]).position(is_pair).map(|found| at + from + found)
}

impl Known {
    /// Takes note of a scan.
    fn add(&mut self, scan: &ScanHeader) -> Result<(), Fault> {
        let irregular = Fault::Irregular("progressive scans in an order that leaves gaps");
        if scan.low > 13 || scan.refines() && scan.high != scan.low + 1 {
            return Err(irregular);
        }
        for &component in scan.components() {
            let known = &mut self.0[component];
            if !scan.is_dc() && known[0] < 0 {
                return Err(irregular);
            }
            let before = if scan.refines() { scan.high.cast_signed() } else { -1 };
            for bit in &mut known[scan.band.0..=scan.band.1] {
                if *bit != before {
                    return Err(irregular);
                }
                *bit = scan.low.cast_signed();
            }
        }
        Ok(())
    }

    fn is_all(&self, components: usize) -> bool {
        self.0[..components].iter().flatten().all(|&bit| bit == 0)
    }
}

/// Checks the headers of all scans, up to the end of the picture, and counts them.
///
/// A scan of DC has at least one bit for each of its blocks. It is refused if the file has fewer, so that the memory for
/// coefficients is in proportion to the file: at most 1,024 bytes for a byte.
pub(crate) fn check(file: &[u8], header: &Header) -> Result<u32, Fault> {
    let frame = Frame::new(header, Scale::Full);
    let (mut script, mut known, mut count) = (Script::new(header, frame.count), Known([[-1; 64]; 3]), 0);
    while let Some(scan) = script.next(file, None)? {
        known.add(&scan)?;
        count += 1;
        let (across, down) = scan.mcus(&frame);
        let mcus = across * down;
        let restarts = mcus.saturating_sub(1).checked_div(script.restart_interval).unwrap_or(0);
        script.leave_checked(file, scan.data_start, restarts)?;
        let bits = (script.at - scan.data_start) as u64 * 8;
        if scan.is_dc() && bits < u64::from(mcus) * scan.mcu_blocks(&frame) {
            return Err(Fault::Truncated);
        }
    }
    if known.is_all(frame.count) { Ok(count) } else { Err(Unsupported::OpenScans.into()) }
}
