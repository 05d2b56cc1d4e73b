//! The columns that a table gives beside pictures and labels. A column's cells decide its type: integers, numbers or texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use csv::ByteRecord;
use forebay_columns::{Column, ColumnType, ElementType, Field, Role, Schema, Table};
use forebay_sources::{Options, SourceError};

use super::SPLIT;
use super::boxes;
use super::places::{NamedColumn, Places};
use crate::faults::Faults;
use crate::numbers::single;
use crate::paths::Paths;
use crate::roles::BoxFormat;

/// The columns so far.
#[derive(Debug)]
pub(super) struct Targets {
    targets: Vec<Target>,
    group: bool,
}

#[derive(Debug)]
struct Target {
    name: String,
    columns: Vec<NamedColumn>,
    /// A cell has several values.
    split: bool,
    /// Its numbers are boxes.
    boxes: Option<BoxFormat>,
    /// The cells, or for several columns none.
    cells: Paths,
    /// The numbers of several columns, row by row.
    numbers: Vec<f32>,
    /// The rows whose numbers are none, with the column; or that are no boxes, with the number of columns.
    wrong: BTreeMap<usize, usize>,
    rows: usize,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellType {
    Integers,
    Numbers,
    Texts,
    /// Texts that become numbers of classes.
    Classes,
    /// Numbers of several columns.
    Row,
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
/// The column whose texts become numbers of classes.
const CLASSES: &str = "classes";

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
        let target = |(name, columns): &(String, Vec<NamedColumn>)| Target {
            name: name.clone(),
            columns: columns.clone(),
            boxes: format.filter(|_| name == boxes::COLUMN),
            split: names.contains(&name.as_str()),
            cells: Paths::default(),
            numbers: Vec::new(),
            wrong: BTreeMap::new(),
            rows: 0,
        };
        Ok(Self { targets: places.targets.iter().map(target).collect(), group })
    }

