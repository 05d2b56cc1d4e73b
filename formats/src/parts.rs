//! The columns of a format whose annotations have a fixed set of parts: which of them the user wants, under which names.

use std::path::Path;

use forebay_columns::{Column, ColumnType, Field, Role, Schema, Table};
use forebay_sources::{Options, SourceError};

/// A part of an annotation that can be a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownPart<P> {
    /// What the column map calls it. It is also the name of the column, if the user names no columns.
    pub name: &'static str,
    pub part: P,
    /// The column's type, as text.
    pub column_type: &'static str,
    /// Whether it belongs to the objects of a picture.
    pub of_objects: bool,
    /// Whether it is a column if the user names none.
    pub by_default: bool,
    /// What its numbers are.
    pub role: Role,
}

/// The columns of a dataset that is being opened.
#[derive(Clone, Debug)]
pub(super) struct Chosen<P> {
    columns: Vec<(String, KnownPart<P>)>,
    /// Which keypoints change places in a mirrored picture; empty if that is not known.
    flip: Vec<u32>,
}

/// The objects that boxes, classes and the like share.
const OBJECTS: &str = "objects";

impl<P: Copy> KnownPart<P> {
    /// The same with a role.
    pub(super) const fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }
}

impl<P: Copy + PartialEq> Chosen<P> {
    /// What the user named, or the format's own columns.
    ///
    /// # Errors
    /// The format has no such part.
    pub(super) fn new(options: &Options, known: &[KnownPart<P>]) -> Result<Self, SourceError> {
        if options.columns.is_empty() {
            let defaults = known.iter().filter(|known| known.by_default);
            let columns = defaults.map(|known| (known.name.to_owned(), *known)).collect();
            return Ok(Self { columns, flip: Vec::new() });
        }
        for taken in ["images", "labels"] {
            if let Some(parts) = options.columns.parts(taken) {
                let expected = "left out: pictures are the named files, and what is known of them becomes columns";
                return Err(SourceError::bad_option(&key(taken), &parts.join(";"), expected));
            }
        }
        let mut columns = Vec::new();
        for (name, parts) in options.columns.targets() {
            let found = parts.iter().find_map(|part| known.iter().find(|known| known.name == *part));
            let Some(found) = found else {
                let names: Vec<String> = known.iter().map(|known| format!("\"{}\"", known.name)).collect();
                let expected = format!("one of {}", names.join(", "));
                return Err(SourceError::bad_option(&key(name), &parts.join(";"), &expected));
            };
            columns.push((name.to_owned(), *found));
        }
        Ok(Self { columns, flip: Vec::new() })
    }

    /// Says which keypoints change places in a mirrored picture.
    pub(super) fn set_flip(&mut self, flip: &[u32]) {
        flip.clone_into(&mut self.flip);
    }

    /// Only the columns of these parts.
    pub(super) fn retain(&mut self, keep: impl Fn(P) -> bool) {
        self.columns.retain(|(_, known)| keep(known.part));
    }

    /// Whether one of the columns is of this part.
    pub(super) fn has(&self, part: P) -> bool {
        self.columns.iter().any(|(_, known)| known.part == part)
    }

    /// Makes the table. `fill` writes the values of all records into a column.
    ///
    /// # Errors
    /// A column cannot have its name.
    pub(super) fn table(
        &self,
        dataset: &Path,
        records: usize,
        mut fill: impl FnMut(P, &mut Column),
    ) -> Result<Table, SourceError> {
        let of_columns = |problem: String| SourceError::Columns { path: dataset.to_owned(), problem };
        let mut fields = Vec::new();
        for (name, known) in &self.columns {
            let column_type: ColumnType = known.column_type.parse().expect("the types of the format's table");
            let objects = known.of_objects.then(|| OBJECTS.to_owned());
            let field = Field { objects, ..Field::new(name, column_type).with_role(known.role) };
            fields.push(if known.role.is_of_keypoints() { field.with_flip(&self.flip) } else { field });
        }
        let schema = Schema::try_new(fields).map_err(|error| of_columns(error.to_string()))?;
        let mut columns = Vec::new();
        for ((_, known), field) in self.columns.iter().zip(schema.fields()) {
            let mut column = Column::new(field.column_type.clone());
            fill(known.part, &mut column);
            columns.push(column);
        }
        Table::try_new(schema, columns, records).map_err(|error| of_columns(error.to_string()))
    }
}

/// How an error names an entry of the column map.
fn key(column: &str) -> String {
    format!("columns.{column}")
}
