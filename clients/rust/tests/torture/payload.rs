//! The payload of a record in the torture test: its number, random bytes, and the checksum of both.

/// Bytes of a picture: 8 x 8 pixels of 3 values.
pub(crate) const LENGTH: usize = 8 * 8 * 3;

/// Whether pixels are a whole payload, and that of this record.
pub(crate) fn is_of(pixels: &[u8], record: i64) -> bool {
    let Some((head, sum)) = pixels.split_last_chunk::<4>() else { return false };
    head.starts_with(&record.to_le_bytes()) && *sum == crc32(head).to_le_bytes()
}

fn crc32(bytes: &[u8]) -> u32 {
    let shifted = |sum: u32, _| (sum >> 1) ^ ((sum & 1) * 0xedb8_8320);
    !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), shifted))
}