    pub(super) fn push(&mut self, row: &ByteRecord) {
        for target in &mut self.targets {
            target.push(row);
        }
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
            let column_type = target.column_type(cell_type, self.group);
            let objects = self.group.then(|| OBJECTS.to_owned());
            let role = target.boxes.map_or(Role::Plain, BoxFormat::role);
            fields.push(Field { objects, ..Field::new(&target.name, column_type).with_role(role) });
            types.push(cell_type);
        }
        let schema = Schema::try_new(fields).map_err(|error| of_columns(error.to_string()))?;
        for record in 0..records {
            let mut problems = rows.of(record).flat_map(|row| {
                let of_row = self
                    .targets
                    .iter()
                    .zip(&types)
                    .filter_map(move |(target, cell_type)| target.problem(*cell_type, row, self.group));
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
                    target.write(*cell_type, row, &classes, self.group, &mut column);
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

impl Target {
    fn push(&mut self, row: &ByteRecord) {
        if let [(place, _)] = self.columns[..] {
            self.cells.push(row.get(place).unwrap_or_default());
        } else {
            for (number, (place, _)) in self.columns.iter().enumerate() {
                let value = as_number(row.get(*place).unwrap_or_default());
                if value.is_none() {
                    self.wrong.entry(self.rows).or_insert(number);
                }
                self.numbers.push(value.unwrap_or_default());
            }
            if let (Some(format), Some(numbers)) = (self.boxes, self.numbers.last_chunk_mut::<4>()) {
                match format.corners(numbers.map(f64::from)) {
                    Some(corners) => *numbers = corners,
                    None => drop(self.wrong.entry(self.rows).or_insert(self.columns.len())),
                }
            }
        }
        self.rows += 1;
    }

    /// The values of a cell: itself, or its words.
    fn values(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let cell = self.cells.bytes(row);
        let is_space = |byte: &u8| self.split && (byte.is_ascii_whitespace() || *byte == b'|');
        cell.split(is_space).filter(|value| !self.split || !value.is_empty())
    }

    /// What all cells are. Those that are empty do not count.
    fn cell_type(&self) -> CellType {
        if self.columns.len() > 1 {
            return CellType::Row;
        }
        let mut of_all = None;
        for value in (0..self.rows).flat_map(|row| self.values(row)).filter(|value| !is_missing(value)) {
            let of_value = match (as_integer(value), as_number(value)) {
                (Some(_), _) => CellType::Integers,
                (None, Some(_)) if !self.split => CellType::Numbers,
                _ => CellType::Texts,
            };
            of_all = match (of_all, of_value) {
                (_, CellType::Texts) => Some(CellType::Texts),
                (None | Some(CellType::Integers), of_value) => Some(of_value),
                (of_all, _) => of_all,
            };
            if of_all == Some(CellType::Texts) {
                break;
            }
        }
        match of_all {
            Some(CellType::Texts) if self.split || self.name == CLASSES => CellType::Classes,
            None if self.split || self.name == CLASSES => CellType::Integers,
            other => other.unwrap_or(CellType::Texts),
        }
    }

    fn class_names(&self) -> Vec<String> {
        let values = (0..self.rows).flat_map(|row| self.values(row)).filter(|value| !is_missing(value));
        let texts = values.filter_map(|value| str::from_utf8(value.trim_ascii()).ok());
        let names: BTreeSet<&str> = texts.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn column_type(&self, cell_type: CellType, group: bool) -> ColumnType {
        let levels = usize::from(group) + usize::from(self.split);
        let width = u32::try_from(self.columns.len()).unwrap_or(u32::MAX);
        let (element, levels, dims) = match cell_type {
            CellType::Integers | CellType::Classes => (ElementType::I64, levels, &[][..]),
            CellType::Numbers => (ElementType::F32, levels, &[][..]),
            CellType::Texts => (ElementType::U8, levels + 1, &[][..]),
            CellType::Row => (ElementType::F32, levels, &[width][..]),
        };
        ColumnType::try_new(element, levels, dims).expect("two levels, and no more numbers than a line of text has")
    }

    /// What is wrong with a cell.
    fn problem(&self, cell_type: CellType, row: usize, group: bool) -> Option<String> {
        if cell_type == CellType::Row {
            return Some(match self.columns.get(*self.wrong.get(&row)?) {
                Some((_, name)) => format!("the cell of \"{name}\" is not a number that fits into f32"),
                None => "the box ends before it begins, or does not fit into f32".to_owned(),
            });
        }
        let (cell, name) = (self.cells.bytes(row), &self.columns[0].1);
        match cell_type {
            CellType::Texts | CellType::Classes if str::from_utf8(cell).is_err() => {
                Some(format!("the cell of \"{name}\" is not in UTF-8"))
            }
            // Between other values of a list, nothing shows that one is missing.
            CellType::Integers | CellType::Numbers | CellType::Classes if group && is_missing(cell) => {
                Some(format!("the cell of \"{name}\" is empty"))
            }
            _ => None,
        }
    }

    fn write(&self, cell_type: CellType, row: usize, classes: &[String], group: bool, column: &mut Column) {
        if cell_type == CellType::Row {
            let width = self.columns.len();
            column.extend(&self.numbers[row * width..(row + 1) * width]);
            if !group {
                column.close(1);
            }
            return;
        }
        let cell = self.cells.bytes(row);
        let no_value = if cell_type == CellType::Texts { cell.is_empty() } else { is_missing(cell) };
        if no_value && !group && !self.split {
            column.push_null();
            return;
        }
        for value in self.values(row) {
            let class_of = |value: &[u8]| {
                let found = classes.binary_search_by(|class| class.as_bytes().cmp(value.trim_ascii()));
                i64::try_from(found.unwrap_or_default()).expect("fewer classes than i64::MAX fit into memory")
            };
            match cell_type {
                CellType::Integers => column.extend(&[as_integer(value).unwrap_or_default()]),
                CellType::Numbers => column.extend(&[as_number(value).unwrap_or_default()]),
                CellType::Classes => column.extend(&[class_of(value)]),
                CellType::Texts | CellType::Row => column.extend(value),
            }
        }
        match (group, cell_type) {
            (false, _) => column.close(1),
            (true, CellType::Texts) => column.close(2),
            (true, _) => {}
        }
    }
}

/// An empty cell, or what pandas writes for one.
fn is_missing(cell: &[u8]) -> bool {
    cell.trim_ascii().is_empty() || cell.trim_ascii().eq_ignore_ascii_case(b"nan")
}

fn as_integer(cell: &[u8]) -> Option<i64> {
    str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()
}

fn as_number(cell: &[u8]) -> Option<f32> {
    single(str::from_utf8(cell.trim_ascii()).ok()?.parse().ok()?)
}
