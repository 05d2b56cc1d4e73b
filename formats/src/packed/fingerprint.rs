//! The fingerprint of a dataset of ranges of files (semantics rule 2).

use forebay_sources::Part;

use super::PackedParts;
use crate::address::Address;

/// Files go in by their path below the dataset's folder, so that the same files elsewhere are the same dataset.
pub(crate) fn fingerprint(name: &Address, parts: &PackedParts) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"forebay packed dataset 1\0");
    let folder = if name.is_folder() { name.clone() } else { name.parent() };
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for file in &parts.files {
        let path = file.path().strip_prefix(folder.path()).unwrap_or_else(|_| file.path());
        part(path.as_os_str().as_encoded_bytes());
        part(&file.stamp.len.to_le_bytes());
    }
    part(b"spans");
    for span in parts.spans.iter() {
        part(&span.file.to_le_bytes());
        part(&span.offset.to_le_bytes());
        part(&span.len.to_le_bytes());
    }
    part(b"members");
    for (record, span) in (0..).zip(parts.spans.iter()) {
        if let Part::Member(name) = parts.packing.part(record, &span) {
            part(name.as_encoded_bytes());
        }
    }
    parts.packing.digest(&mut part);
    parts.masks.digest(&mut part);
    part(b"grains");
    parts.grains.iter().for_each(|start| part(&start.to_le_bytes()));
    part(b"labels");
    parts.labels.iter().for_each(|label| part(&label.to_le_bytes()));
    part(b"classes");
    parts.classes.iter().for_each(|class| part(class.as_bytes()));
    part(b"targets");
    parts.targets.digest(&mut part);
    *hasher.finalize().as_bytes()
}
