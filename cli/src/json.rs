//! How the reports of commands are printed as JSON. A report is a struct: the command's text is made from its fields, and serde
//! makes the JSON from the same ones. docs/json.md describes them. They keep their names and meanings, and new fields may be
//! added.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};

/// Writes a report, with a line for each value.
pub(crate) fn print(out: &mut impl Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// A time, which programs read in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seconds(pub(crate) Duration);

impl Seconds {
    pub(crate) fn of_millis(millis: u64) -> Self {
        Self(Duration::from_millis(millis))
    }

    pub(crate) fn of_micros(micros: u64) -> Self {
        Self(Duration::from_micros(micros))
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0.as_secs_f64())
    }
}

/// `serialize_with`: the values of a map as a list, if each has its key in it.
pub(crate) fn values<K, V: Serialize, S: Serializer>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(map.values())
}

/// `serialize_with`: a path as text. What is no UTF-8 in it is replaced.
pub(crate) fn path<S: Serializer>(path: &impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.as_ref().display())
}

/// As [`path`], of several.
pub(crate) fn paths<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}

/// A text of a message, or nothing where the message has none.
pub(crate) fn unless_empty(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}
