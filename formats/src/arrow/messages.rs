//! Walks over the messages of an Arrow file: a stream, or a file with a footer, which is a stream between two magics.

use std::path::Path;

use arrow_buffer::Buffer;
use arrow_ipc::{Endianness, Message, MessageHeader, MetadataVersion, root_as_message};
use arrow_schema::{DataType, Schema};
use forebay_sources::SourceError;

use crate::contained::contained;
use crate::ranges::FileRanges;

/// At both ends of a file with a footer.
pub(super) const MAGIC: &[u8; 6] = b"ARROW1";
/// Before each message.
pub(super) const MARK: [u8; 4] = [0xff; 4];
/// The most bytes that describe a message. Its data come behind them.
const MOST_METADATA: u64 = 64 << 20;
/// The most zeros between the magic and the first message.
const MOST_PADDING: u64 = 4096;

/// A file that is being walked over.
#[derive(Debug)]
pub(super) struct Messages<'a> {
    path: &'a Path,
    ranges: &'a FileRanges,
    /// Where the next message begins, and where they must have ended.
    offset: u64,
    end: u64,
}

/// The bytes of a batch of rows.
#[derive(Debug)]
pub(super) struct MessageBody {
    /// Where they begin in the file.
    pub offset: u64,
    pub len: u64,
    /// The message before them.
    pub metadata: Buffer,
}

impl<'a> Messages<'a> {
    /// Reads the schema, which is the first message.
    pub(super) fn new(path: &'a Path, ranges: &'a FileRanges) -> Result<(Self, Schema), SourceError> {
        let mut messages = Self { path, ranges, offset: 0, end: ranges.len };
        if ranges.range(0, 6).is_some_and(|magic| magic == MAGIC) {
            messages.offset = messages.behind_padding(8);
            let tail = ranges.len.checked_sub(10).filter(|tail| *tail >= 8);
            let footer = tail.and_then(|tail| ranges.range(tail, 10)).filter(|last| last[4..] == *MAGIC);
            let footer =
                footer.and_then(|last| u64::try_from(i32::from_le_bytes([last[0], last[1], last[2], last[3]])).ok());
            let end = tail.zip(footer).and_then(|(tail, footer)| tail.checked_sub(footer));
            messages.end = end.ok_or_else(|| messages.bad(ranges.len, CUT))?;
        }
        let start = messages.offset;
        let first = messages.next()?.ok_or_else(|| messages.bad(start, CUT))?;
        let message = messages.message(&first)?;
        let schema = message.header_as_schema();
        let schema = schema.ok_or_else(|| {
            messages.bad(start, "The first message is not a schema. Check that this is the right file.")
        })?;
        if schema.endianness() == Endianness::Big {
            return Err(messages
                .bad(start, "The numbers are big-endian, which is not read here. Write the file on another machine."));
        }
        let schema = contained(|| arrow_ipc::convert::try_fb_to_schema(schema));
        let schema = schema.map_err(|error| messages.bad(start, &format!("The schema cannot be read: {error}.")))?;
        // Older unions have one buffer more.
        let has_union = schema.flattened_fields().iter().any(|field| matches!(field.data_type(), DataType::Union(..)));
        if message.version() < MetadataVersion::V4 || has_union && message.version() < MetadataVersion::V5 {
            return Err(
                messages.bad(start, "The file has an old form, which is not read here. Write it with a newer library.")
            );
        }
        Ok((messages, schema))
    }

    /// Some writers align the first message to 64 bytes.
    fn behind_padding(&self, start: u64) -> u64 {
        let is_padding = |offset: &u64| self.ranges.range(*offset, 8).is_some_and(|bytes| bytes == [0; 8]);
        let padding = (0..MOST_PADDING / 8).map(|step| start + step * 8).take_while(is_padding).count();
        start + padding as u64 * 8
    }

    /// The next batch of rows. Nothing, at the mark that ends the stream.
    pub(super) fn next_batch(&mut self) -> Result<Option<MessageBody>, SourceError> {
        while let Some(body) = self.next()? {
            match self.message(&body)?.header_type() {
                MessageHeader::RecordBatch => return Ok(Some(body)),
                // Dictionaries belong to columns that are not chosen: those are refused.
                MessageHeader::DictionaryBatch => {}
                _ => {
                    return Err(self.bad(body.offset, "The message before this byte has no rows. Copy the file again."));
                }
            }
        }
        Ok(None)
    }

    /// The message of a body that [`next`](Self::next) gave.
    pub(super) fn message<'b>(&self, body: &'b MessageBody) -> Result<Message<'b>, SourceError> {
        root_as_message(&body.metadata).map_err(|error| {
            self.bad(body.offset, &format!("The message before this byte is damaged ({error}). Copy the file again."))
        })
    }

    fn next(&mut self) -> Result<Option<MessageBody>, SourceError> {
        let start = self.offset;
        let end = self.end;
        let head = self.ranges.range(start, 8).filter(|_| start.checked_add(8).is_some_and(|start| start <= end));
        let head = head.ok_or_else(|| self.bad(start, CUT))?;
        if head[..4] != MARK {
            let problem = if start == 0 {
                "This is not an Arrow file: it does not begin with a message. Check that it is the right file."
            } else {
                "No message begins at this byte: the file is damaged. Copy it again."
            };
            return Err(self.bad(start, problem));
        }
        let len = i32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        if len == 0 {
            return if start + 8 == end {
                Ok(None)
            } else {
                Err(self.bad(
                    start + 8,
                    "There are bytes behind the end of the stream. Write each stream to a file of its own.",
                ))
            };
        }
        let len = u64::try_from(len).ok().filter(|len| *len <= MOST_METADATA);
        let len = len.ok_or_else(|| self.bad(start, "A message has an impossible length. Copy the file again."))?;
        let metadata = self.ranges.range(start + 8, len).ok_or_else(|| self.bad(start, CUT))?;
        let mut body = MessageBody { offset: start + 8 + len, len: 0, metadata: Buffer::from_slice_ref(metadata) };
        let of_message = self.message(&body)?.bodyLength();
        body.len = u64::try_from(of_message)
            .map_err(|_| self.bad(start, "A message has a negative length. Copy the file again."))?;
        self.offset =
            body.offset.checked_add(body.len).filter(|next| *next <= end).ok_or_else(|| self.bad(start, CUT))?;
        Ok(Some(body))
    }

    /// What is wrong at this byte, or the fault of the storage.
    pub(super) fn bad(&self, offset: u64, problem: &str) -> SourceError {
        match self.ranges.fault() {
            Some(fault) => SourceError::Outage(fault),
            None => SourceError::malformed_at(self.path, offset, problem),
        }
    }
}

const CUT: &str = "The file ends before its stream does: it was cut, or is still being written. Copy it again.";
/// What is wrong with a batch whose numbers cannot be.
pub(super) const DAMAGED: &str =
    "The message before this byte describes rows that are not there, or values that cannot be. Copy the file again.";
