//! Reads the keys of one table. It collects every mistake, so that all are reported at once.

use std::sync::LazyLock;

use forebay_pipeline::settings::Values;
use forebay_pixels::{Fit, Recipe, View, document};
use serde_json::{Map, Value};

use super::mistake::Mistake;
use super::value::shown;

/// A table whose keys are taken one by one; [`finish`](Self::finish) reports the keys that were not taken.
///
/// TOML and JSON both come as [`Value`]. A key that is `null` counts as absent, so that a client may send all its
/// keys.
#[derive(Debug)]
pub(super) struct Table<'v, 'm> {
    path: String,
    values: &'v Map<String, Value>,
    known: Vec<&'static str>,
    mistakes: &'m mut Vec<Mistake>,
}

/// Keys that users know from other projects, and our key for each.
const HABITS: [(&str, &str); 5] = [
    ("random_shuffle", "shuffle"),
    ("num_workers", "num_threads"),
    ("transforms", "transform"),
    ("drop_last", "last_batch_policy"),
    ("path", "source"),
];
/// Keys that were renamed, and their names now.
const RENAMED: [(&str, &str); 2] = [("shard_size", "lease_size"), ("group", "unix_group")];
/// Values that a key had under an older version, and the key that has them now.
const MOVED: [(&str, &str, &str); 2] = [("mode", "split", "groups"), ("mode", "each", "groups")];
/// How like a known key an unknown one must be to be taken for a slip.
const SLIP: f64 = 0.8;

impl<'v, 'm> Table<'v, 'm> {
    pub(super) fn new(values: &'v Map<String, Value>, mistakes: &'m mut Vec<Mistake>) -> Self {
        Self { path: String::new(), values, known: Vec::new(), mistakes }
    }

