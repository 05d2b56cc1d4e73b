//! The dataset formats: all sources, and the table of schemes that opens one of them by its path or URL.
//!
//! To add a source, add its file here, a line in `SCHEMES` and a line in `suite.rs`. Records that are ranges of larger files
//! are read by `packed.rs`: their format only finds them.
#![forbid(unsafe_code)]

mod address;
mod annotation_file;
mod archived;
mod arrow;
mod basis;
mod beside;
mod checksum;
mod class_names;
mod coco;
mod confinement;
mod contained;
mod containers;
mod contents;
mod csv;
mod dataset;
mod disk_cache;
mod example;
mod faults;
mod files;
mod finishers;
mod folder;
mod folder_owner;
mod given_sizes;
mod grain_cache;
mod index;
mod index_blocks;
mod index_columns;
mod journal;
mod label_column;
mod labelled;
mod limited;
mod listing;
mod loose;
mod masks;
mod mds;
#[cfg(test)]
mod mutations;
mod mxnet;
mod named_column;
mod npy;
mod numbers;
mod odps;
mod opened;
mod option_key;
mod packed;
mod parquet;
mod part_name;
mod parts;
mod paths;
mod progress;
mod provenance;
mod python;
mod ranges;
mod recordio;
mod regular_file;
mod resolved;
mod roles;
mod root;
mod scan;
#[cfg(test)]
mod scene;
mod scheme;
mod seen;
mod selected;
mod sentinels;
mod several;
mod stamp;
mod stored_array;
mod stores;
#[cfg(test)]
mod suite;
mod tables;
mod tar;
mod tfrecord;
mod thread_pool;
mod tree;
mod unpacked;
mod used_memory;
mod values;
mod voc;
mod window;
mod wrong_file;
mod yolo;
mod zip;

use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Options, SourceError};

use address::Address;
pub use confinement::confine;
pub use contained::is_panic_contained;
pub use dataset::Opened;
pub use disk_cache::check_cache;
pub use index::IndexReport;
pub use index::points::{PointsReport, PointsWriter};
pub use index::sizes::{Measure, NewSizes};
#[doc(hidden)]
pub use index_blocks::seal as seal_index;

use index::Indexed;
use limited::Limited;
use resolved::{Resolved, store_options};
use root::root;
use scheme::Scheme;

/// If several recognise a path, the first one has it.
const SCHEMES: &[Scheme] = &[
    mds::SCHEME,
    zip::SCHEME,
    tar::SCHEME,
    coco::SCHEME,
    voc::SCHEME,
    yolo::SCHEME,
    tfrecord::SCHEME,
    mxnet::SCHEME,
    recordio::SCHEME,
    parquet::SCHEME,
    arrow::SCHEME,
    folder::SCHEME,
    csv::SCHEME,
    files::SCHEME,
    python::SCHEME,
    odps::SCHEME,
];

/// Opens a dataset by its path or URL: `/data/train`, `folder:/data/train`, `csv:/data/train.csv?root=/data`.
///
/// For a path without a scheme, the format is detected from the file or folder. If a file or folder with exactly this
/// name exists, the name is a path, unless it is a URL of objects, such as `s3://bucket/train`. Options of the scheme may
/// follow a `?`. They come before those in `options`.
pub fn open(name: &str, options: &Options) -> Opened {
    selected::with_selection(open_whole(name, options)?, options)
}

/// Opens a dataset, all of whose records are read.
fn open_whole(name: &str, options: &Options) -> Opened {
    let Resolved { scheme, address, options, limit, roles, sizes } = resolve(name, options)?;
    let opened = index::open(Indexed { scheme, address: &address, options: &options });
    let opened = address.settled(opened.map_err(wrong_file::explained))?;
    let opened = address.settled(masks::with_masks(opened, &address, scheme.name, &options))?;
    let opened = roles::with_roles(opened, &roles, &address, scheme.name, &options)?;
    let opened = given_sizes::with_sizes(opened, sizes.as_ref(), address.path())?;
    for oversight in opened.oversights() {
        tracing::warn!(dataset = %printable(&address.shown()), "{oversight}");
    }
    Ok(Limited::of(opened, limit))
}

/// Opens several datasets as one: the records of the first, then those of the second, and so on. Options apply to each of
/// them, except `classes_by`, which applies to all together: "name" makes classes of one name one class, and "number"
/// keeps the numbers.
///
/// # Errors
/// One cannot be opened, or two of them do not go together.
///
/// # Panics
/// Without a name.
pub fn open_all(names: &[String], options: &Options) -> Opened {
    match names {
        [] => panic!("a dataset has a name"),
        [name] => open(name, options),
        names => selected::with_selection(several::open(names, options, open_whole)?, options),
    }
}

