//! An object of a store, pinned to the version that was found.

use std::ops::Range;

use forebay_sources::{Container, Locator, Part};

/// An object, as a listing or [`Store::head`](crate::Store::head) found it. All reads of it are reads of this version.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Object {
    /// Its name in its store, without the store's root.
    pub key: String,
    /// Bytes that it has.
    pub size: u64,
    /// Its `ETag` without quotes; of a store without `ETag`s, `@` and when it was changed. None where the store tells
    /// neither: then only the size is compared.
    pub version: Option<String>,
}

/// What a version says about how it may be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pin<'a> {
    /// An `ETag` that the server itself compares: two objects that have it are equal byte for byte.
    Strong(&'a str),
    /// An `ETag` for which `If-Match` is never true. It is compared after the answer.
    Weak,
    /// A time, as the server wrote it.
    Time(&'a str),
    /// Nothing is known.
    Nothing,
}

impl Object {
    /// How the version is sent as a condition of a request.
    pub(crate) fn pin(&self) -> Pin<'_> {
        match self.version.as_deref() {
            None => Pin::Nothing,
            Some(version) => match version.strip_prefix('@') {
                Some(time) => Pin::Time(time),
                None if version.starts_with("W/") => Pin::Weak,
                None => Pin::Strong(version),
            },
        }
    }

    /// Whether an answer with this size and version is about the pinned object. What the answer does not say counts
    /// as equal if the request had the version as its condition. A weak `ETag` cannot be one.
    pub(crate) fn is(&self, size: Option<u64>, version: Option<&str>) -> bool {
        let same_version = match (self.version.as_deref(), version) {
            (Some(pinned), Some(found)) => pinned == found,
            (Some(_), None) => self.pin() != Pin::Weak,
            _ => true,
        };
        same_version && size.is_none_or(|size| size == self.size)
    }

    /// Where a range of the object is, under the URL of the object.
    pub(crate) fn locator(&self, url: String, range: &Range<u64>) -> Locator {
        let part = if *range == (0..self.size) {
            Part::Whole
        } else {
            Part::Bytes { offset: range.start, length: range.end.saturating_sub(range.start) }
        };
        Locator { container: Container::Object { url, version: self.version.clone() }, part }
    }
}

/// An `ETag` as it is kept: without quotes. Azure quotes them in headers and not in lists.
pub(crate) fn version_of_etag(etag: &str) -> Option<String> {
    let etag = etag.trim();
    let (weak, opaque) = match etag.strip_prefix("W/") {
        Some(opaque) => ("W/", opaque),
        None => ("", etag),
    };
    let opaque = opaque.strip_prefix('"').unwrap_or(opaque);
    let opaque = opaque.strip_suffix('"').unwrap_or(opaque);
    (!opaque.is_empty()).then(|| format!("{weak}{opaque}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(version: Option<&str>) -> Object {
        Object { key: "a".into(), size: 10, version: version.map(str::to_owned) }
    }

    #[test]
    fn rule_54_another_size_or_version_is_another_object() {
        let pinned = object(Some("7f"));
        assert!(pinned.is(Some(10), Some("7f")) && pinned.is(None, None));
        assert!(!pinned.is(Some(11), Some("7f")) && !pinned.is(Some(10), Some("80")) && !pinned.is(Some(11), None));
        let weak = object(Some("W/7f"));
        assert!(weak.is(Some(10), Some("W/7f")) && !weak.is(Some(10), None), "no condition was sent");
        assert!(object(None).is(Some(10), Some("80")) && !object(None).is(Some(9), None));
    }

    #[test]
    fn an_etag_is_kept_without_quotes_and_a_weak_one_is_no_condition() {
        assert_eq!(version_of_etag("\"7f\"").as_deref(), Some("7f"));
        assert_eq!(version_of_etag(" 0x8D ").as_deref(), Some("0x8D"));
        assert_eq!(version_of_etag("W/\"7f\"").as_deref(), Some("W/7f"));
        assert_eq!((version_of_etag(""), version_of_etag("\"\"")), (None, None));
        assert_eq!(object(Some("7f")).pin(), Pin::Strong("7f"));
        assert_eq!(object(Some("W/7f")).pin(), Pin::Weak);
        assert_eq!(object(Some("@Sun, 22 Nov 2026")).pin(), Pin::Time("Sun, 22 Nov 2026"));
        assert_eq!(object(None).pin(), Pin::Nothing);
    }

    #[test]
    fn the_whole_object_has_no_range_in_its_locator() {
        let url = || "s3://b/a".to_owned();
        assert_eq!(object(Some("7f")).locator(url(), &(0..10)).to_string(), "s3://b/a (version 7f)");
        assert_eq!(object(None).locator(url(), &(2..5)).to_string(), "s3://b/a, 3 bytes from byte 2");
    }
}
