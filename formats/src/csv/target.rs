//! One column that a table gives. All its cells decide its type: integers, numbers or texts, or lists of these.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use forebay_columns::{Column, ColumnType, ElementType};
use forebay_printable::printable;
use forebay_sources::LineProblem;

use super::row::{Compound, List, NamedColumn, Row};
use crate::label_column::is_written_list;
use crate::numbers::single;
use crate::paths::Paths;
use crate::roles::BoxFormat;

/// A column of the batch, and the values that it has so far.
#[derive(Debug)]
pub(super) struct Target {
    name: String,
    columns: Vec<NamedColumn>,
    /// A cell has several values.
    split: bool,
    /// Several rows are a record.
    group: bool,
    /// Its numbers are boxes.
    boxes: Option<BoxFormat>,
    /// The values of a single column, those of all rows one after the other.
    values: Paths,
    /// Where the values of each row end. Nothing as long as each row has one.
    ends: Option<Vec<usize>>,
    /// The first line with a list of numbers, and the first one with a single value.
    first_list: Option<u64>,
    first_single: Option<u64>,
    /// A cell is deeper than a list, so that all are texts.
    is_deep: bool,
    /// The numbers of several columns, row by row.
    numbers: Vec<f32>,
    wrong: BTreeMap<usize, WrongCell>,
    rows: usize,
}

/// What is wrong with a row.
#[derive(Debug)]
enum WrongCell {
    /// The one of the columns whose cell is no number.
    NoNumber(usize),
    NoBox,
    /// A value of a list is missing.
    Hole,
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    Integers,
    Numbers,
    Texts,
    /// Texts that become numbers of classes.
    Classes,
    /// Numbers of several columns.
    Row,
}

/// The column whose texts become numbers of classes.
const CLASSES: &str = "classes";

