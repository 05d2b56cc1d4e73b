//! One Parquet file while its dataset is opened: its schema, the values that are read at once, and where its pictures are.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use ::parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use ::parquet::basic::Type;
use ::parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use forebay_sources::{Options, SourceError};

use super::columns::TableColumns;
use super::footer;
use super::pages::{self, BadChunk, ChunkPages};
use crate::contained::contained;
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFile;
use crate::ranges::FileRanges;
use crate::tables::{self, TableChoice, TableValues, bad_row};

/// Rows that are decoded at once: so few that their texts fit in one array of the library.
const ROWS_AT_ONCE: usize = 1024;

/// A file whose footer was read.
#[derive(Debug)]
pub(super) struct TableFile<'a> {
    number: u32,
    path: &'a Path,
    chunks: FileRanges,
    metadata: Arc<ParquetMetaData>,
    schema: Schema,
    choice: TableChoice,
}

/// A row group, as far as its pictures matter.
#[derive(Debug)]
pub(super) struct RowGroup {
    pub file: u32,
    /// The number of its first record in the dataset, and of its first row in the file.
    pub first_record: u64,
    pub first_row: u64,
    pub rows: u64,
    pub picture: LeafColumn,
    /// The paths of pictures that are elsewhere.
    pub elsewhere: Option<LeafColumn>,
    /// The masks, column by column.
    pub masks: Vec<LeafColumn>,
}

/// A column without lists, in one row group.
#[derive(Debug)]
pub(super) struct LeafColumn {
    pub chunk: ColumnChunkMetaData,
    pub pages: Arc<ChunkPages>,
}

impl<'a> TableFile<'a> {
    /// Reads the footer and chooses the columns.
    pub(super) fn open(
        number: u32,
        container: &'a ContainerFile,
        file: Arc<OpenFile>,
        options: &Options,
    ) -> Result<Self, SourceError> {
        Self::choosing(number, container, file, |path, schema| TableChoice::new(path, schema, options))
    }

    /// Reads the footer, and lets `choose` look at the columns.
    pub(super) fn choosing(
        number: u32,
        container: &'a ContainerFile,
        file: Arc<OpenFile>,
        choose: impl FnOnce(&Path, &Schema) -> Result<TableChoice, SourceError>,
    ) -> Result<Self, SourceError> {
        let path = container.path();
        let chunks = FileRanges::new(file, container.stamp.len);
        let metadata = Arc::new(footer::read(path, &chunks)?);
        let of_file = metadata.file_metadata();
        let schema = contained(|| parquet_to_arrow_schema(of_file.schema_descr(), of_file.key_value_metadata()));
        let schema = schema.map_err(|words| {
            let problem = format!("The schema cannot be read ({words}). Copy the file again.");
            SourceError::malformed_at(path, container.stamp.len, problem)
        })?;
        let choice = choose(path, &schema)?;
        Ok(Self { number, path, chunks, metadata, schema, choice })
    }

    /// Reads the labels and the further columns. The first file decides which there are.
    pub(super) fn read_values(&self, values: &mut Option<TableValues>, first_record: u64) -> Result<(), SourceError> {
        let values = match values {
            Some(values) => values,
            none => none.insert(TableValues::new(self.path, &self.schema, &self.choice)?),
        };
        values.agree(self.path, &self.choice)?;
        self.visit(|batch, row| {
            let field = |field: &[String]| {
                tables::values(batch, field).ok_or_else(|| self.damaged(row, "a column is not there"))
            };
            let bad = |place, problem| bad_row(self.path, (place as u64).saturating_sub(first_record), problem);
            values.push(&self.choice, field, bad)
        })
    }

