//! The column of a table that a name may say behind the file's: `keep.parquet?column=record`.

use arrow_schema::Schema;
use forebay_printable::printable;

/// Names the column behind the file's name.
pub(crate) const COLUMN: &str = "?column=";

/// The column of a table that has the list: the one with this name, or the only one.
///
/// # Errors
/// There is no such column, or there are several.
pub(crate) fn column_of(schema: &Schema, name: Option<&str>) -> Result<String, String> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let listed = names.iter().map(|name| format!("\"{}\"", printable(name))).collect::<Vec<_>>().join(", ");
    match (name, &names[..]) {
        (Some(name), _) if names.contains(&name) => Ok(name.to_owned()),
        (Some(name), _) => Err(format!("it has no column \"{}\". Its columns are {listed}", printable(name))),
        (None, [only]) => Ok((*only).to_owned()),
        (None, _) => Err(format!(
            "it has several columns or none ({listed}). Name one of them behind the file: \"FILE{COLUMN}NAME\""
        )),
    }
}

/// What is wrong with a list of more entries than `records`.
pub(crate) fn too_long(records: u64) -> String {
    format!(
        "it has more entries than the dataset has records, which are {records}. Name each record once, or give a bool for each"
    )
}
