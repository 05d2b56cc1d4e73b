//! All keys of a stream, in the order in which documents show them, and what is made of them: the example, and the schema
//! that Python's classes are written from.

use forebay_pipeline::settings::{Key, StreamSettings, Who};
use serde_json::{Value, json};

use super::{
    KEYS, buckets, cache, columns, delivery, mixing, mixture, patches, recipe, sharding, shuffle, steps, views,
};

/// The widest line of the example.
const WIDTH: usize = 127;

/// Every key.
pub(in crate::config) fn all() -> impl Iterator<Item = &'static Key> {
    let tables = [
        KEYS,
        columns::KEYS,
        recipe::KEYS,
        steps::KEYS,
        buckets::KEYS,
        patches::KEYS,
        views::KEYS,
        mixing::KEYS,
        shuffle::KEYS,
        mixture::KEYS,
        sharding::KEYS,
        delivery::KEYS,
        cache::KEYS,
        StreamSettings::KEYS,
    ];
    tables.into_iter().flatten()
}

/// The section of the example: each key with its help, as comments.
pub(in crate::config) fn example() -> String {
    let mut text = String::from(
        "# One table per stream. A trainer attaches by the name: forebay.Loader(\"stream:train\").\n# [streams.train]\n",
    );
    for key in all().filter(|key| key.in_table()) {
        text += &comment(&key.text());
        let value = (key.default)().unwrap_or_else(|| key.example.to_owned());
        text.extend(["# ", key.name, " = ", &value, "\n"]);
    }
    text
}

/// Everything about each key, for programs.
pub(in crate::config) fn schema() -> Value {
    let keys = all().map(|key| {
        json!({
            "name": key.name,
            "help": key.text(),
            "in_python": key.in_python,
            "python": key.python,
            "default": (key.default)(),
            "example": key.example,
            "home": key.home.name(),
            "in_table": key.in_table(),
            "of_trainer": key.who != Who::Stream,
            "while_open": key.while_open,
            "undecided": key.undecided,
        })
    });
    keys.collect()
}

/// A text as lines of a comment.
fn comment(text: &str) -> String {
    let (mut lines, mut line) = (String::new(), String::from("#"));
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            "#".clone_into(&mut line);
        }
        line.push(' ');
        line += word;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use forebay_pipeline::settings::Home;
    use forebay_pixels::document;

    use super::super::{StreamSection, Writer};
    use super::*;
    use crate::config::ring::Ring;
    use crate::config::table::Table;

    /// The keys that a document may have, as the reader knows them.
    fn known(writer: Writer, document: &Value) -> BTreeSet<&'static str> {
        let (values, mut mistakes) = (document.as_object().cloned().unwrap_or_default(), Vec::new());
        let mut table = Table::new(&values, &mut mistakes);
        let _read = StreamSection::read(&mut table, &Ring::default(), writer);
        table.known().collect()
    }

    #[test]
    fn every_key_that_is_read_is_declared_once_and_every_declared_key_is_read() {
        let declared: Vec<&str> = all().map(|key| key.name).collect();
        let once: BTreeSet<&str> = declared.iter().copied().collect();
        assert_eq!(once.len(), declared.len(), "{declared:?}");
        let lockstep = json!({ "assignment": "lockstep" });
        let in_table: BTreeSet<&str> = all().filter(|key| key.in_table()).map(|key| key.name).collect();
        assert_eq!(known(Writer::Configuration, &json!({})), in_table);
        let mut of_loader = known(Writer::Loader, &lockstep);
        of_loader.extend(known(Writer::Loader, &json!({})));
        assert!(of_loader.remove("files"), "the Loader itself sends it, and no caller");
        assert_eq!(of_loader, once);
        assert!(document::KEYS.iter().all(|key| recipe::KEYS.iter().any(|declared| declared.name == *key)));
    }

    #[test]
    fn a_key_says_what_its_absence_means_or_shows_its_default() {
        for key in all() {
            let (text, default) = (key.text(), (key.default)());
            assert!(text.ends_with('.') && !text.contains("  "), "{}: {text}", key.name);
            if default.is_none() && key.in_table() {
                assert!(!key.example.is_empty(), "{} has neither a default nor an example", key.name);
                assert!(text.contains("Left out: ") || text.contains("Required"), "{}: {text}", key.name);
            }
            assert!(default.is_none() || key.example.is_empty(), "{} has a default and an example", key.name);
            assert!(key.home != Home::Service || key.in_python.is_empty(), "{}", key.name);
        }
    }

    #[test]
    fn comments_are_no_wider_than_the_page() {
        assert_eq!(comment("a b"), "# a b\n");
        let wide = comment(&"word ".repeat(100));
        assert!(wide.lines().all(|line| line.starts_with("# word") && line.len() <= WIDTH), "{wide}");
        assert_eq!(wide.matches("word").count(), 100);
    }
}