/// Whether there is something to open under each of these names, as [`check`] says of one.
///
/// # Errors
/// As [`check`].
pub fn check_all(names: &[String], options: &Options) -> Result<(), SourceError> {
    match names {
        [name] => check(name, options),
        names => names.iter().try_for_each(|name| check(name, &several::of_each(options))),
    }
}

/// Whether there is something to open under this name, with options that its scheme has. Nothing is scanned.
///
/// # Errors
/// There is nothing, or the scheme is unknown or does not have one of the options.
pub fn check(name: &str, options: &Options) -> Result<(), SourceError> {
    let Resolved { scheme, address, options, .. } = match resolve(name, options) {
        // The store may be there again when the dataset is opened.
        Err(SourceError::Outage(_)) if stores::is_url(name) => return Ok(()),
        resolved => resolved?,
    };
    if scheme.name == python::SCHEME.name {
        return python::check(address.path(), &options);
    }
    if scheme.name == odps::SCHEME.name {
        return odps::check(address.path(), &options);
    }
    let found = match containers::pattern(&address) {
        Ok(None) => address.look().map(drop),
        found => found.map(drop),
    };
    match address.settled(found) {
        Err(SourceError::Outage(_)) if address.tree().is_some() => Ok(()),
        found => found,
    }
}

fn resolve(name: &str, options: &Options) -> Result<Resolved, SourceError> {
    Resolved::of(name, options, SCHEMES)
}

/// Opens a list of paths, separated by NUL bytes. Relative paths start at the option `root`, or where the daemon was
/// started.
///
/// If the list begins with a NUL byte, a label follows each path: `i` and an integer, or `t` and a text.
pub fn open_list(list: &[u8], options: &Options) -> Opened {
    let mut options = options.clone();
    let limit = limited::take(&mut options)?;
    let (roles, sizes) = (roles::take(&mut options)?, given_sizes::take(&mut options)?);
    files::SCHEME.check(&options, store_options(root::is_remote(&options)))?;
    let listed = files::from_list(list, &options)?.into_source();
    let root = root(&options, &Address::default())?;
    let listed = masks::with_masks(listed, &root, files::SCHEME.name, &options)?;
    let listed = roles::with_roles(listed, &roles, &root, files::SCHEME.name, &options)?;
    let listed = given_sizes::with_sizes(listed, sizes.as_ref(), root.path())?;
    selected::with_selection(Limited::of(listed, limit), &options)
}

/// Makes an index of a dataset: an Arrow file from which the dataset is opened without a scan. If an index that fits
/// exists, it stays, unless `rebuild`.
///
/// The file is `output`, or has a name of its own in the folder of `options.index`. A killed scan of packed files
/// continues where it was.
///
/// # Errors
/// The dataset cannot be opened, or cannot have an index, or the file cannot be written.
pub fn make_index(
    name: &str,
    options: &Options,
    output: Option<&Path>,
    rebuild: bool,
) -> Result<IndexReport, SourceError> {
    let Resolved { scheme, address, options, .. } = resolve(name, options)?;
    address.settled(index::make(Indexed { scheme, address: &address, options: &options }, output, rebuild, None))
}

/// The same as [`make_index`] for an index that also has the sizes of the pictures (semantics rule 61). `measure` is called
/// with the dataset if they are not known yet, and gives a size for each of its records.
///
/// # Errors
/// As [`make_index`], and those of `measure`.
pub fn make_index_with_sizes(
    name: &str,
    options: &Options,
    output: Option<&Path>,
    rebuild: bool,
    measure: Measure<'_>,
) -> Result<IndexReport, SourceError> {
    let Resolved { scheme, address, options, .. } = resolve(name, options)?;
    let indexed = Indexed { scheme, address: &address, options: &options };
    address.settled(index::make(indexed, output, rebuild, Some(measure)))
}

/// Opens a dataset as its index has it: all of its records, regardless of `limit`, and without masks in files of their
/// own. `index` is the file of an index that fits, as [`make_index`] has made or found it.
///
/// # Errors
/// The index does not fit any more.
pub fn open_index(name: &str, options: &Options, index: &Path) -> Opened {
    let Resolved { scheme, address, options, .. } = resolve(name, options)?;
    address.settled(index::open_from(Indexed { scheme, address: &address, options: &options }, index))
}

#[cfg(test)]
mod tests;
