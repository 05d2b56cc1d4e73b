//! The report as one HTML page, with histograms and small pictures. It has no scripts, and loads nothing. All that is from the
//! dataset is escaped.

mod escape;
mod style;
mod svg;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use forebay_pixels::Limits;
use forebay_printable::printable;
use forebay_road::ByteSize;
use indicatif::HumanCount;

use super::checked::Trouble;
use super::findings::{BadGroup, Findings};
use super::names::Names;
use super::text::{column_line, further_line, many};
use super::thumbnail::{Thumbnail, thumbnails};
use escape::{base64, escaped};

/// Small pictures of each reason, and reasons that have some.
const OF_REASON: usize = 12;
const REASONS: usize = 8;
/// Groups of equal records that are shown.
const TWINS: usize = 24;
/// Most lines of a list.
const LINES: usize = 200;
/// Most letters of a caption.
const LETTERS: usize = 100;

/// The page that is being written.
struct PageWriter<'a> {
    names: &'a Names<'a>,
    found: &'a Findings,
    thumbnails: BTreeMap<u64, Thumbnail>,
    html: String,
}

/// The whole page.
pub(super) fn page(names: &Names<'_>, found: &Findings, limits: &Limits) -> String {
    let bad = found.bad.iter().take(REASONS).flat_map(|group| group.records.iter().take(OF_REASON));
    let twins = found.twins.iter().take(TWINS).map(|group| group.records[0]);
    let misnamed = found.misnamed.iter().take(OF_REASON).copied();
    let shown = bad.map(|(record, _)| *record).chain(twins).chain(misnamed).chain(found.shown.keys().copied());
    let shown: BTreeSet<u64> = shown.collect();
    let thumbnails = thumbnails(names.source, &shown, limits);
    let mut page = PageWriter { names, found, thumbnails, html: String::new() };
    page.all();
    page.html
}

