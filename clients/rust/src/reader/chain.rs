//! A chain of readers as Paddle names them. It is a description: the settings of one stream.

use serde_json::{Map, Value, json};
use thiserror::Error;

use super::dims::{ColumnAxes, Dims, DimsError};

/// Which files are read, and what is chained to their reader.
///
/// The readers of a chain have a fixed order, since a stream works in that order: files, [`shuffle`](Self::shuffle),
/// [`batch`](Self::batch), then [`multi_pass`](Self::multi_pass) and [`double_buffer`](Self::double_buffer). Each may be
/// left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    files: Vec<String>,
    dims: Option<Dims>,
    links: Vec<ChainLink>,
    further: Map<String, Value>,
}

/// A reader that is chained behind another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainLink {
    Shuffle,
    Batch(u64),
    MultiPass(u64),
    DoubleBuffer,
}

/// Why a chain cannot be read as a stream.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// There is nothing to read.
    #[error("open_files: there is no file; give at least one path")]
    NoFile,
    /// Readers in another order than that of a stream.
    #[error("{link} cannot be chained behind {before}. Chain the readers in this order: {ORDER}")]
    Order {
        /// The reader that comes too late.
        link: &'static str,
        /// A reader that belongs behind it.
        before: &'static str,
    },
    /// A reader twice.
    #[error("{link} is in the chain already; chain it once")]
    Twice {
        /// The reader.
        link: &'static str,
    },
    /// A number below 1.
    #[error("{link}: give a number from 1 on")]
    Zero {
        /// The reader.
        link: &'static str,
    },
    /// Readers of files that differ in more than their files, or that are chains already.
    #[error("multiple: {0}")]
    Unlike(&'static str),
    /// A setting that a reader of the chain decides.
    #[error("{key}: in a chain, {link} decides on it; chain {link} instead")]
    Decided {
        /// The setting.
        key: &'static str,
        /// The reader.
        link: &'static str,
    },
    /// See [`DimsError`].
    #[error(transparent)]
    Dims(#[from] DimsError),
    /// The batches of these files do not have the shapes.
    #[error("open_files({files}): {error}")]
    OfFiles {
        /// The first of the files, and how many there are besides.
        files: String,
        /// What is wrong.
        error: DimsError,
    },
}

const ORDER: &str = "open_files, shuffle, batch, multi_pass, double_buffer";

/// The settings that a chain decides on, and which of its readers does.
const DECIDED: [(&str, &str); 5] = [
    ("source", "open_files"),
    ("shuffle", "shuffle"),
    ("batch_size", "batch"),
    ("epochs", "multi_pass"),
    ("prefetch_queue_depth", "double_buffer"),
];

/// The settings that say what becomes of a picture.
const RECIPES: [&str; 3] = ["size", "transform", "recipe"];

/// Batches that are ready while the trainer reads another one.
const DOUBLE: u64 = 2;

impl ChainLink {
    fn name(self) -> &'static str {
        match self {
            Self::Shuffle => "shuffle",
            Self::Batch(_) => "batch",
            Self::MultiPass(_) => "multi_pass",
            Self::DoubleBuffer => "double_buffer",
        }
    }

    /// Links must be in the order of these numbers. The last two do not depend on each other.
    fn rank(self) -> u32 {
        match self {
            Self::Shuffle => 0,
            Self::Batch(_) => 1,
            Self::MultiPass(_) | Self::DoubleBuffer => 2,
        }
    }
}

impl Chain {
    /// A reader of files, one after the other. The daemon finds each file's format from its name or its content, as it does
    /// for a stream's `source`. A file may also be a folder, a pattern or a URL. Relative paths start in the folder that this
    /// process is in when the daemon starts.
    ///
    /// # Errors
    /// [`ChainError::NoFile`].
    pub fn open_files<S: Into<String>>(files: impl IntoIterator<Item = S>) -> Result<Self, ChainError> {
        let files: Vec<String> = files.into_iter().map(Into::into).collect();
        if files.is_empty() {
            return Err(ChainError::NoFile);
        }
        Ok(Self { files, dims: None, links: Vec::new(), further: Map::new() })
    }

    /// One reader of the files of several: Paddle's `MultipleReader`.
    ///
    /// # Errors
    /// [`ChainError::Unlike`], [`ChainError::NoFile`].
    pub fn multiple(readers: impl IntoIterator<Item = Self>) -> Result<Self, ChainError> {
        let mut readers = readers.into_iter();
        let mut all = readers.next().ok_or(ChainError::NoFile)?;
        for reader in readers {
            if (&reader.dims, &reader.further) != (&all.dims, &all.further) {
                return Err(ChainError::Unlike(
                    "its readers have different shapes or settings; give all of them the same",
                ));
            }
            all.links.extend(reader.links);
            all.files.extend(reader.files);
        }
        if !all.links.is_empty() {
            return Err(ChainError::Unlike("its readers are chains already; join the readers of files first"));
        }
        Ok(all)
    }

    /// The same with the shapes that batches must have.
    ///
    /// If no other setting says what becomes of a picture, each picture must have the size of the first shape, and is left as
    /// it is: a picture of another size is a bad record, and the error names its file.
    #[must_use]
    pub fn dims(mut self, dims: Dims) -> Self {
        self.dims = Some(dims);
        self
    }

