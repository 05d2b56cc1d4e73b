//! `[sources]`: what the datasets of streams may be.

use std::path::PathBuf;

use serde_json::Value;

use super::table::Table;

pub(super) const EXAMPLE: &str = r#"[sources]
# Folders of custom readers. A stream may have the source "python:FILE" only if FILE is below one of these folders. The
# daemon runs the code in FILE as its own user, so make sure that only this user and root can write there.
python = []
"#;

/// `[sources]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Folders of custom readers (semantics rule 55).
    pub python: Vec<PathBuf>,
}

impl Sources {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        Self { python: table.take_or("python", Vec::new(), folders) }
    }
}

/// Absolute: the folder where the daemon was started is nobody's choice.
fn folders(value: &Value) -> Result<Vec<PathBuf>, String> {
    let folder = |value: &Value| value.as_str().map(PathBuf::from).filter(|path| path.is_absolute());
    let all = value.as_array().and_then(|values| values.iter().map(folder).collect());
    all.ok_or_else(|| "a list of absolute paths, such as [\"/opt/readers\"]".to_owned())
}

#[cfg(test)]
mod tests {
    use crate::config::Config;

    #[test]
    fn rule_55_folders_of_readers_are_absolute_and_there_are_none_by_default() {
        let parse = |python: &str| Config::parse(&format!("[sources]\npython = {python}"), "a.toml");
        assert_eq!(Config::default().sources.python.len(), 0);
        assert_eq!(parse("[\"/opt/readers\"]").unwrap().sources.python, [std::path::Path::new("/opt/readers")]);
        for wrong in ["\"/opt\"", "[\"readers\"]", "[1]", "[\"\"]"] {
            let words = parse(wrong).unwrap_err().to_string();
            assert!(words.contains("line 2: sources.python: is ") && words.contains("absolute"), "{words}");
        }
    }
}
