//! `forebay index --sizes`: reads the header of every picture, by many threads, so that the index has its size.

use std::io::{self, Write};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use forebay_formats::NewSizes;
use forebay_pipeline::seen_size;
use forebay_sources::{PictureSize, ReadError, Reading, Sizes, Source, SourceError};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::progress;
use crate::verify::Spread;

/// Records that are measured before their sizes are noted in order.
const ROUND: u64 = 1 << 14;
/// If the storage fails to give this many records of a round, this is an outage and not a fault of single records.
const OUTAGES: u64 = 100;
/// Threads that wait for a store.
const REMOTE_THREADS: usize = 32;
/// A buffer beyond this is not kept for the next record.
const LARGE: usize = 64 << 20;

/// What the sizes of a dataset's pictures are.
#[derive(Serialize)]
pub(super) struct MeasuredIndex {
    /// Pictures whose size is known.
    pictures: u64,
    /// Records whose header cannot be read.
    without: u64,
    /// Pictures that are turned to be seen.
    turned: u64,
    /// How the numbers of pixels are spread.
    pixels: Option<Spread>,
    /// The largest quotient of the longer side by the shorter one.
    largest_aspect: f64,
    /// Whether the headers were read. Otherwise the index had the sizes, and fits.
    measured: bool,
}

/// Some records that follow each other, which several threads share.
struct MeasuredRound<'a> {
    source: &'a dyn Source,
    bar: &'a ProgressBar,
    next: AtomicU64,
    end: u64,
}

/// A record, and its size if it has one, or why the storage does not give it.
type MeasuredRecord = (u64, Result<Option<PictureSize>, ReadError>);

/// Measures all pictures of a dataset.
///
/// # Errors
/// The storage fails for many of them.
pub(super) fn measure(source: &dyn Source, threads: usize) -> Result<NewSizes, SourceError> {
    let threads = match source.reading() {
        Reading::Requests { most } => most.min(REMOTE_THREADS).max(threads),
        Reading::Threads => threads,
    };
    let bar = progress::bar(source.len(), "{wide_bar} {human_pos} of {human_len} headers, {eta} left");
    let (mut sizes, mut start) = (NewSizes::default(), 0);
    while start < source.len() {
        let end = source.len().min(start + ROUND);
        let mut outages = 0;
        for (_, measured) in (MeasuredRound { source, bar: &bar, next: start.into(), end }).run(threads.max(1)) {
            match measured {
                Ok(size) => sizes.push(size),
                Err(outage) if outages + 1 == OUTAGES => return Err(SourceError::Outage(outage)),
                Err(_) => {
                    outages += 1;
                    sizes.push(None);
                }
            }
        }
        start = end;
    }
    bar.finish_and_clear();
    Ok(sizes)
}

