//! The report as one HTML page, with histograms and small pictures. It has no scripts, and loads nothing. Here are its values;
//! `page.html` is the template, which escapes all of them.

mod chart;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use forebay_pipeline::ByteSize;
use forebay_pixels::Limits;
use forebay_printable::printable;
use indicatif::HumanCount;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior};
use serde::Serialize;

use super::checked::Trouble;
use super::findings::{BadGroup, Beside, Findings};
use super::names::Names;
use super::text::{column_line, further_line, many};
use super::thumbnail::{Thumbnail, thumbnails};
use chart::{Histogram, NamedBar};

const TEMPLATE: &str = include_str!("page.html");

/// Small pictures of each reason, and reasons that have some.
const OF_REASON: usize = 12;
const REASONS: usize = 8;
/// Groups of equal records that are shown.
const TWINS: usize = 24;
/// Most lines of a list.
const LINES: usize = 200;
/// Most letters of a caption.
const LETTERS: usize = 100;

#[derive(Serialize)]
struct Page {
    title: String,
    version: &'static str,
    cards: Vec<Card>,
    sections: Vec<Section>,
}

/// A number at the top.
#[derive(Serialize)]
struct Card {
    what: &'static str,
    number: String,
    odd: bool,
}

#[derive(Serialize)]
struct Section {
    title: &'static str,
    parts: Vec<PagePart>,
}

/// A part of a section.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum PagePart {
    Note(String),
    Heading(String),
    Gallery(Vec<PageFigure>),
    List(LineList),
    Charts(Vec<Histogram>),
    Bars(Vec<NamedBar>),
}

/// A record with its picture.
#[derive(Serialize)]
struct PageFigure {
    record: u64,
    name: String,
    picture: Option<InlinePicture>,
    size: Option<String>,
    /// Its label and its text.
    lines: Vec<String>,
    more: String,
}

#[derive(Serialize)]
struct InlinePicture {
    width: u32,
    height: u32,
    /// In base64.
    jpeg: String,
}

#[derive(Serialize)]
struct LineList {
    lines: Vec<String>,
    /// Above a list that is folded because it is long.
    summary: Option<String>,
    /// How many lines are left out.
    rest: Option<String>,
}

/// What a page is made of.
struct PageWriter<'a> {
    names: &'a Names<'a>,
    found: &'a Findings,
    thumbnails: BTreeMap<u64, Thumbnail>,
}

/// The whole page.
pub(super) fn page(names: &Names<'_>, found: &Findings, limits: &Limits) -> String {
    let bad = found.troubles.bad.iter().take(REASONS).flat_map(|group| group.records.iter().take(OF_REASON));
    let twins = found.contents.twins.iter().take(TWINS).map(|group| group.records[0]);
    let misnamed = found.contents.misnamed.iter().take(OF_REASON).copied();
    let shown =
        bad.map(|(record, _)| *record).chain(twins).chain(misnamed).chain(found.selection.pictures.keys().copied());
    let shown: BTreeSet<u64> = shown.collect();
    let thumbnails = thumbnails(names.source, &shown, limits);
    PageWriter { names, found, thumbnails }.page().html()
}

impl Page {
    fn html(&self) -> String {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.add_template("page.html", TEMPLATE).expect("the template is right");
        let template = environment.get_template("page.html").expect("it was added");
        template.render(Serde(self)).expect("a page has every value of the template")
    }
}

