//! An index as an Arrow file: one batch of rows, so that each column is one piece of memory. Other programs open it too.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::root_as_footer;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use forebay_sources::SourceError;

use super::about::{About, KEY};
use super::mapping;
use super::part_file::PartFile;
use crate::contained::contained;
use crate::index_columns::{BadIndex, NewColumns};

/// An index whose numbers were read, and not yet compared with the dataset.
#[derive(Debug)]
pub(super) struct IndexFile {
    pub about: About,
    pub rows: RecordBatch,
}

/// Why there is no index.
#[derive(Debug)]
pub(super) enum NoIndex {
    /// There is no such file.
    Absent,
    Bad(BadIndex),
    /// Nobody can say whether it fits: the storage of the dataset fails.
    Unknown(SourceError),
}

impl From<BadIndex> for NoIndex {
    fn from(bad: BadIndex) -> Self {
        Self::Bad(bad)
    }
}

impl From<SourceError> for NoIndex {
    fn from(fault: SourceError) -> Self {
        Self::Unknown(fault)
    }
}

impl NoIndex {
    /// The error of a dataset whose index must fit.
    pub(super) fn of_file(self, path: &Path) -> SourceError {
        match self {
            Self::Absent => SourceError::Missing { path: path.to_owned() },
            Self::Bad(BadIndex(problem)) => SourceError::Index { path: path.to_owned(), problem },
            Self::Unknown(fault) => fault,
        }
    }
}

impl IndexFile {
    /// Opens a file. `is_kept`: it is in the folder of indexes.
    ///
    /// # Errors
    /// There is no such file, or it is no index.
    pub(super) fn open(path: &Path, is_kept: bool) -> Result<Self, NoIndex> {
        let (bytes, is_mapped) = mapping::bytes(path, is_kept).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NoIndex::Absent,
            _ => NoIndex::Bad(BadIndex(error.to_string())),
        })?;
        tracing::debug!(path = %path.display(), is_mapped, "opened an index");
        Self::of_bytes(&bytes).map_err(NoIndex::Bad)
    }

    fn of_bytes(bytes: &Buffer) -> Result<Self, BadIndex> {
        // The library checks numbers before it uses them, and panics at some that it does not expect.
        let (schema, rows) = contained(|| decode(bytes))
            .map_err(|problem| BadIndex(format!("it is not a complete Arrow file ({problem})")))?;
        let about = schema.metadata().get(KEY).ok_or_else(|| BadIndex("it is not an index of Forebay".into()))?;
        let about = serde_json::from_str(about)
            .map_err(|error| BadIndex(format!("it is not an index of this version ({error})")))?;
        Ok(Self { about, rows })
    }
}

fn decode(bytes: &Buffer) -> Result<(Arc<Schema>, RecordBatch), ArrowError> {
    let cut = || ArrowError::ParseError("it is cut".into());
    let tail = bytes.len().checked_sub(10).ok_or_else(cut)?;
    let footer_len = read_footer_length(bytes[tail..].try_into().map_err(|_| cut())?)?;
    let footer = bytes.get(tail.checked_sub(footer_len).ok_or_else(cut)?..tail).ok_or_else(cut)?;
    let footer = root_as_footer(footer).map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let schema = Arc::new(try_fb_to_schema(footer.schema().ok_or_else(cut)?)?);
    let mut decoder = FileDecoder::new(Arc::clone(&schema), footer.version());
    let slice = |block: &arrow_ipc::Block| {
        let start = usize::try_from(block.offset()).ok();
        let lens = usize::try_from(block.metaDataLength()).ok().zip(usize::try_from(block.bodyLength()).ok());
        let len = lens.and_then(|(metadata, body)| metadata.checked_add(body));
        let fits = start.zip(len).filter(|(start, len)| start.checked_add(*len).is_some_and(|end| end <= bytes.len()));
        fits.map(|(start, len)| bytes.slice_with_length(start, len)).ok_or_else(cut)
    };
    for block in footer.dictionaries().iter().flatten() {
        decoder.read_dictionary(block, &slice(block)?)?;
    }
    let batches = footer.recordBatches().ok_or_else(cut)?;
    if batches.len() != 1 {
        return Err(ArrowError::ParseError("it must have exactly one batch of rows".into()));
    }
    let block = batches.get(0);
    let rows = decoder.read_record_batch(block, &slice(block)?)?.ok_or_else(cut)?;
    Ok((schema, rows))
}

/// Writes an index. The number of its bytes is the result.
///
/// # Errors
/// The disk is full, or the folder may not be written.
pub(super) fn write(path: &Path, about: &About, columns: NewColumns) -> io::Result<u64> {
    let NewColumns { fields, arrays } = columns;
    let text = serde_json::to_string(about)?;
    let schema = Schema::new(fields).with_metadata(HashMap::from([(KEY.to_owned(), text)]));
    let rows = RecordBatch::try_new(Arc::new(schema), arrays).map_err(io::Error::other)?;
    let part = PartFile::create(path)?;
    let buffered = BufWriter::with_capacity(1 << 20, part.file());
    let mut writer = FileWriter::try_new(buffered, &rows.schema()).map_err(io::Error::other)?;
    writer.write(&rows).and_then(|()| writer.finish()).map_err(io::Error::other)?;
    writer.into_inner().map_err(io::Error::other)?.flush()?;
    part.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rule_53_bytes_that_are_no_index_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let with_ends = [b"ARROW1\0\0", &bytes[..], b"ARROW1"].concat();
            for bytes in [bytes, with_ends] {
                prop_assert!(IndexFile::of_bytes(&Buffer::from(bytes)).is_err());
            }
        }
    }
}
