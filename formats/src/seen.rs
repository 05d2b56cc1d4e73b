//! The ranges of a file that a scan has read, compressed. Another scan of the same file asks for the same ranges.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};

use snap::read::FrameDecoder;
use snap::write::FrameEncoder;

/// Bytes before each range: where it begins, and how many there are.
const HEAD: usize = 12;
/// More bytes are not kept of one file: it would be scanned again.
const MOST: u64 = 256 << 20;

/// What a scan reads of a file, while it does.
#[derive(Debug)]
pub(crate) struct SeenWriter {
    /// Nothing if there were too many bytes.
    encoder: Option<FrameEncoder<Vec<u8>>>,
    bytes: u64,
}

/// What a scan has read of a file.
#[derive(Debug)]
pub(crate) struct Seen {
    bytes: Vec<u8>,
    /// Where the bytes of each range are.
    ranges: HashMap<(u64, u32), usize>,
}

impl SeenWriter {
    pub(crate) fn new() -> Self {
        Self { encoder: Some(FrameEncoder::new(Vec::new())), bytes: 0 }
    }

    /// Adds a range.
    pub(crate) fn add(&mut self, offset: u64, bytes: &[u8]) {
        let Some(encoder) = &mut self.encoder else { return };
        self.bytes += (HEAD + bytes.len()) as u64;
        let len = u32::try_from(bytes.len()).ok().filter(|_| self.bytes <= MOST);
        let written = len.map(|len| {
            encoder.write_all(&offset.to_le_bytes())?;
            encoder.write_all(&len.to_le_bytes())?;
            encoder.write_all(bytes)
        });
        if !matches!(written, Some(Ok(()))) {
            self.encoder = None;
        }
    }

    /// All ranges. Nothing if there were too many bytes.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        self.encoder?.into_inner().ok()
    }
}

impl Seen {
    /// Nothing if the bytes are not what was written.
    pub(crate) fn decompress(compressed: &[u8]) -> Option<Self> {
        let mut bytes = Vec::new();
        FrameDecoder::new(compressed).take(MOST + 1).read_to_end(&mut bytes).ok()?;
        let mut ranges = HashMap::new();
        let mut at = 0_usize;
        while let Some((offset, rest)) = bytes.get(at..).and_then(|rest| rest.split_first_chunk::<8>()) {
            let len = u32::from_le_bytes(*rest.first_chunk::<4>()?);
            let start = at + HEAD;
            at = start.checked_add(len as usize).filter(|&end| end <= bytes.len())?;
            ranges.insert((u64::from_le_bytes(*offset), len), start);
        }
        (at == bytes.len()).then_some(Self { bytes, ranges })
    }

    /// A range that was read. Nothing if it was not.
    pub(crate) fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let start = *self.ranges.get(&(offset, u32::try_from(len).ok()?))?;
        self.bytes.get(start..start + len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_again_and_what_is_damaged_is_not_believed() {
        let mut writer = SeenWriter::new();
        writer.add(0, b"abc");
        writer.add(1 << 40, &vec![0; 1 << 20]);
        let bytes = writer.finish().unwrap();
        let seen = Seen::decompress(&bytes).unwrap();
        assert_eq!((seen.get(0, 3), seen.get(0, 2)), (Some(&b"abc"[..]), None));
        assert_eq!(seen.get(1 << 40, 1 << 20).map(<[u8]>::len), Some(1 << 20));
        assert!(bytes.len() < 100_000);
        assert!(Seen::decompress(&bytes[..bytes.len() - 1]).is_none());
        let mut large = SeenWriter::new();
        let zeros = vec![0; 1 << 20];
        (0..257).for_each(|number| large.add(number, &zeros));
        assert_eq!(large.finish(), None);
    }
}
