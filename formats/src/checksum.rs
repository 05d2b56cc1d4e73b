//! The checksums of packed formats, by the widest instructions that the processor has.

use crc_fast::{CrcAlgorithm, Digest};

/// The checksum of zip and gzip.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iso_hdlc(bytes)
}

/// That of Castagnoli.
pub(crate) fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::crc32_iscsi(bytes)
}

/// The same of bytes that come in parts.
pub(crate) struct Crc32c(Digest);

impl Crc32c {
    /// Of no bytes.
    pub(crate) fn new() -> Self {
        Self(Digest::new(CrcAlgorithm::Crc32Iscsi))
    }

    /// With these bytes behind those of before.
    #[must_use]
    pub(crate) fn with(mut self, part: &[u8]) -> Self {
        self.0.update(part);
        self
    }

    /// The checksum of all parts.
    pub(crate) fn sum(&self) -> u32 {
        u32::try_from(self.0.finalize()).expect("it has 32 bits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_other_programs_in_one_part_or_in_several() {
        assert_eq!((crc32(b"123456789"), crc32c(b"123456789")), (0xcbf4_3926, 0xe306_9283));
        let bytes: Vec<u8> = (0..5000_u32).map(|number| number.to_le_bytes()[0] ^ number.to_le_bytes()[1]).collect();
        for end in [0, 1, 7, 8, 63, 64, 255, 256, 257, 1023, 1024, 4999, 5000] {
            let bytes = &bytes[..end];
            assert_eq!((crc32(bytes), crc32c(bytes)), (crc32fast::hash(bytes), crc32c::crc32c(bytes)), "{end} bytes");
            for cut in [0, end / 3, end] {
                let (first, rest) = bytes.split_at(cut);
                assert_eq!(Crc32c::new().with(first).with(rest).sum(), crc32c(bytes), "{end} bytes, cut at {cut}");
            }
        }
    }
}