    /// Calls `each` with the columns that are read at once, some rows at a time, and the number of the first of these rows.
    pub(super) fn visit(
        &self,
        mut each: impl FnMut(&RecordBatch, u64) -> Result<(), SourceError>,
    ) -> Result<(), SourceError> {
        let leaves: BTreeSet<usize> = self.choice.read_at_opening().flat_map(|field| self.leaves_of(field)).collect();
        if leaves.is_empty() {
            return Ok(());
        }
        let mut columns = TableColumns::new(&self.chunks, &self.metadata);
        for group in self.metadata.row_groups() {
            for &leaf in &leaves {
                let chunk = group.column(leaf);
                let pages = self.walk(chunk)?;
                if chunk.column_descr().max_rep_level() == 0 {
                    self.check_rows(chunk, &pages, group.num_rows())?;
                }
                columns.add(leaf, pages);
            }
        }
        let reader = contained(|| {
            let schema = self.metadata.file_metadata().schema_descr();
            let mask = ProjectionMask::leaves(schema, leaves.iter().copied());
            let levels = parquet_to_arrow_field_levels(schema, mask, Some(self.schema.fields()))?;
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &columns, ROWS_AT_ONCE, None)
        });
        let mut reader = reader.map_err(|words| self.damaged(0, &words))?;
        let mut row = 0;
        while let Some(batch) = contained(|| reader.next().transpose()).map_err(|words| self.damaged(row, &words))? {
            each(&batch, row)?;
            row += batch.num_rows() as u64;
        }
        if row == self.rows() { Ok(()) } else { Err(self.damaged(row, "the columns end before the rows do")) }
    }

    /// Where the pictures are, and how many rows there are.
    pub(super) fn groups(&self, first_record: u64) -> Result<(Vec<RowGroup>, u64), SourceError> {
        let picture = self.leaf(&self.choice.picture).ok_or_else(|| SourceError::Columns {
            path: self.path.to_owned(),
            problem: format!("the pictures in \"{}\" are not stored as bytes.", self.choice.picture.join(".")),
        })?;
        let elsewhere = self.choice.elsewhere.as_ref().and_then(|field| self.leaf(field));
        let masks = self.choice.masks.iter().map(|(name, field)| {
            self.leaf(field).ok_or_else(|| {
                let expected = "a column of bytes that is not within lists";
                SourceError::bad_option(&format!("masks.{name}"), &field.join("."), expected)
            })
        });
        let masks: Vec<usize> = masks.collect::<Result<_, _>>()?;
        let (mut groups, mut first_row) = (Vec::new(), 0);
        for group in self.metadata.row_groups() {
            let rows = u64::try_from(group.num_rows()).expect("the footer was checked");
            let leaf = |leaf: usize| {
                let chunk = group.column(leaf);
                let pages = self.walk(chunk)?;
                self.check_rows(chunk, &pages, group.num_rows())?;
                Ok(LeafColumn { chunk: chunk.clone(), pages: Arc::new(pages) })
            };
            if rows > 0 {
                let (picture, elsewhere) = (leaf(picture)?, elsewhere.map(leaf).transpose()?);
                let masks = masks.iter().map(|&mask| leaf(mask)).collect::<Result<_, _>>()?;
                let (file, first_record) = (self.number, first_record + first_row);
                groups.push(RowGroup { file, first_record, first_row, rows, picture, elsewhere, masks });
            }
            first_row += rows;
        }
        Ok((groups, first_row))
    }

    /// How many rows there are.
    pub(super) fn rows(&self) -> u64 {
        u64::try_from(self.metadata.file_metadata().num_rows()).unwrap_or(0)
    }

    /// The numbers of the columns that hold a field's values.
    fn leaves_of(&self, field: &[String]) -> Range<usize> {
        tables::leaves(&self.schema.fields, field).unwrap_or_default()
    }

    /// The number of the column that is this field, of bytes and without lists.
    fn leaf(&self, field: &[String]) -> Option<usize> {
        let columns = self.metadata.file_metadata().schema_descr().columns();
        let fits = |number: &usize| {
            let Some(column) = columns.get(*number) else { return false };
            column.path().parts() == field && column.physical_type() == Type::BYTE_ARRAY && column.max_rep_level() == 0
        };
        self.leaves_of(field).find(fits)
    }

    fn walk(&self, chunk: &ColumnChunkMetaData) -> Result<ChunkPages, SourceError> {
        pages::walk(&self.chunks, chunk).map_err(|BadChunk { offset, problem }| match self.chunks.fault() {
            Some(fault) => SourceError::Outage(fault),
            None => SourceError::malformed_at(self.path, offset, problem),
        })
    }

    /// A column without lists has a value for each row of its row group.
    fn check_rows(&self, chunk: &ColumnChunkMetaData, pages: &ChunkPages, rows: i64) -> Result<(), SourceError> {
        if pages.values().and_then(|values| i64::try_from(values).ok()) == Some(rows) {
            return Ok(());
        }
        let offset = u64::try_from(chunk.data_page_offset()).unwrap_or(0);
        let problem = format!("The pages of a column have other rows than the {rows} of their row group.");
        Err(SourceError::malformed_at(self.path, offset, problem))
    }

    fn damaged(&self, row: u64, words: &str) -> SourceError {
        match self.chunks.fault() {
            Some(fault) => SourceError::Outage(fault),
            None => bad_row(
                self.path,
                row,
                format!("From here on, labels or columns cannot be read ({words}). Copy the file again."),
            ),
        }
    }
}
