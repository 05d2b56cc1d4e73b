//! A store of objects as a tree of folders, and what one dataset knows about it: each object is looked up once, and what was
//! found is what the dataset means from then on.

mod listed;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forebay_objects::{Object, Scheme, Store, is_object_url};
use forebay_sources::{ObjectRoots, ReadError, ReadErrorKind, Retry, SourceError, is_straight};
use parking_lot::Mutex;

pub(crate) use self::listed::{Listed, ListedEntry};
use crate::progress::Progress;
use crate::thread_pool;

/// A store, as one dataset sees it.
pub(crate) struct Tree {
    store: Arc<Store>,
    /// What may be read of it.
    allowed: ObjectRoots,
    known: Mutex<Known>,
    /// The first outage that a look at the store met. A caller that only asks whether something exists would take it for
    /// a no.
    fault: Mutex<Option<SourceError>>,
}

/// What was found so far.
#[derive(Default)]
struct Known {
    /// Folders by their keys, with all that is below.
    listed: Vec<(String, Arc<Listed>)>,
    /// What came of looking objects up one by one.
    objects: HashMap<String, Looked>,
    /// First bytes of objects.
    beginnings: HashMap<String, Vec<u8>>,
}

/// The object with a key, if there is one, or that it may not be looked at.
type Looked = Result<Option<Object>, ReadError>;

/// Objects that are looked up one by one at the same time.
const LOOKS: usize = 64;
/// So few objects are looked up one by one even if the store can list.
const FEW: usize = 32;
/// Objects of a list for each one that is looked for. A page of a list has a thousand, and costs as much as a look at one.
const LISTED_FOR_ONE: u64 = 1000;
/// First bytes of an object that are read at once, and how many objects they are kept of.
const BEGINNING: u64 = 64 << 10;
const BEGINNINGS: usize = 64;

impl Tree {
    pub(crate) fn new(store: Arc<Store>, allowed: ObjectRoots) -> Self {
        Self { store, allowed, known: Mutex::default(), fault: Mutex::default() }
    }

    pub(crate) fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// Whether the store can say what is in a folder.
    pub(crate) fn can_list(&self) -> bool {
        self.store.scheme() != Scheme::Web
    }

    /// The key of a URL. Nothing if it leads out of what may be read.
    pub(crate) fn key(&self, url: &Path) -> Option<String> {
        let url = url.to_str().filter(|url| self.allowed.has(url))?;
        // A file in the dataset may have named it.
        if self.store.scheme() == Scheme::Web && !is_straight(url) {
            return None;
        }
        let key = if url == self.store.root().trim_end_matches('/') { Some("") } else { self.store.key(url) };
        key.map(str::to_owned)
    }

