//! Which objects of stores may be read. A process that serves other users reads with credentials that are not theirs.

/// Which objects of stores may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ObjectRoots {
    /// Any: the user who names a URL is the one whose credentials are used.
    #[default]
    Anywhere,
    /// Those whose URL is one of these, or is below one of them.
    Below(Vec<String>),
}

impl ObjectRoots {
    /// Whether the object or folder of objects with this URL may be read.
    ///
    /// ```
    /// use forebay_sources::ObjectRoots;
    ///
    /// let roots = ObjectRoots::Below(vec!["s3://pictures/train".into()]);
    /// assert!(roots.has("s3://pictures/train/0.tar"));
    /// assert!(!roots.has("s3://pictures/training/0.tar") && !roots.has("s3://pictures/train/../0.tar"));
    /// ```
    pub fn has(&self, url: &str) -> bool {
        let Self::Below(roots) = self else { return true };
        let below = |root: &String| {
            let root = root.trim_end_matches('/');
            url.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        is_straight(url) && roots.iter().any(below)
    }
}

/// Whether the object with this URL is where the text of the URL says. No part of it leads upwards, also none that a client or
/// a server decodes first, and in the URL of an HTTP server nothing is taken for a slash, or left out.
///
/// ```
/// use forebay_sources::is_straight;
///
/// assert!(is_straight("https://host/a/b.jpg?signature=x/../y") && is_straight("s3://bucket/a\\b"));
/// assert!(!is_straight("https://host/a/%2e%2e/b") && !is_straight("https://host/a/..\\b"));
/// ```
pub fn is_straight(url: &str) -> bool {
    let mut path = url.to_ascii_lowercase();
    if path.starts_with("http://") || path.starts_with("https://") {
        // A client drops tabs and ends of lines wherever they are, and spaces at the end.
        if path.contains(char::is_control) || path.starts_with(' ') || path.ends_with(' ') {
            return false;
        }
        path.truncate(path.find(['?', '#']).unwrap_or(path.len()));
        if path.contains('\\') {
            return false;
        }
    }
    let path = path.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    // Some servers take what follows a semicolon for a parameter of the part before it.
    path.split('/').all(|part| !matches!(part.split(';').next(), Some("." | "..")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_a_url_is_below_a_root_only_at_a_slash_and_without_dots() {
        let roots = ObjectRoots::Below(vec!["s3://a/x/".into(), "https://host".into()]);
        for url in [
            "s3://a/x",
            "s3://a/x/",
            "s3://a/x/1.tar",
            "https://host/a/b",
            "https://host/..a/b..jpg",
            "s3://a/x/\\1",
            "https://host/a?b=/../c",
        ] {
            assert!(roots.has(url), "{url}");
        }
        for url in [
            "s3://a/x2/1.tar",
            "s3://a",
            "s3://b/x/1",
            "https://host.evil/a",
            "https://host@evil/a",
            "http://host/a",
            "https://host/a/../b",
            "https://host/a/%2E%2e/b",
            "s3://a/x/./1",
            "https://host/a/..\\b",
            "https://host/a/.\t./b",
            "https://host/a/.\n./b",
            "https://host/a/..?b",
            "https://host/a/..#b",
            "https://host/a/.. ",
            "https://host/a/..%2Fb",
            "https://host/a/..%5cb",
            "https://host/a/..;x/b",
        ] {
            assert!(!roots.has(url), "{url}");
        }
        assert!(!ObjectRoots::Below(Vec::new()).has("s3://a/x") && ObjectRoots::Anywhere.has("s3://a/x"));
    }
}
