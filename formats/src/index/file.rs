//! An index as an Arrow file: one batch of rows, so that each column is one piece of the file. Other programs open it
//! too. Its checksums are between the batch and the footer.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::writer::FileWriter;
use arrow_ipc::{root_as_footer, root_as_message};
use arrow_schema::{ArrowError, DataType, Schema};
use forebay_sources::SourceError;

use super::about::{About, KEY};
use super::part_file::PartFile;
use crate::contained::contained;
use crate::index_blocks::{IndexBlocks, NoBlocks, seal};
use crate::index_columns::{BadIndex, IndexColumns, NewColumns};
use crate::stored_array::{Extent, StoredArray};

/// An index that is open, and not yet compared with the dataset.
#[derive(Debug)]
pub(super) struct IndexFile {
    pub about: About,
    pub columns: IndexColumns,
}

/// Why there is no index.
#[derive(Debug)]
pub(super) enum NoIndex {
    /// There is no such file.
    Absent,
    /// An earlier version made it.
    Earlier,
    Bad(BadIndex),
    /// It is unknown whether it fits, because the storage of the dataset fails.
    Unknown(SourceError),
}

/// The most of the message that says where the columns are.
const MOST_MESSAGE: u64 = 64 << 20;
/// How many types may be inside each other.
const DEEPEST: usize = 64;

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
        let problem = match self {
            Self::Absent => return SourceError::Missing { path: path.to_owned() },
            Self::Unknown(fault) => return fault,
            Self::Earlier => {
                "an earlier version of Forebay made it, without checksums. Make it again with \"forebay index SOURCE --output FILE\"".to_owned()
            }
            Self::Bad(BadIndex(problem)) => problem,
        };
        SourceError::Index { path: path.to_owned(), problem }
    }
}

impl IndexFile {
    /// Opens a file. Its columns are not read yet.
    ///
    /// # Errors
    /// There is no such file, or it is no index.
    pub(super) fn open(path: &Path) -> Result<Self, NoIndex> {
        let (blocks, footer) = IndexBlocks::open(path).map_err(|no_blocks| match no_blocks {
            NoBlocks::Absent => NoIndex::Absent,
            NoBlocks::Earlier => NoIndex::Earlier,
            NoBlocks::Bad(bad) => NoIndex::Bad(bad),
        })?;
        let not_arrow = |problem: String| BadIndex(format!("it is not a complete Arrow file ({problem})"));
        // The library checks numbers before it uses them, and panics at some that it does not expect.
        let (schema, batch) = contained(|| of_footer(&footer)).map_err(not_arrow)?;
        let columns = contained(|| columns(schema, batch, &Arc::new(blocks))).map_err(not_arrow)?;
        let about = columns.schema.metadata().get(KEY);
        let about = about.ok_or_else(|| BadIndex("it is not an index of Forebay".into()))?;
        let about = serde_json::from_str(about)
            .map_err(|error| BadIndex(format!("it is not an index of this version ({error})")))?;
        Ok(Self { about, columns })
    }
}

fn cut() -> ArrowError {
    ArrowError::ParseError("it is cut".into())
}

/// The range of `len` bytes from `start`.
fn extent(start: i64, len: i64) -> Result<Extent, ArrowError> {
    let (start, len) = u64::try_from(start).ok().zip(u64::try_from(len).ok()).ok_or_else(cut)?;
    Ok(Extent { start, len })
}

/// The schema, and where the batch of rows is: the message about it, and its body.
fn of_footer(footer: &[u8]) -> Result<(Schema, (Extent, Extent)), ArrowError> {
    let footer = root_as_footer(footer).map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let schema = try_fb_to_schema(footer.schema().ok_or_else(cut)?)?;
    let batches = footer.recordBatches().ok_or_else(cut)?;
    if batches.len() != 1 {
        return Err(ArrowError::ParseError("it must have exactly one batch of rows".into()));
    }
    let block = batches.get(0);
    let message = extent(block.offset(), block.metaDataLength().into())?;
    let body =
        Extent { start: message.start.checked_add(message.len).ok_or_else(cut)?, ..extent(0, block.bodyLength())? };
    Ok((schema, (message, body)))
}

