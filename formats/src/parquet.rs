//! `parquet:`: tables with a picture in each row, as Hugging Face and others write them.
//!
//! Labels and further columns are read when the dataset is opened. Pictures are read in grains: spans of rows whose pages
//! take some megabytes together (semantics rule 56), whatever the row groups are.

mod chunks;
mod contained;
mod file;
mod footer;
mod grain;
mod pages;
mod rows;
mod thrift;

use std::path::Path;

use forebay_columns::{Field, Schema, Table};
use forebay_sources::{Container, Locator, Options, Part, Source, SourceError};

use crate::containers;
use crate::packed::ContainerFile;
use crate::packed::open_files::OpenFiles;
use crate::progress::Progress;
use crate::scheme::Scheme;
use crate::tables::{LabelReader, TargetReader};

pub use contained::is_panic_contained;

pub(super) const SCHEME: Scheme = Scheme {
    name: "parquet",
    takes: "a .parquet file, a folder of them, or a pattern",
    options: &[],
    has_columns: true,
    recognises,
    open: |path, options| Ok(Box::new(open(path, options)?) as Box<dyn Source>),
};

const EXTENSIONS: [&str; 1] = ["parquet"];

fn recognises(path: &Path) -> bool {
    if path.is_dir() {
        // Beside pictures, a table of this name describes them.
        return containers::has(path, &EXTENSIONS) && !path.join("metadata.parquet").exists();
    }
    containers::is_named(path, &EXTENSIONS) && path.is_file() || begins_with_magic(path)
}

fn begins_with_magic(path: &Path) -> bool {
    use std::io::Read as _;
    let mut magic = [0; 4];
    let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
    is_file
        && std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && magic == *footer::MAGIC
}

/// What is read from all files.
#[derive(Debug, Default)]
struct Values {
    labels: Option<LabelReader>,
    targets: Vec<(String, TargetReader)>,
}

fn open(name: &Path, options: &Options) -> Result<rows::Rows, SourceError> {
    let paths = containers::find(name, &EXTENSIONS)?;
    let files: Vec<ContainerFile> = paths.iter().map(|path| ContainerFile::look(path)).collect::<Result<_, _>>()?;
    let opened = OpenFiles::new(files.len());
    let progress = Progress::new("reading tables");
    let (mut values, mut groups, mut first_record) = (Values::default(), Vec::new(), 0);
    for (number, container) in (0..).zip(&files) {
        progress.step();
        let file = opened.get(number, container).map_err(|error| outage(&container.path, error))?;
        let file = file::TableFile::open(number, container, file, options)?;
        if number == 0 {
            values = first_values(container, &file)?;
        }
        file.read_values(&mut values, first_record)?;
        let (more, rows) = file.groups(first_record)?;
        groups.extend(more);
        first_record += rows;
    }
    if first_record == 0 {
        return Err(SourceError::NoRecords { path: name.to_owned() });
    }
    let (labels, classes) = values.labels.map(LabelReader::finish).unwrap_or_default();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (column, reader) in values.targets {
        let values = reader.finish();
        fields.push(Field::new(column, values.column_type().clone()));
        columns.push(values);
    }
    let wrong = |problem: String| SourceError::Columns { path: name.to_owned(), problem: format!("{problem}.") };
    let schema = Schema::try_new(fields).map_err(|error| wrong(error.to_string()))?;
    let records = usize::try_from(first_record).unwrap_or(usize::MAX);
    let targets = Table::try_new(schema, columns, records).map_err(|error| wrong(error.to_string()))?;
    Ok(rows::Rows::new(name, rows::Found { files, opened, groups, labels, classes, targets }, options))
}

/// Readers for what the first file has.
fn first_values(container: &ContainerFile, file: &file::TableFile<'_>) -> Result<Values, SourceError> {
    let labels = file.choice.label.as_ref().map(|_| LabelReader::new(file.choice.classes.clone()));
    let target = |(column, field): &(String, Vec<String>)| {
        let reader = file.field_type(field).ok_or_else(|| "it is not there.".to_owned());
        let reader = reader.and_then(|of| TargetReader::new(&of)).map_err(|problem| SourceError::Columns {
            path: container.path.clone(),
            problem: format!("\"{}\" cannot be \"{column}\": {problem}", field.join(".")),
        });
        Ok((column.clone(), reader?))
    };
    let targets = file.choice.targets.iter().map(target).collect::<Result<_, SourceError>>()?;
    Ok(Values { labels, targets })
}

/// A file that cannot be read while the dataset is opened.
fn outage(path: &Path, error: forebay_sources::ReadError) -> SourceError {
    match error.kind {
        forebay_sources::ReadErrorKind::Denied => SourceError::Denied { path: path.to_owned() },
        _ => SourceError::Outage(error),
    }
}

/// A row of a file that is not what the others are.
fn bad_row(path: &Path, row: u64, problem: String) -> SourceError {
    let container = Container::File(path.to_owned());
    SourceError::Malformed { locator: Locator { container, part: Part::Row(row) }, problem }
}

#[cfg(test)]
pub(crate) mod tests;
