//! TIFF pictures, made byte by byte, in forms that no encoder here writes.

/// A field: tag, kind, number of values, and their bytes.
pub(crate) type Entry = (u16, u16, u32, Vec<u8>);

/// A little-endian field of 16-bit values.
#[allow(dead_code, reason = "each test file takes what it needs")]
pub(crate) fn shorts(tag: u16, values: &[u16]) -> Entry {
    (tag, 3, u32::try_from(values.len()).unwrap(), values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

/// A little-endian file: the data of the strips or tiles, and a directory of these fields, whose offsets and lengths of data are
/// added under the tags that are named.
pub(crate) fn tiff(parts: &[Vec<u8>], [offsets, lengths]: [u16; 2], fields: &[Entry]) -> Vec<u8> {
    let mut bytes = b"II*\0\0\0\0\0".to_vec();
    let mut places = [Vec::new(), Vec::new()];
    for part in parts {
        places[0].extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        places[1].extend(u32::try_from(part.len()).unwrap().to_le_bytes());
        bytes.extend(part);
        bytes.resize(bytes.len().next_multiple_of(2), 0);
    }
    let [at, len] = places;
    let count = u32::try_from(parts.len()).unwrap();
    let mut fields: Vec<Entry> =
        fields.iter().cloned().chain([(offsets, 4, count, at), (lengths, 4, count, len)]).collect();
    fields.sort_by_key(|field| field.0);
    let mut entries = u16::try_from(fields.len()).unwrap().to_le_bytes().to_vec();
    for (tag, kind, count, values) in &fields {
        entries.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
        entries.extend(count.to_le_bytes());
        let mut inline = values.clone();
        if values.len() > 4 {
            inline = u32::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
            bytes.extend(values);
            bytes.resize(bytes.len().next_multiple_of(2), 0);
        }
        inline.resize(4, 0);
        entries.extend(inline);
    }
    let directory = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    bytes[4..8].copy_from_slice(&directory);
    [bytes, entries, vec![0; 4]].concat()
}

/// Fields of an uncompressed picture of one strip.
pub(crate) fn fields(width: u16, height: u16, bits: &[u16], interpretation: u16) -> Vec<Entry> {
    let samples = u16::try_from(bits.len()).unwrap();
    vec![
        shorts(256, &[width]),
        shorts(257, &[height]),
        shorts(258, bits),
        shorts(259, &[1]),
        shorts(262, &[interpretation]),
        shorts(277, &[samples]),
        shorts(278, &[height]),
    ]
}

/// Tags of the offsets and lengths of strips.
pub(crate) const STRIPS: [u16; 2] = [273, 279];
