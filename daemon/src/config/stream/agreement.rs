//! Checks whether the settings that a Loader asks for agree with the stream that it attaches to (semantics rule 26).

use std::fmt;

use forebay_pipeline::settings::Who;
use forebay_pixels::document::LISTS;
use serde_json::{Map, Value};

use super::super::mistake::Mistake;
use super::super::ring::Ring;
use super::super::value::shown;
use super::{StreamSection, Writer, keys};

/// Where the settings that a Loader gives differ from those of its stream.
pub(super) fn differences(stream: &StreamSection, given: &Value) -> Vec<Mistake> {
    let Value::Object(given) = given else {
        return vec![Mistake { key: String::new(), problem: "they are not a JSON object.".to_owned(), line: None }];
    };
    let given = given.iter().filter(|(key, value)| !is_of_trainer(key) && !value.is_null());
    given.filter_map(|(key, value)| difference(stream, key, value)).collect()
}

/// Puts the one key into the stream's own settings: if another stream comes out, or none, they do not agree.
fn difference(stream: &StreamSection, key: &str, value: &Value) -> Option<Mistake> {
    let mut written = stream.written.clone();
    if LISTS.contains(&key) {
        for other in LISTS {
            written.shift_remove(other);
        }
        // A named recipe may decide about it.
        let dtype = stream.settings.recipe.output().dtype.name();
        written.entry("dtype").or_insert_with(|| dtype.into());
    }
    written.insert(key.to_owned(), value.clone());
    let ring = Ring { credits: stream.settings.credits, trainers: stream.settings.trainers, ..Ring::default() };
    // As the configuration was read: a trainer's shard_id is no part of the stream.
    match StreamSection::from_object(&written, &ring, Writer::Configuration) {
        Ok(other) if is_same(stream, &other) => None,
        Err(mistakes) if mistakes.list.iter().any(|mistake| mistake.key == key) => {
            mistakes.list.into_iter().find(|mistake| mistake.key == key)
        }
        _ => {
            let own = OwnValue(stream.written.get(key));
            let problem = format!("is {}, but the stream has {own}. Leave it out or give the same.", shown(value));
            Some(Mistake { key: key.to_owned(), problem, line: None })
        }
    }
}

fn is_same(stream: &StreamSection, other: &StreamSection) -> bool {
    let bare = |stream: &StreamSection| StreamSection { written: Map::new(), ..stream.clone() };
    bare(stream) == bare(other)
}

/// Whether a key says how the trainer attaches, not what the stream is.
fn is_of_trainer(key: &str) -> bool {
    keys::all().any(|declared| declared.who != Who::Stream && declared.name == key)
}

/// The stream's own value of a key.
struct OwnValue<'a>(Option<&'a Value>);

impl fmt::Display for OwnValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => f.write_str(&shown(value)),
            None => f.write_str("the default"),
        }
    }
}
