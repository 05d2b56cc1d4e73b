//! A list of files in an index, and from one.

use std::sync::Arc;

use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt64Type};

use super::listed_files::{IndexedPaths, ListedFiles};
use super::{ListedAnnotations, Listing};
use crate::address::Address;
use crate::beside::Oversights;
use crate::index_columns::{BadIndex, NewColumns, Opening};
use crate::provenance::Provenance;
use crate::values::Values;

/// The columns of an index of files.
const PATH: &str = "path";
const SIZE: &str = "size";
const MODIFIED: &str = "modified";
const LABEL: &str = "label";
/// Of objects, in place of the time.
const OBJECT_VERSION: &str = "version";

/// The table of all files. What it has is shared with the index, and not copied.
///
/// # Errors
/// A path is no plain name, or the store of the files fails.
pub(crate) fn add_to_index(listing: &mut Listing, columns: &mut NewColumns) -> Result<(), BadIndex> {
    let versions = listing.files.found_versions().map_err(|error| BadIndex(error.to_string()))?;
    let files = Arc::get_mut(&mut listing.files).expect("nobody reads the records yet");
    let paths = files.paths.memory();
    if versions.is_some() && files.root.tree().is_some_and(|tree| !tree.can_list()) && paths.bytes.contains(&b'?') {
        let problem = "a path has a query, such as that of a signed URL, which must not be kept in a file";
        return Err(BadIndex(problem.to_owned()));
    }
    columns.paths(PATH, paths);
    columns.numbers::<UInt64Type>(SIZE, &mut files.sizes);
    match versions {
        Some(mut versions) => columns.paths(OBJECT_VERSION, &mut versions),
        None => columns.numbers::<TimestampNanosecondType>(MODIFIED, &mut listing.times),
    }
    if !listing.annotations.labels.is_empty() {
        columns.numbers::<Int64Type>(LABEL, &mut listing.annotations.labels);
    }
    columns.faults(listing.files.paths.len(), |record| listing.annotations.damaged.get(record));
    Ok(())
}

/// The list that an index has. Paths start at `root`, or at the one that the user has given. Each is checked when it is
/// used.
///
/// # Errors
/// The columns are not those of a list of files.
pub(crate) fn from_index(
    opening: Opening<'_>,
    root: Option<Address>,
    given: Option<&Address>,
    shard_name: String,
    may_leave: bool,
) -> Result<Listing, BadIndex> {
    let Opening { columns, options, classes, targets, fingerprint, sizes, oversights } = opening;
    let root =
        root.or_else(|| given.cloned()).ok_or_else(|| BadIndex("its paths start at the option \"root\"".into()))?;
    let mut files = ListedFiles::new(root, columns.paths(PATH)?, columns.numbers::<UInt64Type>(SIZE)?);
    let given = given.map(|given| given.path().to_owned());
    files.index = Some(IndexedPaths { blocks: Arc::clone(&columns.blocks), may_leave, given });
    let is_remote = files.root.tree().is_some();
    let times = if is_remote { Values::default() } else { columns.numbers::<TimestampNanosecondType>(MODIFIED)? };
    if is_remote {
        files.versions = columns.paths(OBJECT_VERSION)?;
    }
    let annotations =
        ListedAnnotations { labels: columns.labels(LABEL)?, classes, targets, damaged: columns.faults()? };
    let oversights = Oversights::new(oversights, options);
    let provenance = Provenance { oversights, sizes, ..Provenance::of(fingerprint) };
    Ok(Listing { files: Arc::new(files), times, annotations, provenance, shard_name, byte_limit: options.byte_limit })
}
