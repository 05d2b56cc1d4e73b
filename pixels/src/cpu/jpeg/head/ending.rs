//! The markers from the first scan to the end marker, as libjpeg's marker reader takes them: what Pillow and torchvision meet when
//! they finish a picture, whatever part of it is wanted here.

use std::ops::ControlFlow;

use crate::fault::Fault;

/// Bytes that are looked at together.
const CHUNK: usize = 64;

/// Restart markers that a scan should have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Restarts {
    /// How many the decoder asks for. Behind that, libjpeg passes over them.
    pub(super) wanted: u64,
    /// Whether other scans may follow. Then their number is not known, and a code that is no marker's may be in any of them.
    pub(super) several_scans: bool,
}

/// Looks for the end marker, from the data of the first scan on.
///
/// # Errors
/// [`Fault::Truncated`] if there is none, and [`Fault::Corrupt`] if libjpeg refuses what comes before it.
pub(super) fn check(scans: &[u8], restarts: Restarts) -> Result<(), Fault> {
    let mut markers = Markers { bytes: scans, at: 0 };
    let mut pending = markers.pass_restarts(restarts.wanted)?;
    loop {
        let code = match pending.take() {
            Some(code) => code,
            None => markers.next()?,
        };
        match code {
            0xD9 => return Ok(()),
            // Alone, and passed over wherever they are.
            0x01 | 0xD0..=0xD7 => {}
            0xC4 => huffman_tables(markers.tables()?)?,
            0xDB => quantisation_tables(markers.tables()?)?,
            0xCC => arithmetic_conditions(markers.tables()?)?,
            0xDD if markers.body()?.len() == 2 => {}
            0xDC | 0xE0..=0xEF | 0xFE => _ = markers.body()?,
            // The decoder reads the header of the scan.
            0xDA if restarts.several_scans => _ = markers.body()?,
            0xDA => return bad("a second scan of all components"),
            0xC0..=0xC3 | 0xC5..=0xCF => return bad("a second frame header"),
            0xD8 => return bad("a second start marker"),
            0xDD => return bad("a restart interval of the wrong length"),
            // libjpeg skips such a code where it looks for a restart marker.
            0x02..=0xBF if restarts.several_scans => {}
            code => return Err(Fault::Corrupt { reason: format!("its data has the unknown marker {code:#04x}") }),
        }
    }
}

fn bad<T>(what: &str) -> Result<T, Fault> {
    Err(Fault::Corrupt { reason: format!("its data has {what}") })
}

/// Marker after marker of what follows a scan's header.
struct Markers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Markers<'a> {
    /// The code of the next marker. Data before it is passed over.
    fn next(&mut self) -> Result<u8, Fault> {
        loop {
            self.at = next_pair(self.bytes, self.at).ok_or(Fault::Truncated)?;
            // Fill bytes.
            let fill = self.bytes[self.at..].iter().position(|byte| *byte != 0xFF).ok_or(Fault::Truncated)?;
            let code = self.bytes[self.at + fill];
            self.at += fill + 1;
            // Behind fill bytes, too, a zero makes FF a byte of data.
            if code != 0 {
                return Ok(code);
            }
        }
    }

    /// The body of a segment.
    fn body(&mut self) -> Result<&'a [u8], Fault> {
        let (length, rest) = self.bytes[self.at..].split_first_chunk().ok_or(Fault::Truncated)?;
        let length = usize::from(u16::from_be_bytes(*length)).saturating_sub(2);
        let body = rest.get(..length).ok_or(Fault::Truncated)?;
        self.at += 2 + length;
        Ok(body)
    }

    /// The body of a segment of tables, whose length libjpeg does not forgive.
    fn tables(&mut self) -> Result<&'a [u8], Fault> {
        match self.bytes[self.at..] {
            [0, 0 | 1, ..] => bad("tables of no length"),
            _ => self.body(),
        }
    }

    /// Takes the restart markers that the decoder asks for, as libjpeg does where some are missing, doubled or damaged
    /// (`jpeg_resync_to_restart`). Gives the marker that it leaves unread.
    fn pass_restarts(&mut self, wanted: u64) -> Result<Option<u8>, Fault> {
        let mut pending = None;
        for number in 0..wanted {
            let desired = (number % 8) as u8;
            let mut code = match pending.take() {
                Some(code) => code,
                None => self.next()?,
            };
            loop {
                match resynchronised(code, desired) {
                    Resync::Taken => break,
                    Resync::Ahead => {
                        pending = Some(code);
                        break;
                    }
                    Resync::Behind => code = self.next()?,
                }
            }
            // Nothing but another restart marker is ever taken from there on.
            if pending.is_some_and(|code| !matches!(code, 0xD0..=0xD7)) {
                break;
            }
        }
        Ok(pending)
    }
}

