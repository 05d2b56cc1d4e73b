//! The stream of a command that needs no daemon: one of a configuration, or one that the command line describes.

use std::path::Path;

use forebay_daemon::config::{Config, Environment, StreamSection};
use forebay_daemon::open_dataset;
use forebay_pipeline::settings::DecodeSettings;
use forebay_sources::{ReaderFolders, Source};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::pair::value;

/// A stream, with the configuration that it is part of.
pub(crate) struct ChosenStream {
    config: Config,
    name: String,
    /// Where its functions in Python may be.
    readers: ReaderFolders,
}

/// The name of a stream that the command line describes.
const OWN: &str = "default";

impl ChosenStream {
    /// A stream of a file.
    pub(crate) fn of_configuration(file: &Path, name: &str) -> Result<Self, Failure> {
        let config = crate::config::read(file)?;
        if config.streams.contains_key(name) {
            let readers = config.sources.readers();
            return Ok(Self { config, name: name.to_owned(), readers });
        }
        let known: Vec<&str> = config.streams.keys().map(String::as_str).collect();
        Err(Failure::Usage(format!("The configuration has no stream \"{name}\". It has: {}.", known.join(", "))))
    }

    /// A stream of these sources. `settings` are keys with values of TOML, which replace those of `stream`.
    pub(crate) fn of_command_line<'a>(
        sources: impl Iterator<Item = &'a String>,
        settings: &[(String, String)],
        mut stream: Map<String, Value>,
    ) -> Result<Self, Failure> {
        stream.insert("source".to_owned(), sources.map(String::as_str).collect());
        stream.insert("batch_size".to_owned(), json!(1));
        stream.extend(settings.iter().map(|(key, text)| (key.clone(), value(text))));
        let config = Config::for_streams(Map::from_iter([(OWN.to_owned(), stream.into())]))?;
        // Who names a function runs it.
        Ok(Self { config, name: OWN.to_owned(), readers: ReaderFolders::Anywhere })
    }

    pub(crate) fn section(&self) -> &StreamSection {
        &self.config.streams[&self.name]
    }

    pub(crate) fn decode(&self) -> &DecodeSettings {
        &self.config.decode
    }

    pub(crate) fn readers(&self) -> ReaderFolders {
        self.readers.clone()
    }

    /// Opens the dataset.
    pub(crate) fn dataset(&self) -> Result<Box<dyn Source>, Failure> {
        let source = open_dataset(&self.config, self.section(), &Environment::of_process());
        source.map_err(|error| Failure::Usage(error.to_string()))
    }
}