/// The columns of the batch of rows.
fn columns(
    schema: Schema,
    (message, body): (Extent, Extent),
    blocks: &Arc<IndexBlocks>,
) -> Result<IndexColumns, ArrowError> {
    let bad = |BadIndex(problem)| ArrowError::ParseError(problem);
    if message.len > MOST_MESSAGE || body.start.checked_add(body.len).is_none_or(|end| end > blocks.len()) {
        return Err(cut());
    }
    let mut bytes = vec![0; usize::try_from(message.len).map_err(|_| cut())?];
    blocks.read(message.start, &mut bytes).map_err(bad)?;
    // Before it are a mark and its length.
    let message = root_as_message(bytes.get(8..).ok_or_else(cut)?);
    let message = message.map_err(|error| ArrowError::ParseError(error.to_string()))?;
    let batch = message.header_as_record_batch().ok_or_else(cut)?;
    if batch.compression().is_some() {
        return Err(ArrowError::ParseError("its columns are compressed".into()));
    }
    let records = usize::try_from(batch.length()).map_err(|_| cut())?;
    let nodes = batch.nodes().into_iter().flatten().map(|node| (node.length(), node.null_count()));
    let buffers = batch.buffers().into_iter().flatten().map(|buffer| (buffer.offset(), buffer.length()));
    let mut parts = ArrayParts { nodes, buffers, body, blocks };
    let arrays = schema.fields().iter().map(|field| parts.array(field.data_type(), DEEPEST));
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    if arrays.iter().any(|array| array.len != records) {
        return Err(ArrowError::ParseError("its columns have different lengths".into()));
    }
    Ok(IndexColumns { schema, records, arrays, blocks: Arc::clone(blocks) })
}

/// What a batch says about its arrays, in the order of the schema.
struct ArrayParts<'a, N, B> {
    nodes: N,
    buffers: B,
    body: Extent,
    blocks: &'a Arc<IndexBlocks>,
}

impl<N: Iterator<Item = (i64, i64)>, B: Iterator<Item = (i64, i64)>> ArrayParts<'_, N, B> {
    fn array(&mut self, data_type: &DataType, deepest: usize) -> Result<StoredArray, ArrowError> {
        let (len, nulls) = self.nodes.next().ok_or_else(cut)?;
        let len = usize::try_from(len).map_err(|_| cut())?;
        let nulls = usize::try_from(nulls).ok().filter(|nulls| *nulls <= len).ok_or_else(cut)?;
        let validity = self.buffer()?;
        let (buffers, item) = match data_type {
            DataType::LargeUtf8 | DataType::LargeBinary => (2, None),
            DataType::LargeList(item) => (1, Some(item)),
            DataType::FixedSizeList(item, _) => (0, Some(item)),
            DataType::Dictionary(_, _) => (1, None),
            of if of.is_primitive() => (1, None),
            of => return Err(ArrowError::ParseError(format!("no index has a column of the type {of}"))),
        };
        let buffers = (0..buffers).map(|_| self.buffer()).collect::<Result<_, _>>()?;
        let deepest = deepest.checked_sub(1).ok_or_else(cut)?;
        let child = item.map(|item| self.array(item.data_type(), deepest).map(Box::new)).transpose()?;
        let (data_type, blocks) = (data_type.clone(), Arc::clone(self.blocks));
        Ok(StoredArray { data_type, len, nulls, blocks, validity, buffers, child })
    }

    fn buffer(&mut self) -> Result<Extent, ArrowError> {
        let (offset, len) = self.buffers.next().ok_or_else(cut)?;
        let Extent { start, len } = extent(offset, len)?;
        if start.checked_add(len).is_none_or(|end| end > self.body.len) {
            return Err(cut());
        }
        Ok(Extent { start: self.body.start + start, len })
    }
}

/// Writes an index. Returns its size in bytes.
///
/// # Errors
/// The disk is full, or the folder is not writable.
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
    seal(part.file())?;
    part.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rule_53_bytes_that_are_no_index_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("x.arrow");
            let with_ends = [b"ARROW1\0\0", &bytes[..], b"ARROW1"].concat();
            for bytes in [bytes, with_ends] {
                std::fs::write(&path, bytes).unwrap();
                prop_assert!(IndexFile::open(&path).is_err());
                let sealed = seal(&std::fs::File::options().read(true).write(true).open(&path).unwrap());
                prop_assert!(sealed.is_err() || IndexFile::open(&path).is_err());
            }
        }
    }
}