    /// The same with a further key of a `[streams.NAME]` table, such as `size`.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.further.insert(key.into(), value.into());
        self
    }

    /// Each pass has an order of its own. A stream needs no `buffer` for that: it permutes all records, or, if several are
    /// stored together, such as in chunks, these and the records of a few of them. `shuffle_window` says how many.
    ///
    /// # Errors
    /// [`ChainError::Zero`], and those of a reader at the wrong place.
    pub fn shuffle(self, buffer: u64) -> Result<Self, ChainError> {
        self.link(ChainLink::Shuffle, buffer)
    }

    /// Reads this many records at once. Without this, each batch has one.
    ///
    /// # Errors
    /// [`ChainError::Zero`], and those of a reader at the wrong place.
    pub fn batch(self, records: u64) -> Result<Self, ChainError> {
        self.link(ChainLink::Batch(records), records)
    }

    /// Reads this many passes as one. Without this, the reader ends after each pass, and the number of passes is unlimited.
    ///
    /// # Errors
    /// [`ChainError::Zero`], and those of a reader at the wrong place.
    pub fn multi_pass(self, passes: u64) -> Result<Self, ChainError> {
        self.link(ChainLink::MultiPass(passes), passes)
    }

    /// Two batches are ready while the trainer has another one. This is also the default of a stream.
    ///
    /// # Errors
    /// Those of a reader at the wrong place.
    pub fn double_buffer(self) -> Result<Self, ChainError> {
        self.link(ChainLink::DoubleBuffer, DOUBLE)
    }

    fn link(mut self, link: ChainLink, number: u64) -> Result<Self, ChainError> {
        let name = link.name();
        if number == 0 {
            return Err(ChainError::Zero { link: name });
        }
        if self.links.iter().any(|other| other.name() == name) {
            return Err(ChainError::Twice { link: name });
        }
        if let Some(before) = self.links.iter().find(|other| other.rank() > link.rank()) {
            return Err(ChainError::Order { link: name, before: before.name() });
        }
        self.links.push(link);
        Ok(self)
    }

    /// Whether all passes are read as one.
    pub fn has_passes(&self) -> bool {
        self.links.iter().any(|link| matches!(link, ChainLink::MultiPass(_)))
    }

    /// The settings that the chain decides on. `given` says which further settings the caller gives beside them.
    ///
    /// # Errors
    /// [`ChainError::Decided`] if one of these is the chain's.
    pub fn decided(&self, given: impl Fn(&str) -> bool) -> Result<Map<String, Value>, ChainError> {
        if let Some((key, link)) = DECIDED.into_iter().find(|(key, _)| given(key)) {
            return Err(ChainError::Decided { key, link });
        }
        // Grains of several records are read once in an epoch, which repeats and weights do not allow. Where records are
        // stored one by one, both ways are the same.
        let shuffle = if given("repeats") || given("weights") { Value::from(true) } else { "grains".into() };
        let mut settings = Map::new();
        settings.insert("source".to_owned(), self.files.clone().into());
        settings.insert("batch_size".to_owned(), 1.into());
        for link in &self.links {
            let (key, value) = match *link {
                ChainLink::Shuffle => ("shuffle", shuffle.clone()),
                ChainLink::Batch(records) => ("batch_size", records.into()),
                ChainLink::MultiPass(passes) => ("epochs", passes.into()),
                ChainLink::DoubleBuffer => ("prefetch_queue_depth", DOUBLE.into()),
            };
            settings.insert(key.to_owned(), value);
        }
        let Some(dims) = &self.dims else { return Ok(settings) };
        if dims.is_planar() && !given("layout") {
            settings.insert("layout".to_owned(), "NCHW".into());
        }
        if let (Some(mode), false) = (dims.mode(), given("mode")) {
            settings.insert("mode".to_owned(), mode.into());
        }
        if let (Some((height, width)), false) = (dims.size(), RECIPES.iter().any(|key| given(key))) {
            let expected = json!([{ "expect_size": { "size": [height, width] } }]);
            settings.insert("transform".to_owned(), expected);
        }
        Ok(settings)
    }

    /// All settings: those that the chain decides on, and the further ones.
    ///
    /// # Errors
    /// [`ChainError::Decided`].
    pub fn settings(&self) -> Result<Map<String, Value>, ChainError> {
        let mut settings = self.decided(|key| self.further.contains_key(key))?;
        settings.extend(self.further.clone());
        Ok(settings)
    }

    /// Compares the shapes that batches must have with those that the stream's batches have.
    ///
    /// # Errors
    /// [`ChainError::OfFiles`].
    pub fn check(&self, columns: &[ColumnAxes]) -> Result<(), ChainError> {
        let Some(dims) = &self.dims else { return Ok(()) };
        dims.check(columns).map_err(|error| {
            let first = format!("{:?}", self.files[0]);
            let files = match self.files.len() - 1 {
                0 => first,
                more => format!("{first} and {more} more"),
            };
            ChainError::OfFiles { files, error }
        })
    }
}
