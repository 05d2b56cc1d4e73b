//! The chunks of `RecordIO`. Three incompatible formats share a magic number: the fields of their headers have another
//! order, their checksums are of another kind, and their codecs have other numbers.

use forebay_sources::ReadError;

use crate::checksum::{crc32, crc32c};
use crate::window::Window;

/// Bytes before the payload of a chunk.
pub(super) const HEAD: u64 = 20;
const MAGIC: u32 = 0x0102_0304;

/// Who wrote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// The library in Go, and `pyrecordio` from 0.0.6 on, which `ElasticDL` uses.
    Go,
    /// `pyrecordio` up to 0.0.4.
    Python,
    /// Paddle Fluid.
    Paddle,
}

/// How the payload of a chunk is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkCodec {
    None,
    /// Snappy's own framing.
    SnappyFrames,
    /// One block of Snappy.
    SnappyBlock,
    /// The framing of the library snappystream.
    SnappyStream,
    Gzip,
}

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChunkHeader {
    pub codec: ChunkCodec,
    pub checksum: u32,
    /// Bytes of the payload.
    pub size: u32,
    pub records: u32,
}

pub(super) const DIALECTS: [Dialect; 3] = [Dialect::Go, Dialect::Python, Dialect::Paddle];

impl Dialect {
    /// The header as this dialect has it; nothing if it cannot be one.
    pub(super) fn header(self, bytes: &[u8]) -> Option<ChunkHeader> {
        let (words, _) = bytes.get(..20)?.as_chunks::<4>();
        let [magic, a, b, c, d] = words.try_into().ok().map(|words: [[u8; 4]; 5]| words.map(u32::from_le_bytes))?;
        let header = match self {
            Self::Go => {
                let codec = match b {
                    0 => ChunkCodec::None,
                    1 => ChunkCodec::SnappyFrames,
                    2 => ChunkCodec::Gzip,
                    _ => return None,
                };
                ChunkHeader { codec, checksum: a, size: c, records: d }
            }
            Self::Python => {
                let codec = match c {
                    1 => ChunkCodec::None,
                    2 => ChunkCodec::SnappyBlock,
                    3 => ChunkCodec::Gzip,
                    _ => return None,
                };
                ChunkHeader { codec, checksum: b, size: d, records: a }
            }
            Self::Paddle => {
                let codec = match c {
                    0 => ChunkCodec::None,
                    1 => ChunkCodec::SnappyStream,
                    _ => return None,
                };
                ChunkHeader { codec, checksum: b, size: d, records: a }
            }
        };
        (magic == MAGIC && header.is_plausible()).then_some(header)
    }

    /// Whether a payload has the header's checksum.
    pub(super) fn agrees(self, header: &ChunkHeader, payload: &[u8]) -> bool {
        header.checksum
            == match self {
                Self::Go | Self::Paddle => crc32(payload),
                Self::Python => crc32c(payload),
            }
    }
}

impl ChunkHeader {
    /// Whether the payload can hold so many records: each has a length of four bytes, and no codec makes more of a byte.
    fn is_plausible(&self) -> bool {
        let most = match self.codec {
            ChunkCodec::None => u64::from(self.size),
            ChunkCodec::SnappyFrames | ChunkCodec::SnappyBlock | ChunkCodec::SnappyStream => 64 * u64::from(self.size),
            ChunkCodec::Gzip => 1100 * u64::from(self.size),
        };
        4 * u64::from(self.records) <= most
    }

    /// What a record has on average, as far as the header says.
    pub(super) fn record_len(&self) -> u64 {
        let lengths = if self.codec == ChunkCodec::None { 4 * u64::from(self.records) } else { 0 };
        let bytes = u64::from(self.size).saturating_sub(lengths);
        bytes.div_ceil(u64::from(self.records).max(1)).max(1)
    }
}

/// What was found out about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The checksum of a chunk is right in this dialect.
    Dialect(Dialect),
    /// It has no record.
    Empty,
    /// It ends inside the chunk that begins here.
    Cut(u64),
    /// Its first bytes are those of no chunk.
    NoChunk,
    /// It has chunks, but no checksum is right.
    Damaged,
}

/// Finds the dialect of a file by its fields, and confirms it by the checksum of the first chunk that is not damaged.
pub(super) fn tell(window: &mut Window<'_>, most: u64) -> Result<Told, ReadError> {
    let mut alive: Vec<(Dialect, u64)> = DIALECTS.map(|dialect| (dialect, 0)).into();
    let (mut told, mut has_records) = (Told::NoChunk, false);
    if window.len() == 0 {
        return Ok(Told::Empty);
    }
    while !alive.is_empty() {
        let mut next = Vec::new();
        for (dialect, at) in alive {
            if at == window.len() {
                continue;
            }
            let Some(head) = window.array::<20>(at)? else {
                told = Told::Cut(at);
                continue;
            };
            let Some(header) = dialect.header(&head) else { continue };
            let end = at + HEAD + u64::from(header.size);
            if end > window.len() {
                told = Told::Cut(at);
                continue;
            }
            if header.records > 0 {
                has_records = true;
                let len = usize::try_from(header.size).ok().filter(|_| u64::from(header.size) <= most);
                let payload = len.map(|len| window.get(at + HEAD, len)).transpose()?.flatten();
                if payload.is_some_and(|payload| dialect.agrees(&header, payload)) {
                    return Ok(Told::Dialect(dialect));
                }
            }
            if !matches!(told, Told::Cut(_)) {
                told = Told::Damaged;
            }
            next.push((dialect, end));
        }
        alive = next;
    }
    Ok(if told == Told::Damaged && !has_records { Told::Empty } else { told })
}
