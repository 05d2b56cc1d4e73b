//! Indexes: what a scan of a dataset found, in a file, so that the next opening scans nothing (semantics rule 53).
//!
//! An index is an Arrow file with a row per record, and with checksums. It fits a dataset as long as the files and folders that
//! decided which records there are have kept their times, or their versions in a store. What it says is checked before it is
//! used, like any other input.

mod about;
mod file;
mod fit;
mod key;
mod part_file;
pub(crate) mod points;
pub(crate) mod sizes;
mod targets;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use forebay_printable::printable;
use forebay_sources::{IndexChoice, Options, Source, SourceError};

use crate::address::Address;
use crate::basis::Basis;
use crate::containers;
use crate::folder_owner::make_folder;
use crate::index_columns::{BadIndex, NewColumns};
use crate::journal::Journal;
use crate::listing;
use crate::opened::OpenDataset;
use crate::packed::{self, ContainerFile};
use crate::scan::Scan;
use crate::scheme::{Indexing, Scheme};
use about::{About, AboutOversight, AboutRecords, Choices, Dated, VERSION, folder_of, is_folder, told};
use file::{IndexFile, NoIndex};
use key::IndexKey;
use sizes::{Measure, NewSizes};

/// A dataset that may have an index.
#[derive(Clone, Copy)]
pub(crate) struct Indexed<'a> {
    pub scheme: &'static Scheme,
    pub address: &'a Address,
    pub options: &'a Options,
}

/// An index that was made, or that fits already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexReport {
    /// The file.
    pub path: PathBuf,
    /// Bytes of the file.
    pub bytes: u64,
    /// Records of the dataset.
    pub records: u64,
    /// The dataset's fingerprint.
    pub fingerprint: [u8; 32],
    /// Whether the dataset was scanned. Otherwise the index was there, and fits.
    pub is_new: bool,
    /// Whether it took the place of an index with the sizes of the pictures, and has none. They may be those of other pictures.
    pub has_lost_sizes: bool,
}

/// A scan that takes longer is worth an index, unless it finds few records: then the storage was slow for another reason.
const SLOW: Duration = Duration::from_secs(2);
const FEW: u64 = 1000;
/// So many records are worth an index in any case.
const MANY: u64 = 100_000;
/// Most bytes of all indexes in a folder of indexes. The oldest are removed.
const MOST_BYTES: u64 = 16 << 30;

/// Opens a dataset, from an index if there is one that fits.
pub(crate) fn open(indexed: Indexed<'_>) -> Result<Box<dyn Source>, SourceError> {
    match &indexed.options.index {
        IndexChoice::File(path) => open_from(indexed, path),
        IndexChoice::Folder(folder) if !matches!(indexed.indexing(), Indexing::Never(_)) => {
            indexed.open_or_scan(folder)
        }
        IndexChoice::Folder(_) | IndexChoice::Never => Ok(indexed.scan(&Scan::default())?.into_source()),
    }
}

/// Opens a dataset from the index in this file, which fits.
pub(crate) fn open_from(indexed: Indexed<'_>, path: &Path) -> Result<Box<dyn Source>, SourceError> {
    indexed.opened(path).map_err(|no_index| no_index.of_file(path))
}

/// Makes an index of a dataset, unless there is one that fits. `rebuild` makes it in any case. The file is `output`, or is in
/// the folder that the options name.
///
/// With `measure`, the index also has the sizes of the pictures. An index without them does not fit then.
pub(crate) fn make(
    indexed: Indexed<'_>,
    output: Option<&Path>,
    rebuild: bool,
    mut measure: Option<Measure<'_>>,
) -> Result<IndexReport, SourceError> {
    if let Indexing::Never(reason) = indexed.indexing() {
        let BadIndex(problem) = indexed.never(reason);
        return Err(SourceError::Index { path: indexed.address.path().to_owned(), problem });
    }
    let key = IndexKey::new(&indexed);
    let path = match (output, &indexed.options.index) {
        (Some(path), _) => path.to_owned(),
        (None, IndexChoice::File(path)) => path.clone(),
        (None, IndexChoice::Folder(folder)) => key.path(folder),
        (None, IndexChoice::Never) => {
            let problem = "there is no folder for indexes. Set XDG_CACHE_HOME or HOME, or name the file".to_owned();
            return Err(SourceError::Index { path: indexed.address.path().to_owned(), problem });
        }
    };
    if !rebuild {
        match indexed.opened(&path) {
            Ok(source) if measure.is_none() || !source.sizes().is_empty() => {
                return report(path, source.as_ref(), (false, false));
            }
            Err(NoIndex::Unknown(fault)) => return Err(fault),
            Ok(_) | Err(NoIndex::Absent | NoIndex::Earlier | NoIndex::Bad(_)) => {}
        }
    }
    let failed = |error: io::Error| SourceError::Index { path: path.clone(), problem: error.to_string() };
    let journal_path = journal_of(&path);
    if rebuild {
        // There may be none.
        let _gone = fs::remove_file(&journal_path);
    }
    if output.is_none() {
        make_folder(path.parent().unwrap_or_else(|| Path::new(""))).map_err(failed)?;
    }
    let journal = Journal::open(&journal_path, Duration::ZERO).map_err(failed)?;
    let scan = Scan::with_journal(journal);
    let mut dataset = indexed.scan(&scan)?;
    let sizes = match &mut measure {
        Some(measure) => Some(measure(dataset.as_source())?),
        None => None,
    };
    let has_lost_sizes = sizes.is_none() && has_sizes(&path);
    indexed
        .write(&path, &mut dataset, sizes)
        .map_err(|BadIndex(problem)| SourceError::Index { path: path.clone(), problem })?;
    scan.forget();
    if output.is_none() {
        key::bound(path.parent().unwrap_or_else(|| Path::new("")), &path, MOST_BYTES);
    }
    let source = open_from(indexed, &path)?;
    report(path, source.as_ref(), (true, has_lost_sizes))
}

