//! Writes datasets in MDS for tests, right ones and wrong ones.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

/// A column: its name, its encoding and the bytes of each value, if they do not differ.
pub(crate) type WrittenColumn = (&'static str, &'static str, Option<u64>);

/// A dataset of several shards.
#[derive(Debug)]
pub(crate) struct MdsWriter {
    pub columns: Vec<WrittenColumn>,
    shards: Vec<Value>,
    pub files: Vec<(String, Vec<u8>)>,
}

impl MdsWriter {
    pub(crate) fn new(columns: &[WrittenColumn]) -> Self {
        Self { columns: columns.to_vec(), shards: Vec::new(), files: Vec::new() }
    }

    /// A shard with samples, each a value for each column.
    pub(crate) fn shard(&mut self, samples: &[&[&[u8]]]) -> &mut Self {
        let settings = b"{\"settings\": true}";
        let encoded: Vec<Vec<u8>> = samples.iter().map(|sample| self.sample(sample)).collect();
        let int = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
        let mut bytes = int(samples.len()).to_vec();
        let mut place = 4 + 4 * (samples.len() + 1) + settings.len();
        for sample in &encoded {
            bytes.extend(int(place));
            place += sample.len();
        }
        bytes.extend(int(place));
        bytes.extend(settings);
        bytes.extend(encoded.concat());
        let file = format!("shard.{:05}.mds", self.shards.len());
        let names: Vec<&str> = self.columns.iter().map(|column| column.0).collect();
        let encodings: Vec<&str> = self.columns.iter().map(|column| column.1).collect();
        let sizes: Vec<Option<u64>> = self.columns.iter().map(|column| column.2).collect();
        self.shards.push(json!({
            "column_encodings": encodings, "column_names": names, "column_sizes": sizes, "compression": null,
            "format": "mds", "hashes": [], "raw_data": {"basename": file, "bytes": bytes.len(), "hashes": {}},
            "samples": samples.len(), "size_limit": 1 << 26, "version": 2, "zip_data": null
        }));
        self.files.push((file, bytes));
        self
    }

    fn sample(&self, values: &[&[u8]]) -> Vec<u8> {
        let differing = self.columns.iter().zip(values).filter(|(column, _)| column.2.is_none());
        let lens = differing.flat_map(|(_, value)| u32::try_from(value.len()).unwrap().to_le_bytes());
        lens.chain(values.concat()).collect()
    }

    /// What the index says of a shard.
    pub(crate) fn said(&mut self, shard: usize) -> &mut Value {
        &mut self.shards[shard]
    }

    pub(crate) fn write(&self, folder: &Path) {
        for (file, bytes) in &self.files {
            fs::write(folder.join(file), bytes).unwrap();
        }
        let index = json!({"shards": self.shards, "version": 2});
        fs::write(folder.join("index.json"), index.to_string()).unwrap();
    }
}
