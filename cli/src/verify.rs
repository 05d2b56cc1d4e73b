//! `forebay verify`: reads and decodes every record of a dataset, and reports what it found as text, JSON and a page.

mod checked;
mod choice;
mod columns;
mod findings;
mod histogram;
mod kind;
mod masks;
mod names;
mod page;
mod pictures;
mod report;
mod scan;
mod shown;
mod strays;
mod text;
pub(crate) mod thumbnail;
mod twins;

use std::io::{self, Write as _};
use std::path::PathBuf;

use forebay_daemon::config::Environment;
use forebay_formats::open_all;
use forebay_pipeline::{ByteSize, cores};
use forebay_pixels::{Limits, Mode, document};
use forebay_sources::{ColumnMap, Labels, Options, OwnOptions, Selection};

use crate::disk_cache::disk_cache;
use crate::failure::Failure;
use crate::output_file::OutputFile;
use crate::pair::pair;
use crate::selection::SelectionArgs;
use crate::{json, progress};
use findings::Findings;
pub(crate) use histogram::Spread;
use names::Names;
use report::VerifyReport;
use scan::Scan;
pub(crate) use scan::read;
use text::many;

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Path or URL of the dataset, such as a folder, a .csv file or another source of docs/sources.md. Exit code 1: a
    /// record is bad or could not be read, or something beside the records is not used. Exit code 2: the dataset cannot
    /// be opened.
    source: String,
    /// Further sources. Forebay reads all of them as one dataset.
    #[arg(value_name = "SOURCE2")]
    more: Vec<String>,
    /// How labels are read: auto, text or none, as `labels` of a stream.
    #[arg(long, default_value = "auto", value_parser = labels)]
    labels: Labels,
    /// What a pixel has, as `mode` of a stream: RGB, L, LA or RGBA. The report counts what files have beyond it, such as alpha.
    #[arg(long, default_value = "RGB", value_parser = mode)]
    mode: Mode,
    /// Makes a column from a part of each record, as `columns` of a stream. May be repeated.
    #[arg(long, value_name = "NAME=PART", value_parser = pair)]
    columns: Vec<(String, String)>,
    /// Makes a column of the masks in a folder, in members of a tar, or in a column of a table, as `masks` of a stream. May be
    /// repeated.
    #[arg(long = "mask", value_name = "NAME=FOLDER", value_parser = pair)]
    masks: Vec<(String, String)>,
    /// An option of the source, such as root=/data for a CSV. May be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    option: Vec<(String, String)>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Number of threads that read and decode. Left out: one per usable core.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Largest picture, in pixels. A larger one is a bad record.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pixel_limit: Option<u32>,
    /// Largest file, such as "2gib". A larger one is a bad record.
    #[arg(long, value_name = "SIZE")]
    byte_limit: Option<ByteSize>,
    /// Number of names to show of each list. JSON has all of them.
    #[arg(long, value_name = "COUNT", default_value_t = 5)]
    show: usize,
    /// Also write a page with histograms and small pictures to this file. It needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<(), Failure> {
    let page = args.html.clone().map(OutputFile::from);
    page.iter().try_for_each(OutputFile::check_folder)?;
    let limits = limits(args);
    let options = Options {
        labels: args.labels,
        columns: args.columns.iter().cloned().collect::<ColumnMap>(),
        masks: args.masks.iter().cloned().collect::<ColumnMap>(),
        byte_limit: limits.bytes,
        own: args.option.iter().cloned().collect::<OwnOptions>(),
        cache: disk_cache(&Environment::of_process())?,
        select: args.selection.select.clone(),
        condition: args.selection.condition.clone(),
        ..Options::default()
    };
    let datasets: Vec<String> = [&args.source].into_iter().chain(&args.more).cloned().collect();
    let source = open_all(&datasets, &options).map_err(|error| Failure::Usage(error.to_string()))?;
    let records = source.selection().map_or_else(|| source.len(), Selection::count);
    let bar = progress::bar(records, "{wide_bar} {human_pos} of {human_len} records, {eta} left");
    let threads = args.threads.map_or_else(cores::usable, usize::from);
    let checked = Scan { source: &*source, mode: args.mode, limits, threads, bar: &bar }.run();
    bar.finish_and_clear();
    let checked = checked.map_err(|error| {
        let place = &error.locator;
        Failure::Failed(format!("{place}: {error}. Many reads in a row have failed. Try again once this is fixed."))
    })?;
    let sign = progress::sign("looking for other files");
    let strays = strays::strays(&datasets, &*source);
    sign.finish_and_clear();
    let found = Findings::of(&*source, checked, strays);
    let names = Names { datasets: &datasets, source: &*source };
    if let Some(file) = &page {
        let sign = progress::sign("drawing the page");
        let page = page::page(&names, &found, &limits);
        sign.finish_and_clear();
        file.write(page.as_bytes())?;
    }
    let report = VerifyReport::new(&names, &found);
    let mut out = io::stdout().lock();
    if args.json {
        json::print(&mut out, &report)?;
    } else {
        report.text(&mut out, args.show)?;
        if let Some(file) = &page {
            writeln!(out, "{}: the report with pictures", file.name())?;
        }
    }
    verdict(&found)
}

fn mode(text: &str) -> Result<Mode, String> {
    document::mode(&text.into()).map_err(|allowed| format!("give {allowed}"))
}

fn limits(args: &VerifyArgs) -> Limits {
    let default = Limits::default();
    let pixels = args.pixel_limit.map_or(default.pixels, u64::from);
    Limits { pixels, bytes: args.byte_limit.map_or(default.bytes, |ByteSize(bytes)| bytes), ..default }
}

/// A failure, if a record was not good, or if something beside the records is not used.
fn verdict(found: &Findings) -> Result<(), Failure> {
    let oversights: Vec<String> =
        found.beside.oversights.iter().map(|oversight| format!(" There are {oversight}")).collect();
    let oversights = oversights.concat();
    let (bad, unread) = (found.bad_records(), found.unread_records());
    let records = many(found.records, "record");
    let verb = |count: u64, one, several| if count == 1 { one } else { several };
    match (bad, unread) {
        (0, 0) if oversights.is_empty() => Ok(()),
        (0, 0) => {
            let all =
                if found.records == 1 { "The record is good".to_owned() } else { format!("All {records} are good") };
            Err(Failure::Failed(format!("{all}, but not all of the dataset is used.{oversights}")))
        }
        (bad, 0) => Err(Failure::Failed(format!("{bad} of {records} {} bad.{oversights}", verb(bad, "is", "are")))),
        (bad, unread) => Err(Failure::Failed(format!(
            "{bad} of {records} {} bad, and {unread} {} not read because the storage failed. Try again once this is fixed.{oversights}",
            verb(bad, "is", "are"),
            verb(unread, "was", "were"),
        ))),
    }
}

/// Reads `--labels`.
pub(crate) fn labels(word: &str) -> Result<Labels, String> {
    match word {
        "auto" => Ok(Labels::Auto),
        "text" => Ok(Labels::Text),
        "none" => Ok(Labels::None),
        _ => Err("give auto, text or none".to_owned()),
    }
}