    /// The table as it was written.
    pub(super) fn values(&self) -> &'v Map<String, Value> {
        self.values
    }

    /// The key's value, if it is given and valid. The error of `read` says what is allowed.
    pub(super) fn take<T>(&mut self, key: &'static str, read: impl FnOnce(&Value) -> Result<T, String>) -> Option<T> {
        self.known.push(key);
        document::take(self.values, key, read).unwrap_or_else(|mistake| {
            self.take_over(mistake);
            None
        })
    }

    /// Like [`take`](Self::take), with a default.
    pub(super) fn take_or<T>(
        &mut self,
        key: &'static str,
        default: T,
        read: impl FnOnce(&Value) -> Result<T, String>,
    ) -> T {
        self.take(key, read).unwrap_or(default)
    }

    /// Whether the key is given, valid or not.
    pub(super) fn has(&self, key: &str) -> bool {
        document::given(self.values, key).is_some()
    }

    /// Reads the keys of a recipe, with defaults for those that are wrong. `None` if there is no recipe even so.
    pub(super) fn recipe(&mut self, shuffle: bool) -> Option<Recipe> {
        self.known.extend(document::KEYS);
        self.recipe_of(document::read(self.values, shuffle))
    }

    /// As [`recipe`](Self::recipe), for pictures that fit their steps before.
    pub(super) fn recipe_fitting(&mut self, fit: Fit) -> Option<Recipe> {
        self.known.extend(document::KEYS);
        self.recipe_of(document::read_fitting(self.values, fit))
    }

    /// As [`recipe`](Self::recipe), for a further view of the pictures that `first` is the recipe of.
    pub(super) fn view(&mut self, shuffle: bool, first: &Recipe) -> Option<Recipe> {
        self.known.extend(document::VIEW_KEYS);
        self.recipe_of(document::read_view(self.values, shuffle, first))
    }

    /// The further views of a named recipe whose first view is `first`.
    pub(super) fn named_views(&mut self, first: &Recipe) -> Vec<View> {
        document::named_views(self.values, first).unwrap_or_else(|mistakes| {
            for mistake in mistakes {
                self.take_over(mistake);
            }
            Vec::new()
        })
    }

    fn recipe_of(&mut self, read: Result<Recipe, document::Refused>) -> Option<Recipe> {
        let refused = match read {
            Ok(recipe) => return Some(recipe),
            Err(refused) => refused,
        };
        for mut mistake in refused.mistakes {
            if let Some(problem) = self.moved(&mistake.key) {
                mistake.problem = problem;
            }
            self.take_over(mistake);
        }
        refused.otherwise.map(|recipe| *recipe)
    }

    /// What is wrong with a value of a key that another key has now.
    fn moved(&self, key: &str) -> Option<String> {
        let value = document::given(self.values, key)?.as_str()?;
        let (_, _, now) = MOVED.iter().find(|(old, moved, _)| (*old, *moved) == (key, value))?;
        Some(format!("is \"{value}\"; this is called {now} = \"{value}\" now."))
    }

    /// Reads the table under a key; an absent one is an empty one. Its unknown keys are reported.
    pub(super) fn section<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Table<'_, '_>) -> T) -> T {
        self.known.push(key);
        self.below(key, read)
    }

    /// Reads each table of a table of tables whose keys are names.
    pub(super) fn named<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&str, &mut Table<'_, '_>) -> Option<T>,
    ) -> Vec<(String, T)> {
        self.known.push(key);
        let values = self.values_below(key);
        let path = joined(&self.path, key);
        let mut outer = Table { path, values, known: Vec::new(), mistakes: &mut *self.mistakes };
        let named = values.keys().filter_map(|name| {
            let read = outer.below(name, |inner| read(name, inner))?;
            Some((name.clone(), read))
        });
        named.collect()
    }

    /// Writes a mistake down.
    pub(super) fn mistake(&mut self, key: &str, problem: impl Into<String>) {
        self.mistakes.push(Mistake { key: joined(&self.path, key), problem: problem.into(), line: None });
    }

    /// The keys that were looked for.
    #[cfg(test)]
    pub(super) fn known(&self) -> impl Iterator<Item = &'static str> {
        self.known.iter().copied()
    }

    fn take_over(&mut self, mistake: document::Mistake) {
        self.mistake(&mistake.key, mistake.problem);
    }

    fn below<T>(&mut self, key: &str, read: impl FnOnce(&mut Table<'_, '_>) -> T) -> T {
        let values = self.values_below(key);
        let path = joined(&self.path, key);
        let mut table = Table { path, values, known: Vec::new(), mistakes: &mut *self.mistakes };
        let read = read(&mut table);
        table.finish();
        read
    }

    fn values_below(&mut self, key: &str) -> &'v Map<String, Value> {
        match self.values.get(key) {
            Some(Value::Object(values)) => return values,
            None | Some(Value::Null) => {}
            Some(value) => self.mistake(key, format!("is {}; give a table.", shown(value))),
        }
        &EMPTY
    }

    /// Reports the keys that were not taken.
    pub(super) fn finish(&mut self) {
        let unknown: Vec<&String> = self.values.keys().filter(|key| !self.known.contains(&key.as_str())).collect();
        for key in unknown {
            let mut known = self.known.clone();
            known.sort_unstable();
            let problem = match (renamed(key, &known), nearest(key, &known)) {
                (Some(now), _) => format!("is called \"{now}\" now; rename the key."),
                (None, Some(meant)) => format!("is not a key. Did you mean \"{meant}\"?"),
                (None, None) => format!("is not a key. The keys here are: {}.", known.join(", ")),
            };
            self.mistake(key, problem);
        }
    }
}

impl Values for Table<'_, '_> {
    fn take<T>(&mut self, key: &'static str, read: impl FnOnce(&Value) -> Result<T, String>) -> Option<T> {
        Self::take(self, key, read)
    }
}

static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

pub(super) fn joined(path: &str, key: &str) -> String {
    match (path, key) {
        ("", key) => key.to_owned(),
        (path, "") => path.to_owned(),
        (path, key) => format!("{path}.{key}"),
    }
}

/// The name that a key of an older version has now, if this table has such a key.
fn renamed(key: &str, known: &[&str]) -> Option<&'static str> {
    RENAMED.iter().find(|(old, now)| *old == key && known.contains(now)).map(|&(_, now)| now)
}

/// The known key that was probably meant.
fn nearest<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    let habit = HABITS.iter().find(|(theirs, _)| *theirs == key).map(|&(_, ours)| ours);
    if let Some(ours) = habit.filter(|ours| known.contains(ours)) {
        return Some(ours);
    }
    let likeness = |known: &&str| strsim::jaro_winkler(key, known);
    let best = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) >= SLIP).then_some(best)
}
