//! The report for people: aligned text for a terminal, and a Markdown page.

use std::io::{self, Write};

use forebay_printable::printable;

use super::difference::Tally;
use super::pillow::Versions;
use super::report::Report;
use super::short;

const HEAD: [&str; 7] = ["", "pictures", "equal", "greatest", "over 1", "mean", "worst picture"];
/// Names of refused pictures that are shown; the rest are counted.
const SHOWN: usize = 5;

type TableRow = [String; 7];

/// One dataset's tables.
pub(super) fn text(out: &mut impl Write, report: &Report) -> io::Result<()> {
    writeln!(out, "{}", report.path)?;
    for rows in sections(report) {
        let head = HEAD.map(str::to_owned);
        let width =
            |column: usize| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<_> = (0..HEAD.len()).map(width).collect();
        for row in [&head].into_iter().chain(&rows) {
            let [name, numbers @ .., worst] = row;
            write!(out, "\n  {name:<0$}", widths[0])?;
            for (number, width) in numbers.iter().zip(&widths[1..]) {
                write!(out, "  {number:>width$}")?;
            }
            write!(out, "  {worst}")?;
        }
        writeln!(out)?;
    }
    refusals(report).iter().try_for_each(|line| writeln!(out, "\n  {line}"))
}

/// A page with the tables of several datasets.
pub(super) fn markdown(out: &mut impl Write, versions: &Versions, reports: &[Report]) -> io::Result<()> {
    writeln!(
        out,
        "# Pixels beside Pillow's\n\nMade by `forebay compare`, version {}, beside Pillow {} with libjpeg-turbo {}{}.\n\n\
         Differences are those of single channels, from 0 to 255. The table has the greatest one, the share of values that\n\
         differ by more than 1, and the mean over all values. *Equal* pictures have no difference. The worst picture has the\n\
         greatest mean, which is given beside its name. If the greatest difference is 1, the mean is the share of values that\n\
         differ.\n\
         Both sides turn pictures upright, put transparent ones on black, and keep the upper 8 of 16 bits. Pillow is told crops\n\
         and sizes. Only in evaluation, it follows torchvision's rules by itself. Magnitudes of torchvision's augmentations are\n\
         those that torchvision computes on this machine; ours are those of a CPU with AVX2 or AVX-512. torch's resizes are those\n\
         of tensors of floats, as on a GPU. For tensors of bytes on a CPU, see [transforms.md](transforms.md#whose-pixels).",
        env!("CARGO_PKG_VERSION"),
        versions.pillow,
        versions.libjpeg.as_deref().unwrap_or("of unknown version"),
        beside(versions),
    )?;
    for report in reports {
        writeln!(out, "\n## {}", short(&report.path))?;
        for rows in sections(report) {
            writeln!(out, "\n| {} |\n|---|--:|--:|--:|--:|--:|---|", HEAD.join(" | "))?;
            for row in rows {
                writeln!(out, "| {} |", row.map(|cell| cell.replace('|', "\\|")).join(" | "))?;
            }
        }
        refusals(report).iter().try_for_each(|line| writeln!(out, "\n{line}"))?;
    }
    Ok(())
}

/// The libraries beside Pillow.
fn beside(Versions { torch, torchvision, opencv, .. }: &Versions) -> String {
    let named = |name: &str, version: &Option<String>| version.as_ref().map(|version| format!(", {name} {version}"));
    let named = [
        torch.as_ref().map(|version| format!(", torch {version} on its CPU")),
        named("torchvision", torchvision),
        named("OpenCV", opencv),
    ];
    named.into_iter().flatten().collect()
}

/// By what was done, then by what the pictures are.
fn sections(report: &Report) -> Vec<Vec<TableRow>> {
    let mut works = Vec::new();
    for (index, (name, tally)) in report.tasks.iter().enumerate() {
        works.push(row(name, tally));
        if index == 0 {
            works.push(row("  of them: turned by EXIF", &report.turned));
            works.push(row("  of them: gray, CMYK, palette, alpha, 16 bit", &report.coloured));
        }
    }
    let kinds = report.kinds.iter().map(|(kind, tally)| row(&format!("decode: {kind}"), tally)).collect();
    vec![works, kinds]
}

fn row(name: &str, tally: &Tally) -> TableRow {
    if tally.pictures == 0 {
        return [name, "0", "-", "-", "-", "-", ""].map(str::to_owned);
    }
    let worst =
        tally.worst.as_ref().map_or_else(String::new, |worst| format!("{} ({})", worst.picture, shown(worst.mean)));
    [
        name.to_owned(),
        tally.pictures.to_string(),
        tally.equal.to_string(),
        tally.greatest.to_string(),
        percent(tally.over()),
        shown(tally.mean()),
        worst,
    ]
}

fn percent(share: f64) -> String {
    if share > 0.0 { format!("{:.4} %", share * 100.0) } else { "0".to_owned() }
}

/// With three digits after the point, or as many as show that it is not 0.
fn shown(mean: f64) -> String {
    if mean > 0.0 && mean < 0.0005 { format!("{mean:.6}") } else { format!("{mean:.3}") }
}

/// What has no difference because one side or both did not open it.
fn refusals(report: &Report) -> Vec<String> {
    let listed = |what: &str, found: &[(String, String)]| {
        let named = found.iter().take(SHOWN);
        let named = named.map(|(picture, reason)| format!("; {picture} ({})", printable(reason.trim_end_matches('.'))));
        let rest = if found.len() > SHOWN { "; ..." } else { "" };
        format!("{what}: {}{}{rest}.", found.len(), named.collect::<String>())
    };
    let mut lines = Vec::new();
    for (what, found) in [
        ("Pillow opens and Forebay refuses", &report.refused_by_us),
        ("Forebay opens and Pillow refuses", &report.refused_by_pillow),
        ("Could not be read", &report.unreadable),
    ] {
        if !found.is_empty() {
            lines.push(listed(what, found));
        }
    }
    if report.refused_by_both > 0 {
        lines.push(format!("Refused by both: {}.", report.refused_by_both));
    }
    if !report.other_size.is_empty() {
        lines.push(format!("Of another size than Pillow's: {}.", report.other_size.join(", ")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_mean_is_not_shown_as_none() {
        assert_eq!([0.0, 0.25, 0.000_499, 0.000_02].map(shown), ["0.000", "0.250", "0.000499", "0.000020"]);
    }
}
