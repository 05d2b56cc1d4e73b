//! An overview as lines of text, with colours where a terminal shows them.

use std::io::{self, Write};

use crossterm::style::{Attribute, Color, ContentStyle, StyledContent, Stylize as _};
use forebay_printable::printable;

use super::overview::{Overview, StreamRates};
use crate::group::{in_batches, members, process};
use crate::span::span;
use crate::status::report::{ClosedReport, OutageReport, SlotsReport};
use crate::user;
use crate::verdict::Limit;

/// Parts of a line, each in its own style.
pub(super) type Row = Vec<StyledContent<String>>;

/// Cells of a bar.
const BAR: usize = 20;
/// Slots that are shown one by one.
const SLOTS: u32 = 60;

/// All lines.
pub(super) fn lines(loader: Option<u32>, overview: &Overview<'_>) -> Vec<Row> {
    let Overview { version, pid, uptime, .. } = overview;
    let mut lines = vec![bold(format!("forebay {version}, process {pid}, up {}", span(*uptime)))];
    if let Some(loader) = loader {
        lines.push(plain(format!("private daemon of the Loaders of process {loader}")));
    }
    if let Some(OutageReport { cause, time }) = &overview.ledger_outage {
        let since = span(time.0);
        lines.push(vec![format!("LEDGER  not reached for {since}: {}", printable(cause)).with(Color::Red)]);
    }
    if overview.lane_shares.len() > 1 {
        let lanes = overview.lane_shares.iter().map(|(name, share)| format!("{name} {:.0} %", share * 100.0));
        lines.push(plain(format!("lanes: {}", lanes.collect::<Vec<_>>().join(", "))));
    }
    for off in &overview.switched_off {
        lines.push(vec![format!("OFF  {}: {}", off.name, printable(off.reason)).with(Color::Yellow)]);
    }
    for stream in &overview.streams {
        lines.push(Row::new());
        lines.extend(one(stream));
    }
    for ClosedReport { name, opening, failure, .. } in &overview.closed {
        lines.push(Row::new());
        let state = match (failure, opening) {
            (None, true) => "is being opened".to_owned(),
            (None, false) => "waits for its first trainer".to_owned(),
            (Some(reason), _) => format!("has failed: {}", printable(reason)),
        };
        lines.push(plain(format!("stream {name} {state}")));
    }
    lines
}

/// The same without colours.
pub(super) fn text(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    for line in rows {
        let line: String = line.iter().map(|part| part.content().as_str()).collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn one(rates: &StreamRates<'_>) -> Vec<Row> {
    let StreamRates { name, source, records, pictures, batches, epoch, epochs, left, bad, .. } = rates;
    let fill = rates.fill.text();
    let bad = if *bad > 0 { format!(", {bad} bad records") } else { String::new() };
    let left = left.map_or_else(String::new, |time| format!(", {} left", span(time.0)));
    let (done, epoch) = match epochs {
        0 => (rates.done, format!("epoch {epoch}{left}")),
        // The epoch behind the last one, which never begins.
        all if epoch >= all => (1.0, "the last epoch".to_owned()),
        all => (rates.done, format!("epoch {epoch} of {all}{left}")),
    };
    let mut lines = vec![
        bold(format!("stream {name}: {}, {records} records", printable(source))),
        plain(format!("  {pictures:.0} pictures/s, {batches:.1} batches/s{fill}{bad}")),
        vec![
            "  ".to_owned().stylize(),
            bar(done, Color::Blue),
            format!(" {:>3.0} % of {epoch}", (done * 100.0).floor()).stylize(),
        ],
        ring(&rates.slots),
    ];
    if let Some(shares) = rates.shares {
        lines.extend([
            share("reading", shares.reading, &of_threads(rates.readers)),
            share("decoding", shares.decoding, &of_threads(rates.decode_threads)),
            share("no slot", shares.no_slot, "of the time no slot was free for a batch"),
        ]);
    }
    if let Some(requests) = &rates.requests {
        lines.push(plain(format!("  {} of {} requests under way", requests.in_flight, requests.most)));
    }
    for decoder in &rates.remote {
        lines.push(plain(format!("  decoder {}: {}", printable(decoder.name), decoder.text())));
    }
    for trainer in &rates.trainers {
        lines.push(plain(format!(
            "  trainer: {} of user {}, {:.1} batches/s, holds {}",
            process(trainer.pid, trainer.foreign),
            printable(&user::name(trainer.user)),
            trainer.consumed.batches,
            trainer.held
        )));
    }
    for group in &rates.groups {
        let members = members(group.name.unwrap_or_default(), group.pids);
        lines.push(plain(format!("  group {members}: {} behind", in_batches(group.behind))));
    }
    let colour = match rates.verdict.limit {
        Limit::Failed | Limit::Ledger | Limit::Storage => Color::Red,
        Limit::Trainer | Limit::Complete => Color::Green,
        Limit::Slots
        | Limit::NoTrainer
        | Limit::Measuring
        | Limit::Functions
        | Limit::Decoding
        | Limit::Reading
        | Limit::Elsewhere => Color::Yellow,
    };
    lines.push(vec![format!("  {}", rates.verdict.sentence).with(colour)]);
    lines
}

pub(super) fn plain(text: String) -> Row {
    vec![text.stylize()]
}

fn bold(text: String) -> Row {
    vec![ContentStyle::new().attribute(Attribute::Bold).apply(text)]
}

fn of_threads(threads: u32) -> String {
    if threads == 1 { "of one thread".to_owned() } else { format!("of {threads} threads") }
}

fn share(what: &str, share: f64, of: &str) -> Row {
    vec![
        format!("  {what:<9} ").stylize(),
        bar(share, Color::Cyan),
        format!(" {:>3.0} % {of}", share * 100.0).stylize(),
    ]
}

/// A share from 0 to 1.
fn bar(share: f64, colour: Color) -> StyledContent<String> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "0 to 20")]
    let full = (share.clamp(0.0, 1.0) * BAR as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(BAR - full)).with(colour)
}

/// A cell for each slot, by its state.
fn ring(slots: &SlotsReport) -> Row {
    let states = [
        (slots.held, "held", "H", Color::Magenta),
        (slots.quarantined, "quarantined", "Q", Color::Red),
        (slots.ready, "ready", "R", Color::Green),
        (slots.filling, "filling", "F", Color::Yellow),
        (slots.free, "free", ".", Color::DarkGrey),
    ];
    let all: u32 = states.iter().map(|(count, ..)| count).sum();
    let mut parts = plain("  ring      ".to_owned());
    if all <= SLOTS {
        parts.extend(
            states
                .iter()
                .map(|(count, _, sign, colour)| sign.repeat(usize::try_from(*count).unwrap_or_default()).with(*colour)),
        );
        parts.push(" ".to_owned().stylize());
    }
    let words = states.iter().filter(|(count, ..)| *count > 0).map(|(count, word, ..)| format!("{count} {word}"));
    parts.push(words.collect::<Vec<_>>().join(", ").stylize());
    parts
}
