//! How a format keeps a record within its stored bytes.

use std::fmt;
use std::sync::Arc;

use forebay_sources::{Part, ReadError};

use super::open_files::OpenFile;
use super::spans::Span;
use crate::grain_cache::Grain;
use crate::index_columns::NewColumns;

/// How a format keeps a record within its span.
pub(crate) trait Packing: fmt::Debug + Send + Sync {
    /// What was found to be wrong with the record when it was looked for. Such a record is not read.
    fn fault(&self, _record: u64) -> Option<&str> {
        None
    }

    /// Whether a record with these stored bytes may have the content that an index says.
    fn can_be(&self, _record: u64, _span: &Span) -> bool {
        true
    }

    /// Bytes of the record's content, where they differ from the stored ones.
    fn content_len(&self, _record: u64, span: &Span) -> u64 {
        span.len
    }

    /// How many of the stored bytes are before the content, as far as that is known. They are read into memory of their own,
    /// so that the content is where it belongs as soon as it is read.
    fn head_len(&self, _record: u64) -> usize {
        0
    }

    /// Makes the record's content of its stored bytes, in place. `head` has the first of them, as many as
    /// [`head_len`](Self::head_len) says if there are so many, and `stored` the others.
    ///
    /// # Errors
    /// The bytes are not what was written. The text says how that is known.
    fn unpack(&self, _record: u64, _head: &[u8], _stored: &mut Vec<u8>) -> Result<(), String> {
        Ok(())
    }

    /// Reads and decodes the records of a grain, which is in this file of so many bytes. Only datasets with grains need it. What
    /// is damaged is no error: then the grain has fewer records.
    ///
    /// # Errors
    /// The storage fails, or the file is not what it was.
    fn read_grain(&self, _grain: usize, _file: Arc<OpenFile>, _len: u64) -> Result<Grain, ReadError> {
        Ok(Grain::default())
    }

    /// Whether [`unpack`](Self::unpack) leaves the bytes as they are, so that it takes no time.
    fn is_plain(&self) -> bool {
        false
    }

    /// Calls `part` with what decides, beside the spans, which bytes of the records are their contents. It goes into the
    /// dataset's fingerprint.
    fn digest(&self, _part: &mut dyn FnMut(&[u8])) {}

    /// What is wrong with the record, as far as the scan has found it out.
    fn known_fault(&self, record: u64) -> Option<&str> {
        self.fault(record)
    }

    /// Adds what it needs to know of the records beside spans and faults to an index.
    fn add_to_index(&mut self, _columns: &mut NewColumns) {}

    /// How a person finds the record in its file.
    fn part(&self, _record: u64, span: &Span) -> Part {
        Part::Bytes { offset: span.offset, length: span.len }
    }
}

/// A record is its stored bytes.
#[derive(Debug)]
pub(crate) struct Plain;

impl Packing for Plain {
    fn is_plain(&self) -> bool {
        true
    }
}