    /// The URL without the query of a signed one: it reaches logs, the quarantine and the ledger.
    pub(crate) fn shown(&self, url: &Path) -> String {
        let url = url.to_string_lossy();
        match self.store.key(&url) {
            Some(key) => self.store.url(key),
            None if self.can_list() => url.into_owned(),
            None => url.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }

    /// A path of an error, which may be a URL, as it may be shown.
    pub(crate) fn shown_path(&self, path: &Path) -> PathBuf {
        let is_url = path.to_str().is_some_and(is_object_url);
        if is_url { self.shown(path).into() } else { path.to_owned() }
    }

    /// The object with this key, if there is one.
    ///
    /// # Errors
    /// The store fails, or does not say whether there is one.
    pub(crate) fn object(&self, key: &str) -> Result<Option<Object>, ReadError> {
        if key.is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.known.lock().object(key) {
            return known;
        }
        let looked = match self.store.head(key) {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.kind == ReadErrorKind::Missing => Ok(None),
            Err(outage) if outage.retry() == Retry::Later => return Err(outage),
            Err(error) => Err(error),
        };
        self.known.lock().objects.insert(key.to_owned(), looked.clone());
        looked
    }

    /// All that is below a folder, and perhaps more. Where the store cannot list, nothing is.
    ///
    /// # Errors
    /// The store fails, or does not allow it.
    pub(crate) fn listed(&self, folder: &str) -> Result<Arc<Listed>, SourceError> {
        Ok(self.listed_within(folder, u64::MAX)?.unwrap_or_default())
    }

    /// The same; nothing if the folder has more than `most` objects.
    fn listed_within(&self, folder: &str, most: u64) -> Result<Option<Arc<Listed>>, SourceError> {
        if !self.can_list() {
            return Ok(Some(Arc::default()));
        }
        if let Some(listed) = self.known.lock().listed(folder) {
            return Ok(Some(listed));
        }
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let progress = Progress::counting("listing objects", "objects");
        let mut counted = 0;
        let objects = self.store.list_within(&prefix, most, &mut |count| {
            progress.advance(count.saturating_sub(counted));
            counted = count;
        })?;
        let Some(objects) = objects else { return Ok(None) };
        let listed = Arc::new(Listed::new(objects));
        self.known.lock().listed.push((folder.to_owned(), Arc::clone(&listed)));
        Ok(Some(listed))
    }

    /// Looks many objects up at once, by a list of the folder that they share, or side by side if that has far more objects.
    ///
    /// # Errors
    /// The store fails.
    pub(crate) fn learn(&self, keys: &[String]) -> Result<(), SourceError> {
        self.learn_by(keys, LISTED_FOR_ONE)
    }

    fn learn_by(&self, keys: &[String], listed_for_one: u64) -> Result<(), SourceError> {
        let unknown: Vec<&String> = {
            let known = self.known.lock();
            keys.iter().filter(|key| known.object(key).is_none()).collect()
        };
        if unknown.len() > FEW && self.can_list() {
            match self.listed_within(shared_folder(&unknown), listed_for_one.saturating_mul(unknown.len() as u64)) {
                // A user who may not list a store may still read objects whose names it knows.
                Ok(None) | Err(SourceError::Store { .. }) => {}
                listed => return listed.map(drop),
            }
        }
        thread_pool::in_order(
            unknown.len(),
            LOOKS,
            |index| match self.object(unknown[index]) {
                Err(outage) if outage.retry() == Retry::Later => Err(SourceError::Outage(outage)),
                // If an object may not be looked at, that matters only to its own record.
                _ => Ok(()),
            },
            |_, ()| Ok(()),
        )
    }

    /// The first bytes of an object, `most` of them at most.
    ///
    /// # Errors
    /// There is none, or the store fails.
    pub(crate) fn beginning(&self, object: &Object, most: u64) -> Result<Vec<u8>, ReadError> {
        let wanted = usize::try_from(most.min(object.size)).unwrap_or(usize::MAX);
        if let Some(bytes) = self.known.lock().beginnings.get(&object.key).filter(|bytes| bytes.len() >= wanted) {
            return Ok(bytes[..wanted].to_vec());
        }
        let mut bytes = Vec::new();
        if object.size > 0 {
            self.store.read(object, 0..object.size.min(most.max(BEGINNING)), u64::MAX, &mut bytes)?;
        }
        let beginning = bytes[..wanted.min(bytes.len())].to_vec();
        let mut known = self.known.lock();
        if known.beginnings.len() >= BEGINNINGS {
            known.beginnings.clear();
        }
        known.beginnings.insert(object.key.clone(), bytes);
        Ok(beginning)
    }

    /// Keeps an outage until the dataset has been opened. An object that may not be looked at counts as absent: stores
    /// that may not be listed give the same answer for objects that do not exist.
    pub(crate) fn note(&self, fault: SourceError) {
        if matches!(fault, SourceError::Outage(_)) {
            self.fault.lock().get_or_insert(fault);
        }
    }

    /// The fault that was kept.
    pub(crate) fn fault(&self) -> Option<SourceError> {
        self.fault.lock().take()
    }

    /// Forgets all objects, because the dataset already knows the versions of those that it reads.
    pub(crate) fn forget(&self) {
        *self.known.lock() = Known::default();
    }

    /// Forgets what only recognition and the scan need.
    pub(crate) fn settle(&self) {
        self.known.lock().beginnings = HashMap::new();
    }
}

impl Known {
    /// What is known of a key; nothing if it was not looked up.
    fn object(&self, key: &str) -> Option<Looked> {
        if let Some(known) = self.objects.get(key) {
            return Some(known.clone());
        }
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.listed(folder).map(|listed| Ok(listed.find(key)))
    }

