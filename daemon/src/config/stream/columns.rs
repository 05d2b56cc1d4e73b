//! `columns`: which parts of a record become columns, or which of the dataset's columns batches have. `masks`: which masks
//! become columns.

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key};
use forebay_sources::{ColumnMap, OwnOptions};
use serde_json::Value;

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// The columns of batches beside pictures and labels. A list names some of the dataset's columns, or parts of a record that
    /// become columns of the same names, such as the column "caption" of a table. A table says which part of a record becomes
    /// which column: a member of an archive, a feature, a column of a table. Left out: all columns that the dataset has.
    /// docs/sources.md lists them.
    columns: "Sequence[str] | Mapping[str, str]",
        example: "{ images = \"jpg;png\", labels = \"cls\", caption = \"txt\" }", home: Home::Targets,
        in_python: "For a stream, a list names those that this trainer looks at.";
    /// Masks that become columns: names of columns, each with the folder of its masks (files with the names of the
    /// pictures), or with a column of the dataset that has their paths, or with the part of a record that has the mask: a
    /// member of a tar, a column of a table. See docs/sources.md, "Masks". Left out: no masks.
    masks: "Mapping[str, str]", example: "{ segmentation = \"SegmentationClass\" }", home: Home::Targets,
        in_python: "Such a column is an array `(n, height, width)` of uint8, uint16 or int32, transformed like the pictures.";
};

/// The value of `columns`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Columns {
    /// Names of columns with what becomes each.
    pub map: ColumnMap,
    /// The columns that batches have. `None` means all that the dataset has.
    pub only: Option<Vec<String>>,
}

/// A list of names, or a table of names and parts.
pub(super) fn read(value: &Value) -> Result<Columns, String> {
    let wrong = || {
        "a list of names, such as [\"boxes\"], or a table of names and parts, such as { caption = \"txt\" }".to_owned()
    };
    match value {
        Value::Array(names) => {
            let names: Option<Vec<String>> = names.iter().map(|name| name.as_str().map(str::to_owned)).collect();
            Ok(Columns { only: Some(names.ok_or_else(wrong)?), ..Columns::default() })
        }
        Value::Object(_) => {
            let map = pairs(value).ok_or_else(wrong)?.into_iter().collect();
            Ok(Columns { map, only: None })
        }
        _ => Err(wrong()),
    }
}

/// `masks`: a table of names of columns, and where the masks are.
pub(super) fn masks(value: &Value) -> Result<ColumnMap, String> {
    let pairs = pairs(value).ok_or_else(|| {
        "a table of names of columns and folders of masks, such as { segmentation = \"SegmentationClass\" }".to_owned()
    })?;
    Ok(pairs.into_iter().collect())
}

/// `source_options`: a table of texts, numbers and flags. What is in a table of its own has the names of both: `roles.boxes`.
pub(super) fn options(value: &Value) -> Result<OwnOptions, String> {
    let flat = |(name, value): (&String, &Value)| match value.as_object() {
        Some(inner) => inner.iter().map(|(key, value)| (format!("{name}.{key}"), value.clone())).collect(),
        None => vec![(name.clone(), value.clone())],
    };
    let flat = value.as_object().map(|options| Value::Object(options.iter().flat_map(flat).collect()));
    let pairs = flat.as_ref().and_then(pairs).ok_or_else(|| {
        "a table of options, such as { payload = \"picture\" }; docs/sources.md lists those of each source".to_owned()
    })?;
    Ok(pairs.into_iter().collect())
}

fn pairs(value: &Value) -> Option<Vec<(String, String)>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    };
    value.as_object()?.iter().map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}
