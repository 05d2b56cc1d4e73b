//! What the columns beside pictures and labels have.

use std::collections::BTreeMap;

use forebay_columns::Room;
use forebay_sources::Source;
use serde::Serialize;

/// A column beside pictures and labels.
#[derive(Serialize)]
pub(super) struct ColumnTotals {
    pub name: String,
    #[serde(rename = "type")]
    pub column_type: String,
    pub objects: Option<String>,
    /// Ragged levels.
    #[serde(skip)]
    pub depth: usize,
    #[serde(rename = "null_records")]
    pub nulls: u64,
    /// Records with an empty list, and no null.
    #[serde(rename = "empty_records")]
    pub empty: u64,
    /// Items of all records.
    pub items: u64,
    /// Most items of a record, for each ragged level.
    pub longest: Vec<u64>,
    /// Items of each class, if the column has classes.
    #[serde(skip)]
    pub classes: BTreeMap<i64, u64>,
}

/// The column whose values are classes.
const CLASSES: &str = "classes";

/// A class without a record is a finding, if others have some.
pub(super) fn add_classes(source: &dyn Source, counts: &mut BTreeMap<i64, u64>) {
    if counts.keys().any(|label| *label >= 0) {
        for (label, _) in (0..).zip(source.classes()) {
            counts.entry(label).or_default();
        }
    }
}

pub(super) fn columns(source: &dyn Source) -> Vec<ColumnTotals> {
    let table = source.targets();
    let each = table.schema().fields().iter().zip(table.columns()).zip(table.rooms());
    let totals = |((field, column), Room(room)): ((&forebay_columns::Field, &forebay_columns::Column), Room)| {
        let depth = field.column_type.depth();
        let mut totals = ColumnTotals {
            name: field.name.clone(),
            column_type: field.column_type.to_string(),
            objects: field.objects.clone(),
            depth,
            nulls: 0,
            empty: 0,
            items: 0,
            longest: room[..depth].to_vec(),
            classes: BTreeMap::new(),
        };
        let counts_classes = field.name == CLASSES && !source.classes().is_empty();
        let is_read = |record: &usize| source.selection().is_none_or(|selection| selection.contains(*record as u64));
        for record in (0..column.len()).filter(is_read) {
            let value = column.value(record);
            let classes = if counts_classes { value.numbers::<i64>(&field.column_type) } else { None };
            for class in classes.into_iter().flatten() {
                *totals.classes.entry(class).or_default() += 1;
            }
            match value.is_null() {
                true => totals.nulls += 1,
                false if value.items() == 0 => totals.empty += 1,
                false => totals.items += value.items() as u64,
            }
        }
        add_classes(source, &mut totals.classes);
        totals
    };
    each.map(totals).collect()
}
