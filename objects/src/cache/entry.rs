//! The bytes of an entry: a header with digests of its chunks, and the value. A range is compared with the digests of
//! the chunks that it touches, so a small range of a large value is cheap. Pure.
//!
//! The header is `FBOBJCT1`, the key (32 bytes), the value's length (8), the length of a chunk (4), how many there are
//! (4), the digest of each chunk (32 each) and the digest of all of that (32). Numbers are little-endian.

use std::ops::Range;

use super::key::CacheKey;

/// Bytes that have one digest.
pub(super) const CHUNK: usize = 64 << 10;
/// Bytes of the largest value.
pub(super) const VALUE_LIMIT: u64 = 256 << 20;
/// Bytes of the header before the digests.
pub(super) const FIXED: usize = 56;

const MAGIC: &[u8; 8] = b"FBOBJCT1";
const DIGEST: usize = 32;

/// A header whose digest is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    length: u64,
    digests: Vec<[u8; DIGEST]>,
    bytes: Vec<u8>,
}

impl Header {
    /// The header for a value.
    pub(super) fn of(key: &CacheKey, value: &[u8]) -> Self {
        let digests: Vec<_> = value.chunks(CHUNK).map(|chunk| *blake3::hash(chunk).as_bytes()).collect();
        let mut bytes = Vec::with_capacity(FIXED + (digests.len() + 1) * DIGEST);
        let count = u32::try_from(digests.len()).expect("the caller compared the length with the limit");
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(key.bytes());
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&u32::try_from(CHUNK).expect("it is small").to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
        bytes.extend(digests.as_flattened());
        let digest = blake3::hash(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        Self { length: value.len() as u64, digests, bytes }
    }

    /// Bytes of the whole header, from its fixed part. None if the entry is not of this key, or cannot be of a file
    /// with this size.
    pub(super) fn size(fixed: &[u8; FIXED], key: &CacheKey, file: u64) -> Option<usize> {
        let (magic, rest) = fixed.split_first_chunk::<8>()?;
        let (found, rest) = rest.split_first_chunk::<32>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let (chunk, count) = rest.split_first_chunk::<4>()?;
        let length = u64::from_le_bytes(*length);
        let count = u64::from(u32::from_le_bytes(count.try_into().ok()?));
        let chunk = u32::from_le_bytes(*chunk) as usize;
        let ours = magic == MAGIC && found == key.bytes() && chunk == CHUNK && length <= VALUE_LIMIT;
        if !ours || count != length.div_ceil(CHUNK as u64) {
            return None;
        }
        let size = FIXED as u64 + (count + 1) * DIGEST as u64;
        if file == size + length { usize::try_from(size).ok() } else { None }
    }

    /// Reads a whole header. None if it is not what was written.
    pub(super) fn parse(bytes: &[u8], key: &CacheKey, file: u64) -> Option<Self> {
        let fixed = bytes.first_chunk::<FIXED>()?;
        if Self::size(fixed, key, file)? != bytes.len() {
            return None;
        }
        let (hashed, digest) = bytes.split_last_chunk::<DIGEST>()?;
        if blake3::hash(hashed) != *digest {
            return None;
        }
        let (digests, []) = hashed[FIXED..].as_chunks::<DIGEST>() else { return None };
        Some(Self { length: file - bytes.len() as u64, digests: digests.to_vec(), bytes: bytes.to_vec() })
    }

    /// Bytes of the header.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of the value.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Where a chunk is in the value.
    pub(super) fn place(&self, chunk: u64) -> Range<u64> {
        let start = chunk * CHUNK as u64;
        start..(start + CHUNK as u64).min(self.length)
    }

    /// Whether these are the chunk's bytes.
    pub(super) fn has(&self, chunk: u64, bytes: &[u8]) -> bool {
        let digest = usize::try_from(chunk).ok().and_then(|chunk| self.digests.get(chunk));
        digest.is_some_and(|digest| blake3::hash(bytes) == *digest)
    }
}

/// The chunks that a range of a value touches.
pub(super) fn chunks(range: &Range<u64>) -> Range<u64> {
    if range.is_empty() { 0..0 } else { range.start / CHUNK as u64..range.end.div_ceil(CHUNK as u64) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> CacheKey {
        CacheKey::new("test", [b"a".as_slice()])
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK] {
            let value = vec![7; length];
            let header = Header::of(&key(), &value);
            let file = (header.len() + length) as u64;
            let parsed = Header::parse(header.bytes(), &key(), file).unwrap();
            assert_eq!(parsed, header);
            assert_eq!(parsed.length(), length as u64);
            let all = chunks(&(0..length as u64));
            assert_eq!(all.clone().count(), length.div_ceil(CHUNK));
            for (number, chunk) in all.zip(value.chunks(CHUNK)) {
                assert!(parsed.has(number, chunk) && !parsed.has(number, &chunk[1..]));
                assert_eq!(parsed.place(number).end - parsed.place(number).start, chunk.len() as u64);
            }
            assert!(!parsed.has(6, b""));
        }
    }

    #[test]
    fn a_range_touches_chunks() {
        let chunk = CHUNK as u64;
        assert_eq!((chunks(&(5..5)), chunks(&(0..1)), chunks(&(0..chunk))), (0..0, 0..1, 0..1));
        assert_eq!((chunks(&(chunk - 1..chunk + 1)), chunks(&(chunk..3 * chunk))), (0..2, 1..3));
    }

    #[test]
    fn a_header_of_another_key_or_file_is_refused() {
        let header = Header::of(&key(), b"value");
        let file = header.len() as u64 + 5;
        assert!(Header::parse(header.bytes(), &CacheKey::new("other", []), file).is_none());
        for wrong in [0, 5, file - 1, file + 1, u64::MAX] {
            assert!(Header::parse(header.bytes(), &key(), wrong).is_none(), "{wrong}");
        }
        assert!(Header::parse(&header.bytes()[..header.len() - 1], &key(), file).is_none());
        assert!(Header::parse(&[], &key(), file).is_none());
    }

    #[test]
    fn a_length_that_cannot_be_makes_no_memory() {
        let header = Header::of(&key(), b"value");
        for (place, bytes) in [(40, [0xff; 8]), (48, [0xff; 8])] {
            let mut fixed: [u8; FIXED] = header.bytes()[..FIXED].try_into().unwrap();
            fixed[place..place + 8].copy_from_slice(&bytes);
            assert_eq!(Header::size(&fixed, &key(), u64::MAX), None);
        }
    }

    proptest! {
        #[test]
        fn no_bit_of_a_header_can_change(place in 0_usize..120, bit in 0_u8..8) {
            let header = Header::of(&key(), b"value");
            prop_assert_eq!(header.len(), 120);
            let mut bytes = header.bytes().to_vec();
            bytes[place] ^= 1 << bit;
            prop_assert_eq!(Header::parse(&bytes, &key(), 125), None);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), file in any::<u64>()) {
            prop_assert_eq!(Header::parse(&bytes, &key(), file), None);
        }
    }
}
