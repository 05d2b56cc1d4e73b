//! Checks whether the settings that a Loader asks for agree with the stream that it attaches to (semantics rule 26).

use std::fmt;

use forebay_pixels::document::LISTS;
use forebay_road::settings::Who;
use serde_json::{Map, Value};

use super::super::mistake::{Mistake, Mistakes};
use super::super::ring::Ring;
use super::super::value::shown;
use super::{LOADER, StreamSection, Writer, keys};

impl StreamSection {
    /// Checks the settings that a Loader gives with `stream:NAME`. They may be left out, and must agree if they are
    /// given. Every difference is reported. Keys that belong to the trainer, such as `shard_id` and `rank`, are ignored.
    pub fn agree(&self, given: &Value) -> Result<(), Mistakes> {
        let Value::Object(given) = given else {
            return Err(mistakes(vec![Mistake {
                key: String::new(),
                problem: "they are not a JSON object.".to_owned(),
                line: None,
            }]));
        };
        let given = given.iter().filter(|(key, value)| !is_of_trainer(key) && !value.is_null());
        let list: Vec<Mistake> = given.filter_map(|(key, value)| self.difference(key, value)).collect();
        if list.is_empty() { Ok(()) } else { Err(mistakes(list)) }
    }

    /// Puts the one key into the stream's own settings: if another stream comes out, or none, they do not agree.
    fn difference(&self, key: &str, value: &Value) -> Option<Mistake> {
        let mut written = self.written.clone();
        if LISTS.contains(&key) {
            for other in LISTS {
                written.shift_remove(other);
            }
            // A named recipe may decide about it.
            let dtype = self.settings.recipe.output().dtype.name();
            written.entry("dtype").or_insert_with(|| dtype.into());
        }
        written.insert(key.to_owned(), value.clone());
        let ring = Ring { credits: self.settings.credits, trainers: self.settings.trainers, ..Ring::default() };
        // As the configuration was read: a trainer's shard_id is no part of the stream.
        match Self::from_object(&written, &ring, Writer::Configuration) {
            Ok(other) if self.is_same(&other) => None,
            Err(mistakes) if mistakes.list.iter().any(|mistake| mistake.key == key) => {
                mistakes.list.into_iter().find(|mistake| mistake.key == key)
            }
            _ => {
                let own = OwnValue(self.written.get(key));
                let problem = format!("is {}, but the stream has {own}. Leave it out or give the same.", shown(value));
                Some(Mistake { key: key.to_owned(), problem, line: None })
            }
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let bare = |stream: &Self| Self { written: Map::new(), ..stream.clone() };
        bare(self) == bare(other)
    }
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

fn mistakes(list: Vec<Mistake>) -> Mistakes {
    Mistakes { document: LOADER.to_owned(), list }
}
