//! The daemon's configuration. It is a TOML file, and all of its mistakes are reported at once. Each section has a file
//! here.

mod change;
mod control;
mod coordinator;
mod decode;
mod environment;
mod lanes;
mod lines;
mod machine;
mod mistake;
mod prefetch;
mod remote;
mod ring;
mod sources;
pub mod stream;
mod table;
mod telemetry;
mod value;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use forebay_pipeline::settings::{DecodeSettings, PrefetchSettings};
use serde_json::{Map, Value, json};

pub use change::Change;
pub use control::Control;
pub use coordinator::{Coordinator, NodeNameError};
pub(crate) use decode::default_threads;
pub use environment::Environment;
pub use forebay_pipeline::settings::parse_duration;
pub use lanes::parse_lanes;
use lines::Lines;
pub use mistake::{Mistake, Mistakes, UnreadableConfig};
pub use ring::Ring;
pub(crate) use sources::SourceRights;
pub use sources::{CacheSettingError, Sources, store_of};
pub use stream::StreamSection;
use table::Table;
pub use telemetry::Metrics;

/// The configuration, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Streams that trainers attach to by name.
    pub streams: BTreeMap<String, StreamSection>,
    /// How many batches fit in a ring.
    pub ring: Ring,
    /// How files are read ahead.
    pub prefetch: PrefetchSettings,
    /// What datasets may be.
    pub sources: Sources,
    /// The decode pool and the limits of pictures.
    pub decode: DecodeSettings,
    /// Where ledgers are stored.
    pub coordinator: Coordinator,
    /// Where sockets are.
    pub control: Control,
    /// Where metrics are served.
    pub metrics: Metrics,
    /// How long trainers have after SIGTERM to finish the batches that they hold (semantics rule 21).
    pub drain_timeout: Duration,
}

/// Name of the stream that `forebay serve PATH` makes.
pub(crate) const DEFAULT_STREAM: &str = "default";

const HEAD: &str = r#"# Configuration of forebay serve. You may leave out every key, except those marked "Required".
# Each value is the default, also in a comment, unless the text above it says "Required" or "Left out".
# Sizes: "512kb", "1.5gb", "64MiB". Durations: "500ms", "5s", "10m".

# How long trainers may finish the batches that they hold after SIGTERM.
drain_timeout = "20s"
"#;

impl Default for Config {
    fn default() -> Self {
        Self {
            streams: BTreeMap::new(),
            ring: Ring::default(),
            prefetch: PrefetchSettings::default(),
            sources: Sources::default(),
            decode: DecodeSettings::default(),
            coordinator: Coordinator::default(),
            control: Control::default(),
            metrics: Metrics::default(),
            drain_timeout: Duration::from_secs(20),
        }
    }
}

impl Config {
    /// Parses a configuration. `file_name` is used in the error message.
    ///
    /// ```
    /// let mistakes = forebay_daemon::config::Config::parse("[ring]\ncredit = 2\n[prefetch]\nthreads = 0", "a.toml").unwrap_err();
    /// assert_eq!(
    ///     mistakes.to_string(),
    ///     "There are 2 mistakes in a.toml:\n  \
    ///        line 2: ring.credit: is not a key. Did you mean \"credits\"?\n  \
    ///        line 4: prefetch.threads: is 0; give a whole number from 1 to 1024."
    /// );
    /// ```
    pub fn parse(text: &str, file_name: &str) -> Result<Self, Mistakes> {
        let document =
            toml::from_str(text).map_err(|error| broken(file_name, error.to_string().trim_end().to_owned()))?;
        Self::from_table(document, file_name).map_err(|mut mistakes| {
            Lines::of(text).number(&mut mistakes.list);
            mistakes
        })
    }

