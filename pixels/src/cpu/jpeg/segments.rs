//! The segments of a JPEG: its header, part by part (T.81, annex B).

use crate::fault::Fault;

/// Markers one after the other, up to the first scan.
pub(crate) struct Segments<'a> {
    pub(super) rest: &'a [u8],
}

impl<'a> Segments<'a> {
    /// Those of a file's bytes.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes.get(2..).unwrap_or_default() }
    }

    /// Those before the header of the first scan, as far as the file is sound.
    pub(crate) fn before_scan(bytes: &'a [u8]) -> impl Iterator<Item = (u8, &'a [u8])> {
        let mut segments = Self::of(bytes);
        std::iter::from_fn(move || segments.next().ok()).take_while(|(code, _)| *code != 0xDA)
    }

    /// The next segment's code and body. After the header of a scan, `rest` holds the scan's data.
    pub(crate) fn next(&mut self) -> Result<(u8, &'a [u8]), Fault> {
        loop {
            // Bytes between segments are skipped, as libjpeg does, and so are fill bytes.
            let start = self.rest.iter().position(|byte| *byte == 0xFF).ok_or(Fault::Truncated)?;
            let after = self.rest[start..].iter().position(|byte| *byte != 0xFF).ok_or(Fault::Truncated)?;
            let code = self.rest[start + after];
            self.rest = &self.rest[start + after + 1..];
            match code {
                // Markers without a segment.
                0x00 | 0x01 | 0xD0..=0xD8 => {}
                0xD9 => return Err(Fault::Corrupt { reason: "the end marker comes before any scan".into() }),
                _ => {
                    let (length, tail) = self.rest.split_first_chunk().ok_or(Fault::Truncated)?;
                    let length = usize::from(u16::from_be_bytes(*length)).saturating_sub(2);
                    let (body, tail) = tail.split_at_checked(length).ok_or(Fault::Truncated)?;
                    self.rest = tail;
                    return Ok((code, body));
                }
            }
        }
    }
}
