//! A PNG without the chunks that its pixels do not need: colour profiles and texts, which may expand a thousandfold in the
//! decoder, and EXIF, which `metadata` reads in place.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// Bytes before the first chunk.
const SIGNATURE: usize = 8;
/// Bytes of a chunk beside its data: its length and type, and its checksum.
const BESIDE: usize = 12;
const LEFT_OUT: [&[u8; 4]; 5] = [b"iCCP", b"tEXt", b"zTXt", b"iTXt", b"eXIf"];

/// Reads a PNG from the beginning to the end, without these chunks.
#[derive(Debug)]
pub(super) struct LeanPng<'a> {
    /// The bytes that have not been read.
    rest: &'a [u8],
    /// How much of it belongs to the chunk that is read.
    chunk: usize,
}

impl<'a> LeanPng<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, chunk: SIGNATURE.min(bytes.len()) }
    }

    /// The width and height that a PNG says. Nothing if it does not begin as one.
    pub(super) fn size(bytes: &[u8]) -> Option<(u32, u32)> {
        let number = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let begins = bytes.get(SIGNATURE + 4..SIGNATURE + 8)? == b"IHDR";
        if begins { Some((number(SIGNATURE + 8)?, number(SIGNATURE + 12)?)) } else { None }
    }

    /// Moves to the next chunk that is not left out.
    fn next_chunk(&mut self) {
        while self.chunk == 0 && !self.rest.is_empty() {
            let head = self.rest.first_chunk::<4>().zip(self.rest.get(4..8));
            // A chunk that is cut off is passed on as it is, and the decoder reports it.
            let Some((len, kind)) = head else {
                self.chunk = self.rest.len();
                return;
            };
            let len = usize::try_from(u32::from_be_bytes(*len)).unwrap_or(usize::MAX);
            let whole = len.saturating_add(BESIDE).min(self.rest.len());
            if LEFT_OUT.iter().any(|left_out| kind == *left_out) {
                self.rest = &self.rest[whole..];
            } else {
                self.chunk = whole;
            }
        }
    }
}

impl Read for LeanPng<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let there = self.fill_buf()?;
        let len = there.len().min(buf.len());
        buf[..len].copy_from_slice(&there[..len]);
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for LeanPng<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.next_chunk();
        Ok(&self.rest[..self.chunk])
    }

    fn consume(&mut self, len: usize) {
        self.chunk -= len;
        self.rest = &self.rest[len..];
    }
}

/// The decoder asks for it, and reads on without it.
impl Seek for LeanPng<'_> {
    fn seek(&mut self, _to: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
        [&u32::try_from(data.len()).unwrap().to_be_bytes()[..], &kind, data, b"sums"].concat()
    }

    #[test]
    fn rule_31_profiles_texts_and_exif_are_left_out_and_all_else_is_read_as_it_is() {
        let kept = [&b"\x89PNG\r\n\x1a\n"[..], &chunk(*b"IHDR", &[7; 13]), &chunk(*b"gAMA", &[1; 100])].concat();
        let end = [chunk(*b"IDAT", &[3; 5000]), chunk(*b"IEND", b"")].concat();
        let out = [b"iCCP", b"zTXt", b"tEXt", b"iTXt", b"eXIf"].map(|kind| chunk(*kind, &[9; 700])).concat();
        let whole = [&kept[..], &out, &end, &chunk(*b"tEXt", b"after")].concat();
        let mut read = Vec::new();
        LeanPng::new(&whole).read_to_end(&mut read).unwrap();
        assert_eq!(read, [kept.clone(), end.clone()].concat());
        for cut in 0..whole.len() {
            let mut read = Vec::new();
            LeanPng::new(&whole[..cut]).read_to_end(&mut read).unwrap();
            assert!(read.len() <= cut, "no more than there is");
        }
        assert_eq!(LeanPng::size(&whole), Some((0x0707_0707, 0x0707_0707)));
        assert_eq!((LeanPng::size(&whole[..20]), LeanPng::size(b"")), (None, None));
    }
}
