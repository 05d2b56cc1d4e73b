//! A row of a table. A cell of a CSV is one value. A cell of a JSON object may also be a list, or something deeper.

use csv::ByteRecord;
use forebay_printable::printable;
use forebay_sources::LineProblem;
use serde_json::Value;

/// A column of the table: its place and its name.
pub(super) type NamedColumn = (usize, String);

/// The cells of a row.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: ByteRecord,
    /// The cells that are not one value, by their places.
    compounds: Vec<(usize, Compound)>,
}

/// A cell that is not one value.
#[derive(Debug)]
pub(super) enum Compound {
    List(List),
    /// Lists in a list, or an object: what it is. The text of the cell is its JSON.
    Deeper(&'static str),
}

/// A list of numbers or texts.
#[derive(Debug)]
pub(super) struct List {
    /// As they would be written in cells of their own: `null` as an empty one.
    pub items: Vec<Vec<u8>>,
    /// One of them is a text.
    pub has_texts: bool,
}

impl Row {
    pub(super) fn clear(&mut self) {
        self.cells.clear();
        self.compounds.clear();
    }

    /// The cells as texts, to read a row of a CSV into.
    pub(super) fn cells_mut(&mut self) -> &mut ByteRecord {
        &mut self.cells
    }

    /// The cells as texts: the JSON of what is not one value.
    pub(super) fn cells(&self) -> &ByteRecord {
        &self.cells
    }

    /// Adds a cell that is one value.
    pub(super) fn push_text(&mut self, text: &[u8]) {
        self.cells.push_field(text);
    }

    /// Adds a value of a JSON object.
    pub(super) fn push_value(&mut self, value: &Value) {
        let text = single(value).unwrap_or_else(|| {
            self.compounds.push((self.cells.len(), Compound::of(value)));
            value.to_string()
        });
        self.cells.push_field(text.as_bytes());
    }

    /// What the cell is, if it is not one value.
    pub(super) fn compound(&self, place: usize) -> Option<&Compound> {
        self.compounds.iter().find(|(of, _)| *of == place).map(|(_, compound)| compound)
    }

    /// The cell at this place, where one value is needed. An absent cell is an empty one.
    ///
    /// # Errors
    /// It is a list or something deeper. `needs` says what needs one value, and what to do.
    pub(super) fn one(&self, column: &NamedColumn, needs: impl FnOnce() -> String) -> Result<&[u8], LineProblem> {
        match self.compound(column.0) {
            Some(compound) => Err(compound.refused(column, &needs())),
            None => Ok(self.cells.get(column.0).unwrap_or_default()),
        }
    }
}

impl Compound {
    fn of(value: &Value) -> Self {
        let Value::Array(items) = value else { return Self::Deeper("an object") };
        if items.iter().any(Value::is_object) {
            return Self::Deeper("a list of objects");
        }
        let singles: Option<Vec<Vec<u8>>> = items.iter().map(|item| Some(single(item)?.into_bytes())).collect();
        singles.map_or(Self::Deeper("a list of lists"), |singles| {
            Self::List(List { items: singles, has_texts: items.iter().any(Value::is_string) })
        })
    }

    /// The error of a column that cannot be this.
    pub(super) fn refused(&self, (_, name): &NamedColumn, why: &str) -> LineProblem {
        LineProblem::Malformed(format!("\"{}\" is {}, and {why}", printable(name), self.words()))
    }

    fn words(&self) -> &'static str {
        match self {
            Self::List(List { items, .. }) if items.is_empty() => "an empty list",
            Self::List(List { has_texts: true, .. }) => "a list of texts",
            Self::List(_) => "a list of numbers",
            Self::Deeper(what) => what,
        }
    }
}

/// A value as a CSV would have it. Nothing for a list or an object.
fn single(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(value) => Some(u8::from(*value).to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(_) | Value::Object(_) => None,
    }
}