/// What libjpeg does with a marker where it wants a restart marker.
enum Resync {
    /// It takes it, and continues with the data behind it.
    Taken,
    /// It leaves it, and makes the data up to it.
    Ahead,
    /// It looks for the next one.
    Behind,
}

fn resynchronised(code: u8, desired: u8) -> Resync {
    if code < 0xC0 {
        return Resync::Behind;
    }
    if !(0xD0..=0xD7).contains(&code) {
        return Resync::Ahead;
    }
    match (code - 0xD0).wrapping_sub(desired) % 8 {
        1 | 2 => Resync::Ahead,
        6 | 7 => Resync::Behind,
        _ => Resync::Taken,
    }
}

/// Where the next FF is that has neither a 0 nor the end behind it.
pub(super) fn next_pair(bytes: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let behind = rest.get(1..)?;
    let is_pair = |(first, second): (&u8, &u8)| *first == 0xFF && *second != 0;
    // Almost no chunk has one: to see that takes no branch for each byte.
    let mut chunks = rest.chunks_exact(CHUNK).zip(behind.chunks_exact(CHUNK));
    let chunk = chunks.try_fold(0, |at, (rest, behind)| {
        let some = rest.iter().zip(behind).fold(false, |some, pair| some | is_pair(pair));
        if some { ControlFlow::Break(at) } else { ControlFlow::Continue(at + CHUNK) }
    });
    let (ControlFlow::Break(at) | ControlFlow::Continue(at)) = chunk;
    rest[at..].iter().zip(&behind[at..]).position(is_pair).map(|found| from + at + found)
}

fn huffman_tables(mut body: &[u8]) -> Result<(), Fault> {
    while let [kind, rest @ ..] = body {
        let Some((counts, rest)) = rest.split_first_chunk::<16>() else {
            return bad("a Huffman table of the wrong length");
        };
        let symbols: usize = counts.iter().map(|count| usize::from(*count)).sum();
        match rest.get(symbols..) {
            Some(rest) if symbols <= 256 => body = rest,
            _ => return bad("a bad Huffman table"),
        }
        if kind & !0x10 > 3 {
            return bad("a Huffman table of a number above 3");
        }
    }
    Ok(())
}

fn quantisation_tables(mut body: &[u8]) -> Result<(), Fault> {
    while let [kind, rest @ ..] = body {
        if kind & 0x0F > 3 {
            return bad("a quantisation table of a number above 3");
        }
        let Some(rest) = rest.get(if kind >> 4 == 0 { 64 } else { 128 }..) else {
            return bad("a quantisation table of the wrong length");
        };
        body = rest;
    }
    Ok(())
}

fn arithmetic_conditions(body: &[u8]) -> Result<(), Fault> {
    let (pairs, rest) = body.as_chunks::<2>();
    // Those of DC have a lower and an upper bound.
    let is_good = |&[index, value]: &[u8; 2]| index < 32 && (index >= 16 || value & 0x0F <= value >> 4);
    if rest.is_empty() && pairs.iter().all(is_good) { Ok(()) } else { bad("bad conditions of arithmetic coding") }
}