fn report(
    path: PathBuf,
    source: &dyn Source,
    (is_new, has_lost_sizes): (bool, bool),
) -> Result<IndexReport, SourceError> {
    let bytes = path.metadata().map_err(|error| SourceError::of_path(&path, error))?.len();
    Ok(IndexReport { bytes, records: source.len(), fingerprint: source.fingerprint(), is_new, has_lost_sizes, path })
}

/// Whether there is an index with the sizes of pictures, even if it does not fit any more.
fn has_sizes(index: &Path) -> bool {
    let found = IndexFile::open(index).ok().and_then(|file| sizes::read(&file.columns).ok());
    found.is_some_and(|sizes| !sizes.is_empty())
}

/// Where the notes of the scan for an index are.
fn journal_of(index: &Path) -> PathBuf {
    let name = index.file_name().unwrap_or_default().to_string_lossy();
    index.with_file_name(format!(".{name}.scan"))
}

impl Indexed<'_> {
    /// What is kept in an index of this dataset.
    fn indexing(&self) -> Indexing {
        self.scheme.indexing
    }

    fn never(&self, reason: &str) -> BadIndex {
        BadIndex(format!(
            "a dataset of \"{}:\" cannot have an index. {}",
            self.scheme.name,
            reason.trim_end_matches('.')
        ))
    }

    fn scan(&self, scan: &Scan) -> Result<OpenDataset, SourceError> {
        (self.scheme.open)(self.address, self.options, scan)
    }

    /// Opens the index of the folder, or scans. What took long to scan gets an index.
    fn open_or_scan(&self, folder: &Path) -> Result<Box<dyn Source>, SourceError> {
        let path = IndexKey::new(self).path(folder);
        let mut is_wanted = false;
        match self.opened(&path) {
            Ok(source) => {
                tracing::info!(index = %printable(&path), records = source.len(), "opened the dataset from its index");
                return Ok(source);
            }
            Err(NoIndex::Absent) => {}
            Err(NoIndex::Unknown(fault)) => return Err(fault),
            Err(NoIndex::Earlier) => {
                is_wanted = true;
                tracing::info!(index = %printable(&path), "an earlier version made the index, without checksums; scanning the dataset to make it again");
            }
            Err(NoIndex::Bad(BadIndex(problem))) => {
                tracing::info!(index = %printable(&path), problem, "the index does not fit any more; scanning the dataset");
            }
        }
        let start = Instant::now();
        let journal = Journal::open(&journal_of(&path), SLOW).unwrap_or_else(|error| {
            tracing::debug!(%error, "the scan cannot be restarted");
            None
        });
        if let Some(files) = journal.as_ref().map(Journal::files).filter(|files| *files > 0) {
            tracing::info!(files, "these files were scanned before, and are not scanned again");
        }
        let scan = Scan::with_journal(journal);
        let mut dataset = self.scan(&scan)?;
        let records = dataset.records();
        let is_worth_it = records >= MANY || records >= FEW && start.elapsed() >= SLOW;
        if !is_worth_it && !is_wanted {
            scan.forget();
            return Ok(dataset.into_source());
        }
        let has_lost_sizes = has_sizes(&path);
        let made = make_folder(folder).map_err(|error| BadIndex(error.to_string()));
        match made.and_then(|()| self.write(&path, &mut dataset, None)) {
            Ok(bytes) => {
                tracing::info!(index = %printable(&path), records, bytes, seconds = start.elapsed().as_secs(), "wrote an index, so that the dataset is not scanned again");
                if has_lost_sizes {
                    tracing::warn!(index = %printable(&path), "the index that did not fit any more had the sizes of the pictures, and the new one has none; `forebay index --sizes` reads them again");
                }
                key::bound(folder, &path, MOST_BYTES);
                scan.forget();
            }
            Err(BadIndex(problem)) => {
                tracing::warn!(index = %printable(&path), problem, "no index was written, so the dataset will be scanned again");
                return Ok(dataset.into_source());
            }
        }
        // The scan has all records in memory, and the index few of them.
        Ok(self.opened(&path).unwrap_or_else(|_| dataset.into_source()))
    }

    /// Writes the index. The number of its bytes is the result.
    fn write(&self, path: &Path, dataset: &mut OpenDataset, sizes: Option<NewSizes>) -> Result<u64, BadIndex> {
        let folder = &folder_of(self.address);
        let bases = self.bases(dataset)?;
        for basis in &bases {
            if !basis.holds().map_err(|error| BadIndex(error.to_string()))? {
                let changed = printable(&basis.address.shown()).to_string();
                return Err(BadIndex(format!("\"{changed}\" has changed while it was scanned. Try again")));
            }
        }
        let mut columns = NewColumns::default();
        let oversights = dataset.oversights().iter().map(AboutOversight::of).collect();
        let (kind, source): (_, &dyn Source) = match dataset {
            OpenDataset::Files(listing) => {
                listing::add_to_index(listing, &mut columns)?;
                let given =
                    crate::root::given_root(self.options, folder).map_err(|error| BadIndex(error.to_string()))?;
                let is_given = given.is_some_and(|root| root == *listing.root());
                let root = (!is_given).then(|| told(listing.root(), folder));
                (AboutRecords::Files { root, shard_name: listing.shard_name(0).to_owned() }, &*listing)
            }
            OpenDataset::Ranges(packed) if packed::is_indexed(packed) => {
                packed::add_to_index(packed, &mut columns);
                let dated = |file: &ContainerFile| Ok(Dated::of(&file.basis()?, folder));
                let files: Result<_, SourceError> = packed.files().iter().map(dated).collect();
                (AboutRecords::Ranges { files: files.map_err(|error| BadIndex(error.to_string()))? }, &*packed)
            }
            OpenDataset::Ranges(packed) if packed.files().iter().any(|file| file.unpacked.is_some()) => {
                return Err(BadIndex(
                    "a dataset of compressed files cannot have an index: what they hold is looked at in the cache"
                        .into(),
                ));
            }
            _ => return Err(BadIndex("such a dataset has no index".into())),
        };
        if let Some(sizes) = sizes {
            sizes.add_to_index(&mut columns);
        }
        targets::write(source.targets(), &mut columns)?;
        let about = About {
            version: VERSION,
            scheme: self.scheme.name.to_owned(),
            choices: Choices::of(self.scheme, self.options),
            fingerprint: blake3::Hash::from_bytes(source.fingerprint()).to_hex().to_string(),
            classes: source.classes().to_vec(),
            bases: bases.iter().map(|basis| Dated::of(basis, folder)).collect(),
            oversights,
            kind,
        };
        file::write(path, &about, columns).map_err(|error| BadIndex(error.to_string()))
    }

    /// What decided which records there are. Of packed files, these are the folders that they were found in.
    fn bases(&self, dataset: &OpenDataset) -> Result<Vec<Basis>, BadIndex> {
        let bases = match dataset {
            OpenDataset::Files(listing) => listing.provenance.bases.clone(),
            OpenDataset::Ranges(packed) => {
                let folders = match self.address.tree() {
                    _ if !is_folder(self.address) => Ok(Vec::new()),
                    None => containers::folders(self.address),
                    Some(_) => Basis::look(self.address).map(|folder| vec![folder]),
                };
                let folders = folders.map_err(|error| BadIndex(error.to_string()))?;
                packed.provenance.bases.iter().cloned().chain(folders).collect()
            }
            OpenDataset::Other(_) => Vec::new(),
        };
        if matches!(dataset, OpenDataset::Files(_)) && bases.is_empty() {
            return Err(BadIndex("such a dataset has no index".into()));
        }
        Ok(bases)
    }

    /// Opens the index in this file, if it fits.
    fn opened(&self, path: &Path) -> Result<Box<dyn Source>, NoIndex> {
        let dataset = self.dataset(IndexFile::open(path)?)?;
        // Masks are looked up in the same store.
        if let (Some(tree), OpenDataset::Files(_)) = (self.address.tree(), &dataset)
            && self.options.masks.is_empty()
        {
            tree.forget();
        }
        Ok(dataset.with_points(|source| points::beside(path, source)).into_pinned_source())
    }
}

#[cfg(test)]
mod tests;