impl PageWriter<'_> {
    fn all(&mut self) {
        let (found, names) = (self.found, self.names);
        let title = escaped(&names.title());
        self.add(&format!("{}<title>{title}</title>\n{}</head><body>\n<h1>{title}</h1>\n", style::HEAD, style::STYLE));
        self.summary();
        self.bad("Bad records", &found.bad);
        self.bad("Not read because the storage failed", &found.unread);
        self.sizes();
        self.counts();
        self.columns();
        self.further();
        self.oversights();
        self.twins();
        self.misnamed();
        self.strays();
        let extremes = &found.extremes;
        self.gallery("Longest and thinnest", &extremes.longest);
        self.gallery("Smallest", &extremes.smallest);
        self.gallery("Largest", &extremes.largest);
        self.gallery("A random sample", &found.sample);
        self.add(&format!("<footer>forebay verify {}</footer>\n</body></html>\n", env!("CARGO_PKG_VERSION")));
    }

    fn add(&mut self, html: &str) {
        self.html.push_str(html);
    }

    fn heading(&mut self, text: &str) {
        self.add(&format!("<h2>{}</h2>\n", escaped(text)));
    }

    fn summary(&mut self) {
        let found = self.found;
        let strays = found.strays.as_ref().map(|strays| strays.files.len().to_string());
        let not_used: u64 = found.oversights.iter().map(|oversight| oversight.count).sum();
        let cards = [
            ("records", HumanCount(found.records).to_string(), false),
            ("bytes read", format!("{:#}", ByteSize(found.bytes)), false),
            ("bad", found.bad_records().to_string(), found.bad_records() > 0),
            ("not read", found.unread_records().to_string(), found.unread_records() > 0),
            ("duplicates", found.surplus().to_string(), found.surplus() > 0),
            ("misnamed", found.misnamed.len().to_string(), !found.misnamed.is_empty()),
            ("not used", not_used.to_string(), not_used > 0),
            ("other files", strays.unwrap_or_else(|| "unknown".to_owned()), false),
        ];
        self.add("<div class=cards>\n");
        for (what, number, is_odd) in cards {
            let class = if is_odd { "card odd" } else { "card" };
            self.add(&format!("<div class=\"{class}\"><b>{number}</b>{what}</div>\n"));
        }
        self.add("</div>\n");
    }

    fn bad(&mut self, title: &str, groups: &[BadGroup]) {
        if groups.is_empty() {
            return;
        }
        self.heading(title);
        if groups.iter().any(|group| group.records.iter().any(|(record, _)| self.thumbnails.contains_key(record))) {
            self.add("<p>The pictures show what can still be decoded. The rest of each picture is made up.</p>\n");
        }
        for (place, group) in groups.iter().enumerate().take(LINES) {
            let reason = escaped(&printable(&group.reason).to_string());
            let count = many(group.records.len() as u64, "record");
            self.add(&format!("<h3>{count}: {reason}</h3>\n"));
            let has_picture = |(record, _): &&(u64, Trouble)| place < REASONS && self.thumbnails.contains_key(record);
            let first = &group.records[..OF_REASON.min(group.records.len())];
            let (pictures, others): (Vec<_>, Vec<_>) = first.iter().partition(has_picture);
            let line = |(record, trouble): &(u64, Trouble)| {
                format!("#{record} {}{}", self.names.shown(*record), own_reason(group, trouble))
            };
            let others = others.into_iter().chain(&group.records[first.len()..]);
            let lines: Vec<String> = others.take(LINES).map(line).collect();
            let rest = group.records.len() - pictures.len();
            if !pictures.is_empty() {
                self.add("<div class=gallery>\n");
                for (record, trouble) in pictures {
                    self.figure(*record, &own_reason(group, trouble));
                }
                self.add("</div>\n");
            }
            self.list(&lines, rest);
        }
        self.rest(groups.len().saturating_sub(LINES), "reason");
    }

    /// A small picture with its name.
    fn figure(&mut self, record: u64, more: &str) {
        let name = escaped(&self.names.shown(record));
        let picture = match self.thumbnails.get(&record) {
            Some(Thumbnail { jpeg, width, height, .. }) => {
                let data = base64(jpeg);
                format!("<img width={width} height={height} alt=\"\" src=\"data:image/jpeg;base64,{data}\">")
            }
            None => "<span class=none>no pixels</span>".to_owned(),
        };
        let size = self.found.shown.get(&record).map(|picture| format!(" {} × {}", picture.width, picture.height));
        let label = match self.names.source.label(record) {
            -1 => String::new(),
            label => format!("<br>{}", escaped(&self.names.shown_label(label))),
        };
        let caption = self.thumbnails.get(&record).and_then(|thumbnail| thumbnail.caption.as_ref());
        let caption = caption.map_or_else(String::new, |text| format!("<br>{}", escaped(&shortened(text))));
        let size = size.unwrap_or_default();
        let more = escaped(more);
        self.add(&format!(
            "<figure><div class=frame>{picture}</div><figcaption title=\"{name}\">#{record}{size}{label}{caption}<br><span>{name}</span>{more}</figcaption></figure>\n"
        ));
    }

    fn gallery(&mut self, title: &str, records: &[u64]) {
        if records.is_empty() {
            return;
        }
        self.heading(title);
        self.add("<div class=gallery>\n");
        for record in records {
            self.figure(*record, "");
        }
        self.add("</div>\n");
    }

    /// The lines, and how many there are besides.
    fn list(&mut self, lines: &[String], all: usize) {
        if all == 0 {
            return;
        }
        let is_long = all > OF_REASON;
        if is_long {
            self.add(&format!("<details><summary>{}</summary>\n", many(all as u64, "line")));
        }
        self.add("<ul>\n");
        for line in lines.iter().take(LINES) {
            self.add(&format!("<li>{}</li>\n", escaped(line)));
        }
        self.add("</ul>\n");
        self.rest(all.saturating_sub(lines.len().min(LINES)), "line");
        if is_long {
            self.add("</details>\n");
        }
    }

    fn rest(&mut self, rest: usize, what: &str) {
        if rest > 0 {
            self.add(&format!("<p>and {} more. --json has all of them.</p>\n", many(rest as u64, what)));
        }
    }

    fn sizes(&mut self) {
        let sizes = &self.found.sizes;
        let bytes = |number: u64| format!("{:#}", ByteSize(number));
        self.heading("Sizes");
        self.add("<div class=charts>\n");
        let number = |number: u64| HumanCount(number).to_string();
        self.html += &svg::histogram("width in pixels", sizes.width.as_ref(), number);
        self.html += &svg::histogram("height in pixels", sizes.height.as_ref(), number);
        self.html += &svg::histogram("pixels", sizes.pixels.as_ref(), number);
        self.html += &svg::histogram("size of the file", sizes.bytes.as_ref(), bytes);
        self.add("</div>\n");
    }

    fn counts(&mut self) {
        let found = self.found;
        let kinds: Vec<_> = found.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), *count)).collect();
        if !kinds.is_empty() {
            self.heading("Kinds of good pictures");
            self.html += &svg::bars(&kinds);
            if found.turned > 0 {
                self.add(&format!("<p>{} turned or mirrored by EXIF.</p>\n", many(found.turned, "picture")));
            }
        }
        if found.labels.keys().any(|label| *label != -1) {
            self.heading("Labels");
            let shown = |(label, count): (&i64, &u64)| (self.names.shown_label(*label), *count);
            let labels: Vec<_> = found.labels.iter().take(LINES).map(shown).collect();
            self.html += &svg::bars(&labels);
            self.rest(found.labels.len().saturating_sub(LINES), "label");
        }
    }

    fn columns(&mut self) {
        if !self.found.columns.is_empty() {
            self.heading("Columns");
            let lines: Vec<String> = self.found.columns.iter().map(column_line).collect();
            self.list(&lines, lines.len());
            for column in self.found.columns.iter().filter(|column| !column.classes.is_empty()) {
                let shown = |(label, count): (&i64, &u64)| (self.names.shown_label(*label), *count);
                let classes: Vec<_> = column.classes.iter().take(LINES).map(shown).collect();
                self.add(&format!("<h3>{}: items of each class</h3>\n", escaped(&column.name)));
                self.html += &svg::bars(&classes);
                self.rest(column.classes.len().saturating_sub(LINES), "label");
            }
        }
    }

    fn twins(&mut self) {
        let found = self.found;
        if found.twins.is_empty() {
            return;
        }
        self.heading("Duplicates");
        self.add("<div class=gallery>\n");
        for group in found.twins.iter().take(TWINS) {
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
            self.figure(group.records[0], &more);
        }
        self.add("</div>\n");
        self.rest(found.twins.len().saturating_sub(TWINS), "group");
    }

    fn misnamed(&mut self) {
        let misnamed = &self.found.misnamed;
        if misnamed.is_empty() {
            return;
        }
        let (shown, rest) = misnamed.split_at(misnamed.len().min(OF_REASON));
        self.gallery("The extension is of another format", shown);
        let lines: Vec<String> = rest.iter().take(LINES).map(|record| self.names.shown(*record)).collect();
        self.list(&lines, rest.len());
    }

    fn further(&mut self) {
        if self.found.further.is_empty() {
            return;
        }
        self.heading("Pages, frames and bands that are not read");
        let each = self.found.further.iter();
        let lines: Vec<String> =
            each.map(|((kind, what), totals)| further_line(kind.name(), what.name(), totals)).collect();
        self.list(&lines, lines.len());
    }

    fn oversights(&mut self) {
        if self.found.oversights.is_empty() {
            return;
        }
        self.heading("Beside the records, and not used");
        let lines: Vec<String> = self.found.oversights.iter().map(ToString::to_string).collect();
        self.list(&lines, lines.len());
    }

    fn strays(&mut self) {
        let Some(strays) = &self.found.strays else { return };
        if strays.files.is_empty() && strays.hidden == 0 {
            return;
        }
        self.heading("Files that no record is read from");
        if strays.hidden > 0 {
            self.add(&format!("<p>{} not looked at.</p>\n", many(strays.hidden, "hidden name")));
        }
        let lines: Vec<String> = strays.files.iter().take(LINES).map(|path| self.names.shown_path(path)).collect();
        self.list(&lines, strays.files.len());
    }
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
