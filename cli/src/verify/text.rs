//! The report for a terminal. Names and reasons are shown without what commands a terminal.

use std::fmt::Display;
use std::io::{self, Write};

use forebay_pipeline::ByteSize;
use forebay_printable::printable;
use indicatif::HumanCount;

use super::columns::ColumnTotals;
use super::histogram::Spread;
use super::pictures::FurtherTotals;
use super::report::{ColumnReport, FailedRecord, FurtherReport, LabelReport, TwinReport, VerifyReport};

/// Bars of a histogram, from nothing to the highest.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Most reasons that are shown: a damaged dataset may have as many as it has records.
const REASONS: usize = 25;

impl VerifyReport<'_> {
    /// Writes the report, with `most` names of each list.
    pub(super) fn text(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        writeln!(out, "{}: {}, {:#}", self.names.title(), many(self.records, "record"), ByteSize(self.bytes))?;
        bad(out, "bad", &self.bad, most)?;
        bad(out, "not read because the storage failed", &self.unread, most)?;
        self.pictures(out)?;
        for FurtherReport { name, what, files, totals, .. } in &self.further {
            writeln!(out, "left out    {}", further_line(name, what, totals))?;
            list(out, "  ", files.iter(), most)?;
        }
        self.labels(out, most)?;
        for ColumnReport { totals, classes } in &self.columns {
            writeln!(out, "column      {}", column_line(totals))?;
            list(out, "  ", classes.iter().map(|class| format!("{} {}", class.items, class.shown())), most)?;
        }
        self.duplicates(out, most)?;
        if !self.misnamed.is_empty() {
            let count = many(self.misnamed.len() as u64, "record");
            writeln!(out, "misnamed    {count} with the extension of another format")?;
            list(out, "  ", self.misnamed.iter(), most)?;
        }
        for oversight in self.not_used() {
            writeln!(out, "not used    {oversight}")?;
        }
        self.unreferenced(out, most)
    }

    fn pictures(&self, out: &mut impl Write) -> io::Result<()> {
        let kinds: Vec<String> = self.kinds.iter().map(|kind| format!("{} {}", kind.records, kind.name)).collect();
        writeln!(out, "good        {}", if kinds.is_empty() { "none".to_owned() } else { kinds.join("; ") })?;
        if self.turned > 0 {
            writeln!(out, "turned      {} by EXIF", many(self.turned, "picture"))?;
        }
        let number = |number: u64| HumanCount(number).to_string();
        let bytes = |number: u64| format!("{:#}", ByteSize(number));
        spread(out, "width", self.sizes.width.as_ref(), number)?;
        spread(out, "height", self.sizes.height.as_ref(), number)?;
        spread(out, "pixels", self.sizes.pixels.as_ref(), number)?;
        spread(out, "file", self.sizes.bytes.as_ref(), bytes)
    }

    fn labels(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        if self.labels.iter().all(LabelReport::is_none) {
            return writeln!(out, "labels      none");
        }
        let counts = || self.labels.iter().map(|label| label.records);
        let (fewest, largest) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let (one, several) =
            if self.names.source.classes().is_empty() { ("number", "different numbers") } else { ("class", "classes") };
        let what = if self.labels.len() == 1 { one } else { several };
        writeln!(out, "labels      {} {what}, {fewest} to {largest} records each", self.labels.len())?;
        list(out, "  ", self.labels.iter().map(|label| format!("{} {}", label.records, label.shown())), most)
    }

    fn duplicates(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        if self.duplicates.is_empty() {
            return writeln!(out, "duplicates  none");
        }
        let groups = many(self.duplicates.len() as u64, "group");
        let surplus = many(self.surplus, "record");
        write!(out, "duplicates  {groups} of records with equal bytes, {surplus} more than contents")?;
        match self.duplicates.iter().filter(|group| group.labels_differ).count() as u64 {
            0 => writeln!(out)?,
            different => writeln!(out, "; {} with different labels", many(different, "group"))?,
        }
        let line = |group: &TwinReport<'_>| {
            let shown: Vec<String> = group.files.iter().take(most).map(ToString::to_string).collect();
            let rest = group.files.len().saturating_sub(most);
            let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            let labels = if group.labels_differ { " (different labels)" } else { "" };
            format!("{}{more}{labels}", shown.join(" = "))
        };
        list(out, "  ", self.duplicates.iter().map(line), most)
    }

    fn unreferenced(&self, out: &mut impl Write, most: usize) -> io::Result<()> {
        let Some(strays) = self.unreferenced else { return Ok(()) };
        let hidden =
            if strays.hidden > 0 { format!(" ({} hidden not looked at)", strays.hidden) } else { String::new() };
        match strays.files.len() as u64 {
            0 => writeln!(out, "other files none{hidden}")?,
            count => {
                let kinds = strays.extensions();
                let shown =
                    kinds.iter().take(most).map(|(extension, count)| format!("{count} {}", printable(extension)));
                let shown: Vec<String> = shown.collect();
                let more = if kinds.len() > most { ", ..." } else { "" };
                let files = many(count, "file");
                writeln!(out, "other files {files} that no record is read from{hidden}: {}{more}", shown.join(", "))?;
            }
        }
        list(out, "  ", strays.files.iter().map(|path| self.names.shown_path(path)), most)?;
        list(out, "  cannot be read: ", strays.unread.iter().map(|path| self.names.shown_path(path)), most)
    }
}

