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
mod coco;
mod contained;
mod containers;
mod contents;
mod crew;
mod csv;
mod disk_cache;
mod example;
mod faults;
mod files;
mod finishers;
mod folder;
mod folder_owner;
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
mod python;
mod ranges;
mod recordio;
mod regular_file;
mod roles;
mod scan;
#[cfg(test)]
mod scene;
mod scheme;
mod seen;
mod several;
mod stamp;
mod stored_array;
mod stores;
#[cfg(test)]
mod suite;
mod tables;
mod tar;
mod tfrecord;
mod tree;
mod unpacked;
mod used_memory;
mod values;
mod voc;
mod window;
mod witnesses;
mod wrong_file;
mod yolo;
mod zip;

use std::num::NonZeroU64;
use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Options, Source, SourceError};

use address::Address;
pub use contained::is_panic_contained;
pub use disk_cache::check_cache;
pub use index::IndexReport;
pub use index::points::{PointsReport, PointsWriter};
#[doc(hidden)]
pub use index_blocks::seal as seal_index;

use index::Indexed;
use limited::Limited;
use roles::Roles;
use scheme::{OptionKey, Scheme, known};

/// A dataset, or why it cannot be opened.
pub type Opened = Result<Box<dyn Source>, SourceError>;

/// Where several recognise a path, the first one has it.
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
/// name exists, the name is a path, unless it has the URL of objects, such as `s3://bucket/train`. Options of the scheme may stand behind a `?`. They come
/// before those in `options`.
pub fn open(name: &str, options: &Options) -> Opened {
    let Resolved { scheme, address, options, limit, roles } = resolve(name, options)?;
    let opened = index::open(Indexed { scheme, address: &address, options: &options });
    let opened = address.settled(opened.map_err(wrong_file::explained))?;
    let opened = address.settled(masks::with_masks(opened, &address, &options))?;
    let opened = roles::with_roles(opened, &roles, &address, scheme.name, &options)?;
    for oversight in opened.oversights() {
        tracing::warn!(dataset = %printable(&address.shown()), "{oversight}");
    }
    Ok(Limited::of(opened, limit))
}

/// Opens several datasets as one: the records of the first, then those of the second, and so on. Options are those of
/// each, but `classes_by`, which is about all together: "name" makes classes of one name one class, and "number" keeps
/// the numbers.
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
        names => several::open(names, options),
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

/// What a name stands for.
struct Resolved {
    scheme: &'static Scheme,
    address: Address,
    /// Without the limit and the roles.
    options: Options,
    limit: Option<NonZeroU64>,
    roles: Roles,
}

fn resolve(name: &str, options: &Options) -> Result<Resolved, SourceError> {
    let as_path = Address::file(name);
    let (scheme, address, mut options) =
        match scheme::split(name).filter(|(_, rest)| names_objects(name, rest) || !as_path.exists()) {
            Some(_) if stores::is_url(name) => {
                let (url, options) = scheme::with_query(name, options)?;
                let address = stores::open(url, &options)?;
                let scheme = address.settled(recognised(&address))?;
                (scheme, address, options)
            }
            Some((scheme, rest)) => {
                let scheme = SCHEMES.iter().find(|known| known.name == scheme).ok_or_else(|| {
                    let name = format!("{}{}", &name[..name.len() - rest.len()], forebay_objects::shown(rest));
                    SourceError::UnknownScheme { name, known: known(SCHEMES) }
                })?;
                let (rest, options) = scheme::with_query(rest, options)?;
                let address = if stores::is_url(rest) { stores::open(rest, &options)? } else { Address::file(rest) };
                if scheme.name == python::SCHEME.name && address.tree().is_some() {
                    let problem = "A custom reader is a file of this machine. Copy it, and give its path.".to_owned();
                    return Err(SourceError::Store { url: forebay_objects::shown(rest), problem });
                }
                (scheme, address, options)
            }
            None => (recognised(&as_path)?, as_path, options.clone()),
        };
    let limit = limited::take(&mut options)?;
    beside::is_accepted(&options)?;
    if scheme.takes_any() {
        options.own = options.own.without(beside::UNREAD.name);
    }
    let roles = roles::take(&mut options)?;
    let reads_objects = address.tree().is_some() || has_remote_root(&options);
    scheme.check(&options, store_options(reads_objects))?;
    Ok(Resolved { scheme, address, options, limit, roles })
}

/// Whether the name has the URL of objects. Then it is no path, even if there is one: whoever can make folders where the
/// process was started must not choose what a URL stands for.
fn names_objects(name: &str, rest: &str) -> bool {
    stores::is_url(name) || stores::is_url(rest)
}

