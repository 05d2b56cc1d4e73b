//! Whether an index fits its dataset, and the dataset that is opened from it.

use std::path::Path;

use forebay_printable::printable;
use forebay_sources::SourceError;

use super::about::{self, AboutOversight, AboutRecords, Choices, Dated, VERSION, folder_of};
use super::file::{IndexFile, NoIndex};
use super::{Indexed, sizes, targets};
use crate::basis::Basis;
use crate::containers;
use crate::index_columns::{BadIndex, Opening};
use crate::listing;
use crate::opened::OpenDataset;
use crate::packed::{self, ContainerFile, Packed, ReadPacking};
use crate::scheme::Indexing;

impl Indexed<'_> {
    /// The dataset that an index has, if it fits.
    pub(super) fn dataset(&self, file: IndexFile) -> Result<OpenDataset, NoIndex> {
        let IndexFile { about, columns } = file;
        let indexing = self.indexing();
        if let Indexing::Never(reason) = indexing {
            return Err(self.never(reason).into());
        }
        let other = |what: &str| {
            BadIndex(format!(
                "its {what} is not that of this dataset. Make an index with \"forebay index\", with the settings of the stream"
            ))
        };
        if about.version < VERSION {
            return Err(NoIndex::Earlier);
        }
        if about.version != VERSION {
            return Err(other("version").into());
        }
        if about.scheme != self.scheme.name {
            return Err(other("scheme").into());
        }
        if about.choices != Choices::of(self.scheme, self.options) {
            return Err(other("choice of labels, columns or options").into());
        }
        let folder = &folder_of(self.address);
        for base in &about.bases {
            must_hold(&base.basis(about::address(&base.path, folder, |_| true)?))?;
        }
        if columns.len() == 0 {
            return Err(BadIndex("it has no record".into()).into());
        }
        let fingerprint =
            blake3::Hash::from_hex(&about.fingerprint).map_err(|_| BadIndex("its fingerprint is not valid".into()))?;
        let (targets, sizes) = (targets::read(&columns)?, sizes::read(&columns)?);
        let opening = Opening {
            columns,
            options: self.options,
            classes: about.classes,
            targets,
            fingerprint: *fingerprint.as_bytes(),
            sizes,
            oversights: about.oversights.into_iter().filter_map(AboutOversight::oversight).collect(),
        };
        match (about.kind, indexing) {
            (AboutRecords::Files { root, shard_name }, Indexing::Files) => {
                let root = root.map(|root| about::address(&root, folder, |_| false)).transpose()?;
                // Lists may name files anywhere.
                let may_leave = self.scheme.name == crate::files::SCHEME.name;
                let given = crate::root::given_root(self.options, folder)?;
                Ok(listing::from_index(opening, root, given.as_ref(), shard_name, may_leave)?.into())
            }
            (AboutRecords::Ranges { files }, Indexing::Ranges(packing)) => {
                Ok(self.ranges(opening, &files, packing)?.into())
            }
            _ => Err(other("kind of records").into()),
        }
    }

    fn ranges(&self, opening: Opening<'_>, files: &[Dated], packing: ReadPacking) -> Result<Packed, NoIndex> {
        let folder = &folder_of(self.address);
        // A file or a pattern says by itself which files there are.
        let known = match containers::pattern(self.address) {
            Ok(Some(files)) => Some(files),
            Ok(None) if !self.address.is_folder() => Some(vec![self.address.clone()]),
            Ok(None) => None,
            Err(outage @ SourceError::Outage(_)) => return Err(outage.into()),
            Err(error) => return Err(BadIndex(error.to_string()).into()),
        };
        let is_known = |path: &Path| known.as_ref().is_some_and(|known| known.iter().any(|known| known.path() == path));
        let mut found = Vec::with_capacity(files.len());
        for dated in files {
            let address = about::address(&dated.path, folder, is_known)?;
            let basis = dated.basis(address);
            must_hold(&basis)?;
            let stamp = basis.stamp.ok_or_else(|| BadIndex("one of its files has no size".into()))?;
            found.push(ContainerFile { address: basis.address, stamp, unpacked: None });
        }
        if known.is_some_and(|known| !known.iter().eq(found.iter().map(|file| &file.address))) {
            return Err(
                BadIndex("the dataset has other files now. Run \"forebay index SOURCE --rebuild\"".into()).into()
            );
        }
        Ok(packed::from_index(opening, found, packing)?)
    }
}

/// Refuses an index if one of the files or folders that it is about is not what it was.
fn must_hold(basis: &Basis) -> Result<(), NoIndex> {
    if basis.holds()? {
        return Ok(());
    }
    let changed = printable(&basis.address.shown()).to_string();
    Err(BadIndex(format!("\"{changed}\" has changed since the index was made. Make the index again with \"forebay index SOURCE --output FILE\"")).into())
}
