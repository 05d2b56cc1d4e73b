//! What a URL of the page means, and the URL of what is linked. Links are relative and have no folders, so none has the token.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What can be asked for. Lists come in parts, which are numbered from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Route {
    /// All streams.
    Overview {
        part: usize,
    },
    /// A stream of the daemon with this process number.
    Stream {
        daemon: u32,
        name: String,
    },
    /// The bad records of a stream.
    Quarantine {
        daemon: u32,
        name: String,
        part: usize,
    },
    /// The bad records of a stream as small pictures.
    BadPictures {
        daemon: u32,
        name: String,
        part: usize,
    },
    /// The pictures of the batch that was made last.
    Batch {
        daemon: u32,
        name: String,
    },
    /// An image of one of these, by its name.
    Image {
        name: String,
    },
    /// The bad records of a ledger of the coordinator.
    LedgerQuarantine {
        ledger: String,
        part: usize,
    },
    /// The daemons that the coordinator knows.
    Nodes {
        part: usize,
    },
    /// The coordinator's ledgers.
    Ledgers {
        part: usize,
    },
    Style,
    Script,
}

/// What is escaped in a value of a query.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Rows of a list that are shown together.
pub(super) const ROWS: usize = 100;
/// Pictures that are shown together.
pub(super) const PICTURES: usize = 24;
/// Most parts of a list that are counted.
const PARTS: usize = 1_000_000;
/// Longest name that is looked for, in bytes. Names of streams and ledgers are shorter.
const NAME: usize = 1024;

impl Route {
    /// Of a path with its query. None if there is no such page.
    pub(super) fn of(target: &str) -> Option<Self> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let value = |key: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let (_, value) = pairs.find(|(name, _)| *name == key)?;
            let value = percent_decode_str(value).decode_utf8().ok()?;
            (value.len() <= NAME).then(|| value.into_owned())
        };
        let part = match value("part") {
            None => 1,
            Some(text) => text.parse().ok().filter(|part| (1..=PARTS).contains(part))?,
        };
        let daemon = || value("daemon")?.parse().ok();
        Some(match path {
            "/" => Self::Overview { part },
            "/stream" => Self::Stream { daemon: daemon()?, name: value("name")? },
            "/quarantine" => match value("ledger") {
                Some(ledger) => Self::LedgerQuarantine { ledger, part },
                None => Self::Quarantine { daemon: daemon()?, name: value("name")?, part },
            },
            "/bad-pictures" => Self::BadPictures { daemon: daemon()?, name: value("name")?, part },
            "/batch" => Self::Batch { daemon: daemon()?, name: value("name")? },
            "/image" => Self::Image { name: value("name")? },
            "/nodes" => Self::Nodes { part },
            "/ledgers" => Self::Ledgers { part },
            "/style.css" => Self::Style,
            "/script.js" => Self::Script,
            _ => return None,
        })
    }

    /// Another part of the same list.
    pub(super) fn with_part(&self, number: usize) -> Self {
        let mut other = self.clone();
        match &mut other {
            Self::Overview { part }
            | Self::Quarantine { part, .. }
            | Self::BadPictures { part, .. }
            | Self::LedgerQuarantine { part, .. }
            | Self::Nodes { part }
            | Self::Ledgers { part } => *part = number,
            Self::Stream { .. } | Self::Batch { .. } | Self::Image { .. } | Self::Style | Self::Script => {}
        }
        other
    }

    /// Whether it is a list that is long to ask for.
    pub(super) const fn is_list_of_bad(&self) -> bool {
        matches!(self, Self::Quarantine { .. } | Self::LedgerQuarantine { .. })
    }

    /// Whether it is renewed less often than others.
    pub(super) const fn is_long(&self) -> bool {
        self.is_list_of_bad() || self.has_pictures()
    }

    /// Whether it has pictures, which take long to draw.
    pub(super) const fn has_pictures(&self) -> bool {
        matches!(self, Self::BadPictures { .. } | Self::Batch { .. })
    }
}

/// The relative URL.
impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |text: &str| utf8_percent_encode(text, VALUE).to_string();
        match self {
            Self::Overview { part } => write!(f, "./?part={part}"),
            Self::Stream { daemon, name } => write!(f, "stream?daemon={daemon}&name={}", value(name)),
            Self::Quarantine { daemon, name, part } => {
                write!(f, "quarantine?daemon={daemon}&name={}&part={part}", value(name))
            }
            Self::BadPictures { daemon, name, part } => {
                write!(f, "bad-pictures?daemon={daemon}&name={}&part={part}", value(name))
            }
            Self::Batch { daemon, name } => write!(f, "batch?daemon={daemon}&name={}", value(name)),
            Self::Image { name } => write!(f, "image?name={}", value(name)),
            Self::LedgerQuarantine { ledger, part } => write!(f, "quarantine?ledger={}&part={part}", value(ledger)),
            Self::Nodes { part } => write!(f, "nodes?part={part}"),
            Self::Ledgers { part } => write!(f, "ledgers?part={part}"),
            Self::Style => f.write_str("style.css"),
            Self::Script => f.write_str("script.js"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_to_what_it_was_made_of() {
        let name = || "a\"<&?=%20 +\u{202e}ü (shard 0 of 2)".to_owned();
        for route in [
            Route::Overview { part: 3 },
            Route::Stream { daemon: 7, name: name() },
            Route::Quarantine { daemon: 7, name: name(), part: 2 },
            Route::BadPictures { daemon: 7, name: name(), part: 2 },
            Route::Batch { daemon: 7, name: name() },
            Route::Image { name: name() },
            Route::LedgerQuarantine { ledger: name(), part: 1 },
            Route::Nodes { part: 1 },
            Route::Ledgers { part: PARTS },
            Route::Style,
            Route::Script,
        ] {
            let link = route.to_string();
            assert!(link.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"'#".contains(&byte)), "{link}");
            let target = format!("/{}", link.trim_start_matches("./"));
            assert_eq!(Route::of(&target), Some(route), "{link}");
        }
        assert_eq!(Route::Nodes { part: 1 }.with_part(4), Route::Nodes { part: 4 });
    }

    #[test]
    fn what_is_no_page_is_nothing() {
        for target in [
            "",
            "/nothing",
            "/../etc/passwd",
            "//",
            "/?part=0",
            "/?part=-1",
            "/?part=9999999999999",
            "/stream",
            "/stream?daemon=x&name=a",
            "/stream?daemon=1",
            "/stream?daemon=1&name=%ff",
            "/style.css/",
            "/batch?daemon=1",
            "/image",
            "/bad-pictures?daemon=1&name=a&part=0",
        ] {
            assert_eq!(Route::of(target), None, "{target}");
        }
        let long = format!("/stream?daemon=1&name={}", "a".repeat(NAME + 1));
        assert_eq!(Route::of(&long), None);
        assert_eq!(Route::of("/?other=1&part"), Some(Route::Overview { part: 1 }));
    }
}
