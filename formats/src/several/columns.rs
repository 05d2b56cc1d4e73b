//! The columns of several sources together: each column that one of them has, with nulls for the records of the others.

use std::borrow::Cow;

use forebay_columns::{Column, ElementType, Field, Role, Schema, Table};
use forebay_sources::{Source, SourceError};

use super::classes::Classes;

/// The column whose numbers are classes, as the trait says.
const CLASSES: &str = "classes";

/// # Errors
/// Two sources have columns of one name that are not alike.
pub(super) fn merge(names: &[String], parts: &[Box<dyn Source>], classes: &Classes) -> Result<Table, SourceError> {
    let mut fields: Vec<(Field, usize)> = Vec::new();
    for (part, source) in parts.iter().enumerate() {
        for field in source.targets().schema().fields() {
            match fields.iter().find(|(known, _)| known.name == field.name) {
                None => fields.push((field.clone(), part)),
                Some((known, _)) if known == field => {}
                Some((known, first)) => return Err(unlike(known, &names[*first], field, &names[part])),
            }
        }
    }
    let columns = fields.iter().map(|(field, _)| column(field, parts, classes)).collect::<Vec<_>>();
    let records = parts.iter().map(|part| part.len()).sum::<u64>();
    let wrong = |problem: String| SourceError::Columns { path: names.join(", ").into(), problem };
    let schema = Schema::try_new(fields.into_iter().map(|(field, _)| field).collect());
    let schema = schema.map_err(|error| wrong(format!("{error}.")))?;
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    Table::try_new(schema, columns, records).map_err(|error| {
        wrong(format!(
            "{error}. Name columns of the same objects in all sources, or in none (columns = [...]), and try again."
        ))
    })
}

fn column(field: &Field, parts: &[Box<dyn Source>], classes: &Classes) -> Column {
    let mut all = Column::new(field.column_type.clone());
    for (place, part) in parts.iter().enumerate() {
        let table = part.targets();
        match table.schema().find(&field.name) {
            None => (0..part.len()).for_each(|_| all.push_null()),
            Some(own) => {
                let own = &table.columns()[own];
                let renumbers = has_classes(field) && !classes.keeps(place);
                let own =
                    if renumbers { renumbered(own, |label| classes.number(place, label)) } else { Cow::Borrowed(own) };
                all.append(&own);
            }
        }
    }
    all
}

/// Whether the column's numbers are classes: the source says so, or the column has the name that means it.
fn has_classes(field: &Field) -> bool {
    let integers = field.column_type.element() == ElementType::I64 && field.column_type.depth() <= 1;
    field.role == Role::Classes || (integers && field.name == CLASSES)
}

/// The column with other numbers.
fn renumbered(column: &Column, number: impl Fn(i64) -> i64) -> Cow<'_, Column> {
    let mut other = Column::new(column.column_type().clone());
    for record in 0..column.len() {
        let value = column.value(record);
        match value.numbers::<i64>(column.column_type()) {
            Some(numbers) if !value.is_null() => {
                other.push(&numbers.into_iter().map(&number).collect::<Vec<_>>());
            }
            _ => other.push_null(),
        }
    }
    Cow::Owned(other)
}

fn unlike(first: &Field, first_of: &str, second: &Field, second_of: &str) -> SourceError {
    let name = &first.name;
    let problem = if first.column_type == second.column_type {
        format!(
            "the column \"{name}\" belongs to different objects, has boxes or points in only one of them, or other keypoints change places when a picture is mirrored."
        )
    } else {
        format!(
            "the column \"{name}\" has the type {} in the first and {} in the second.",
            first.column_type, second.column_type
        )
    };
    SourceError::Apart {
        first: first_of.to_owned(),
        second: second_of.to_owned(),
        problem: format!(
            "{problem} Give it another name in one of them (columns = {{...}} of that source), or leave it out."
        ),
    }
}
