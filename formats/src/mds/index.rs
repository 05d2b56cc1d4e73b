//! The `index.json` of a dataset in MDS: its shards, and the columns that all of them have.

use std::collections::HashSet;
use std::path::{Component, Path};

use forebay_sources::SourceError;
use serde::Deserialize;

use super::encoding::MdsEncoding;
use crate::address::{Address, of_dataset};

/// The file's name.
pub(super) const NAME: &str = "index.json";
/// Most bytes of an index: enough for some hundred thousand shards.
const MOST: u64 = 256 << 20;

/// A dataset as its index describes it.
#[derive(Debug)]
pub(super) struct MdsIndex {
    pub columns: Vec<MdsColumn>,
    pub shards: Vec<MdsShard>,
}

/// A column, the same in all shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MdsColumn {
    pub name: String,
    pub encoding: MdsEncoding,
    /// Bytes of each value, unless they differ.
    pub size: Option<u64>,
}

/// A file with samples.
#[derive(Debug)]
pub(super) struct MdsShard {
    /// Below the index's folder.
    pub file: String,
    pub bytes: u64,
    pub samples: u64,
    /// How it is compressed, and the compressed file.
    pub compression: Option<(String, String)>,
}

#[derive(Deserialize)]
struct IndexJson {
    shards: Vec<ShardJson>,
}

#[derive(Deserialize)]
struct ShardJson {
    format: String,
    version: u64,
    #[serde(default)]
    column_names: Vec<String>,
    #[serde(default)]
    column_encodings: Vec<String>,
    #[serde(default)]
    column_sizes: Vec<Option<u64>>,
    compression: Option<String>,
    raw_data: FileJson,
    zip_data: Option<ZipJson>,
    samples: u64,
}

#[derive(Deserialize)]
struct FileJson {
    basename: String,
    bytes: u64,
}

#[derive(Deserialize)]
struct ZipJson {
    basename: String,
}

impl MdsIndex {
    /// Reads an index.
    ///
    /// # Errors
    /// It cannot be read, or is not of the kind that this version reads.
    pub(super) fn read(address: &Address) -> Result<Self, SourceError> {
        let wrong = |problem: String| SourceError::malformed_at(address.path(), 0, problem);
        let Some(text) = address.small(MOST).map_err(|error| of_dataset(address, error))? else {
            return Err(wrong(format!(
                "the index has more than {MOST} bytes. Check that it is the index of a dataset."
            )));
        };
        let index: IndexJson = serde_json::from_slice(&text)
            .map_err(|error| wrong(format!("this is not an index of MDS shards: {error}. Copy it again.")))?;
        let mut columns: Option<Vec<MdsColumn>> = None;
        let mut shards = Vec::with_capacity(index.shards.len());
        let mut named = HashSet::new();
        for (number, shard) in index.shards.into_iter().enumerate() {
            if shard.format != "mds" || shard.version != 2 {
                return Err(wrong(format!(
                    "shard {number} has the format \"{}\" of version {}. Only MDS of version 2 is read: write the dataset again with MDSWriter.",
                    shard.format.escape_debug(),
                    shard.version
                )));
            }
            let own = shard.columns().ok_or_else(|| {
                wrong(format!("the columns of shard {number} have no sizes, or sizes that their encodings cannot have. Write the dataset again."))
            })?;
            match &columns {
                Some(columns) if *columns != own => {
                    return Err(wrong(format!(
                        "shard {number} has other columns than the first one. Write one dataset for each kind of columns."
                    )));
                }
                Some(_) => {}
                None => columns = Some(own),
            }
            let file = shard.raw_data.basename;
            if !is_below(&file) {
                let file = file.escape_debug();
                return Err(wrong(format!(
                    "shard {number} is in \"{file}\", which leads out of the folder. Correct the index."
                )));
            }
            if !named.insert(file.clone()) {
                let file = file.escape_debug();
                return Err(wrong(format!(
                    "shard {number} is in \"{file}\", as an earlier one is. Correct the index."
                )));
            }
            let zip = shard.zip_data.map(|zip| zip.basename);
            if let Some(zip) = zip.as_ref().filter(|zip| !is_below(zip)) {
                let zip = zip.escape_debug();
                return Err(wrong(format!(
                    "shard {number} is in \"{zip}\", which leads out of the folder. Correct the index."
                )));
            }
            let (bytes, samples) = (shard.raw_data.bytes, shard.samples);
            let compression = shard.compression.filter(|name| !name.is_empty()).zip(zip);
            shards.push(MdsShard { file, bytes, samples, compression });
        }
        Ok(Self { columns: columns.unwrap_or_default(), shards })
    }
}

/// Whether a name is one of a file below the index's folder.
fn is_below(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)))
}

impl ShardJson {
    /// Nothing if the lists do not agree.
    fn columns(&self) -> Option<Vec<MdsColumn>> {
        let len = self.column_names.len();
        if self.column_encodings.len() != len || self.column_sizes.len() != len {
            return None;
        }
        let each = self.column_names.iter().zip(&self.column_encodings).zip(&self.column_sizes);
        each.map(|((name, encoding), size)| {
            let (name, encoding, size) = (name.clone(), MdsEncoding::of(encoding), size.filter(|&size| size > 0));
            let agrees = encoding.size().is_none_or(|own| Some(own) == size);
            agrees.then_some(MdsColumn { name, encoding, size })
        })
        .collect()
    }
}
