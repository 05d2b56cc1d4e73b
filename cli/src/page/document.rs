//! What a page of the site consists of, and how it becomes HTML: `document.html` is the template, which escapes every value.

use forebay_printable::printable;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::chart::LineChart;
use super::route::{ROWS, Route};

const TEMPLATE: &str = include_str!("document.html");
pub(super) const STYLE: &str = include_str!("style.css");
pub(super) const SCRIPT: &str = include_str!("script.js");

/// Most letters of a name or a reason. Longer ones are cut.
const LETTERS: usize = 300;

/// A page.
#[derive(Debug, Default, Serialize)]
pub(super) struct Document {
    pub(super) title: String,
    /// The way to other pages.
    pub(super) links: Vec<DocumentLink>,
    /// What is wrong, above all else.
    pub(super) alerts: Vec<String>,
    pub(super) sections: Vec<DocumentSection>,
    /// How old the numbers are.
    pub(super) age: String,
    /// After so many seconds, the script asks again.
    pub(super) renewed_after: u32,
}

#[derive(Debug, Serialize)]
pub(super) struct DocumentLink {
    pub(super) text: String,
    pub(super) target: String,
    /// It is the page that is shown.
    pub(super) current: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct DocumentSection {
    pub(super) title: String,
    pub(super) parts: Vec<DocumentPart>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DocumentPart {
    Note(String),
    /// A sentence about what limits a stream, with its kind for the colour.
    Verdict(ShownVerdict),
    Facts(Vec<DocumentFact>),
    Shares(Vec<ShareBar>),
    Chart(LineChart),
    Streams(Vec<StreamCard>),
    Pictures(Vec<PictureCard>),
    Table(DocumentTable),
    Links(Vec<DocumentLink>),
}

#[derive(Debug, Serialize)]
pub(super) struct ShownVerdict {
    pub(super) sentence: String,
    /// `bad`, `good` or `slow`.
    pub(super) kind: &'static str,
}

/// A name and its value.
#[derive(Debug, Serialize)]
pub(super) struct DocumentFact {
    pub(super) name: &'static str,
    pub(super) value: String,
}

/// A share of a whole.
#[derive(Debug, Serialize)]
pub(super) struct ShareBar {
    pub(super) name: String,
    pub(super) percent: u64,
    pub(super) text: String,
}

/// A stream among others.
#[derive(Debug, Serialize)]
pub(super) struct StreamCard {
    pub(super) name: String,
    /// None for a stream that is not open.
    pub(super) target: Option<String>,
    pub(super) progress: Option<ShareBar>,
    pub(super) lines: Vec<String>,
    pub(super) verdict: ShownVerdict,
}

/// A picture with words below it.
#[derive(Debug, Serialize)]
pub(super) struct PictureCard {
    pub(super) title: String,
    /// Its URL.
    pub(super) image: Option<String>,
    /// What is on it, for those who do not see it.
    pub(super) alt: String,
    pub(super) width: u32,
    pub(super) height: u32,
    /// What is in its place if there is none.
    pub(super) why: String,
    pub(super) lines: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct DocumentTable {
    /// What it has, for those who do not see it.
    pub(super) caption: String,
    pub(super) columns: Vec<TableColumn>,
    pub(super) rows: Vec<Vec<TableCell>>,
}

#[derive(Debug, Serialize)]
pub(super) struct TableColumn {
    pub(super) name: &'static str,
    pub(super) number: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct TableCell {
    pub(super) text: String,
    pub(super) target: Option<String>,
    pub(super) number: bool,
}

impl Document {
    pub(super) fn html(&self) -> String {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.add_template("document.html", TEMPLATE).expect("the template is right");
        let template = environment.get_template("document.html").expect("it was added");
        let text = template.render(minijinja::context! {
            page => Serde(self),
            version => env!("CARGO_PKG_VERSION"),
        });
        text.expect("a page has every value of the template")
    }
}

impl DocumentLink {
    pub(super) fn to(route: &Route, text: impl Into<String>) -> Self {
        Self { text: text.into(), target: route.to_string(), current: false }
    }
}

impl DocumentTable {
    /// The columns by their names; `true` says that a column has numbers.
    pub(super) fn new(caption: impl Into<String>, columns: &[(&'static str, bool)]) -> Self {
        let columns = columns.iter().map(|(name, number)| TableColumn { name, number: *number }).collect();
        Self { caption: caption.into(), columns, rows: Vec::new() }
    }
}

impl TableCell {
    pub(super) fn text(text: impl AsRef<str>) -> Self {
        Self { text: shown(text.as_ref()), target: None, number: false }
    }

    pub(super) fn link(text: impl AsRef<str>, route: &Route) -> Self {
        Self { target: Some(route.to_string()), ..Self::text(text) }
    }

    pub(super) fn number(number: &impl ToString) -> Self {
        Self { text: number.to_string(), target: None, number: true }
    }
}

/// Text from outside: nothing in it is obeyed, and it has an end. The template escapes it.
pub(super) fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.by_ref().take(LETTERS).collect();
    let rest = if letters.next().is_some() { "…" } else { "" };
    format!("{}{rest}", printable(&first))
}

/// Links to the parts of a list of so many rows around the one that is shown. None if it has only one part.
pub(super) fn parts(route: &Route, part: usize, rows: usize) -> Option<DocumentPart> {
    let last = rows.div_ceil(ROWS).max(1);
    if last == 1 && part == 1 {
        return None;
    }
    let mut numbers = vec![1, part.saturating_sub(1), part, part + 1, last];
    numbers.retain(|number| (1..=last).contains(number) || *number == part);
    numbers.sort_unstable();
    numbers.dedup();
    let link = |number: usize| {
        let text = format!("part {number} of {last}");
        DocumentLink { current: number == part, ..DocumentLink::to(&route.with_part(number), text) }
    };
    Some(DocumentPart::Links(numbers.into_iter().map(link).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_cut() {
        assert_eq!(shown("a\u{202e}b\u{1b}[2J\n"), "a\\u{202e}b\\u{1b}[2J\\n");
        let long = shown(&"ü".repeat(4000));
        assert_eq!((long.chars().count(), long.ends_with("ü…")), (LETTERS + 1, true));
        assert_eq!(shown(&"a".repeat(LETTERS)).len(), LETTERS);
    }

    #[test]
    fn a_list_has_links_to_the_parts_around_the_one_that_is_shown() {
        let texts = |part, rows| match parts(&Route::Nodes { part }, part, rows) {
            Some(DocumentPart::Links(links)) => {
                let text = |link: &DocumentLink| format!("{}{}", if link.current { "*" } else { "" }, link.target);
                links.iter().map(text).collect::<Vec<_>>().join(" ")
            }
            _ => String::new(),
        };
        assert_eq!(texts(1, 100), "");
        assert_eq!(texts(1, 101), "*nodes?part=1 nodes?part=2");
        assert_eq!(texts(50, 10_000), "nodes?part=1 nodes?part=49 *nodes?part=50 nodes?part=51 nodes?part=100");
        assert_eq!(texts(7, 150), "nodes?part=1 nodes?part=2 *nodes?part=7", "one that is not there leads back");
    }
}