impl PageWriter<'_> {
    fn page(&self) -> Page {
        let (found, selection) = (self.found, &self.found.selection);
        let sections = [
            ("Bad records", self.bad(&found.troubles.bad)),
            ("Not read because the storage failed", self.bad(&found.troubles.unread)),
            ("Sizes", self.sizes()),
            ("Kinds of good pictures", self.kinds()),
            ("Labels", self.labels()),
            ("Columns", self.columns()),
            ("What is left out of files: pages, frames, alpha, profiles", self.further()),
            ("Beside the records, and not used", list(found.beside.oversights.iter().map(ToString::to_string))),
            ("Duplicates", self.twins()),
            ("The extension is of another format", self.misnamed()),
            ("Files that no record is read from", self.strays()),
            ("Longest and thinnest", self.gallery(&selection.longest)),
            ("Smallest", self.gallery(&selection.smallest)),
            ("Largest", self.gallery(&selection.largest)),
            ("A random sample", self.gallery(&selection.sample)),
        ];
        let sections = sections.into_iter().map(|(title, parts)| Section { title, parts });
        Page {
            title: self.names.title(),
            version: env!("CARGO_PKG_VERSION"),
            cards: self.cards(),
            sections: sections.filter(|section| !section.parts.is_empty()).collect(),
        }
    }

    fn cards(&self) -> Vec<Card> {
        let found = self.found;
        let Beside { oversights, strays } = &found.beside;
        let strays = strays.as_ref().map(|strays| strays.files.len().to_string());
        let not_used: u64 = oversights.iter().map(|oversight| oversight.count).sum();
        let plain = |what, number: String| Card { what, number, odd: false };
        let odd = |what, number: u64| Card { what, number: number.to_string(), odd: number > 0 };
        vec![
            plain("records", HumanCount(found.records).to_string()),
            plain("bytes read", format!("{:#}", ByteSize(found.bytes))),
            odd("bad", found.bad_records()),
            odd("not read", found.unread_records()),
            odd("duplicates", found.contents.surplus()),
            odd("misnamed", found.contents.misnamed.len() as u64),
            odd("not used", not_used),
            plain("other files", strays.unwrap_or_else(|| "unknown".to_owned())),
        ]
    }

    fn bad(&self, groups: &[BadGroup]) -> Vec<PagePart> {
        let mut parts = Vec::new();
        if groups.iter().any(|group| group.records.iter().any(|(record, _)| self.thumbnails.contains_key(record))) {
            let note = "The pictures show what can still be decoded. The rest of each picture is made up.";
            parts.push(PagePart::Note(note.to_owned()));
        }
        for (place, group) in groups.iter().enumerate().take(LINES) {
            let count = many(group.records.len() as u64, "record");
            parts.push(PagePart::Heading(format!("{count}: {}", printable(&group.reason))));
            let has_picture = |(record, _): &&(u64, Trouble)| place < REASONS && self.thumbnails.contains_key(record);
            let (first, later) = group.records.split_at(OF_REASON.min(group.records.len()));
            let (pictures, others): (Vec<_>, Vec<_>) = first.iter().partition(has_picture);
            let line = |(record, trouble): &(u64, Trouble)| {
                format!("#{record} {}{}", self.names.shown(*record), own_reason(group, trouble))
            };
            if !pictures.is_empty() {
                let figure = |(record, trouble): &(u64, Trouble)| self.figure(*record, own_reason(group, trouble));
                parts.push(PagePart::Gallery(pictures.into_iter().map(figure).collect()));
            }
            parts.extend(list(others.into_iter().chain(later).map(line)));
        }
        parts.extend(rest(groups.len().saturating_sub(LINES), "reason").map(PagePart::Note));
        parts
    }

    fn figure(&self, record: u64, more: String) -> PageFigure {
        let thumbnail = self.thumbnails.get(&record);
        let label = Some(self.names.source.label(record)).filter(|label| *label != -1);
        let caption = thumbnail.and_then(|thumbnail| thumbnail.caption.as_ref());
        let label = label.map(|label| self.names.shown_label(label));
        PageFigure {
            record,
            name: self.names.shown(record),
            picture: thumbnail.map(|Thumbnail { jpeg, width, height, .. }| InlinePicture {
                width: *width,
                height: *height,
                jpeg: BASE64_STANDARD.encode(jpeg),
            }),
            size: self
                .found
                .selection
                .pictures
                .get(&record)
                .map(|picture| format!("{} × {}", picture.width, picture.height)),
            lines: label.into_iter().chain(caption.map(|text| shortened(text))).collect(),
            more,
        }
    }

    fn gallery(&self, records: &[u64]) -> Vec<PagePart> {
        let figures: Vec<_> = records.iter().map(|record| self.figure(*record, String::new())).collect();
        if figures.is_empty() { Vec::new() } else { vec![PagePart::Gallery(figures)] }
    }

    fn sizes(&self) -> Vec<PagePart> {
        let sizes = &self.found.pictures.sizes;
        let number = |number: u64| HumanCount(number).to_string();
        let charts = [
            Histogram::of("width in pixels", sizes.width.as_ref(), number),
            Histogram::of("height in pixels", sizes.height.as_ref(), number),
            Histogram::of("pixels", sizes.pixels.as_ref(), number),
            Histogram::of("size of the file", sizes.bytes.as_ref(), |number| format!("{:#}", ByteSize(number))),
        ];
        vec![PagePart::Charts(charts.into_iter().flatten().collect())]
    }

    fn kinds(&self) -> Vec<PagePart> {
        let found = &self.found.pictures;
        if found.kinds.is_empty() {
            return Vec::new();
        }
        let kinds = found.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), *count));
        let mut parts = vec![PagePart::Bars(NamedBar::all(kinds))];
        if found.turned > 0 {
            parts.push(PagePart::Note(format!("{} turned or mirrored by EXIF.", many(found.turned, "picture"))));
        }
        parts
    }

    fn labels(&self) -> Vec<PagePart> {
        let labels = &self.found.labels;
        if labels.keys().any(|label| *label != -1) { self.bars(labels) } else { Vec::new() }
    }

    /// A bar for each label.
    fn bars(&self, counts: &BTreeMap<i64, u64>) -> Vec<PagePart> {
        let shown = counts.iter().take(LINES).map(|(label, count)| (self.names.shown_label(*label), *count));
        let bars = PagePart::Bars(NamedBar::all(shown));
        [bars].into_iter().chain(rest(counts.len().saturating_sub(LINES), "label").map(PagePart::Note)).collect()
    }

    fn columns(&self) -> Vec<PagePart> {
        let columns = &self.found.columns;
        let mut parts = list(columns.iter().map(column_line));
        for column in columns.iter().filter(|column| !column.classes.is_empty()) {
            parts.push(PagePart::Heading(format!("{}: items of each class", column.name)));
            parts.extend(self.bars(&column.classes));
        }
        parts
    }

    fn twins(&self) -> Vec<PagePart> {
        let twins = &self.found.contents.twins;
        if twins.is_empty() {
            return Vec::new();
        }
        let figures = twins.iter().take(TWINS).map(|group| {
            let others = group.records.iter().skip(1);
            let named = others.take(OF_REASON).map(|record| format!(" = #{record} {}", self.names.shown(*record)));
            let mut more: String = named.collect();
            let rest = group.records.len().saturating_sub(OF_REASON + 1);
            if rest > 0 {
                let _infallible = write!(more, " and {rest} more");
            }
            if group.labels_differ {
                more += " (different labels)";
            }
            self.figure(group.records[0], more)
        });
        let gallery = PagePart::Gallery(figures.collect());
        [gallery].into_iter().chain(rest(twins.len().saturating_sub(TWINS), "group").map(PagePart::Note)).collect()
    }

    fn misnamed(&self) -> Vec<PagePart> {
        let misnamed = &self.found.contents.misnamed;
        let (shown, rest) = misnamed.split_at(misnamed.len().min(OF_REASON));
        let mut parts = self.gallery(shown);
        parts.extend(list(rest.iter().map(|record| self.names.shown(*record))));
        parts
    }

    fn further(&self) -> Vec<PagePart> {
        let each = self.found.pictures.further.iter();
        list(each.map(|((kind, what), totals)| further_line(kind.name(), what.name(), totals)))
    }

    fn strays(&self) -> Vec<PagePart> {
        let Some(strays) = &self.found.beside.strays else { return Vec::new() };
        let hidden = (strays.hidden > 0).then(|| format!("{} not looked at.", many(strays.hidden, "hidden name")));
        let files = list(strays.files.iter().map(|path| self.names.shown_path(path)));
        hidden.map(PagePart::Note).into_iter().chain(files).collect()
    }
}

/// The lines, and how many there are besides.
fn list(lines: impl Iterator<Item = String>) -> Vec<PagePart> {
    let mut lines: Vec<String> = lines.collect();
    let all = lines.len();
    if all == 0 {
        return Vec::new();
    }
    lines.truncate(LINES);
    let summary = (all > OF_REASON).then(|| many(all as u64, "line"));
    let rest = rest(all - lines.len(), "line");
    vec![PagePart::List(LineList { lines, summary, rest })]
}

fn rest(rest: usize, what: &str) -> Option<String> {
    (rest > 0).then(|| format!("and {} more. --json has all of them.", many(rest as u64, what)))
}

/// A text without what commands a terminal, and not much of it.
fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.by_ref().take(LETTERS).collect();
    format!("{}{}", printable(&first), if letters.next().is_some() { "…" } else { "" })
}

/// What this record's reason has beside the group's.
fn own_reason(group: &BadGroup, trouble: &Trouble) -> String {
    let reason = trouble.to_string();
    if reason == group.reason { String::new() } else { format!(": {}", printable(&reason)) }
}
