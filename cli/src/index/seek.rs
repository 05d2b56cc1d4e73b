//! `forebay index --seek`: reads every picture once, by many threads, and writes where its parts begin beside the index. The
//! pictures are not decoded.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use forebay_formats::{PointsReport, PointsWriter};
use forebay_pipeline::ByteSize;
use forebay_pixels::SeekPointFinder;
use forebay_printable::printable;
use forebay_sources::{ReadError, RecordParts, Retry, Source};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::failure::Failure;
use crate::json;
use crate::progress;
use crate::verify;

/// The seek points of an index.
#[derive(Serialize)]
pub(super) struct NotedIndex {
    #[serde(serialize_with = "json::path")]
    file: PathBuf,
    bytes: u64,
    /// Those that have points.
    pictures: u64,
    /// Of the pictures that were read.
    read_bytes: u64,
    /// Pictures that were not read because the storage failed.
    unread: u64,
    /// Whether the pictures were read. Otherwise the file was there, and fits.
    noted: bool,
}

/// Records whose points wait for each other to be written in order.
const ROUND: u64 = 1024;
/// If the storage fails to give this many records of a round, this is an outage and not a fault of single records.
const OUTAGES: u64 = 100;
/// A buffer beyond this is not kept for the next record.
const LARGE: usize = 64 << 20;

/// Some records that follow each other, which several threads share.
struct Round<'a> {
    source: &'a dyn Source,
    bar: &'a ProgressBar,
    next: AtomicU64,
    end: u64,
}

/// What was found of a record.
struct NotedRecord {
    record: u64,
    /// Empty if it has no points.
    block: Vec<u8>,
    /// Bytes of the picture, or why the storage does not give it.
    read: Result<u64, Box<ReadError>>,
}

/// Writes the seek points beside the index in this file, from which the dataset was opened. If they are there and fit, they
/// stay, unless `rebuild`.
pub(super) fn note(source: &dyn Source, index: &Path, rebuild: bool, threads: usize) -> Result<NotedIndex, Failure> {
    if !rebuild && let Some(report) = PointsReport::of_opened(index, source) {
        return Ok(NotedIndex::new(report, None));
    }
    let failed = |error: io::Error| {
        Failure::Failed(format!("The seek points of \"{}\" cannot be written: {error}.", printable(index)))
    };
    let mut writer = PointsWriter::create(index, source).map_err(failed)?;
    let template = "{wide_bar} {human_pos} of {human_len} pictures, {msg} of seek points, {eta} left";
    let bar = progress::bar(source.len(), template);
    let mut finders: Vec<_> = (0..threads.max(1)).map(|_| SeekPointFinder::default()).collect();
    let (mut read, mut unread) = (0, 0);
    let mut start = 0;
    while start < source.len() {
        bar.set_message(format!("{:#}", ByteSize(writer.bytes())));
        let end = source.len().min(start + ROUND);
        let mut outages = 0;
        for noted in (Round { source, bar: &bar, next: start.into(), end }).run(&mut finders) {
            writer.add(&noted.block).map_err(failed)?;
            match noted.read {
                Ok(bytes) => read += bytes,
                Err(error) if outages + 1 == OUTAGES => {
                    let place = &error.locator;
                    return Err(Failure::Failed(format!(
                        "{place}: {error}. Many reads have failed. Try again once this is fixed."
                    )));
                }
                Err(_) => outages += 1,
            }
        }
        unread += outages;
        start = end;
    }
    bar.finish_and_clear();
    let report = writer.finish().map_err(failed)?;
    Ok(NotedIndex::new(report, Some((read, unread))))
}

impl NotedIndex {
    /// Bytes that were read and pictures that were not, if the pictures were read.
    fn new(PointsReport { path, bytes, pictures }: PointsReport, noted: Option<(u64, u64)>) -> Self {
        let (read_bytes, unread) = noted.unwrap_or_default();
        Self { file: path, bytes, pictures, read_bytes, unread, noted: noted.is_some() }
    }

    /// Says it in a line for people, and in another one if pictures are missing.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { file, bytes, pictures, read_bytes, unread, noted } = self;
        let verb = if *noted { "wrote" } else { "up to date:" };
        write!(out, "{verb} {}: seek points of {pictures} pictures, {:#}", printable(file), ByteSize(*bytes))?;
        if *read_bytes > 0 {
            #[expect(clippy::cast_precision_loss, reason = "a share of bytes")]
            let share = 100.0 * *bytes as f64 / *read_bytes as f64;
            write!(out, " ({share:.2} % of the pictures' {:#})", ByteSize(*read_bytes))?;
        }
        writeln!(out)?;
        if *unread > 0 {
            writeln!(
                out,
                "The storage did not give {unread} pictures, which get their seek points in the first epoch."
            )?;
        }
        Ok(())
    }
}

impl Round<'_> {
    /// All of its records, in order.
    fn run(&self, finders: &mut [SeekPointFinder]) -> Vec<NotedRecord> {
        let (own, others) = finders.split_first_mut().expect("one thread works at least");
        let mut noted = thread::scope(|scope| {
            // Where the system has no room for more threads, fewer work.
            let builder = || thread::Builder::new().name("forebay-index".into());
            let helpers =
                others.iter_mut().map_while(|finder| builder().spawn_scoped(scope, move || self.work(finder)).ok());
            let helpers: Vec<_> = helpers.collect();
            let mut noted = self.work(own);
            for helper in helpers {
                noted.append(&mut helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            noted
        });
        noted.sort_unstable_by_key(|noted| noted.record);
        noted
    }

    fn work(&self, finder: &mut SeekPointFinder) -> Vec<NotedRecord> {
        let (mut noted, mut bytes) = (Vec::new(), Vec::new());
        loop {
            let record = self.next.fetch_add(1, Ordering::Relaxed);
            if record >= self.end {
                return noted;
            }
            noted.push(self.note(record, &mut bytes, finder));
            self.bar.inc(1);
            if bytes.capacity() > LARGE {
                bytes = Vec::new();
            }
        }
    }

    /// A bad record has no points.
    fn note(&self, record: u64, bytes: &mut Vec<u8>, finder: &mut SeekPointFinder) -> NotedRecord {
        match verify::read(self.source, record, bytes) {
            Ok(()) => {
                let picture = RecordParts::of(bytes, self.source.masks().len()).picture();
                NotedRecord { record, block: finder.find(picture).to_vec(), read: Ok(picture.len() as u64) }
            }
            Err(error) if error.retry() == Retry::Later => {
                NotedRecord { record, block: Vec::new(), read: Err(Box::new(error)) }
            }
            Err(_) => NotedRecord { record, block: Vec::new(), read: Ok(0) },
        }
    }
}
