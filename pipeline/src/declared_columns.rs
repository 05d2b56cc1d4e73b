//! The columns that functions in Python declare: those that a dataset does not have, or has with fewer items (semantics rule 59).

use forebay_columns::{ColumnType, MAX_DEPTH, Room};
use forebay_pixels::{DeclaredColumn, Recipe};

use crate::decode::steps::StepError;
use crate::targets::Targets;

/// The columns of a stream, with those that the functions of its recipe declare.
///
/// # Errors
/// One cannot be a column.
pub(crate) fn with_declared(targets: Targets, recipe: &Recipe) -> Result<Targets, StepError> {
    let mut columns = recipe.python().flat_map(|python| python.columns.iter().map(move |each| (python, each)));
    columns.try_fold(targets, |targets, (python, (name, declared))| {
        let column =
            |problem: String| StepError::Column { function: python.function.clone(), column: name.clone(), problem };
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

    use forebay_pixels::Output;
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
    fn rule_59_what_cannot_be_a_column_is_refused_by_name() {
        for (columns, words) in [
            (json!({ "blur": "float" }), "declares the column \"blur\": \"float\" is not the type of a column"),
            (json!({ "blur": "f32 [*]" }), "give one number in `most` for each [*] of the type f32 [*]:"),
            (
                json!({ "blur": { "type": "f32", "most": [1] } }),
                "give one number in `most` for each [*] of the type f32:",
            ),
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
