//! The columns that functions in Python declare: those that a dataset does not have, or has with fewer items (semantics rule 59).

use forebay_columns::{ColumnType, MAX_DEPTH, Room};
use forebay_pixels::{DeclaredColumn, Recipe};

use crate::decode::steps::StepError;
use crate::targets::Targets;

/// By this name, functions return the label.
const LABEL: &str = "label";

/// The columns of a stream, with those that the functions of its recipe declare.
///
/// # Errors
/// One cannot be a column, or has the name by which functions return the label.
pub(crate) fn with_declared(targets: Targets, recipe: &Recipe) -> Result<Targets, StepError> {
    if let Some(python) = recipe.python().next().filter(|_| targets.schema().find(LABEL).is_some()) {
        return Err(StepError::Label { function: python.function.clone() });
    }
    let of_batches = recipe.batch_function().map(|function| &function.python);
    let mut columns =
        recipe.python().chain(of_batches).flat_map(|python| python.columns.iter().map(move |each| (python, each)));
    columns.try_fold(targets, |targets, (python, (name, declared))| {
        let column =
            |problem: String| StepError::Column { function: python.function.clone(), column: name.clone(), problem };
        if name == LABEL {
            return Err(column(
                "a function returns the label of the record by this name, without declaring it".to_owned(),
            ));
        }
        let (of, room) = parsed(declared).map_err(column)?;
        targets.with_declared(name, of, room).map_err(|error| column(error.to_string()))
    })
}

/// The type of a column, and what a record may have in it.
fn parsed(declared: &DeclaredColumn) -> Result<(ColumnType, Room), String> {
    let (of, most) = declared.parts();
    let of: ColumnType = of.parse().map_err(|error| format!("{error}"))?;
    if most.len() != of.depth() {
        return Err(format!(
            "give one number in `most` for each [*] of the type {of}: the most items that a record has there"
        ));
    }
    let mut room = [0; MAX_DEPTH];
    room[..most.len()].copy_from_slice(most);
    Ok((of, Room(room)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use forebay_columns::{Column, Field, Schema, Table};
    use forebay_pixels::Output;
    use forebay_sources::Source;
    use serde_json::{Value, from_value, json};

    use super::*;
    use crate::prefetch::memory_source::MemorySource;

    fn declared(columns: &Value) -> Result<Targets, String> {
        let python = json!({ "python": { "function": "a:b", "columns": columns } });
        let list = from_value(json!([{ "center_crop": { "size": 8 } }, python])).unwrap();
        let recipe = Recipe::new(list, Output::default()).unwrap();
        let targets = Targets::new(Arc::new(MemorySource::new(4)), None, (8, 8)).unwrap();
        with_declared(targets, &recipe).map_err(|error| error.to_string())
    }

    #[test]
    fn rule_59_a_declared_column_is_a_new_one_or_has_more_room() {
        let columns = json!({ "blur": "f32 [2]", "tally": { "type": "u8 [*]", "most": [7] }, "a": { "type": "f32 [*][*, 2]", "most": [3, 9] } });
        let targets = declared(&columns).unwrap();
        let fields = targets.schema().fields().iter().map(|field| format!("{} {}", field.name, field.column_type));
        assert_eq!(fields.collect::<Vec<_>>(), ["tally u8 [*]", "a f32 [*][*, 2]", "blur f32 [2]"]);
        assert_eq!(targets.rooms(), [Room([7, 0, 0]), Room([3, 9, 0]), Room::default()]);
        let fewer = declared(&json!({ "tally": { "type": "u8 [*]", "most": [1] } })).unwrap();
        assert_eq!(fewer.rooms(), [Room([3, 0, 0])], "the dataset has more");
    }

    #[test]
    fn rule_59_a_stream_with_a_column_called_label_has_no_function_that_could_return_it() {
        let (labels, other) = (Field::new("label", "i64".parse().unwrap()), Field::new("tag", "i64".parse().unwrap()));
        let column = |field: &Field| {
            let mut column = Column::new(field.column_type.clone());
            column.push(&[7_i64]);
            column
        };
        let columns = vec![column(&other), column(&labels)];
        let table = Table::try_new(Schema::try_new(vec![other, labels]).unwrap(), columns, 1).unwrap();
        let source: Arc<dyn Source> = Arc::new(MemorySource::new(1).with_targets(table));
        let with = |names: Option<&[String]>, function: bool| {
            let python = function.then(|| json!({ "python": { "function": "a:b" } }));
            let list: Vec<Value> = std::iter::once(json!({ "center_crop": { "size": 8 } })).chain(python).collect();
            let recipe = Recipe::new(from_value(json!(list)).unwrap(), Output::default()).unwrap();
            with_declared(Targets::new(Arc::clone(&source), names, (8, 8)).unwrap(), &recipe)
        };
        let refused = with(None, true).unwrap_err();
        assert_eq!(refused, StepError::Label { function: "a:b".to_owned() });
        assert!(refused.to_string().contains("the dataset has a column \"label\""), "{refused}");
        assert!(with(None, false).is_ok(), "without a function it is a column as others are");
        assert!(with(Some(&["tag".to_owned()]), true).is_ok(), "it is left out");
    }

    #[test]
    fn rule_59_what_cannot_be_a_column_is_refused_by_name() {
        for (columns, words) in [
            (json!({ "blur": "float" }), "declares the column \"blur\": \"float\" is not the type of a column"),
            (json!({ "blur": "f32 [*]" }), "give one number in `most` for each [*] of the type f32 [*]:"),
            (
                json!({ "blur": { "type": "f32", "most": [1] } }),
                "give one number in `most` for each [*] of the type f32:",
            ),
            (json!({ "label": "i64" }), "returns the label of the record by this name"),
            (json!({ "labels": "i64" }), "the name \"labels\" is taken"),
            (json!({ "tally": "u8" }), "there are two columns with the name \"tally\""),
            (json!({ "a b": "u8" }), "cannot be the name of a column"),
        ] {
            let refused = declared(&columns).unwrap_err();
            assert!(
                refused.starts_with("transform: the function a:b declares") && refused.contains(words),
                "{refused}"
            );
        }
    }
}
