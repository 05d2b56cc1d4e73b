//! The payload of a chunk: it is decompressed, up to a limit, and split into records.

use std::io::Read;
use std::mem;

use forebay_children::Refill;

use super::chunk::ChunkCodec;

/// A block of snappystream has at most so many bytes.
const BLOCK: usize = 1 << 16;

/// The records of a payload, each behind its length, in memory that was used before. `most` is the most bytes that they may
/// have. Memory that is left is in `payload` afterwards.
///
/// # Errors
/// The payload is not what the codec makes, or has more bytes than the limit.
pub(super) fn decompress(
    codec: ChunkCodec,
    payload: &mut Vec<u8>,
    mut used: Vec<u8>,
    most: u64,
) -> Result<Vec<u8>, String> {
    if codec == ChunkCodec::SnappyBlock {
        return block(payload, used, most);
    }
    used.clear();
    match codec {
        ChunkCodec::SnappyFrames => read(snap::read::FrameDecoder::new(&payload[..]), used, most),
        ChunkCodec::Gzip => read(flate2::read::MultiGzDecoder::new(&payload[..]), used, most),
        ChunkCodec::SnappyStream => stream(payload, used, most),
        ChunkCodec::None | ChunkCodec::SnappyBlock => Ok(mem::replace(payload, used)),
    }
}

fn read(decoder: impl Read, mut bytes: Vec<u8>, most: u64) -> Result<Vec<u8>, String> {
    let read = decoder.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| format!("its chunk cannot be decompressed: {error}"))?;
    if bytes.len() as u64 > most { Err(too_much(most)) } else { Ok(bytes) }
}

/// The length that a block of Snappy begins with is checked before room is made for it.
fn block(payload: &[u8], used: Vec<u8>, most: u64) -> Result<Vec<u8>, String> {
    let wrong = |error: snap::Error| format!("its chunk cannot be decompressed: {error}");
    let len = snap::raw::decompress_len(payload).map_err(wrong)?;
    if len as u64 > most {
        return Err(too_much(most));
    }
    if len > payload.len().saturating_mul(64) {
        return Err("its chunk cannot be decompressed: it says that it has more bytes than Snappy makes of it".into());
    }
    let mut bytes = Refill::new(used);
    let room = bytes.add(len).map_err(|error| format!("its chunk cannot be decompressed: {error}"))?;
    // Another length than it says is an error of the decoder.
    snap::raw::Decoder::new().decompress(payload, room).map_err(wrong)?;
    Ok(bytes.finish())
}

/// A head, and blocks: 1 if it is compressed, the length, a checksum that the chunk's makes needless, and the data.
fn stream(payload: &[u8], mut bytes: Vec<u8>, most: u64) -> Result<Vec<u8>, String> {
    let wrong = || "its chunk cannot be decompressed: it is not what snappystream writes".to_owned();
    let mut rest = payload.strip_prefix(b"snappy\0").ok_or_else(wrong)?;
    while let Some((head, after)) = rest.split_first_chunk::<7>() {
        let [kind, high, low, ..] = *head;
        let len = usize::from(u16::from_be_bytes([high, low]));
        let (data, after) = after.split_at_checked(len).ok_or_else(wrong)?;
        match kind {
            0 => bytes.extend(data),
            1 => {
                let len = snap::raw::decompress_len(data).map_err(|_| wrong())?;
                if len > BLOCK {
                    return Err(wrong());
                }
                bytes.extend(snap::raw::Decoder::new().decompress_vec(data).map_err(|_| wrong())?);
            }
            _ => return Err(wrong()),
        }
        if bytes.len() as u64 > most {
            return Err(too_much(most));
        }
        rest = after;
    }
    if rest.is_empty() { Ok(bytes) } else { Err(wrong()) }
}

fn too_much(most: u64) -> String {
    format!("its chunk takes more than {most} bytes when it is decompressed; increase chunk_limit")
}

/// Where each record ends. Before each are the four bytes of its length. `most` is the most bytes that the records and their
/// ends may take.
///
/// # Errors
/// The payload does not have exactly so many records, or there is no room for their ends.
pub(super) fn split(bytes: &[u8], records: u32, most: u64) -> Result<Vec<usize>, String> {
    let wrong = || format!("its chunk does not have the {records} records that its header says");
    if 4 * u64::from(records) > bytes.len() as u64 {
        return Err(wrong());
    }
    // Empty records have no bytes of their own, but an end.
    let ends = size_of::<usize>() as u64 * u64::from(records);
    if ends.saturating_add(bytes.len() as u64) > most {
        return Err(too_much(most));
    }
    let mut ends = Vec::with_capacity(records as usize);
    let mut at = 0_usize;
    while at < bytes.len() {
        let len = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).map(|len| u32::from_le_bytes(*len));
        let end = len.and_then(|len| at.checked_add(4)?.checked_add(usize::try_from(len).ok()?));
        let Some(end) = end.filter(|&end| end <= bytes.len()) else {
            return Err("a record of its chunk is longer than the chunk".into());
        };
        if ends.len() == records as usize {
            return Err(wrong());
        }
        ends.push(end);
        at = end;
    }
    if ends.len() == records as usize { Ok(ends) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_31_a_chunk_of_empty_records_takes_no_more_memory_than_its_limit() {
        let zeros = vec![0; 4 << 16];
        // Each record has an end of eight bytes beside its four.
        let limit = 12 << 16;
        assert_eq!(split(&zeros, 1 << 16, limit).unwrap().capacity(), 1 << 16);
        let refused = split(&zeros, 1 << 16, limit - 1).unwrap_err();
        assert!(
            refused.contains(&format!("more than {} bytes", limit - 1)) && refused.contains("chunk_limit"),
            "{refused}"
        );
        for records in [0, 1, (1 << 16) - 1, (1 << 16) + 1, u32::MAX] {
            let refused = split(&zeros, records, u64::MAX).unwrap_err();
            assert!(refused.contains(&format!("the {records} records")), "{refused}");
        }
    }
}