    /// The text of a configuration's file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn text_of(file: &Path) -> Result<String, UnreadableConfig> {
        std::fs::read_to_string(file).map_err(|source| UnreadableConfig { file: file.to_owned(), source })
    }

    /// Reads a configuration that is not a file. `document` is used in the error message.
    pub fn from_table(values: toml::Table, document: &str) -> Result<Self, Mistakes> {
        match serde_json::to_value(values) {
            Ok(Value::Object(values)) => Self::from_values(&values, document),
            Ok(_) => Err(broken(document, "it is not a table.".to_owned())),
            Err(error) => Err(broken(document, format!("a value cannot be used: {error}."))),
        }
    }

    /// Parses a configuration, and checks whether this machine has everything that it names: datasets, groups, memory.
    pub fn check(text: &str, file_name: &str, environment: &Environment) -> Result<Self, Mistakes> {
        let config = Self::parse(text, file_name)?;
        let mut list = machine::missing(&config, environment);
        if list.is_empty() {
            return Ok(config);
        }
        Lines::of(text).number(&mut list);
        Err(Mistakes { document: file_name.to_owned(), list })
    }

    /// The configuration of `forebay serve PATH`: one stream, named `default`, for training at 224 x 224, shuffled.
    pub fn for_paths(paths: &[String]) -> Result<Self, Mistakes> {
        let stream = json!({ "source": paths, "batch_size": 256, "size": 224, "shuffle": true });
        Self::for_streams(Map::from_iter([(DEFAULT_STREAM.to_owned(), stream)]))
    }

    /// The configuration of streams that the command line names: for each, the keys of its `[streams.NAME]` table. Stores of
    /// objects that these name may be read.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn for_streams(streams: Map<String, Value>) -> Result<Self, Mistakes> {
        let named = |source: &'_ Value| match source {
            Value::Array(sources) => sources.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            source => source.as_str().map(str::to_owned).into_iter().collect::<Vec<_>>(),
        };
        let sources: Vec<String> = streams.values().filter_map(|stream| stream.get("source")).flat_map(named).collect();
        let stores: Vec<Value> =
            sources.iter().filter_map(|source| store_of(source)).map(|store| json!(store)).collect();
        let mut values = Map::from_iter([("streams".to_owned(), Value::Object(streams))]);
        if !stores.is_empty() {
            values.insert("sources".to_owned(), json!({ "objects": stores }));
        }
        Self::from_values(&values, "the command line")
    }

    /// The configuration of a Loader's own daemon: JSON with the sections of a file, but for streams, which its Loaders name.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn of_loader(document: &str) -> Result<Self, Mistakes> {
        let name = "config, an argument of the Loader";
        match serde_json::from_str(document) {
            Ok(Value::Object(values)) if !values.contains_key("streams") => Self::from_values(&values, name),
            Ok(Value::Object(_)) => {
                Err(broken(name, "streams: a Loader's own daemon has none; give \"stream\" instead.".to_owned()))
            }
            Ok(_) => Err(broken(name, "it is not a table.".to_owned())),
            Err(error) => Err(broken(name, format!("it is not JSON: {error}."))),
        }
    }

    /// A commented configuration file that parses to the defaults.
    pub fn example() -> String {
        [
            HEAD,
            &stream::example(),
            ring::EXAMPLE,
            prefetch::EXAMPLE,
            sources::EXAMPLE,
            decode::EXAMPLE,
            coordinator::EXAMPLE,
            control::EXAMPLE,
            telemetry::EXAMPLE,
        ]
        .join("\n")
    }

    /// Each key of a `[streams.NAME]` table and of a Loader: its help, type, default, and who may set it.
    pub fn schema() -> Value {
        json!({ "stream": stream::schema() })
    }

    fn from_values(values: &Map<String, Value>, document: &str) -> Result<Self, Mistakes> {
        let mut mistakes = Vec::new();
        let config = Self::read(&mut Table::new(values, &mut mistakes));
        if mistakes.is_empty() { Ok(config) } else { Err(Mistakes { document: document.to_owned(), list: mistakes }) }
    }

    fn read(table: &mut Table<'_, '_>) -> Self {
        let drain_timeout = table.take_or("drain_timeout", Duration::from_secs(20), value::duration);
        let ring = table.section("ring", Ring::read);
        let config = Self {
            streams: table.named("streams", |name, table| named_stream(name, table, &ring)).into_iter().collect(),
            ring,
            prefetch: table.section("prefetch", prefetch::read),
            sources: table.section("sources", Sources::read),
            decode: table.section("decode", decode::read),
            coordinator: table.section("coordinator", Coordinator::read),
            control: table.section("control", Control::read),
            metrics: table.section("metrics", Metrics::read),
            drain_timeout,
        };
        table.finish();
        config
    }
}

/// A document that cannot be read at all.
fn broken(document: &str, problem: String) -> Mistakes {
    Mistakes { document: document.to_owned(), list: vec![Mistake { key: String::new(), problem, line: None }] }
}

/// A name travels in the ring's ATTACH message and in file names of ledgers.
fn named_stream(name: &str, table: &mut Table<'_, '_>, ring: &Ring) -> Option<StreamSection> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.len() > forebay_ring::NAME_LEN || !name.bytes().all(plain) || name.starts_with('.') || name.is_empty() {
        let longest = forebay_ring::NAME_LEN;
        table.mistake(
            "",
            format!("is not a name for a stream; use at most {longest} letters, digits, '-', '_' and '.'."),
        );
    }
    StreamSection::from_table(table, ring)
}

#[cfg(test)]
mod tests;
