//! Where the hub redirected to. A large file is read in many ranges: the first asks the hub, which counts its requests, and
//! the others ask the file server at once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use reqwest::Url;

/// Where a file's bytes are for now.
#[derive(Clone)]
pub(super) struct Shortcut {
    /// It is signed, so it is as secret as a token.
    pub(super) url: Url,
    /// What the hub said of the bytes.
    pub(super) digest: Option<String>,
}

/// The shortcuts to the files of a dataset.
#[derive(Default)]
pub(super) struct Shortcuts(Mutex<HashMap<String, (Instant, Shortcut)>>);

/// How long a shortcut is taken. Its signature holds for an hour.
const LIFE: Duration = Duration::from_secs(600);
/// Shortcuts that are kept.
const LIMIT: usize = 4096;

impl Shortcuts {
    pub(super) fn find(&self, key: &str) -> Option<Shortcut> {
        let mut known = self.0.lock();
        let (since, shortcut) = known.get(key)?;
        if since.elapsed() < LIFE {
            return Some(shortcut.clone());
        }
        known.remove(key);
        None
    }

    pub(super) fn keep(&self, key: &str, shortcut: Shortcut) {
        let mut known = self.0.lock();
        if known.len() >= LIMIT {
            known.clear();
        }
        known.insert(key.to_owned(), (Instant::now(), shortcut));
    }

    pub(super) fn forget(&self, key: &str) {
        self.0.lock().remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_are_found_forgotten_and_not_too_many() {
        let shortcuts = Shortcuts::default();
        let shortcut = |digest: &str| Shortcut {
            url: Url::parse("https://cdn.example/a").unwrap(),
            digest: Some(digest.to_owned()),
        };
        let digest = |key: &str| shortcuts.find(key).and_then(|shortcut| shortcut.digest);
        shortcuts.keep("a", shortcut("1"));
        shortcuts.keep("a", shortcut("2"));
        assert_eq!((digest("a").as_deref(), digest("b")), (Some("2"), None));
        shortcuts.forget("a");
        assert_eq!(digest("a"), None);
        for number in 0..=LIMIT {
            shortcuts.keep(&number.to_string(), shortcut("3"));
        }
        assert_eq!(digest(&LIMIT.to_string()).as_deref(), Some("3"));
        assert_eq!(shortcuts.0.lock().len(), 1);
    }
}
