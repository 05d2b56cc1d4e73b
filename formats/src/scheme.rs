//! A scheme: one way to name a dataset, and what it may be told about it.

use std::path::Path;

use forebay_sources::{Options, SourceError};
use percent_encoding::percent_decode_str;

use crate::address::Address;
use crate::beside::UNREAD;
use crate::given_sizes::SIZES;
use crate::limited::LIMIT;
use crate::opened::DatasetResult;
pub(super) use crate::option_key::OptionKey;
use crate::packed::ReadPacking;
use crate::roles::ROLES;
use crate::scan::Scan;
use crate::stores;

/// One way to name a dataset.
pub(super) struct Scheme {
    /// The text before the colon.
    pub name: &'static str,
    /// What it is, for messages.
    pub takes: &'static str,
    /// The options that it has.
    pub options: &'static [OptionKey],
    /// Whether it can give columns beside pictures and labels.
    pub has_columns: bool,
    /// Whether a path that exists, and has no scheme, is this.
    pub recognises: fn(&Address) -> bool,
    pub open: fn(&Address, &Options, &Scan) -> DatasetResult,
    /// Whether what a scan finds can be kept in an index.
    pub indexing: Indexing,
}

/// What an index of a scheme's datasets has.
#[derive(Clone, Copy)]
pub(super) enum Indexing {
    /// Records that are files.
    Files,
    /// Records that are ranges of files. This reads the packing from the index.
    Ranges(ReadPacking),
    /// There is none. The text says why, as a sentence.
    Never(&'static str),
}

/// The name of an option that matches every option without a name here.
pub(super) const ANY_OTHER: &str = "*";

impl Scheme {
    /// Whether it takes options of any name.
    pub(super) fn takes_any(&self) -> bool {
        self.options.iter().any(|option| option.name == ANY_OTHER)
    }

    /// Refuses options that the scheme does not have. Those of stores are options of a dataset that has objects.
    pub(super) fn check(&self, options: &Options, of_stores: &[OptionKey]) -> Result<(), SourceError> {
        let known = || self.options.iter().chain(of_stores).chain(&[LIMIT, ROLES, SIZES, UNREAD]);
        let has = |key: &str| known().any(|own| own.name == key || own.name == ANY_OTHER);
        if let Some(key) = options.own.keys().find(|key| !has(key)) {
            let (scheme, key) = (self.name, key.to_owned());
            return Err(SourceError::UnknownOption { scheme, key, known: explain(known()) });
        }
        if !options.columns.is_empty() && !self.has_columns {
            let (scheme, key) = (self.name, "columns".to_owned());
            return Err(SourceError::UnknownOption { scheme, key, known: explain(known()) });
        }
        Ok(())
    }
}

/// A sentence that says which options there are.
fn explain<'a>(options: impl Iterator<Item = &'a OptionKey>) -> String {
    let each: Vec<String> = options.map(|option| format!("\"{}\" ({})", option.name, option.help)).collect();
    format!("Its options are: {}.", each.join(", "))
}

/// The schemes and what each takes, for messages.
pub(super) fn known(schemes: &[Scheme]) -> String {
    let each = schemes.iter().map(|scheme| format!("\"{}:\" ({})", scheme.name, scheme.takes));
    each.collect::<Vec<_>>().join(", ")
}

/// Splits `csv:/a/b` and `csv:///a/b` into the scheme and the path.
pub(super) fn split(name: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = name.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'+' || byte == b'-';
    let named = scheme.len() > 1 && scheme.as_bytes()[0].is_ascii_lowercase() && scheme.bytes().all(plain);
    named.then(|| (scheme, rest.strip_prefix("//").unwrap_or(rest)))
}

/// Takes the options from behind the `?`. A path that exists as it is has none.
pub(super) fn with_query<'a>(rest: &'a str, options: &Options) -> Result<(&'a str, Options), SourceError> {
    let mut options = options.clone();
    let (path, query) = match rest.rsplit_once('?') {
        // A `?` without options behind it belongs to a pattern of files.
        Some(split) if split.1.contains('=') && (stores::is_url(rest) || !Path::new(rest).exists()) => split,
        _ => return Ok((rest, options)),
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(String::from);
        match (decoded(key), decoded(value)) {
            (Ok(key), Ok(value)) => options.own.set(key, value),
            _ => return Err(SourceError::bad_option(key, value, "UTF-8 in percent encoding")),
        }
    }
    Ok((path, options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_behind_the_last_question_mark_and_a_pattern_may_have_others() {
        let read = |rest: &'static str| {
            let (path, options) = with_query(rest, &Options::default()).unwrap();
            let own = |key: &str| options.own.get(key).map(str::to_owned);
            (path, own("a"), own("b c"))
        };
        assert_eq!(read("x.tar"), ("x.tar", None, None));
        assert_eq!(read("x-?.tar"), ("x-?.tar", None, None));
        assert_eq!(read("x-?.tar?a=1&b%20c=%2F&"), ("x-?.tar", Some("1".into()), Some("/".into())));
        assert!(matches!(with_query("x?a=%FF", &Options::default()), Err(SourceError::BadOption { .. })));
    }
}
