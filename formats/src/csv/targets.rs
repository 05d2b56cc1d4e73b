//! The columns that a table gives beside pictures and labels, for records of one line or of several.

use std::path::Path;

use forebay_columns::{Column, Field, Role, Schema, Table};
use forebay_sources::{LineProblem, Options, SourceError};

use super::SPLIT;
use super::boxes;
use super::places::Places;
use super::row::{NamedColumn, Row};
use super::target::{CellType, Target};
use crate::faults::Faults;
use crate::roles::BoxFormat;

/// The columns so far.
#[derive(Debug)]
pub(super) struct Targets {
    targets: Vec<Target>,
    group: bool,
}

/// Which lines belong to a record.
#[derive(Debug)]
pub(super) enum RecordRows {
    /// Each line is a record.
    Lines,
    /// Lines in the order of their records, and where each record begins.
    Grouped { order: Vec<usize>, starts: Vec<usize> },
}

/// The objects of a record that has several lines.
const OBJECTS: &str = "objects";

impl RecordRows {
    pub(super) fn grouped(record_of_row: &[usize], records: usize) -> Self {
        let mut order: Vec<usize> = (0..record_of_row.len()).collect();
        order.sort_by_key(|&row| record_of_row[row]);
        let starts = (0..=records).map(|record| order.partition_point(|&row| record_of_row[row] < record)).collect();
        Self::Grouped { order, starts }
    }

    pub(super) fn of(&self, record: usize) -> impl Iterator<Item = usize> {
        let range = match self {
            Self::Lines => record..record + 1,
            Self::Grouped { starts, .. } => starts[record]..starts[record + 1],
        };
        range.map(move |place| match self {
            Self::Lines => place,
            Self::Grouped { order, .. } => order[place],
        })
    }
}

impl Targets {
    /// # Errors
    /// `split` names no column, one of several columns of the table, or the lines are grouped too.
    pub(super) fn new(places: &Places, options: &Options, group: bool) -> Result<Self, SourceError> {
        let split = options.own.get(SPLIT.name);
        let names: Vec<&str> = split.map(|names| names.split(',').map(str::trim).collect()).unwrap_or_default();
        let can_be = |name: &&str| places.targets.iter().any(|(known, columns)| known == name && columns.len() == 1);
        if group && split.is_some() || !names.iter().all(can_be) {
            let expected = "names of the column map, each of one column, and without group=\"true\"";
            return Err(SourceError::bad_option(SPLIT.name, split.unwrap_or_default(), expected));
        }
        let is_of_boxes = |(name, columns): &&(String, Vec<NamedColumn>)| name == boxes::COLUMN && columns.len() == 4;
        let format = boxes::chosen(options, group && places.targets.iter().any(|target| is_of_boxes(&target)))?;
        let target = |(name, columns): &(String, Vec<NamedColumn>)| {
            let format = format.filter(|_| name == boxes::COLUMN);
            Target::new(name.clone(), columns.clone(), names.contains(&name.as_str()), group, format)
        };
        Ok(Self { targets: places.targets.iter().map(target).collect(), group })
    }

    /// Adds the cells of a line.
    ///
    /// # Errors
    /// One of them is a list or something deeper, where its column cannot have that.
    pub(super) fn push(&mut self, row: &Row, line: u64) -> Result<(), LineProblem> {
        self.targets.iter_mut().try_for_each(|target| target.push(row, line))
    }

    /// The columns, and the names of the classes if the texts of one became numbers. What is wrong with a record is added
    /// to `damaged`.
    ///
    /// # Errors
    /// A name cannot be one of a column, or several columns would have names of classes.
    pub(super) fn finish(
        self,
        file: &Path,
        records: usize,
        rows: &RecordRows,
        lines: &[u64],
        damaged: &mut Faults,
    ) -> Result<(Table, Vec<String>), SourceError> {
        let of_columns = |problem: String| SourceError::Columns { path: file.to_owned(), problem };
        let mut classes: Vec<String> = Vec::new();
        let (mut fields, mut types) = (Vec::new(), Vec::new());
        for target in &self.targets {
            let cell_type = target.cell_type();
            if cell_type == CellType::Classes {
                if !classes.is_empty() {
                    let problem =
                        "two columns would have names of classes, and a dataset has one list of them. Leave out one.";
                    return Err(of_columns(problem.to_owned()));
                }
                classes = target.class_names();
            }
            let column_type = target.column_type(cell_type);
            let objects = self.group.then(|| OBJECTS.to_owned());
            let role = target.boxes().map_or(Role::Plain, BoxFormat::role);
            fields.push(Field { objects, ..Field::new(target.name(), column_type).with_role(role) });
            types.push(cell_type);
        }
        let schema = Schema::try_new(fields).map_err(|error| of_columns(error.to_string()))?;
        for record in 0..records {
            let mut problems = rows.of(record).flat_map(|row| {
                let of_row = self
                    .targets
                    .iter()
                    .zip(&types)
                    .filter_map(move |(target, cell_type)| target.problem(*cell_type, row));
                of_row.map(move |problem| format!("line {} of the table: {problem}", lines[row]))
            });
            if let Some(problem) = problems.next() {
                damaged.add(record as u64, &problem);
            }
        }
        let mut columns = Vec::new();
        for ((target, cell_type), field) in self.targets.iter().zip(&types).zip(schema.fields()) {
            let mut column = Column::new(field.column_type.clone());
            for record in 0..records {
                let is_damaged = damaged.has(record as u64);
                if is_damaged && !self.group {
                    column.push_null();
                    continue;
                }
                for row in rows.of(record).filter(|_| !is_damaged) {
                    target.write(*cell_type, row, &classes, &mut column);
                }
                if self.group {
                    column.close(1);
                }
            }
            columns.push(column);
        }
        let table = Table::try_new(schema, columns, records).map_err(|error| of_columns(error.to_string()))?;
        Ok((table, classes))
    }
}
