//! `parquet:`: tables with a picture in each row, as Hugging Face and others write them.
//!
//! Labels and further columns are read when the dataset is opened. Pictures are read in grains: spans of rows whose pages
//! take some megabytes together (semantics rule 56), whatever the row groups are.

mod cells;
mod chunks;
mod columns;
mod delta;
mod file;
mod footer;
mod grain;
mod masks;
mod pages;
pub(crate) mod paths;
mod places;
mod plain_pages;
mod rows;
mod thrift;
mod values;

use std::path::Path;

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use forebay_sources::{Options, SourceError};

use crate::address::Address;
use crate::containers;
use crate::named_column::{column_of, too_long};
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFiles;
use crate::progress::Progress;
use crate::ranges::FileRanges;
use crate::scheme::{Indexing, Scheme};
use crate::tables::{TableChoice, outage};

pub(super) const SCHEME: Scheme = Scheme {
    name: "parquet",
    takes: "a .parquet file, a folder of them, or a pattern",
    options: &[],
    has_columns: true,
    recognises,
    open: |path, options, _| Ok(Box::new(open(path, options)?).into()),
    indexing: Indexing::Never("Its files have an index of their own, which is read quickly."),
};

const EXTENSIONS: [&str; 1] = ["parquet"];

fn recognises(address: &Address) -> bool {
    if address.is_folder() {
        // Beside pictures, a table of this name describes them.
        return containers::has(address, &EXTENSIONS) && !address.join("metadata.parquet").exists();
    }
    containers::is_named(address.path(), &EXTENSIONS) && address.is_file() || address.beginning(4) == *footer::MAGIC
}

fn open(name: &Address, options: &Options) -> Result<rows::Rows, SourceError> {
    let paths = containers::find(name, &EXTENSIONS)?;
    let files: Vec<ContainerFile> = paths.iter().map(ContainerFile::look).collect::<Result<_, _>>()?;
    let opened = OpenFiles::new(files.len());
    let progress = Progress::new("reading tables");
    let (mut values, mut groups, mut first_record) = (None, Vec::new(), 0);
    for (number, container) in (0..).zip(&files) {
        progress.step();
        let file = opened.get(number, container).map_err(|error| outage(container.path(), error))?;
        let file = file::TableFile::open(number, container, file, options)?;
        file.read_values(&mut values, first_record)?;
        let (more, rows) = file.groups(first_record)?;
        groups.extend(more);
        first_record += rows;
    }
    if first_record == 0 {
        return Err(SourceError::NoRecords { path: name.path().to_owned() });
    }
    let records = usize::try_from(first_record).unwrap_or(usize::MAX);
    let (labels, classes, targets) = values.unwrap_or_default().finish(name.path(), records)?;
    let file = |group: &file::RowGroup| {
        let container = &files[group.file as usize];
        let file = opened.get(group.file, container).map_err(SourceError::Outage)?;
        Ok((FileRanges::new(file, container.stamp.len), container.path()))
    };
    let masks = masks::columns(name.path(), &groups, file, targets.schema(), options)?;
    let found = rows::FoundRows { files, opened, groups, labels, classes, targets };
    Ok(rows::Rows::new(name, found, masks, options))
}

/// Calls `each` with the values of a column: that of this name, or the only one. It has at most `most` values. The inner error is
/// about what they say.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn visit_column(
    table: &Address,
    column: Option<&str>,
    most: u64,
    each: &mut dyn FnMut(&ArrayRef) -> Result<(), String>,
) -> Result<Result<(), String>, SourceError> {
    let container = ContainerFile::look(table)?;
    let file = OpenFiles::new(1).get(0, &container).map_err(|error| outage(container.path(), error))?;
    let mut chosen = Ok(String::new());
    let choose = |_: &Path, schema: &Schema| {
        chosen = column_of(schema, column);
        Ok(TableChoice::of_one(chosen.clone().unwrap_or_default()))
    };
    let file = file::TableFile::choosing(0, &container, file, choose)?;
    let name = match chosen {
        Ok(name) => name,
        Err(problem) => return Ok(Err(problem)),
    };
    if file.rows() > most {
        return Ok(Err(too_long(most)));
    }
    let mut done = Ok(());
    file.visit(|batch, _| {
        if let (Ok(()), Some(array)) = (&done, batch.column_by_name(&name)) {
            done = each(array);
        }
        Ok(())
    })?;
    Ok(done)
}

#[cfg(test)]
pub(crate) mod tests;
