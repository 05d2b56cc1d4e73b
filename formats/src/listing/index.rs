//! A list of files in an index, and from one.

use std::sync::Arc;

use arrow_array::types::{Int64Type, TimestampNanosecondType, UInt64Type};
use forebay_sources::{Oversight, PointFiles};

use super::Listing;
use super::listed_files::{IndexedPaths, ListedFiles};
use crate::address::Address;
use crate::basis::Basis;
use crate::beside::Oversights;
use crate::index_columns::{BadIndex, NewColumns, Opening};
use crate::paths::RecordPaths;
use crate::values::Values;

/// The columns of an index of files.
const PATH: &str = "path";
const SIZE: &str = "size";
const MODIFIED: &str = "modified";
const LABEL: &str = "label";
/// Of objects, in place of the time.
const OBJECT_VERSION: &str = "version";

impl Listing {
    /// What decided which files there are.
    pub(crate) fn bases(&self) -> &[Basis] {
        &self.bases
    }

    /// What lies beside the files and is not used.
    pub(crate) fn found_oversights(&self) -> &[Oversight] {
        self.oversights.found()
    }

    /// The folder where the paths start.
    pub(crate) fn root(&self) -> &Address {
        &self.files.root
    }

    /// The table of all files. What it has is shared with the index, and not copied.
    ///
    /// # Errors
    /// A path is no plain name, or the store of the files fails.
    pub(crate) fn add_to_index(&mut self, columns: &mut NewColumns) -> Result<(), BadIndex> {
        let versions = self.found_versions().map_err(|error| BadIndex(error.to_string()))?;
        let files = Arc::get_mut(&mut self.files).expect("nobody reads the records yet");
        let paths = files.paths.memory();
        if versions.is_some() && files.root.tree().is_some_and(|tree| !tree.can_list()) && paths.bytes.contains(&b'?') {
            let problem = "a path has a query, such as that of a signed URL, which must not be kept in a file";
            return Err(BadIndex(problem.to_owned()));
        }
        columns.paths(PATH, paths);
        columns.numbers::<UInt64Type>(SIZE, &mut files.sizes);
        match versions {
            Some(mut versions) => columns.paths(OBJECT_VERSION, &mut versions),
            None => columns.numbers::<TimestampNanosecondType>(MODIFIED, &mut self.times),
        }
        if !self.labels.is_empty() {
            columns.numbers::<Int64Type>(LABEL, &mut self.labels);
        }
        columns.faults(self.files.paths.len(), |record| self.damaged.get(record));
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
    ) -> Result<Self, BadIndex> {
        let Opening { columns, options, classes, targets, fingerprint, oversights } = opening;
        let root =
            root.or_else(|| given.cloned()).ok_or_else(|| BadIndex("its paths start at the option \"root\"".into()))?;
        let mut files = ListedFiles::new(root, columns.paths(PATH)?, columns.numbers::<UInt64Type>(SIZE)?);
        let given = given.map(|given| given.path().to_owned());
        files.index = Some(IndexedPaths { blocks: Arc::clone(&columns.blocks), may_leave, given });
        let is_remote = files.root.tree().is_some();
        let times = if is_remote { Values::default() } else { columns.numbers::<TimestampNanosecondType>(MODIFIED)? };
        let versions = if is_remote { columns.paths(OBJECT_VERSION)? } else { RecordPaths::default() };
        Ok(Self {
            files: Arc::new(files),
            times,
            versions,
            labels: columns.labels(LABEL)?,
            classes,
            targets,
            damaged: columns.faults()?,
            shard_name,
            bases: Vec::new(),
            oversights: Oversights::new(oversights, options),
            fingerprint,
            byte_limit: options.byte_limit,
            points: PointFiles::default(),
        })
    }
}