impl MeasuredRound<'_> {
    /// All of its records, in order.
    fn run(&self, threads: usize) -> Vec<MeasuredRecord> {
        let mut measured = thread::scope(|scope| {
            // Where the system has no room for more threads, fewer work.
            let start = |_| {
                let builder = thread::Builder::new().name("forebay-index".into());
                builder.spawn_scoped(scope, || self.work()).ok()
            };
            let helpers: Vec<_> = (1..threads).map_while(start).collect();
            let mut measured = self.work();
            for helper in helpers {
                measured.append(&mut helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            measured
        });
        measured.sort_unstable_by_key(|(record, _)| *record);
        measured
    }

    fn work(&self) -> Vec<MeasuredRecord> {
        let (mut measured, mut bytes) = (Vec::new(), Vec::new());
        loop {
            let record = self.next.fetch_add(1, Ordering::Relaxed);
            if record >= self.end {
                return measured;
            }
            measured.push((record, seen_size::of_record(self.source, record, &mut bytes)));
            self.bar.inc(1);
            if bytes.capacity() > LARGE {
                bytes = Vec::new();
            }
        }
    }
}

impl MeasuredIndex {
    /// The sizes that an index has.
    pub(super) fn new(sizes: &Sizes, records: u64, measured: bool) -> Self {
        let (mut pixels, mut turned, mut largest_aspect) = (Vec::new(), 0, 0.0_f64);
        for size in (0..records).filter_map(|record| sizes.get(record)) {
            pixels.push(size.pixels());
            turned += u64::from(size.orientation != 1);
            let (long, short) = (size.height.max(size.width), size.height.min(size.width));
            largest_aspect = largest_aspect.max(f64::from(long) / f64::from(short));
        }
        let pictures = pixels.len() as u64;
        Self { pictures, without: records - pictures, turned, pixels: Spread::of(pixels), largest_aspect, measured }
    }

    /// Says it in a line for people, and in another one if sizes are missing.
    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { pictures, without, turned, pixels, largest_aspect, measured } = self;
        let verb = if *measured { "measured" } else { "up to date:" };
        write!(out, "{verb} {pictures} pictures")?;
        if let Some(Spread { min, median, max, .. }) = pixels {
            write!(
                out,
                ", {min} to {max} pixels, median {median}, longer side at most {largest_aspect:.2} x the shorter"
            )?;
        }
        if *turned > 0 {
            write!(out, ", {turned} turned by EXIF")?;
        }
        writeln!(out)?;
        if *without > 0 {
            writeln!(out, "without a size: {without}, whose headers cannot be read. See \"forebay verify\".")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use forebay_pixels::sample::photograph;
    use forebay_sources::{Locator, ReadErrorKind};

    use super::*;

    /// Pictures of which some are bad, some need their whole file, and some are not given by the storage.
    #[derive(Debug)]
    struct Mixed {
        records: u64,
        outage: fn(u64) -> bool,
    }

    impl Source for Mixed {
        fn len(&self) -> u64 {
            self.records
        }
        fn classes(&self) -> &[String] {
            &[]
        }
        fn label(&self, _: u64) -> i64 {
            -1
        }
        fn locator(&self, record: u64) -> Locator {
            Locator::file(format!("/{record}.jpg"))
        }
        fn size(&self, _: u64) -> u64 {
            0
        }
        fn read(&self, record: u64, _: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
            buf.clear();
            match record % 4 {
                _ if (self.outage)(record) => return Err(ReadError::new(ReadErrorKind::Storage, self.locator(record))),
                0 => buf.extend(photograph(record, 24, 16)),
                1 => return Err(ReadError::new(ReadErrorKind::Missing, self.locator(record))),
                2 => buf.extend(b"no picture"),
                _ => buf.extend(photograph(record, 30, 40)),
            }
            Ok(())
        }
        fn read_head(&self, record: u64, most: usize, buf: &mut Vec<u8>) -> Result<(), ReadError> {
            self.read(record, u64::MAX, buf)?;
            // The header of this picture is longer than what is read at first.
            buf.truncate(if record % 8 == 3 && most < usize::MAX { 10 } else { most });
            Ok(())
        }
        fn fingerprint(&self) -> [u8; 32] {
            [0; 32]
        }
        fn shard_name(&self, _: u64) -> &'static str {
            ""
        }
    }

    #[test]
    fn rule_61_each_record_has_its_size_in_order_and_bad_ones_have_none() {
        let source = Mixed { records: 40, outage: |record| record == 8 };
        for threads in [1, 5] {
            let sizes = measure(&source, threads).unwrap();
            assert_eq!(sizes.len(), 40);
            for (record, size) in sizes.iter().enumerate() {
                let size = size.map(|size| (size.width, size.height, size.orientation));
                let expected = match record % 4 {
                    _ if record == 8 => None,
                    0 => Some((24, 16, 1)),
                    3 => Some((30, 40, 1)),
                    _ => None,
                };
                assert_eq!(size, expected, "record {record}");
            }
        }
    }

    #[test]
    fn rule_61_a_storage_that_gives_nothing_ends_the_measuring() {
        let source = Mixed { records: 1000, outage: |_| true };
        assert!(matches!(measure(&source, 3), Err(SourceError::Outage(_))));
    }

    #[test]
    fn the_sizes_of_an_index_are_told_in_lines() {
        let told = |measured: MeasuredIndex| {
            let mut out = Vec::new();
            measured.text(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let pixels = Spread::of(vec![6, 7, 9]);
        let measured =
            MeasuredIndex { pictures: 3, without: 2, turned: 1, pixels, largest_aspect: 1.5, measured: true };
        insta::assert_snapshot!("measured_text", told(measured));
        assert_eq!(told(MeasuredIndex::new(&Sizes::default(), 0, false)), "up to date: 0 pictures\n");
    }
}
