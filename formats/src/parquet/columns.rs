//! The columns of a file that are read when the dataset is opened, as the library asks for them.

use std::collections::HashMap;
use std::sync::Arc;

use ::parquet::arrow::arrow_reader::RowGroups;
use ::parquet::column::page::{PageIterator, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::pages::ChunkPages;
use super::plain_pages::PlainPages;
use crate::ranges::FileRanges;

/// Some columns of all row groups.
pub(super) struct TableColumns {
    chunks: FileRanges,
    metadata: Arc<ParquetMetaData>,
    /// By the number of the column, the pages of each row group.
    pages: HashMap<usize, Vec<Arc<ChunkPages>>>,
}

/// A column, row group by row group.
struct ColumnChunks {
    chunks: FileRanges,
    metadata: Arc<ParquetMetaData>,
    column: usize,
    pages: std::iter::Enumerate<std::vec::IntoIter<Arc<ChunkPages>>>,
}

impl TableColumns {
    /// No column so far.
    pub(super) fn new(chunks: &FileRanges, metadata: &Arc<ParquetMetaData>) -> Self {
        Self { chunks: chunks.clone(), metadata: Arc::clone(metadata), pages: HashMap::new() }
    }

    /// Adds the pages that a column has in the next row group.
    pub(super) fn add(&mut self, column: usize, pages: ChunkPages) {
        self.pages.entry(column).or_default().push(Arc::new(pages));
    }
}

impl RowGroups for TableColumns {
    fn num_rows(&self) -> usize {
        let rows = self.metadata.row_groups().iter().map(|group| usize::try_from(group.num_rows()).unwrap_or(0));
        rows.fold(0, usize::saturating_add)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let pages = self.pages.get(&column).cloned();
        let pages = pages.ok_or_else(|| ParquetError::General(format!("column {column} was not chosen")))?;
        let (chunks, metadata) = (self.chunks.clone(), Arc::clone(&self.metadata));
        Ok(Box::new(ColumnChunks { chunks, metadata, column, pages: pages.into_iter().enumerate() }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

impl Iterator for ColumnChunks {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let (group, pages) = self.pages.next()?;
        let group = self.metadata.row_group(group);
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let pages = PlainPages::new(&self.chunks, group.column(self.column), &pages, rows, None);
        Some(pages.map(|pages| Box::new(pages) as Box<dyn PageReader>))
    }
}

impl PageIterator for ColumnChunks {}
