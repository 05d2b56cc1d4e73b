//! The report for a terminal. Names and reasons are shown without what commands a terminal.

use std::io::{self, Write};

use forebay_printable::printable;
use forebay_road::ByteSize;
use indicatif::HumanCount;

use super::findings::{BadGroup, ColumnTotals, Findings, FurtherTotals};
use super::histogram::Spread;
use super::names::Names;

/// Bars of a histogram, from nothing to the highest.
const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Most reasons that are shown: a damaged dataset may have as many as it has records.
const REASONS: usize = 25;

/// Writes the report, with `most` names of each list.
pub(super) fn text(out: &mut impl Write, names: &Names<'_>, found: &Findings, most: usize) -> io::Result<()> {
    let dataset = names.title();
    writeln!(out, "{dataset}: {}, {:#}", many(found.records, "record"), ByteSize(found.bytes))?;
    bad(out, names, "bad", &found.bad, most)?;
    bad(out, names, "not read because the storage failed", &found.unread, most)?;
    pictures(out, found)?;
    for ((kind, what), totals) in &found.further {
        writeln!(out, "not read    {}", further_line(kind.name(), what.name(), totals))?;
        list(out, "  ", totals.records.iter().map(|record| one(names, *record)), most)?;
    }
    labels(out, names, found, most)?;
    for column in &found.columns {
        writeln!(out, "column      {}", column_line(column))?;
        let classes = column.classes.iter().map(|(label, count)| format!("{count} {}", names.shown_label(*label)));
        list(out, "  ", classes, most)?;
    }
    twins(out, names, found, most)?;
    if !found.misnamed.is_empty() {
        let count = many(found.misnamed.len() as u64, "record");
        writeln!(out, "misnamed    {count} with the extension of another format")?;
        list(out, "  ", found.misnamed.iter().map(|record| one(names, *record)), most)?;
    }
    for oversight in &found.oversights {
        writeln!(out, "not used    {oversight}")?;
    }
    strays(out, names, found, most)
}

/// What files of one kind have beside the pictures that are read, in a line.
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

fn one(names: &Names<'_>, record: u64) -> String {
    format!("#{record} {}", names.shown(record))
}

/// The first of these lines, and how many are left out.
fn list(
    out: &mut impl Write,
    indent: &str,
    lines: impl ExactSizeIterator<Item = String>,
    most: usize,
) -> io::Result<()> {
    let rest = lines.len().saturating_sub(most);
    for line in lines.take(most) {
        writeln!(out, "{indent}{line}")?;
    }
    if rest > 0 { writeln!(out, "{indent}and {rest} more") } else { Ok(()) }
}

fn bad(out: &mut impl Write, names: &Names<'_>, what: &str, groups: &[BadGroup], most: usize) -> io::Result<()> {
    for group in groups.iter().take(REASONS) {
        let count = many(group.records.len() as u64, "record");
        writeln!(out, "{count} {what}: {}", printable(&group.reason))?;
        let line = |(record, trouble): &(u64, super::checked::Trouble)| {
            let reason = trouble.to_string();
            let own = if reason == group.reason { String::new() } else { format!(": {}", printable(&reason)) };
            one(names, *record) + &own
        };
        list(out, "  ", group.records.iter().map(line), most)?;
    }
    let rest: usize = groups.iter().skip(REASONS).map(|group| group.records.len()).sum();
    if rest > 0 { writeln!(out, "{} {what} for other reasons", many(rest as u64, "record")) } else { Ok(()) }
}

fn pictures(out: &mut impl Write, found: &Findings) -> io::Result<()> {
    let kinds: Vec<String> = found.kinds.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
    writeln!(out, "good        {}", if kinds.is_empty() { "none".to_owned() } else { kinds.join("; ") })?;
    if found.turned > 0 {
        writeln!(out, "turned      {} by EXIF", many(found.turned, "picture"))?;
    }
    let number = |number: u64| HumanCount(number).to_string();
    let bytes = |number: u64| format!("{:#}", ByteSize(number));
    let sizes = &found.sizes;
    spread(out, "width", sizes.width.as_ref(), number)?;
    spread(out, "height", sizes.height.as_ref(), number)?;
    spread(out, "pixels", sizes.pixels.as_ref(), number)?;
    spread(out, "file", sizes.bytes.as_ref(), bytes)
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

fn labels(out: &mut impl Write, names: &Names<'_>, found: &Findings, most: usize) -> io::Result<()> {
    if found.labels.keys().all(|label| *label == -1) {
        return writeln!(out, "labels      none");
    }
    let (fewest, largest) = (found.labels.values().min().unwrap_or(&0), found.labels.values().max().unwrap_or(&0));
    let (one, several) =
        if names.source.classes().is_empty() { ("number", "different numbers") } else { ("class", "classes") };
    let what = if found.labels.len() == 1 { one } else { several };
    writeln!(out, "labels      {} {what}, {fewest} to {largest} records each", found.labels.len())?;
    list(out, "  ", found.labels.iter().map(|(label, count)| format!("{count} {}", names.shown_label(*label))), most)
}

fn twins(out: &mut impl Write, names: &Names<'_>, found: &Findings, most: usize) -> io::Result<()> {
    if found.twins.is_empty() {
        return writeln!(out, "duplicates  none");
    }
    let groups = many(found.twins.len() as u64, "group");
    let surplus = many(found.surplus(), "record");
    write!(out, "duplicates  {groups} of records with equal bytes, {surplus} more than contents")?;
    match found.twins.iter().filter(|group| group.labels_differ).count() as u64 {
        0 => writeln!(out)?,
        different => writeln!(out, "; {} with different labels", many(different, "group"))?,
    }
    let line = |group: &super::findings::TwinGroup| {
        let shown: Vec<String> = group.records.iter().take(most).map(|record| one(names, *record)).collect();
        let rest = group.records.len().saturating_sub(most);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let labels = if group.labels_differ { " (different labels)" } else { "" };
        format!("{}{more}{labels}", shown.join(" = "))
    };
    list(out, "  ", found.twins.iter().map(line), most)
}

fn strays(out: &mut impl Write, names: &Names<'_>, found: &Findings, most: usize) -> io::Result<()> {
    let Some(strays) = &found.strays else { return Ok(()) };
    let hidden = if strays.hidden > 0 { format!(" ({} hidden not looked at)", strays.hidden) } else { String::new() };
    match strays.files.len() as u64 {
        0 => writeln!(out, "other files none{hidden}")?,
        count => {
            let kinds = strays.extensions();
            let shown = kinds.iter().take(most).map(|(extension, count)| format!("{count} {}", printable(extension)));
            let shown: Vec<String> = shown.collect();
            let more = if kinds.len() > most { ", ..." } else { "" };
            let files = many(count, "file");
            writeln!(out, "other files {files} that no record is read from{hidden}: {}{more}", shown.join(", "))?;
        }
    }
    list(out, "  ", strays.files.iter().map(|path| names.shown_path(path)), most)?;
    list(out, "  cannot be read: ", strays.unread.iter().map(|path| names.shown_path(path)), most)
}
