//! The objects below a prefix, as they were listed: sorted, without an allocation for each.

use std::ops::Range;

use forebay_objects::Object;

use crate::paths::Paths;

/// Objects sorted by the bytes of their keys.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    keys: Paths,
    sizes: Vec<u64>,
    /// Empty where there is none.
    versions: Paths,
}

/// What is right below a folder of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedEntry {
    pub name: String,
    pub is_folder: bool,
}

impl Listed {
    /// `objects` are sorted.
    pub(crate) fn new(objects: Vec<Object>) -> Self {
        let mut listed = Self::default();
        for object in objects {
            listed.keys.push(object.key.as_bytes());
            listed.sizes.push(object.size);
            listed.versions.push(object.version.unwrap_or_default().as_bytes());
        }
        listed
    }

    /// The key of an object.
    pub(crate) fn key(&self, index: usize) -> &[u8] {
        self.keys.bytes(index)
    }

    /// The object with this key.
    pub(crate) fn find(&self, key: &str) -> Option<Object> {
        let index = self.before(key.as_bytes());
        if index == self.keys.len() || self.key(index) != key.as_bytes() {
            return None;
        }
        let version = String::from_utf8_lossy(self.versions.bytes(index)).into_owned();
        let version = Some(version).filter(|version| !version.is_empty());
        Some(Object { key: key.to_owned(), size: self.sizes[index], version })
    }

    /// The objects in a folder and in the folders below it. `folder` is a key without a slash at its end.
    pub(crate) fn below(&self, folder: &str) -> Range<usize> {
        if folder.is_empty() {
            return 0..self.keys.len();
        }
        // The byte behind a slash is a zero.
        self.before(format!("{folder}/").as_bytes())..self.before(format!("{folder}0").as_bytes())
    }

    /// The objects in a folder and in the folders below it, by their names from there.
    pub(crate) fn names_below(&self, folder: &str) -> impl Iterator<Item = &[u8]> {
        let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
        self.below(folder).map(move |index| &self.key(index)[start..])
    }

    /// The entries right below a folder, folders with what is in them as one. Looks at few of the keys.
    pub(crate) fn entries(&self, folder: &str) -> Vec<ListedEntry> {
        let below = self.below(folder);
        let start = if folder.is_empty() { 0 } else { folder.len() + 1 };
        let (mut entries, mut at) = (Vec::new(), below.start);
        while at < below.end {
            let rest = &self.key(at)[start..];
            let slash = rest.iter().position(|&byte| byte == b'/');
            if slash == Some(0) {
                // An object without a name is in no folder that anybody could name.
                at += 1;
                continue;
            }
            let name = String::from_utf8_lossy(&rest[..slash.unwrap_or(rest.len())]).into_owned();
            at = match slash {
                None => at + 1,
                Some(slash) => {
                    let inside = String::from_utf8_lossy(&self.key(at)[..start + slash]).into_owned();
                    self.below(&inside).end.max(at + 1)
                }
            };
            entries.push(ListedEntry { name, is_folder: slash.is_some() });
        }
        entries
    }

    /// How many keys are before this one.
    fn before(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(keys: &[&str]) -> Listed {
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        let object = |key: &&str| Object { key: (*key).to_owned(), size: key.len() as u64, version: None };
        Listed::new(keys.iter().map(object).collect())
    }

    #[test]
    fn a_folder_has_what_is_below_it_and_not_what_only_begins_like_it() {
        let listed = listed(&["a.tar", "a/1.jpg", "a/b/2.jpg", "a/b/3.jpg", "a0", "ab/4.jpg", "c"]);
        let below = |folder: &str| {
            let keys = listed.below(folder).map(|index| String::from_utf8_lossy(listed.key(index)).into_owned());
            keys.collect::<Vec<_>>()
        };
        assert_eq!(below("a"), ["a/1.jpg", "a/b/2.jpg", "a/b/3.jpg"]);
        assert_eq!(below("a/b"), ["a/b/2.jpg", "a/b/3.jpg"]);
        assert_eq!((below("").len(), below("x").len(), below("c").len()), (7, 0, 0));
        let entries = |folder: &str| {
            let entry = |entry: ListedEntry| (entry.name, entry.is_folder);
            listed.entries(folder).into_iter().map(entry).collect::<Vec<_>>()
        };
        let named = |entries: &[(&str, bool)]| {
            entries.iter().map(|(name, is_folder)| ((*name).to_owned(), *is_folder)).collect::<Vec<_>>()
        };
        assert_eq!(entries("a"), named(&[("1.jpg", false), ("b", true)]));
        assert_eq!(entries(""), named(&[("a.tar", false), ("a", true), ("a0", false), ("ab", true), ("c", false)]));
    }

    #[test]
    fn an_object_is_found_with_its_size_and_version() {
        let mut objects = vec![Object { key: "b".into(), size: 3, version: Some("7f".into()) }];
        objects.push(Object { key: "b c%2F+".into(), size: 0, version: None });
        let listed = Listed::new(objects.clone());
        assert_eq!(listed.find("b"), Some(objects[0].clone()));
        assert_eq!(listed.find("b c%2F+"), Some(objects[1].clone()));
        assert_eq!((listed.find("a"), listed.find("c")), (None, None));
    }

    #[test]
    fn keys_with_empty_parts_are_no_entries_and_hide_none() {
        let listed = listed(&["a//x", "a/y", "/z"]);
        let names = |folder: &str| listed.entries(folder).into_iter().map(|entry| entry.name).collect::<Vec<_>>();
        assert_eq!((names("a"), names("")), (vec!["y".to_owned()], vec!["a".to_owned()]));
    }
}
