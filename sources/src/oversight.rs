//! What a dataset has beside its records that no record is made of, though its owner may think so.

use std::fmt;

use forebay_printable::printable;

/// Something beside the records that is not used: files of one kind, or classes with names that cannot be used.
///
/// A dataset with an oversight is a good dataset to the letter. But its owner may believe that training sees more than it
/// does, so it is said when the dataset is opened, and `forebay verify` fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oversight {
    /// What it is about.
    pub kind: OversightKind,
    /// The kind of files, in the plural: `XML files`.
    pub what: String,
    /// How many there are.
    pub count: u64,
    /// Some of them, sorted: paths from the dataset's folder on, names of members, or classes.
    pub examples: Vec<String>,
    /// What to do, as sentences.
    pub remedy: String,
}

/// What an oversight is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OversightKind {
    /// Files that are annotations. No label and no column is made from them.
    Annotations,
    /// Files that are not read: pictures of formats that are not decoded, and files of unknown kinds.
    Unread,
    /// Classes with names such as `train` or `masks`, which are parts of a dataset as a rule.
    Classes,
}

/// Most examples of an oversight.
pub const MOST_EXAMPLES: usize = 3;

impl OversightKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Annotations, Self::Unread, Self::Classes];

    /// Its name, as JSON and indexes have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Annotations => "annotations",
            Self::Unread => "unread",
            Self::Classes => "classes",
        }
    }

    /// The kind with this name.
    ///
    /// ```
    /// use forebay_sources::OversightKind;
    ///
    /// assert_eq!(OversightKind::named("unread"), Some(OversightKind::Unread));
    /// assert_eq!(OversightKind::named("luck"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Oversight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, what, count, examples, remedy } = self;
        f.write_str(match kind {
            OversightKind::Annotations => "annotations that are not used: ",
            OversightKind::Unread => "files that are not read: ",
            OversightKind::Classes => "classes that may be none: ",
        })?;
        let shown: Vec<String> = examples.iter().map(|name| format!("\"{}\"", printable(name))).collect();
        let of = match examples.len() as u64 {
            0 => "",
            shown if *count > shown => ", such as ",
            _ => ": ",
        };
        write!(f, "{count} {what}{of}{}. {remedy}", shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oversight_says_how_many_files_there_are_with_examples_and_what_to_do() {
        let oversight = Oversight {
            kind: OversightKind::Annotations,
            what: "XML files".into(),
            count: 7,
            examples: vec!["a/1.xml".into(), "\u{1b}[2J.xml".into()],
            remedy: "Open them.".into(),
        };
        let said = oversight.to_string();
        assert!(said.starts_with("annotations that are not used: 7 XML files, such as "), "{said}");
        assert!(said.contains("\"a/1.xml\"") && said.ends_with("Open them."), "{said}");
        assert!(!said.contains('\u{1b}'), "names command no terminal: {said}");
        for kind in OversightKind::ALL {
            assert_eq!(OversightKind::named(kind.name()), Some(kind));
        }
    }
}
