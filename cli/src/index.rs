//! `forebay index`: scans a dataset once, and writes what it found into an Arrow file. The dataset is then opened from that
//! file.

mod seek;
mod sizes;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use forebay_daemon::config::Environment;
use forebay_formats::{IndexReport, make_index, make_index_with_sizes, open_index};
use forebay_pipeline::{ByteSize, cores};
use forebay_printable::printable;
use forebay_sources::{ColumnMap, IndexChoice, Labels, Options, OwnOptions, SourceError};
use serde::Serialize;

use crate::disk_cache::disk_cache;
use crate::failure::Failure;
use crate::json;
use crate::output_file::OutputFile;
use crate::pair::pair;
use crate::verify::labels;
use seek::NotedIndex;
use sizes::MeasuredIndex;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct IndexArgs {
    /// Path or URL of the dataset, such as a folder or a pattern of .tar files. Exit code 1: the index cannot be made.
    source: String,
    /// Write the index to this file. Give the file as `index` of a stream. Left out: a file in the folder of indexes, which
    /// is found without a setting.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Scan the dataset, even if there is an index that fits.
    #[arg(long)]
    rebuild: bool,
    /// Also write the seek points of all JPEGs beside the index. This reads all pictures. The first epoch then decodes crops
    /// as fast as later ones. See docs/decoding.md, "Seek points".
    #[arg(long)]
    seek: bool,
    /// Also write the heights and widths of all pictures into the index. This reads the header of each picture.
    #[arg(long)]
    sizes: bool,
    /// How labels are read: auto, text or none, as `labels` of the stream that will use the index.
    #[arg(long, default_value = "auto", value_parser = labels)]
    labels: Labels,
    /// Makes a column from a part of each record, as `columns` of that stream. May be repeated.
    #[arg(long, value_name = "NAME=PART", value_parser = pair)]
    columns: Vec<(String, String)>,
    /// Makes a column of masks that are within a tar, as `masks` of that stream. An index has no other masks. May be repeated.
    #[arg(long = "mask", value_name = "NAME=PART", value_parser = pair)]
    masks: Vec<(String, String)>,
    /// An option of the source, as `source_options` of that stream. May be repeated.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    option: Vec<(String, String)>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// What was made.
#[derive(Serialize)]
struct MadeIndex<'a> {
    source: &'a str,
    #[serde(serialize_with = "json::path")]
    index: &'a Path,
    bytes: u64,
    records: u64,
    fingerprint: String,
    scanned: bool,
    sizes: Option<MeasuredIndex>,
    /// Whether the index that was there had some, and this one has none.
    lost_sizes: bool,
    seek: Option<NotedIndex>,
}

pub(crate) fn run(args: &IndexArgs) -> Result<(), Failure> {
    if let Some(output) = &args.output {
        OutputFile::from(output.clone()).check_folder()?;
    }
    let environment = Environment::of_process();
    let options = Options {
        labels: args.labels,
        columns: args.columns.iter().cloned().collect::<ColumnMap>(),
        masks: args.masks.iter().cloned().collect::<ColumnMap>(),
        own: args.option.iter().cloned().collect::<OwnOptions>(),
        cache: disk_cache(&environment)?,
        index: environment.index_dir().map_or(IndexChoice::Never, IndexChoice::Folder),
        ..Options::default()
    };
    let failed = |error: SourceError| Failure::Failed(error.to_string());
    let (output, rebuild) = (args.output.as_deref(), args.rebuild);
    let mut is_measured = false;
    let made = if args.sizes {
        make_index_with_sizes(&args.source, &options, output, rebuild, &mut |source| {
            is_measured = true;
            sizes::measure(source, cores::usable())
        })
    } else {
        make_index(&args.source, &options, output, rebuild)
    };
    let report = made.map_err(failed)?;
    let opened = || open_index(&args.source, &options, &report.path).map_err(failed);
    let measured = args.sizes.then(|| {
        let source = opened()?;
        Ok::<_, Failure>(MeasuredIndex::new(&source.sizes(), source.len(), is_measured))
    });
    let measured = measured.transpose()?;
    let noted = args.seek.then(|| seek::note(&*opened()?, &report.path, rebuild, cores::usable()));
    let noted = noted.transpose()?;
    let mut out = io::stdout().lock();
    let made = MadeIndex::new(&args.source, &report, measured, noted);
    Ok(if args.json { json::print(&mut out, &made) } else { made.text(&mut out, args.output.as_deref()) }?)
}

impl<'a> MadeIndex<'a> {
    fn new(source: &'a str, report: &'a IndexReport, sizes: Option<MeasuredIndex>, seek: Option<NotedIndex>) -> Self {
        Self {
            source,
            index: &report.path,
            bytes: report.bytes,
            records: report.records,
            fingerprint: blake3::Hash::from_bytes(report.fingerprint).to_hex().to_string(),
            scanned: report.is_new,
            sizes,
            lost_sizes: report.has_lost_sizes,
            seek,
        }
    }

    /// Says it in lines. If the index was written to `output`, they say how to use it.
    fn text(&self, out: &mut impl Write, output: Option<&Path>) -> io::Result<()> {
        let verb = if self.scanned { "wrote" } else { "up to date:" };
        let Self { index, bytes, records, .. } = self;
        writeln!(out, "{verb} {}: {records} records, {}", printable(index), ByteSize(*bytes))?;
        if let Some(measured) = &self.sizes {
            measured.text(out)?;
        }
        if self.lost_sizes {
            writeln!(
                out,
                "The earlier index had the sizes of the pictures. This one has none: give --sizes to read them again."
            )?;
        }
        if let Some(noted) = &self.seek {
            noted.text(out)?;
        }
        if let Some(output) = output {
            writeln!(out, "Set index = \"{}\" in the stream that uses it.", printable(output))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_told_as_text_and_as_json() {
        let path = PathBuf::from("/indexes/a\u{1b}.forebay");
        let report =
            IndexReport { path, bytes: 2000, records: 60, fingerprint: [7; 32], is_new: true, has_lost_sizes: true };
        let made = MadeIndex::new("/data", &report, None, None);
        let (mut text, mut as_json) = (Vec::new(), Vec::new());
        made.text(&mut text, Some(Path::new("mine.forebay"))).unwrap();
        json::print(&mut as_json, &made).unwrap();
        insta::assert_snapshot!("index_text", String::from_utf8(text).unwrap());
        insta::assert_snapshot!("index_json", String::from_utf8(as_json).unwrap());
    }
}
