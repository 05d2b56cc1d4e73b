//! `folder:`: all pictures below a folder. Its top-level folders, if any, are the classes (semantics rule 2).

mod walk;

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use forebay_printable::printable;
use forebay_sources::{Labels, Options, SourceError};

use crate::address::{Address, Sight};
use crate::basis::Basis;
use crate::beside::Beside;
use crate::containers::is_named;
use crate::csv::SPLIT;
use crate::listing::{Found, Listing};
use crate::opened::DatasetResult;
use crate::paths::{Paths, is_hidden};
use crate::root::ROOT;
use crate::scheme::{Indexing, Scheme};
use crate::tree::Listed;
use walk::{Look, Walk, walk_files};

pub(super) const SCHEME: Scheme = Scheme {
    name: "folder",
    takes: "a folder of pictures or of class folders",
    // A folder's paths start at the folder. The option was never refused, so configurations may have it.
    options: &[ROOT, SPLIT],
    has_columns: true,
    recognises: Address::is_folder,
    open: |folder, options, _| match options.own.get(SPLIT.name) {
        _ if !options.columns.is_empty() => open_metadata(folder, options),
        Some(names) => Err(SourceError::bad_option(SPLIT.name, names, "left out if no columns of a table are named")),
        None => Ok(open(folder, options)?.into()),
    },
    indexing: Indexing::Files,
};

/// What is taken for a picture, in any case; the content then picks the decoder.
pub(super) const EXTENSIONS: [&str; 16] = [
    "jpg", "jpeg", "jpe", "jfif", "png", "webp", "bmp", "gif", "tif", "tiff", "ppm", "pgm", "pbm", "pnm", "jxl", "avif",
];

/// The tables that Hugging Face's `imagefolder` knows.
const METADATA: [&str; 3] = ["metadata.csv", "metadata.jsonl", "metadata.parquet"];

/// The pictures that a table in the folder names, with its columns.
fn open_metadata(root: &Address, options: &Options) -> DatasetResult {
    if root.look()? != Sight::Folder {
        return Err(SourceError::NotAFolder { path: root.path().to_owned() });
    }
    let Some(table) = METADATA.iter().map(|name| root.join(name)).find(Address::is_file) else {
        let problem = match table_below(root)? {
            Some(table) => format!(
                "its tables are in folders below, such as \"{}\". Open one of these folders, or write one table for all \
                 pictures.",
                printable(&table.shown())
            ),
            None => format!(
                "a folder has columns only if it has a table ({}). Write one with the paths in \"file_name\", or leave \
                 columns out.",
                METADATA.join(" or ")
            ),
        };
        return Err(SourceError::Columns { path: root.path().to_owned(), problem });
    };
    if is_named(table.path(), &["parquet"]) {
        return crate::parquet::paths::open_paths(&table, options);
    }
    crate::csv::open_table(&table, options)
}

/// A table in one of the folders right below, in the order of their names: `imagefolder` has one for each split.
fn table_below(root: &Address) -> Result<Option<Address>, SourceError> {
    let mut folders = root.entries()?;
    folders.retain(|entry| entry.is_folder);
    folders.sort_by(|one, other| one.name.cmp(&other.name));
    let mut tables = folders.iter().flat_map(|entry| METADATA.iter().map(|name| entry.address.join(name)));
    Ok(tables.find(Address::is_file))
}

fn open(root: &Address, options: &Options) -> Result<Listing, SourceError> {
    let Walk { pictures: paths, looks, mut top_folders, bases, hidden, others, mut beside, .. } =
        walk(root, Look::AtSizes)?;
    if paths.is_empty() {
        let path = root.path().to_owned();
        return Err(if others + hidden == 0 && top_folders.is_empty() {
            SourceError::EmptyFolder { path }
        } else {
            let (extensions, beside) = (EXTENSIONS.join(", "), beside.told());
            SourceError::NoPictures { path, others, hidden, extensions, beside }
        });
    }
    if hidden + others > 0 {
        tracing::info!(folder = %printable(&root.shown()), hidden, others, "left out hidden entries and files that are not pictures");
    }
    beside.see_masks(&paths, options.labels);
    let (labels, classes) = if options.labels == Labels::None || paths.iter().all(|path| class_of(path).is_none()) {
        (Vec::new(), Vec::new())
    } else {
        top_folders.sort_unstable();
        let labels = class_labels(root.path(), &paths, &top_folders, &beside)?;
        (labels, top_folders.iter().map(|name| lossy(name)).collect())
    };
    // Those of objects are known to their store.
    let (shard_name, looks) = (root.last_name(), root.tree().is_none().then_some(looks));
    let oversights = beside.oversights(options.labels, &classes);
    let root = root.clone();
    let found = Found { root, paths, labels, classes, shard_name, bases, looks, oversights, ..Found::default() };
    Ok(Listing::new(found, options)?.0)
}

