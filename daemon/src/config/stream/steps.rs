//! The keys of functions in Python: how many processes call them, and what these may take.

use std::path::PathBuf;

use forebay_pipeline::keys;
use forebay_pipeline::settings::{Home, Key, StepSettings, duration};
use serde_json::Value;

use super::super::table::Table;
use super::super::value::{path, size, whole};

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// Processes that call the functions in Python of a recipe. Raise it if the functions take longer than decoding. 0, of a Loader
    /// with its own daemon: the Loader's process calls them itself while it waits for a batch. Left out: half as many as decode
    /// threads.
    python_workers: "int", example: "4";
    /// How long a function in Python may take for one picture. If it takes longer, its process is ended.
    python_timeout: "float | str" = "\"60s\"", home: Home::Config;
    /// Memory that each process of functions in Python may take for its data. Raise it if they load a large model.
    python_memory: "str | int" = "\"4gib\"", home: Home::Config;
    /// The Python that runs functions. A service takes only a program below a folder of `python` in [sources]. With
    /// `python_workers = 0`, the socket of the Loader that calls them. Left out: python3.
    python: "str", example: "\"/opt/steps/.venv/bin/python\"", home: Home::Other;
    /// Folders in which Python searches modules first. A service adds those of `python` in [sources]. Left out: none.
    python_path: "Sequence[str]", example: "[\"/opt/steps\"]", home: Home::Other;
};

/// How functions in Python are run.
pub(super) fn read(table: &mut Table<'_, '_>) -> StepSettings {
    let default = StepSettings::default();
    StepSettings {
        workers: table.take("python_workers", whole(0..=256)),
        timeout: table.take("python_timeout", duration).unwrap_or(default.timeout),
        memory: table.take("python_memory", size).unwrap_or(default.memory),
        interpreter: table.take("python", path),
        path: table.take("python_path", folders).unwrap_or(default.path),
    }
}

/// A list of absolute paths.
fn folders(value: &Value) -> Result<Vec<PathBuf>, String> {
    let folder = |value: &Value| value.as_str().map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folders = value.as_array().and_then(|folders| folders.iter().map(folder).collect());
    folders.ok_or_else(|| "a list of absolute paths, such as [\"/opt/steps\"]".to_owned())
}
