//! `recordio:`: the `RecordIO` files of `ElasticDL` and Paddle. A file is a row of chunks, and a chunk holds many records
//! that are compressed together, so a chunk is what is read at once.

mod chunk;
mod decode;
mod reader;
mod scan;
mod spoiled;

use std::ops::Range;

use forebay_columns::Table;
use forebay_sources::{
    Grains, Locator, MaskColumn, Options, Part, ReadError, ReadErrorKind, RecordParts, Source, SourceError,
};

use self::chunk::{ChunkHeader, DIALECTS, Dialect, HEAD};
use self::reader::ChunkReader;
use self::scan::{FoundChunks, RecordIoScan};
use crate::address::Address;
use crate::containers;
use crate::example::{ExampleFault, gather::Gatherer};
use crate::folder::is_picture;
use crate::grain_cache::{Grain, GrainCache};
use crate::packed::fingerprint;
use crate::scheme::{Indexing, OptionKey, Scheme};
use crate::window::Window;

pub(super) const SCHEME: Scheme = Scheme {
    name: "recordio",
    takes: "a RecordIO file of ElasticDL or Paddle, a folder of .recordio files, or a pattern",
    options: &[
        OptionKey {
            name: "payload",
            help: "what a record is: \"picture\", \"example\" (tf.train.Example), or \"i32+picture\" or \"i64+picture\" (a label, then the picture)",
        },
        OptionKey {
            name: "chunk_limit",
            help: "the most bytes of a chunk, stored and decompressed; 268435456 by default",
        },
    ],
    has_columns: true,
    recognises: |path| {
        containers::begins(
            path,
            &EXTENSIONS,
            |bytes| DIALECTS.iter().any(|dialect| dialect.header(bytes).is_some()),
            is_picture,
        )
    },
    open: |path, options, _| Ok(Box::new(open(path, options)?).into()),
    indexing: Indexing::Never("Its chunks are found by their headers, which are few."),
};

const EXTENSIONS: [&str; 1] = ["recordio"];
/// Bytes of decoded chunks that are kept, and the most that one chunk may have unless the user says otherwise.
const KEPT: usize = 256 << 20;
const CHUNK_LIMIT: u64 = 256 << 20;

/// What a record is.
#[derive(Debug)]
enum RecordIoPayload {
    Picture,
    /// A label of so many bytes, and then the picture.
    Labelled(usize),
    Example(Box<Gatherer>),
}

/// A chunk with records.
#[derive(Clone, Copy, Debug)]
struct RecordChunk {
    dialect: Dialect,
    header: ChunkHeader,
}

/// A dataset of chunks.
#[derive(Debug)]
struct RecordIo {
    found: FoundChunks,
    shards: Vec<String>,
    reader: ChunkReader,
    /// The grains that were decoded last.
    cache: GrainCache,
    fingerprint: [u8; 32],
    byte_limit: u64,
}

fn open(name: &Address, options: &Options) -> Result<RecordIo, SourceError> {
    let words = ["picture", "example", "i32+picture", "i64+picture"];
    let payload = match options.own.choice("payload", &words.map(|word| (word, word)))? {
        "example" => RecordIoPayload::Example(Box::new(Gatherer::new(options)?)),
        word if !options.columns.is_empty() => {
            return Err(SourceError::bad_option("payload", word, "\"example\" if the stream names columns"));
        }
        "i32+picture" => RecordIoPayload::Labelled(4),
        "i64+picture" => RecordIoPayload::Labelled(8),
        _ => RecordIoPayload::Picture,
    };
    let chunk_limit = match options.own.get("chunk_limit") {
        None => CHUNK_LIMIT,
        Some(text) => text.parse().map_err(|_| SourceError::bad_option("chunk_limit", text, "a number of bytes"))?,
    };
    let mut scan = RecordIoScan::new(payload, chunk_limit, options);
    for (number, path) in (0..).zip(containers::find(name, &EXTENSIONS)?) {
        scan.file(&path, number)?;
    }
    let found = scan.finish(&name.shown())?;
    Ok(RecordIo {
        shards: found.parts.files.iter().map(|file| file.address.last_name()).collect(),
        reader: ChunkReader::new(&found.parts.files, chunk_limit),
        cache: GrainCache::new(KEPT).reading_ahead(found.chunks.len(), name.tree().is_some()),
        fingerprint: found.payload.fingerprint(fingerprint(name, &found.parts), &found.masks),
        byte_limit: options.byte_limit,
        found,
    })
}

impl RecordIoPayload {
    /// The fingerprint of the chunks, and of what is the picture and what are masks in their records: the spans do not tell it.
    fn fingerprint(&self, of_chunks: [u8; 32], masks: &[MaskColumn]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&of_chunks);
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        match self {
            Self::Picture => part(b"picture"),
            Self::Labelled(bytes) => part(format!("picture behind {bytes} bytes").as_bytes()),
            Self::Example(gatherer) => {
                part(b"example");
                gatherer.images().for_each(|name| part(name.as_bytes()));
                for (mask, features) in masks.iter().zip(gatherer.masks()) {
                    part(b"mask");
                    part(mask.name.as_bytes());
                    part(mask.element.name().as_bytes());
                    features.for_each(|name| part(name.as_bytes()));
                }
            }
        }
        *hasher.finalize().as_bytes()
    }
}

