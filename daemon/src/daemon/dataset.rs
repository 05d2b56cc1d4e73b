//! Opens a stream's dataset. This scans the dataset's folder, which may take long or never return.

use std::sync::Arc;

use forebay_pipeline::settings::Shuffle;
use forebay_pipeline::{threads, unnamed};
use forebay_sources::{DiskCache, IndexChoice, Options, Source, SourceError};

use super::OpenError;
use crate::config::{Config, Environment, SourceRights, Sources, StreamSection};

/// What the daemon says about each dataset that it opens.
#[derive(Debug)]
pub(super) struct DatasetTerms {
    /// A file with more bytes is refused when it is read.
    pub byte_limit: u64,
    /// Which custom readers may be run, and which objects may be read.
    pub rights: SourceRights,
    /// Where what is read from stores is kept.
    pub cache: Option<DiskCache>,
}

/// Opens the dataset that the settings name, or the list of files that came with them.
///
/// # Errors
/// There is no such dataset, or it cannot be read.
pub(super) async fn dataset(
    section: &StreamSection,
    files: Option<Arc<Vec<u8>>>,
    terms: DatasetTerms,
) -> Result<Arc<dyn Source>, OpenError> {
    let (names, options) = (section.dataset.source.clone().unwrap_or_default(), options(section, terms));
    let only = section.settings.dataset_columns();
    // A thread of its own: a file system that does not answer keeps it, and nothing else.
    let open = move || match files {
        Some(list) => forebay_formats::open_list(&list, &options),
        None => with_columns(&options, only.as_deref(), |options| forebay_formats::open_all(&names, options)),
    };
    let opened = threads::beside("forebay-open", open).await?;
    let source: Arc<dyn Source> = Arc::from(opened?);
    if let Some(factor) = factor(section.settings.shuffle, source.as_ref()) {
        tracing::warn!(
            dataset = section.dataset.name(),
            "shuffle = true reads up to {factor:.1} times the dataset's bytes in each epoch: {factor:.1} records on \
             average are read at once, but are needed at different times. Set shuffle = \"grains\" to read less \
             (docs/operating.md)"
        );
    }
    Ok(source)
}

/// Opens the dataset of a stream of this configuration, without a daemon.
///
/// # Errors
/// There is no such dataset, or it cannot be read.
pub fn open_dataset(
    config: &Config,
    section: &StreamSection,
    environment: &Environment,
) -> Result<Box<dyn Source>, OpenError> {
    let cache = config.sources.disk_cache(environment)?;
    open_with(section, DatasetTerms { byte_limit: config.decode.limits.bytes, rights: config.sources.rights(), cache })
}

/// Opens the dataset of a stream that a daemon has open, with these rights. Nothing is kept on a disk but by the environment.
///
/// # Errors
/// There is no such dataset, or it cannot be read.
pub(crate) fn open_section(
    section: &StreamSection,
    byte_limit: u64,
    rights: SourceRights,
    environment: &Environment,
) -> Result<Box<dyn Source>, OpenError> {
    let cache = Sources::default().disk_cache(environment)?;
    open_with(section, DatasetTerms { byte_limit, rights, cache })
}

fn open_with(section: &StreamSection, terms: DatasetTerms) -> Result<Box<dyn Source>, OpenError> {
    let names = section.dataset.source.clone().unwrap_or_default();
    let only = section.settings.dataset_columns();
    let only = only.as_deref();
    Ok(with_columns(&options(section, terms), only, |options| forebay_formats::open_all(&names, options))?)
}

/// Opens a dataset. If a list of columns names one that the dataset does not have by itself, it is opened again with a map in which
/// each name means the part of this name: a column of a table, a member of an archive.
fn with_columns(
    options: &Options,
    only: Option<&[String]>,
    open: impl Fn(&Options) -> forebay_formats::Opened,
) -> forebay_formats::Opened {
    let mut options = options.clone();
    // A user who lists columns leaves the other members out on purpose, as with a map.
    if only.is_some() && options.own.get("unread").is_none() {
        options.own.set("unread", "members");
    }
    let source = open(&options)?;
    let names = only.filter(|_| options.columns.is_empty()).and_then(|names| unnamed(source.as_ref(), names));
    let Some(names) = names else { return Ok(source) };
    let columns = names.iter().map(|name| (name.clone(), name.clone())).collect();
    match open(&Options { columns, ..options }) {
        // The error will list the columns that it has by itself.
        Err(refused @ (SourceError::UnknownOption { .. } | SourceError::BadOption { .. })) => {
            tracing::info!(%refused, "the columns are no parts of a record either");
            Ok(source)
        }
        opened => opened,
    }
}

/// How a stream's dataset is opened.
fn options(section: &StreamSection, terms: DatasetTerms) -> Options {
    let DatasetTerms { byte_limit, rights: SourceRights { readers, objects }, cache } = terms;
    Options { byte_limit, readers, objects, cache, index: index(section), ..section.dataset.options() }
}

/// The index that the settings name, or the folder of indexes.
fn index(section: &StreamSection) -> IndexChoice {
    match &section.dataset.index {
        Some(none) if none.as_os_str() == "none" => IndexChoice::Never,
        Some(file) => IndexChoice::File(file.clone()),
        None => Environment::of_process().index_dir().map_or(IndexChoice::Never, IndexChoice::Folder),
    }
}

/// How many times the dataset's bytes an epoch may read, if it reads more than all of them once (semantics rule 56).
#[expect(clippy::cast_precision_loss, reason = "a rounded figure is shown")]
fn factor(shuffle: Shuffle, source: &dyn Source) -> Option<f64> {
    let (records, grains) = (source.len(), source.grains().count(source.len()));
    (shuffle == Shuffle::Records && grains < records).then(|| records as f64 / grains as f64)
}

#[cfg(test)]
mod tests {
    use forebay_sources::{Grains, Locator, ReadError};

    use super::*;

    #[derive(Debug)]
    struct Grained(Option<&'static [u64]>);

    impl Source for Grained {
        fn len(&self) -> u64 {
            10
        }

        fn classes(&self) -> &[String] {
            &[]
        }

        fn label(&self, _record: u64) -> i64 {
            -1
        }

        fn locator(&self, _record: u64) -> Locator {
            Locator::file("grained")
        }

        fn size(&self, _record: u64) -> u64 {
            1
        }

        fn read(&self, record: u64, _room: u64, _buf: &mut Vec<u8>) -> Result<(), ReadError> {
            Err(ReadError::damaged(self.locator(record), "a test"))
        }

        fn fingerprint(&self) -> [u8; 32] {
            [0; 32]
        }

        fn grains(&self) -> Grains<'_> {
            self.0.map_or(Grains::Records, Grains::Starts)
        }

        fn shard_name(&self, _record: u64) -> &'static str {
            "grained"
        }
    }

    #[test]
    fn rule_56_only_a_permutation_of_records_that_are_read_together_costs_bytes() {
        let by_grains = Shuffle::Grains { window: Shuffle::WINDOW };
        let grained = Grained(Some(&[0, 2, 3, 9]));
        assert_eq!(factor(Shuffle::Records, &grained), Some(2.5));
        assert_eq!([Shuffle::Off, by_grains].map(|shuffle| factor(shuffle, &grained)), [None, None]);
        let single = Grained(Some(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
        assert_eq!([&single, &Grained(None)].map(|source| factor(Shuffle::Records, source)), [None, None]);
    }
}