impl Target {
    pub(super) fn new(
        name: String,
        columns: Vec<NamedColumn>,
        split: bool,
        group: bool,
        boxes: Option<BoxFormat>,
    ) -> Self {
        Self {
            name,
            columns,
            split,
            group,
            boxes,
            values: Paths::default(),
            ends: split.then(Vec::new),
            first_list: None,
            first_single: None,
            is_deep: false,
            numbers: Vec::new(),
            wrong: BTreeMap::new(),
            rows: 0,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn boxes(&self) -> Option<BoxFormat> {
        self.boxes
    }

    /// Adds the cells of a row.
    ///
    /// # Errors
    /// A cell is a list or something deeper, where the column cannot have that.
    pub(super) fn push(&mut self, row: &Row, line: u64) -> Result<(), LineProblem> {
        if let [column] = &self.columns[..] {
            let column = column.clone();
            match row.compound(column.0) {
                Some(compound) => self.push_compound(&column, compound, row, line)?,
                None => self.push_single(&column, row.cells().get(column.0).unwrap_or_default(), line)?,
            }
            let values = self.values.len();
            self.ends.iter_mut().for_each(|ends| ends.push(values));
            if let (Some(list), Some(other), false) = (self.first_list, self.first_single, self.is_deep) {
                return Err(self.mixed(&column, list, other));
            }
        } else {
            self.push_numbers(row)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn push_single(&mut self, column: &NamedColumn, cell: &[u8], line: u64) -> Result<(), LineProblem> {
        if (self.split || self.name == CLASSES) && is_written_list(cell) {
            let (name, own) = (printable(&column.1), &self.name);
            return Err(LineProblem::Malformed(format!(
                "the cell \"{}\" of \"{name}\" is a list in a text. Write its values with spaces or \"|\" between them, and give \
                 source_options = {{split = \"{own}\"}}",
                printable(&*String::from_utf8_lossy(cell)),
            )));
        }
        if !self.split {
            self.values.push(cell);
            if !is_missing(cell) {
                self.first_single.get_or_insert(line);
            }
        } else if !is_missing(cell) {
            let words = cell.split(|byte| byte.is_ascii_whitespace() || *byte == b'|');
            for word in words.filter(|word| !word.is_empty()) {
                self.push_item(word);
            }
        }
        Ok(())
    }

    fn push_compound(
        &mut self,
        column: &NamedColumn,
        compound: &Compound,
        row: &Row,
        line: u64,
    ) -> Result<(), LineProblem> {
        let refused = |why: &str| Err(compound.refused(column, why));
        match compound {
            Compound::Deeper(_) if self.split => refused(
                "split takes lists of numbers or texts. Leave the column out of split, or name a value in it (a.b)",
            ),
            Compound::Deeper(_) if self.name == CLASSES => {
                refused("a class is a number or a text. Name a value in it (a.b)")
            }
            Compound::Deeper(_) => {
                self.is_deep = true;
                self.values.push(row.cells().get(column.0).unwrap_or_default());
                Ok(())
            }
            Compound::List(_) if self.group => {
                refused("with group=\"true\" each line has one value of each column. Leave out group, or the column")
            }
            Compound::List(List { has_texts, .. }) if !self.split && (*has_texts || self.name == CLASSES) => {
                let own = &self.name;
                refused(&format!(
                    "the column \"{own}\" has one value for each record. If it is to have lists, give source_options = {{split = \
                     \"{own}\"}}. Names of several columns are separated by commas"
                ))
            }
            Compound::List(List { items, .. }) => {
                if !self.split {
                    self.first_list.get_or_insert(line);
                    let rows = self.rows;
                    self.ends.get_or_insert_with(|| (1..=rows).collect());
                }
                for item in items {
                    self.push_item(item);
                }
                Ok(())
            }
        }
    }

    fn push_item(&mut self, item: &[u8]) {
        if is_missing(item) {
            self.wrong.insert(self.rows, WrongCell::Hole);
        }
        self.values.push(item);
    }

    fn push_numbers(&mut self, row: &Row) -> Result<(), LineProblem> {
        let own = &self.name;
        for (number, column) in self.columns.iter().enumerate() {
            let needs = || {
                format!(
                    "each column that \"{own}\" is made of has one number. Name a list alone: columns = {{{own} = \"NAME\"}}"
                )
            };
            let value = as_number(row.one(column, needs)?);
            if value.is_none() {
                self.wrong.entry(self.rows).or_insert(WrongCell::NoNumber(number));
            }
            self.numbers.push(value.unwrap_or_default());
        }
        if let (Some(format), Some(numbers)) = (self.boxes, self.numbers.last_chunk_mut::<4>()) {
            match format.corners(numbers.map(f64::from)) {
                Some(corners) => *numbers = corners,
                None => drop(self.wrong.entry(self.rows).or_insert(WrongCell::NoBox)),
            }
        }
        Ok(())
    }

    /// The error of a column with lists and single values.
    fn mixed(&self, (_, name): &NamedColumn, list: u64, other: u64) -> LineProblem {
        let (this, was) = if list > other {
            ("is a list of numbers", format!("line {other} has a single value"))
        } else {
            ("is a single value", format!("line {list} has a list"))
        };
        LineProblem::Malformed(format!(
            "\"{}\" {this}, and {was}. Write all as lists, or give source_options = {{split = \"{}\"}}, which makes a list of a \
             single value",
            printable(name),
            self.name
        ))
    }

    /// Each row has a list of values.
    fn is_list(&self) -> bool {
        self.split || self.first_list.is_some() && !self.is_deep
    }

    fn places(&self, row: usize) -> Range<usize> {
        match &self.ends {
            None => row..row + 1,
            Some(ends) => row.checked_sub(1).map_or(0, |before| ends[before])..ends[row],
        }
    }

    fn values(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        self.places(row).map(|place| self.values.bytes(place))
    }

    /// The values of all rows, without those that are missing.
    fn all_values(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.values.len()).map(|place| self.values.bytes(place)).filter(|value| !is_missing(value))
    }

    /// What all cells are. Those that are empty do not count.
    pub(super) fn cell_type(&self) -> CellType {
        if self.columns.len() > 1 {
            return CellType::Row;
        }
        let is_of_numbers = self.is_list() && !self.split;
        let mut of_all = None;
        for value in self.all_values() {
            let of_value = match (as_integer(value), as_number(value)) {
                (Some(_), _) => CellType::Integers,
                (None, Some(_)) => CellType::Numbers,
                _ if is_of_numbers => CellType::Numbers,
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
            None if self.is_list() || self.name == CLASSES => CellType::Integers,
            other => other.unwrap_or(CellType::Texts),
        }
    }

    pub(super) fn class_names(&self) -> Vec<String> {
        let texts = self.all_values().filter_map(|value| str::from_utf8(value.trim_ascii()).ok());
        let names: BTreeSet<&str> = texts.collect();
        names.into_iter().map(str::to_owned).collect()
    }

    pub(super) fn column_type(&self, cell_type: CellType) -> ColumnType {
        let levels = usize::from(self.group) + usize::from(self.is_list());
        let width = u32::try_from(self.columns.len()).unwrap_or(u32::MAX);
        let (element, levels, dims) = match cell_type {
            CellType::Integers | CellType::Classes => (ElementType::I64, levels, &[][..]),
            CellType::Numbers => (ElementType::F32, levels, &[][..]),
            CellType::Texts => (ElementType::U8, levels + 1, &[][..]),
            CellType::Row => (ElementType::F32, levels, &[width][..]),
        };
        ColumnType::try_new(element, levels, dims).expect("two levels, and no more numbers than a line of text has")
    }

    /// What is wrong with the cells of a row.
    pub(super) fn problem(&self, cell_type: CellType, row: usize) -> Option<String> {
        let name = |column: usize| printable(&self.columns[column].1);
        match self.wrong.get(&row) {
            Some(WrongCell::NoNumber(column)) => {
                return Some(format!("the cell of \"{}\" is not a number that fits into f32", name(*column)));
            }
            Some(WrongCell::NoBox) => {
                return Some("the box ends before it begins, or does not fit into f32".to_owned());
            }
            Some(WrongCell::Hole) => return Some(format!("a value in the list of \"{}\" is missing", name(0))),
            None => {}
        }
        let any = |is_one: fn(&[u8]) -> bool| self.values(row).any(is_one);
        match cell_type {
            CellType::Texts | CellType::Classes if any(|value| str::from_utf8(value).is_err()) => {
                Some(format!("the cell of \"{}\" is not in UTF-8", name(0)))
            }
            CellType::Numbers if self.is_list() && any(|value| !is_missing(value) && as_number(value).is_none()) => {
                Some(format!("the list of \"{}\" has a number that does not fit into f32", name(0)))
            }
            // Between other values of a list, nothing shows that one is missing.
            CellType::Integers | CellType::Numbers | CellType::Classes if self.group && any(is_missing) => {
                Some(format!("the cell of \"{}\" is empty", name(0)))
            }
            _ => None,
        }
    }

    /// Adds the values of a row to a column.
    pub(super) fn write(&self, cell_type: CellType, row: usize, classes: &[String], column: &mut Column) {
        if cell_type == CellType::Row {
            let width = self.columns.len();
            column.extend(&self.numbers[row * width..(row + 1) * width]);
            if !self.group {
                column.close(1);
            }
            return;
        }
        if self.is_null(cell_type, row) {
            column.push_null();
            return;
        }
        let class_of = |value: &[u8]| {
            let found = classes.binary_search_by(|class| class.as_bytes().cmp(value.trim_ascii()));
            i64::try_from(found.unwrap_or_default()).expect("fewer classes than i64::MAX fit into memory")
        };
        for (place, value) in self.values(row).enumerate() {
            match cell_type {
                CellType::Integers => column.extend(&[as_integer(value).unwrap_or_default()]),
                CellType::Numbers => column.extend(&[as_number(value).unwrap_or_default()]),
                CellType::Classes => column.extend(&[class_of(value)]),
                CellType::Texts | CellType::Row => {
                    // A list of numbers beside cells that are deeper.
                    if place > 0 {
                        column.extend(b" ");
                    }
                    column.extend(value);
                }
            }
        }
        match (self.group, cell_type) {
            (false, _) => column.close(1),
            (true, CellType::Texts) => column.close(2),
            (true, _) => {}
        }
    }

    /// Whether a row has no value. The lists of `split` are empty then.
    fn is_null(&self, cell_type: CellType, row: usize) -> bool {
        if self.group || self.split {
            return false;
        }
        let mut values = self.values(row);
        match (values.next(), values.next()) {
            (None, _) => !self.is_list(),
            (Some(only), None) if cell_type == CellType::Texts => only.is_empty(),
            (Some(only), None) => is_missing(only),
            _ => false,
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
