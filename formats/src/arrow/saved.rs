//! The folder that `save_to_disk` of Hugging Face's `datasets` writes: `state.json` names its files in their order.

use std::path::{Component, PathBuf};

use forebay_sources::SourceError;
use serde_json::Value;

use crate::address::Address;

/// Most bytes of a description.
const MOST_BYTES: u64 = 64 << 20;
const STATE: &str = "state.json";
const INFO: &str = "dataset_info.json";
/// The file of a folder that has such folders, one for each split.
const SPLITS: &str = "dataset_dict.json";

/// Whether this is such a folder.
pub(super) fn is_saved(folder: &Address) -> bool {
    folder.join(STATE).is_file() && folder.join(INFO).is_file() || folder.join(SPLITS).is_file()
}

/// Its files, and the text of its description.
pub(super) fn files(folder: &Address) -> Result<(Vec<Address>, String), SourceError> {
    if !folder.join(STATE).is_file() && folder.join(SPLITS).is_file() {
        let problem = "The folder has several splits. Give the folder of one of them, such as its folder \"train\".";
        return Err(SourceError::malformed_at(folder.join(SPLITS).path(), 0, problem));
    }
    let state = folder.join(STATE);
    let text = state.text(MOST_BYTES)?;
    let bad = |problem: &str| SourceError::malformed_at(state.path(), 0, problem);
    let state: Value =
        serde_json::from_slice(&text).map_err(|error| bad(&format!("It is not JSON: {error}. Copy it again.")))?;
    if state.get("_indices_data_files").and_then(Value::as_array).is_some_and(|files| !files.is_empty()) {
        return Err(bad(
            "The rows are to be taken in the order of another file. Call flatten_indices(), and save anew.",
        ));
    }
    let files = state.get("_data_files").and_then(Value::as_array);
    let files = files.ok_or_else(|| bad("It names no files (\"_data_files\"). Save the dataset anew."))?;
    let name = |file: &Value| file.get("filename").and_then(Value::as_str).map(PathBuf::from);
    let mut paths = Vec::new();
    for file in files {
        let name =
            name(file).ok_or_else(|| bad("One of its files has no name (\"filename\"). Save the dataset anew."))?;
        let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain {
            return Err(bad("One of its files is outside of the folder. Save the dataset anew."));
        }
        paths.push(folder.join(name));
    }
    if paths.is_empty() {
        return Err(SourceError::NoRecords { path: folder.path().to_owned() });
    }
    // Without it there are no names of classes; it must not be that because it could not be read.
    let info = match folder.join(INFO).text(MOST_BYTES) {
        Err(SourceError::Missing { .. }) => Vec::new(),
        text => text?,
    };
    Ok((paths, String::from_utf8(info).unwrap_or_default()))
}
