//! Compressed buffers of Arrow files: eight bytes with the length of the content, or -1, and the content.

use std::io::Read as _;

use arrow_ipc::{BodyCompression, CompressionType};
use lz4_flex::frame::FrameDecoder;

/// Bytes of the length before the content.
pub(super) const LENGTH: u64 = 8;
/// No content has more bytes, and none is so much larger than what is stored of it. Small ones may be, and so may those that
/// are no longer than numbers of all rows.
const MOST: u64 = i32::MAX as u64;
const MOST_SHRUNK: u64 = 1024;
const SMALL: u64 = 1 << 20;
const OF_A_ROW: u64 = 16;

/// How the buffers of a batch are compressed, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferCodec {
    Lz4,
    Zstd,
}

impl BufferCodec {
    /// The one that a batch names. Nothing, if it is not known.
    pub(super) fn of(compression: BodyCompression<'_>) -> Option<Self> {
        match compression.codec() {
            CompressionType::LZ4_FRAME => Some(Self::Lz4),
            CompressionType::ZSTD => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The content of a buffer of a batch with so many rows. Nothing, if it cannot be, or if there is no room for it.
    pub(super) fn content(self, mut stored: Vec<u8>, rows: usize) -> Option<Vec<u8>> {
        let Some((&length, compressed)) = stored.split_first_chunk::<8>() else {
            return stored.is_empty().then_some(stored);
        };
        let length = i64::from_le_bytes(length);
        if length == -1 {
            stored.drain(..length.to_le_bytes().len());
            return Some(stored);
        }
        let length = u64::try_from(length).ok()?;
        let stored_len = compressed.len() as u64;
        let most = SMALL.max(stored_len.saturating_mul(MOST_SHRUNK)).max((rows as u64 + 1).saturating_mul(OF_A_ROW));
        let length = usize::try_from(length).ok().filter(|length| *length as u64 <= most.min(MOST))?;
        if length == 0 {
            return Some(Vec::new());
        }
        let mut content = Vec::new();
        content.try_reserve_exact(length).ok()?;
        match self {
            Self::Zstd => {
                content.resize(length, 0);
                let len = zstd::bulk::decompress_to_buffer(compressed, &mut content).ok()?;
                content.truncate(len);
            }
            Self::Lz4 => {
                let mut decoder = FrameDecoder::new(compressed);
                decoder.by_ref().take(length as u64).read_to_end(&mut content).ok()?;
                // Nothing follows.
                if decoder.read(&mut [0]).ok()? > 0 {
                    return None;
                }
            }
        }
        (content.len() == length).then_some(content)
    }
}

/// How long the content of a buffer is that has so many bytes and begins with these.
pub(super) fn content_len(head: &[u8], stored: u64) -> Option<u64> {
    match i64::from_le_bytes(*head.first_chunk()?) {
        -1 => stored.checked_sub(LENGTH),
        length => u64::try_from(length).ok().filter(|length| *length <= MOST),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use lz4_flex::frame::FrameEncoder;

    use super::*;

    fn lz4(content: &[u8]) -> Vec<u8> {
        let mut encoder = FrameEncoder::new(Vec::new());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(content: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(content, 1).unwrap()
    }

    fn buffer(length: i64, compressed: &[u8]) -> Vec<u8> {
        [&length.to_le_bytes()[..], compressed].concat()
    }

    #[test]
    fn a_content_is_what_was_compressed_or_stored() {
        let content: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
        let len = i64::try_from(content.len()).unwrap();
        for (codec, compressed) in [(BufferCodec::Lz4, lz4(&content)), (BufferCodec::Zstd, zstd(&content))] {
            assert_eq!(codec.content(buffer(len, &compressed), 1), Some(content.clone()));
            assert_eq!(codec.content(buffer(-1, b"abc"), 1), Some(b"abc".to_vec()));
            assert_eq!(codec.content(buffer(0, b""), 1), Some(Vec::new()));
            assert_eq!(codec.content(Vec::new(), 1), Some(Vec::new()));
            for wrong in [len - 1, len + 1, -2, i64::MAX] {
                assert_eq!(codec.content(buffer(wrong, &compressed), 1), None, "{codec:?} {wrong}");
            }
            assert_eq!(codec.content(b"short".to_vec(), 1), None);
            let cut = &compressed[..compressed.len() - 1];
            assert!(codec == BufferCodec::Lz4 || codec.content(buffer(len, cut), 1).is_none());
        }
        assert_eq!((content_len(&[255; 8], 20), content_len(&7_i64.to_le_bytes(), 20)), (Some(12), Some(7)));
        assert_eq!((content_len(&[255; 8], 7), content_len(b"short", 5)), (None, None));
        assert_eq!(content_len(&i64::MAX.to_le_bytes(), 20), None);
    }

    #[test]
    fn a_bomb_is_refused_by_the_ratio_and_numbers_of_rows_are_not() {
        let zeros = vec![0; 32 << 20];
        let (len, compressed) = (i64::try_from(zeros.len()).unwrap(), zstd(&zeros));
        assert!(compressed.len() < 10_000);
        assert_eq!(BufferCodec::Zstd.content(buffer(len, &compressed), 1000), None);
        let of_rows = BufferCodec::Zstd.content(buffer(len, &compressed), zeros.len() / 8);
        assert!(of_rows == Some(zeros), "a column of one number");
        assert_eq!(BufferCodec::Zstd.content(buffer(1 << 40, &compressed), usize::MAX / 16), None);
    }
}
