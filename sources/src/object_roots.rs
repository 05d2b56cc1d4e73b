//! Which objects of stores may be read. A process that serves others reads with credentials that are not theirs.

/// Which objects of stores may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ObjectRoots {
    /// Any: whoever names a URL is the user whose credentials are used.
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
        // A server may follow such a part, also a percent-encoded one.
        let leads_upwards = url.split('/').any(|part| {
            let dots = part.to_ascii_lowercase().replace("%2e", ".");
            dots == "." || dots == ".."
        });
        let below = |root: &String| {
            let root = root.trim_end_matches('/');
            url.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !leads_upwards && roots.iter().any(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_54_a_url_is_below_a_root_only_at_a_slash_and_without_dots() {
        let roots = ObjectRoots::Below(vec!["s3://a/x/".into(), "https://host".into()]);
        for url in ["s3://a/x", "s3://a/x/", "s3://a/x/1.tar", "https://host/a/b", "https://host/..a/b..jpg"] {
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
        ] {
            assert!(!roots.has(url), "{url}");
        }
        assert!(!ObjectRoots::Below(Vec::new()).has("s3://a/x") && ObjectRoots::Anywhere.has("s3://a/x"));
    }
}
