//! The header `Content-Range` of an answer. A server writes it, so it may say anything.

use std::ops::Range;

/// Which bytes of an object an answer has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    /// The bytes; never empty.
    pub(crate) bytes: Range<u64>,
    /// The size of the whole object, if the server tells it.
    pub(crate) size: Option<u64>,
}

/// Digits of the largest number that is read.
const DIGITS_LIMIT: usize = 19;

impl ContentRange {
    /// Reads `bytes FIRST-LAST/SIZE` or `bytes FIRST-LAST/*`. None for any other text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (unit, rest) = text.trim().split_once(' ')?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (range, size) = rest.trim_start().split_once('/')?;
        let (first, last) = range.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let size = if size == "*" { None } else { Some(number(size)?) };
        let bytes = first..last.checked_add(1)?;
        let fits = size.is_none_or(|size| bytes.end <= size);
        (!bytes.is_empty() && fits).then_some(Self { bytes, size })
    }
}

/// Digits and nothing else: no sign, no space.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.len() <= DIGITS_LIMIT && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_range_with_and_without_a_size() {
        let parsed = |text| ContentRange::parse(text);
        assert_eq!(parsed("bytes 0-499/1234"), Some(ContentRange { bytes: 0..500, size: Some(1234) }));
        assert_eq!(parsed("Bytes 5-5/*"), Some(ContentRange { bytes: 5..6, size: None }));
        assert_eq!(parsed(" bytes  7-9/10 "), Some(ContentRange { bytes: 7..10, size: Some(10) }));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for text in [
            "",
            "bytes",
            "bytes */1234",
            "bytes 0-499",
            "bytes 500-499/1234",
            "bytes 0-1234/1234",
            "bytes -5-9/10",
            "bytes +5-9/10",
            "bytes 5- 9/10",
            "bytes 0-9/+10",
            "bytes 0-9/",
            "items 0-9/10",
            "bytes 0-18446744073709551615/*",
            "bytes 0-99999999999999999999/*",
            "bytes 0-9/10/11",
            "bytes \u{663}-9/10",
        ] {
            assert_eq!(ContentRange::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_what_is_read_can_be(text in "[bytes ]{0,7}[0-9*/ +-]{0,40}") {
            if let Some(range) = ContentRange::parse(&text) {
                prop_assert!(range.bytes.start < range.bytes.end);
                prop_assert!(range.size.is_none_or(|size| range.bytes.end <= size));
            }
        }

        #[test]
        fn what_a_server_writes_is_read(first in 0_u64..1 << 40, length in 1_u64..1 << 40, more in 0_u64..1 << 40) {
            let size = first + length + more;
            let text = format!("bytes {first}-{}/{size}", first + length - 1);
            let expected = ContentRange { bytes: first..first + length, size: Some(size) };
            prop_assert_eq!(ContentRange::parse(&text), Some(expected));
        }
    }
}