/// What files of one kind have that is left out, in a line.
pub(super) fn further_line(kind: &str, what: &str, totals: &FurtherTotals) -> String {
    format!("{} {what} of {}, {kind}", HumanCount(totals.count), many(totals.records.len() as u64, "record"))
}

/// `1 record`, `2 records`.
pub(super) fn many(count: u64, what: &str) -> String {
    format!("{} {what}{}", HumanCount(count), if count == 1 { "" } else { "s" })
}

/// A column in a line.
pub(super) fn column_line(totals: &ColumnTotals) -> String {
    let ColumnTotals { name, column_type, objects, depth, nulls, empty, items, longest, .. } = totals;
    let of = objects.as_ref().map_or_else(String::new, |objects| format!(" of {}", printable(objects)));
    let longest: Vec<String> = longest.iter().map(u64::to_string).collect();
    let counts = match depth {
        0 => many(*items, "value"),
        _ => format!("{}, at most {} in a record, {empty} empty", many(*items, "item"), longest.join(" / ")),
    };
    format!("{name}, {column_type}{of}: {counts}, {nulls} null")
}

/// The first of these lines, and how many are left out.
fn list(
    out: &mut impl Write,
    indent: &str,
    lines: impl ExactSizeIterator<Item = impl Display>,
    most: usize,
) -> io::Result<()> {
    let rest = lines.len().saturating_sub(most);
    for line in lines.take(most) {
        writeln!(out, "{indent}{line}")?;
    }
    if rest > 0 { writeln!(out, "{indent}and {rest} more") } else { Ok(()) }
}

fn bad(out: &mut impl Write, what: &str, records: &[FailedRecord<'_>], most: usize) -> io::Result<()> {
    let mut groups = records.chunk_by(|one, other| one.group == other.group);
    for group in groups.by_ref().take(REASONS) {
        let reason = group[0].group;
        writeln!(out, "{} {what}: {}", many(group.len() as u64, "record"), printable(reason))?;
        let line = |bad: &FailedRecord<'_>| {
            let own = if bad.reason == reason { String::new() } else { format!(": {}", printable(&bad.reason)) };
            format!("{}{own}", bad.record)
        };
        list(out, "  ", group.iter().map(line), most)?;
    }
    let rest: usize = groups.map(<[_]>::len).sum();
    if rest > 0 { writeln!(out, "{} {what} for other reasons", many(rest as u64, "record")) } else { Ok(()) }
}

fn spread(out: &mut impl Write, what: &str, of: Option<&Spread>, show: fn(u64) -> String) -> io::Result<()> {
    let Some(spread) = of else { return Ok(()) };
    let (min, median, max) = (show(spread.min), show(spread.median), show(spread.max));
    writeln!(out, "{what:<11} {min} to {max}, median {median}  |{}|", bars(spread))
}

/// A histogram in a line. What is not zero can be seen.
fn bars(spread: &Spread) -> String {
    let steps = BARS.len() as u64 - 1;
    let bar = |count: u64| (u128::from(count) * u128::from(steps)).div_ceil(u128::from(spread.highest().max(1)));
    spread.ranges.iter().map(|range| BARS[usize::try_from(bar(range.count)).unwrap_or(0)]).collect()
}
