//! Finds the line of each key in a TOML document, so that a mistake can name its line.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::mistake::Mistake;
use super::table::joined;

/// Lines, counted from 1, by the path of a key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(BTreeMap<String, usize>);

impl Lines {
    /// The lines of a document. None if it is no TOML.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Self::default();
        if let Ok(document) = DeTable::parse(text) {
            lines.add("", document.get_ref(), text);
        }
        lines
    }

    /// Gives each mistake its line: that of the key, or of the table that lacks it. They are in the document's order then.
    pub(super) fn number(&self, mistakes: &mut [Mistake]) {
        for mistake in &mut *mistakes {
            mistake.line = self.line(&mistake.key);
        }
        mistakes.sort_by_key(|mistake| mistake.line);
    }

    fn line(&self, key: &str) -> Option<usize> {
        let mut path = key;
        loop {
            if let Some(line) = self.0.get(path) {
                return Some(*line);
            }
            path = path.rsplit_once(['.', '['])?.0;
        }
    }

    fn add(&mut self, path: &str, table: &DeTable<'_>, text: &str) {
        for (key, value) in table {
            let path = joined(path, key.get_ref());
            self.0.insert(path.clone(), line_at(text, key.span().start));
            self.add_inner(&path, value.get_ref(), text);
        }
    }

    /// The keys within a value. The items of a list are numbered from 0.
    fn add_inner(&mut self, path: &str, value: &DeValue<'_>, text: &str) {
        match value {
            DeValue::Table(inner) => self.add(path, inner, text),
            DeValue::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    let path = format!("{path}[{place}]");
                    self.0.insert(path.clone(), line_at(text, item.span().start));
                    self.add_inner(&path, item.get_ref(), text);
                }
            }
            _ => {}
        }
    }
}

fn line_at(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or_default().matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_of_a_list_has_its_own_line() {
        let lines = Lines::of("[streams.train]\ntransform = [\n  { resize = 8 },\n  { pad = { bottom = 1 } },\n]\n");
        let found = ["transform", "transform[0]", "transform[1]", "transform[1].pad.top", "transform[1].pad.bottom"];
        let lines = found.map(|key| lines.line(&format!("streams.train.{key}")));
        assert_eq!(lines, [Some(2), Some(3), Some(4), Some(4), Some(4)]);
    }

    #[test]
    fn a_key_has_its_line_and_one_that_is_missing_that_of_its_table() {
        let lines =
            Lines::of("a = 1\n\n[streams.train]\nsource = \"x\"\ncache = { keep = \"encoded\",\n  memory = 1 }\n");
        let found =
            ["a", "streams.train", "streams.train.source", "streams.train.size", "streams.train.cache.memory", "b"];
        assert_eq!(found.map(|key| lines.line(key)), [Some(1), Some(3), Some(4), Some(3), Some(6), None]);
        assert_eq!(Lines::of("[no"), Lines::default());
    }
}
