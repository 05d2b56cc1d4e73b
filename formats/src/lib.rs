//! The dataset formats: all sources, and the table of schemes that opens one of them by its path or URL.
//!
//! To add a source, add its file here, a line in `SCHEMES` and a line in `suite.rs`.
#![forbid(unsafe_code)]

mod csv;
mod files;
mod folder;
mod listing;
mod paths;
mod progress;
#[cfg(test)]
mod suite;
mod witnesses;

use std::path::Path;

use forebay_sources::{Options, Source, SourceError};

/// A dataset, or why it cannot be opened.
pub type Opened = Result<Box<dyn Source>, SourceError>;

/// One way to name a dataset.
struct Scheme {
    /// What stands before the colon.
    name: &'static str,
    /// What it is, for messages.
    takes: &'static str,
    /// Whether a path that exists, and has no scheme, is this.
    recognises: fn(&Path) -> bool,
    open: fn(&Path, &Options) -> Opened,
}

const SCHEMES: &[Scheme] = &[folder::SCHEME, csv::SCHEME, files::SCHEME];

/// Opens a dataset by its path or URL: `/data/train`, `folder:/data/train`, `csv:/data/train.csv`, `files:list.txt`.
///
/// For a path without a scheme, the format is detected from the file or folder. If a file or folder with exactly this
/// name exists, the name is a path even if it looks like a URL.
pub fn open(name: &str, options: &Options) -> Opened {
    if let Some(list) = &options.files {
        return files::from_list(list, options);
    }
    let as_path = Path::new(name);
    if !as_path.exists()
        && let Some((scheme, rest)) = split_scheme(name)
    {
        let scheme = SCHEMES.iter().find(|known| known.name == scheme).ok_or_else(|| SourceError::UnknownScheme {
            name: name.to_owned(),
            known: SCHEMES
                .iter()
                .map(|known| format!("\"{}:\" ({})", known.name, known.takes))
                .collect::<Vec<_>>()
                .join(", "),
        })?;
        return (scheme.open)(Path::new(rest), options);
    }
    if let Err(error) = as_path.metadata() {
        return Err(SourceError::of_path(as_path, error));
    }
    match SCHEMES.iter().find(|known| (known.recognises)(as_path)) {
        Some(scheme) => (scheme.open)(as_path, options),
        None => Err(SourceError::Unrecognised {
            path: as_path.to_owned(),
            known: SCHEMES.iter().map(|known| known.takes).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Splits `csv:/a/b` and `csv:///a/b` into the scheme and the path.
fn split_scheme(name: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = name.split_once(':')?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'+' || byte == b'-';
    let named = scheme.len() > 1 && scheme.as_bytes()[0].is_ascii_lowercase() && scheme.bytes().all(plain);
    named.then(|| (scheme, rest.strip_prefix("//").unwrap_or(rest)))
}

#[cfg(test)]
mod tests;