/// Checks a payload, decompresses it into memory that was used before, and splits it into records. The memory that is not
/// needed for them is left in `payload`.
fn records(chunk: RecordChunk, payload: &mut Vec<u8>, used: Vec<u8>, most: u64) -> Result<Grain, String> {
    if !chunk.dialect.agrees(&chunk.header, payload) {
        return Err("the checksum of its chunk is not that of the stored bytes".into());
    }
    let bytes = decode::decompress(chunk.header.codec, payload, used, most)?;
    let ends = decode::split(&bytes, chunk.header.records, most)?;
    Ok(Grain { bytes, ends })
}

/// A record of a chunk, without its length.
fn content(grain: &Grain, number: usize) -> Result<&[u8], String> {
    grain.record(number).and_then(|record| record.get(4..)).ok_or_else(|| "it is not in its chunk".into())
}

/// A range of a record.
fn within(content: &[u8], range: Range<u64>) -> Option<&[u8]> {
    content.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

impl RecordIo {
    fn read_record(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let (chunk, number) = self.found.place(record);
        let located = |error: ReadError| ReadError { locator: self.locator(record), ..error };
        let damaged = |cause| ReadError::damaged(self.locator(record), cause);
        if let Some(cause) = self.found.damaged.get(record) {
            return Err(damaged(cause.to_owned()));
        }
        if self.found.chunks[chunk].header.records == 1 {
            // There is nothing to keep for another record.
            let used = self.reader.used_memory();
            let grain = self.reader.read(&self.found, chunk, used).map_err(located)?;
            let given = self.give(record, &grain, 0, room, buf);
            self.reader.keep(grain.bytes);
            return given;
        }
        let decoded = |chunk, used| {
            let chunk = usize::try_from(chunk).expect("a place in the list");
            self.reader.read(&self.found, chunk, used)
        };
        let grain = self.cache.get(chunk as u64, decoded).map_err(located)?;
        self.give(record, &grain, number, room, buf)
    }

    /// Puts the picture of a record of a decoded chunk into `buf`.
    fn give(&self, record: u64, grain: &Grain, number: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let located = |error: ReadError| ReadError { locator: self.locator(record), ..error };
        let damaged = |cause| ReadError::damaged(self.locator(record), cause);
        let content = content(grain, usize::try_from(number).unwrap_or(usize::MAX)).map_err(damaged)?;
        let mut masks = Vec::new();
        let picture = match &self.found.payload {
            RecordIoPayload::Picture => content,
            RecordIoPayload::Labelled(label) => content.get(*label..).unwrap_or_default(),
            RecordIoPayload::Example(gatherer) => {
                let mut window = Window::of_bytes(content);
                match gatherer.pictures(&mut window, 0..content.len() as u64) {
                    Ok(found) => {
                        let mask = |mask: Option<_>| mask.and_then(|mask| within(content, mask)).unwrap_or_default();
                        masks.extend(found.masks.into_iter().map(mask));
                        within(content, found.picture).unwrap_or_default()
                    }
                    Err(ExampleFault::Form(cause)) => return Err(damaged(cause)),
                    Err(ExampleFault::Storage(error)) => return Err(located(error)),
                }
            }
        };
        let lengths: Vec<u64> = masks.iter().map(|mask| mask.len() as u64).collect();
        let table = RecordParts::table_len(masks.len());
        let size = if picture.is_empty() { 0 } else { picture.len() as u64 + lengths.iter().sum::<u64>() + table };
        if let Some(kind) = ReadErrorKind::of_size(size, self.byte_limit.saturating_add(table), room) {
            return Err(ReadError::new(kind, self.locator(record)));
        }
        let reserved = buf.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX));
        reserved.map_err(|error| located(ReadError::of_file(name_of_no_file(), &error.into())))?;
        buf.extend_from_slice(picture);
        for mask in &masks {
            buf.extend_from_slice(mask);
        }
        RecordParts::close(buf, &lengths);
        Ok(())
    }
}

/// The locator is replaced by the record's own.
fn name_of_no_file() -> std::path::PathBuf {
    std::path::PathBuf::new()
}

impl Source for RecordIo {
    fn len(&self) -> u64 {
        self.found.records
    }

    fn classes(&self) -> &[String] {
        &self.found.parts.classes
    }

    fn label(&self, record: u64) -> i64 {
        assert!(record < self.found.records, "record {record} of {}", self.found.records);
        let label = usize::try_from(record).ok().and_then(|record| self.found.parts.labels.get(record));
        label.unwrap_or(-1)
    }

    fn locator(&self, record: u64) -> Locator {
        let (chunk, number) = self.found.place(record);
        let span = self.found.parts.spans.at(chunk);
        let part = Part::InChunk { offset: span.offset - HEAD, number };
        Locator { container: self.found.parts.files[span.file as usize].address.container(), part }
    }

    /// What a record of its chunk has on average: its own size is known only once the chunk is decoded.
    fn size(&self, record: u64) -> u64 {
        self.found.chunks[self.found.place(record).0].header.record_len()
            + RecordParts::table_len(self.found.masks.len())
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        self.read_record(record, room, buf)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.found.parts.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.found.parts.targets)
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.found.masks
    }

    fn grains(&self) -> Grains<'_> {
        Grains::Starts(&self.found.parts.grains)
    }

    fn shard_name(&self, record: u64) -> &str {
        &self.shards[self.found.parts.spans.at(self.found.place(record).0).file as usize]
    }
}

#[cfg(test)]
pub(crate) mod tests;