    /// A list that has all of a folder.
    fn listed(&self, folder: &str) -> Option<Arc<Listed>> {
        let covers = |of: &str| {
            of.is_empty() || of == folder || folder.strip_prefix(of).is_some_and(|rest| rest.starts_with('/'))
        };
        self.listed.iter().find(|(of, _)| covers(of)).map(|(_, listed)| Arc::clone(listed))
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree").field("root", &self.store.root()).finish_non_exhaustive()
    }
}

/// The deepest folder that has all of these keys below it.
fn shared_folder<'a>(keys: &[&'a String]) -> &'a str {
    let Some((first, others)) = keys.split_first() else { return "" };
    let mut shared = first.rsplit_once('/').map_or("", |(folder, _)| folder);
    for key in others {
        while !shared.is_empty() && !key.strip_prefix(shared).is_some_and(|rest| rest.starts_with('/')) {
            shared = shared.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
    }
    shared
}

#[cfg(test)]
mod tests {
    use forebay_sources::Options;

    use super::*;
    use crate::stores;
    use crate::tests::loopback::{Changes, Loopback};

    #[test]
    fn the_shared_folder_of_keys_ends_at_a_slash() {
        let shared = |keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            shared_folder(&keys.iter().collect::<Vec<_>>()).to_owned()
        };
        assert_eq!(shared(&["a/b/1", "a/b/2", "a/b/c/3"]), "a/b");
        assert_eq!(shared(&["a/b/1", "a/bc/2"]), "a");
        assert_eq!(shared(&["a/1", "b/1"]), "");
        assert_eq!((shared(&["x"]), shared(&[])), (String::new(), String::new()));
    }

    #[test]
    fn a_few_objects_of_a_large_folder_are_looked_up_and_not_listed() {
        let dir = tempfile::tempdir().unwrap();
        (0..300).for_each(|number| std::fs::write(dir.path().join(number.to_string()), "a").unwrap());
        let store = Loopback::of(dir.path(), Changes::Tagged);
        let keys: Vec<String> = (0..40).map(|number: u32| number.to_string()).collect();
        let known = |listed_for_one| {
            let address = stores::open("s3://data/", &store.options(&Options::default())).unwrap();
            let tree = address.tree().unwrap();
            tree.learn_by(&keys, listed_for_one).unwrap();
            let known = tree.known.lock();
            assert!(keys.iter().all(|key| matches!(known.object(key), Some(Ok(Some(_))))));
            (known.objects.len(), known.listed.len())
        };
        assert_eq!(known(8), (0, 1), "320 objects are allowed, and there are 300");
        assert_eq!(known(7), (40, 0));
    }

    #[test]
    fn rule_54_no_error_of_a_dataset_in_a_store_has_the_query_of_a_signed_url() {
        let address = stores::open("https://elsewhere/list.txt", &Options::default()).unwrap();
        let told = |path: &str| {
            let missing = Err::<(), _>(SourceError::Missing { path: path.into() });
            address.settled(missing).unwrap_err().to_string()
        };
        for path in ["https://elsewhere/a.jpg?sig=hunter2", "https://other/a.jpg?sig=hunter2"] {
            let told = told(path);
            assert!(told.contains("/a.jpg\"") && !told.contains("hunter"), "{told}");
        }
        assert!(told("/indexes/a?b#c.arrow").contains("/indexes/a?b#c.arrow"), "a path of this machine is no URL");
    }

    #[test]
    fn a_list_of_a_folder_tells_of_its_keys_alone() {
        let object = Object { key: "a/1".into(), size: 1, version: None };
        let mut known = Known::default();
        known.listed.push(("a".into(), Arc::new(Listed::new(vec![object.clone()]))));
        assert_eq!(known.object("a/1"), Some(Ok(Some(object))));
        assert_eq!(known.object("a/b/1"), Some(Ok(None)));
        assert_eq!((known.object("ab/1"), known.object("a")), (None, None));
    }
}