/// The scheme of a path that names none. A pattern of several files is recognised by the first of them.
fn recognised(address: &Address) -> Result<&'static Scheme, SourceError> {
    let first = containers::pattern(address)?.map(|files| files[0].clone());
    let looked_at = first.as_ref().unwrap_or(address);
    looked_at.look()?;
    let recognised = SCHEMES.iter().find(|known| (known.recognises)(looked_at));
    recognised.ok_or_else(|| SourceError::Unrecognised { path: address.path().to_owned(), known: known(SCHEMES) })
}

/// Opens a list of paths, separated by NUL bytes. Relative paths start at the option `root`, or where the daemon was started.
///
/// If the list begins with a NUL byte, a label follows each path: `i` and an integer, or `t` and a text.
pub fn open_list(list: &[u8], options: &Options) -> Opened {
    let mut options = options.clone();
    let limit = limited::take(&mut options)?;
    let roles = roles::take(&mut options)?;
    files::SCHEME.check(&options, store_options(has_remote_root(&options)))?;
    let listed = files::from_list(list, &options)?.into_source();
    let root = root(&options, &Address::default())?;
    let listed = masks::with_masks(listed, &root, &options)?;
    let listed = roles::with_roles(listed, &roles, &root, files::SCHEME.name, &options)?;
    Ok(Limited::of(listed, limit))
}

/// Makes an index of a dataset: an Arrow file from which the dataset is opened without a scan. If there is one that fits, it
/// stays, unless `rebuild`.
///
/// The file is `output`, or has a name of its own in the folder of `options.index`. A scan of packed files that is killed
/// goes on where it was.
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
    address.settled(index::make(Indexed { scheme, address: &address, options: &options }, output, rebuild))
}

/// Opens a dataset as its index has it: all of its records, whatever `limit` says, and without masks in files of their own.
/// `index` is the file of an index that fits, as [`make_index`] has made or found it.
///
/// # Errors
/// The index does not fit any more.
pub fn open_index(name: &str, options: &Options, index: &Path) -> Opened {
    let Resolved { scheme, address, options, .. } = resolve(name, options)?;
    address.settled(index::open_from(Indexed { scheme, address: &address, options: &options }, index))
}

/// The option that CSVs and lists share.
const ROOT: OptionKey =
    OptionKey { name: "root", help: "the folder where relative paths start, and that a CSV's paths must stay inside" };

/// The folder where relative paths start, unless it is `otherwise`.
fn root(options: &Options, otherwise: &Address) -> Result<Address, SourceError> {
    Ok(given_root(options, otherwise)?.unwrap_or_else(|| otherwise.clone()))
}

/// The same folder, if the user gave one. In a store, the root is a URL, or is where it leads from the folder that the
/// dataset is in.
fn given_root(options: &Options, folder: &Address) -> Result<Option<Address>, SourceError> {
    match options.own.get(ROOT.name) {
        None => Ok(None),
        // Names of files follow it, so that they would be behind a query.
        Some(url) if stores::is_url(url) && forebay_objects::shown(url) != url => {
            let expected = "a URL without a query, a name and a password";
            Err(SourceError::bad_option(ROOT.name, &forebay_objects::shown(url), expected))
        }
        Some(url) if stores::is_url(url) => stores::open(url, options).map(Some),
        Some(path) if folder.tree().is_some() => Ok(Some(folder.join(path))),
        Some(path) => Ok(Some(Address::file(path))),
    }
}

/// The options that stores add to those of a scheme.
fn store_options(reads_objects: bool) -> &'static [OptionKey] {
    if reads_objects { &stores::OPTIONS } else { &[] }
}

/// Whether the files of a list are objects, whatever the list is.
fn has_remote_root(options: &Options) -> bool {
    options.own.get(ROOT.name).is_some_and(stores::is_url)
}

/// The option that folders of annotations share.
const CLASSES: OptionKey =
    OptionKey { name: "classes", help: "the names of the classes in their order, separated by commas" };

/// The names that the user gave the classes.
fn classes(options: &Options) -> Result<Option<Vec<String>>, SourceError> {
    let Some(text) = options.own.get(CLASSES.name) else { return Ok(None) };
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    let twice = (1..names.len()).any(|place| names[..place].contains(&names[place]));
    if twice || names.iter().any(String::is_empty) {
        return Err(SourceError::bad_option(CLASSES.name, text, "different names, separated by commas"));
    }
    Ok(Some(names))
}

#[cfg(test)]
mod tests;
