//! The objects of a test's server, and their versions.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use parking_lot::Mutex;

/// Objects by key. A clone is the same map.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectMap(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

/// An object of a list.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) size: usize,
    pub(crate) etag: String,
}

/// A page of a list.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) entries: Vec<Entry>,
    pub(crate) prefixes: Vec<String>,
    pub(crate) next: Option<String>,
}

/// Keys and prefixes of a page, as with S3.
const PAGE: usize = 1000;

impl ObjectMap {
    pub(crate) fn put(&self, key: &str, bytes: impl Into<Vec<u8>>) {
        self.0.lock().insert(key.to_owned(), bytes.into());
    }

    pub(crate) fn remove(&self, key: &str) {
        self.0.lock().remove(key);
    }

    pub(crate) fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.0.lock().get(key).cloned()
    }

    /// Lists as S3 does. The token is the last key or prefix of the page before.
    pub(crate) fn page(&self, prefix: &str, delimiter: Option<&str>, after: Option<&str>, limit: usize) -> Page {
        let limit = limit.min(PAGE);
        let mut page = Page::default();
        let mut last = String::new();
        for (key, bytes) in self.0.lock().iter().filter(|(key, _)| key.starts_with(prefix)) {
            let rest = &key[prefix.len()..];
            let folded = delimiter.and_then(|mark| rest.find(mark).map(|at| key[..=prefix.len() + at].to_owned()));
            let name = folded.clone().unwrap_or_else(|| key.clone());
            if after.is_some_and(|after| name.as_str() <= after) || page.prefixes.last() == Some(&name) {
                continue;
            }
            if page.entries.len() + page.prefixes.len() == limit {
                page.next = Some(last);
                break;
            }
            last.clone_from(&name);
            match folded {
                Some(folder) => page.prefixes.push(folder),
                None => page.entries.push(Entry { key: name, size: bytes.len(), etag: etag(bytes) }),
            }
        }
        page
    }
}

/// Changes with the bytes.
pub(crate) fn etag(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// The range of a header `bytes=1-3`, inside an object of this size.
pub(crate) fn range(header: &str, size: u64) -> Option<Range<u64>> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse::<u64>().ok()?);
    (first < size && first <= last).then(|| first..size.min(last + 1))
}