/// Each picture's place in the sorted class folders.
fn class_labels(root: &Path, paths: &Paths, classes: &[Vec<u8>], beside: &Beside) -> Result<Vec<i64>, SourceError> {
    let below = |name: &[u8]| root.join(OsStr::from_bytes(name));
    let mut filled = vec![false; classes.len()];
    let mut labels = Vec::with_capacity(paths.len());
    // Pictures of a class are beside each other as a rule.
    let mut last: Option<(&[u8], usize)> = None;
    for path in paths.iter() {
        let Some(class) = class_of(path) else {
            let class = paths.iter().find_map(class_of).expect("only called where a picture has a class folder");
            return Err(SourceError::MixedFolder { picture: below(path), class: below(class) });
        };
        let label = match last {
            Some((name, label)) if name == class => label,
            _ => classes
                .binary_search_by(|known| known.as_slice().cmp(class))
                .expect("the walk notes a top folder before it enters it"),
        };
        last = Some((class, label));
        filled[label] = true;
        labels.push(i64::try_from(label).expect("a folder has fewer than i64::MAX folders"));
    }
    match filled.iter().position(|&filled| !filled) {
        Some(empty) => Err(SourceError::EmptyClass { path: below(&classes[empty]), beside: beside.told() }),
        None => Ok(labels),
    }
}

/// The top-level folder that a picture lies in.
fn class_of(path: &[u8]) -> Option<&[u8]> {
    path.iter().position(|&byte| byte == b'/').map(|end| &path[..end])
}

fn lossy(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// The pictures below a folder, and the other files, as paths from there, sorted by their bytes.
pub(super) fn files_below(root: &Address) -> Result<(Paths, Paths), SourceError> {
    let Walk { pictures, other_names, .. } = walk(root, Look::AtNames)?;
    Ok((pictures, other_names))
}

/// Of objects, all is known once they are listed.
fn walk(root: &Address, look: Look) -> Result<Walk, SourceError> {
    match root.key() {
        None => walk_files(root.path(), look),
        Some((tree, Some(key))) if root.look()? == Sight::Folder => {
            let bases = vec![Basis::look(root)?];
            Ok(Walk { bases, ..walk_objects(&*tree.listed(&key)?, &key, look) })
        }
        Some(_) => Err(SourceError::NotAFolder { path: root.path().to_owned() }),
    }
}

fn walk_objects(listed: &Listed, folder: &str, look: Look) -> Walk {
    let mut walk = Walk::default();
    for name in listed.names_below(folder) {
        if is_hidden(name) {
            walk.hidden += 1;
            continue;
        }
        if let Some(top) = class_of(name)
            && walk.top_folders.last().is_none_or(|last| last != top)
        {
            walk.top_folders.push(top.to_vec());
        }
        if is_picture(Path::new(OsStr::from_bytes(name))) {
            walk.pictures.push(name);
        } else {
            walk.others += 1;
            match look {
                Look::AtNames => walk.other_names.push(name),
                Look::AtSizes => walk.beside.see(name),
            }
        }
    }
    for names in [&mut walk.pictures, &mut walk.other_names] {
        if let Some(order) = names.order() {
            *names = names.permuted(&order);
        }
    }
    walk
}

/// Whether a file is named like a picture.
pub(super) fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|found| EXTENSIONS.iter().any(|known| found.eq_ignore_ascii_case(known)))
}

fn failure(path: &Path, error: io::Error) -> SourceError {
    if rustix::io::Errno::from_io_error(&error) == Some(rustix::io::Errno::LOOP) {
        SourceError::Loop { path: path.to_owned() }
    } else {
        SourceError::of_path(path, error)
    }
}
