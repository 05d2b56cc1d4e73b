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

use forebay_sources::{Options, SourceError};

use crate::address::Address;
use crate::containers;
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFiles;
use crate::progress::Progress;
use crate::ranges::FileRanges;
use crate::scheme::{Indexing, Scheme};
use crate::tables::outage;

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

#[cfg(test)]
pub(crate) mod tests;
