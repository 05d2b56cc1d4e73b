//! The labels and further columns of a table's rows, from all its files.

use std::path::Path;

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use forebay_columns::{Column, Field, Schema as Columns, Table};
use forebay_sources::SourceError;

use super::choice::TableChoice;
use super::labels::LabelReader;
use super::nested::type_of;
use super::targets::TargetReader;

/// What is read from all files when a dataset is opened.
#[derive(Debug, Default)]
pub(crate) struct TableValues {
    labels: Option<LabelReader>,
    classes: Vec<String>,
    targets: Vec<(String, TargetReader)>,
}

impl TableValues {
    /// Readers for what the first file has.
    ///
    /// # Errors
    /// A field has a type that no column has.
    pub(crate) fn new(path: &Path, schema: &Schema, choice: &TableChoice) -> Result<Self, SourceError> {
        let target = |(column, field): &(String, Vec<String>)| {
            let of = type_of(&schema.fields, field);
            let reader = of.ok_or_else(|| "it is not there.".to_owned()).and_then(|of| TargetReader::new(&of));
            let wrong = |problem| SourceError::Columns {
                path: path.to_owned(),
                problem: format!("\"{}\" cannot be \"{column}\": {problem}", field.join(".")),
            };
            Ok((column.clone(), reader.map_err(wrong)?))
        };
        Ok(Self {
            labels: choice.label.as_ref().map(|_| LabelReader::new(choice.classes.clone(), choice.by_number)),
            classes: choice.classes.clone(),
            targets: choice.targets.iter().map(target).collect::<Result<_, SourceError>>()?,
        })
    }

    /// Checks that a further file has labels if the first one has, and of the same classes.
    ///
    /// # Errors
    /// It has not.
    pub(crate) fn agree(&self, path: &Path, choice: &TableChoice) -> Result<(), SourceError> {
        let problem = match (&self.labels, &choice.label) {
            (Some(_), None) => "it has no label, and the files before have one. Give labels=\"none\", or leave it out.",
            (None, Some(_)) => "it has a label, and the files before have none. Give labels=\"none\", or leave it out.",
            _ if choice.classes != self.classes => {
                "it names other classes than the files before. Write all files with the same classes."
            }
            _ => return Ok(()),
        };
        Err(SourceError::Columns { path: path.to_owned(), problem: problem.to_owned() })
    }

    /// Adds rows: `field` gives the values of a field, and `bad` makes an error of a record's number and a sentence.
    ///
    /// # Errors
    /// Those of `field`, and one for a value that cannot be.
    pub(crate) fn push(
        &mut self,
        choice: &TableChoice,
        field: impl Fn(&[String]) -> Result<ArrayRef, SourceError>,
        bad: impl Fn(usize, String) -> SourceError,
    ) -> Result<(), SourceError> {
        let bad = |(place, problem): (usize, String)| bad(place, problem);
        if let (Some(labels), Some(path)) = (&mut self.labels, &choice.label) {
            labels.push(&*field(path)?).map_err(bad)?;
        }
        for ((_, target), (_, path)) in self.targets.iter_mut().zip(&choice.targets) {
            target.push(&field(path)?).map_err(bad)?;
        }
        Ok(())
    }

    /// The first of the further columns, and all others.
    pub(crate) fn without_first(mut self) -> (Column, Self) {
        let first = self.targets.remove(0).1.finish();
        (first, self)
    }

    /// The labels, the names of their classes, and the further columns of so many records.
    ///
    /// # Errors
    /// The columns are no table: a name is taken, for example.
    pub(crate) fn finish(self, name: &Path, records: usize) -> Result<(Vec<i64>, Vec<String>, Table), SourceError> {
        let (labels, classes) = self.labels.map(LabelReader::finish).unwrap_or_default();
        let (mut fields, mut columns) = (Vec::new(), Vec::new());
        for (column, reader) in self.targets {
            let values = reader.finish();
            fields.push(Field::new(column, values.column_type().clone()));
            columns.push(values);
        }
        let wrong = |problem: String| SourceError::Columns { path: name.to_owned(), problem: format!("{problem}.") };
        let schema = Columns::try_new(fields).map_err(|error| wrong(error.to_string()))?;
        let table = Table::try_new(schema, columns, records).map_err(|error| wrong(error.to_string()))?;
        Ok((labels, classes, table))
    }
}
