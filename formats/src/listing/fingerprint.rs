//! The fingerprint of a list of files (semantics rule 2).

use std::io::{BufWriter, Write as _};

use super::Found;

/// Each part is preceded by its length, so that no two datasets give the same bytes.
pub(super) fn fingerprint(found: &Found, sizes: &[u64]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"forebay dataset 1\0");
    let mut hasher = BufWriter::with_capacity(AT_ONCE, hasher);
    let number = |hasher: &mut BufWriter<blake3::Hasher>, value: u64| add(hasher, &value.to_le_bytes());
    number(&mut hasher, found.paths.len() as u64);
    for (path, size) in found.paths.iter().zip(sizes) {
        number(&mut hasher, path.len() as u64);
        add(&mut hasher, path);
        number(&mut hasher, *size);
    }
    number(&mut hasher, found.labels.len() as u64);
    for label in &found.labels {
        add(&mut hasher, &label.to_le_bytes());
    }
    number(&mut hasher, found.classes.len() as u64);
    for class in &found.classes {
        number(&mut hasher, class.len() as u64);
        add(&mut hasher, class.as_bytes());
    }
    // A dataset without columns keeps the fingerprint that it had before there were columns.
    if !found.targets.schema().is_empty() {
        found.targets.digest(&mut |bytes| {
            number(&mut hasher, bytes.len() as u64);
            add(&mut hasher, bytes);
        });
    }
    *hasher.into_inner().expect(NEVER_FAILS).finalize().as_bytes()
}

/// Bytes that are hashed at once: many at once are faster.
const AT_ONCE: usize = 64 << 10;
const NEVER_FAILS: &str = "a hash takes all bytes";

fn add(hasher: &mut BufWriter<blake3::Hasher>, bytes: &[u8]) {
    hasher.write_all(bytes).expect(NEVER_FAILS);
}
