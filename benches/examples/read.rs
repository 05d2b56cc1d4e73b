//! How fast records of a source are read, without decoding, by two threads: `read SOURCE ...`. Prints a line of JSON for each
//! source, with a bare loop beside it that reads the same bytes of the same files with as many threads, and no format. What is
//! compressed stays compressed there. One thread then counts the bytes that an ordered and a shuffled epoch read.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use forebay_plan::{GRAIN_PERMUTATION, GrainTable, PERMUTATION, Plan};
use forebay_proto::v1::LedgerSpec;
use forebay_sources::{Container, Grains, Options, Part, Source};
use serde_json::json;

const THREADS: u64 = 2;
/// Each figure is the best of this many rounds: after the first, the pages are in the cache.
const ROUNDS: usize = 5;
const ROOM: u64 = 1 << 30;
/// Grains whose records are shuffled together: the default of `shuffle_window`.
const WINDOW: u32 = 16;

type Failure = Box<dyn Error + Send + Sync>;
/// Reads the record or piece with this number into a buffer.
type Read<'a> = &'a (dyn Fn(u64, &mut Vec<u8>) -> Result<(), Failure> + Sync);

/// A range of a file.
struct Piece {
    file: usize,
    offset: u64,
    length: usize,
}

/// What the bare loop reads.
struct Bare {
    files: Vec<PathBuf>,
    pieces: Vec<Piece>,
    /// Whether each piece is a file, which is opened for it.
    whole: bool,
}

fn main() -> Result<(), Failure> {
    for name in std::env::args().skip(1) {
        let source = forebay_formats::open(&name, &Options::default())?;
        let bytes = AtomicU64::new(0);
        let seconds = best(source.len(), &|record, buf| {
            source.read(record, ROOM, buf)?;
            bytes.fetch_add(buf.len() as u64, Ordering::Relaxed);
            Ok(())
        })?;
        let bare = Bare::of(source.as_ref())?;
        let open = bare.files.iter().map(File::open).collect::<Result<Vec<_>, _>>()?;
        let bare_seconds = best(bare.pieces.len() as u64, &|number, buf| bare.read(number, &open, buf))?;
        let [ordered, shuffled] = [false, true].map(|shuffle| epoch_bytes(&name, shuffle));
        println!(
            "{}",
            json!({
                "source": name,
                "records": source.len(),
                "bytes": bytes.into_inner() / ROUNDS as u64,
                "seconds": seconds,
                "bare_seconds": bare_seconds,
                "ordered_bytes": ordered?,
                "shuffled_bytes": shuffled?,
            })
        );
    }
    Ok(())
}

/// The time of the best round, in seconds. Threads take records in turn, as the prefetch stage does.
fn best(count: u64, read: Read<'_>) -> Result<f64, Failure> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let (began, next) = (Instant::now(), AtomicU64::new(0));
        let work = || -> Result<(), Failure> {
            let mut buf = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(());
                }
                read(number, &mut buf)?;
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
        })?;
        best = best.min(began.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Bytes that the system gave to this process for an epoch. Its order is that of the dataset, or of `shuffle = "grains"`.
fn epoch_bytes(name: &str, shuffle: bool) -> Result<u64, Failure> {
    let source = forebay_formats::open(name, &Options::default())?;
    let plan = plan(source.as_ref(), shuffle)?;
    let (before, mut buf) = (bytes_so_far()?, Vec::new());
    for position in 0..source.len() {
        source.read(plan.record(0, position), ROOM, &mut buf)?;
    }
    Ok(bytes_so_far()? - before)
}

/// The plan of a stream of this source alone.
fn plan(source: &dyn Source, shuffle: bool) -> Result<Plan, Failure> {
    let (fingerprint, records) = (source.fingerprint().to_vec(), source.len());
    let spec = LedgerSpec { fingerprint, records, shuffle, permutation: PERMUTATION, ..LedgerSpec::default() };
    match source.grains() {
        Grains::Starts(starts) if shuffle && (starts.len() as u64) < records => {
            let table = Arc::new(GrainTable::new(starts, records)?);
            let grains = Some(table.order(WINDOW));
            Ok(Plan::with_grains(&LedgerSpec { permutation: GRAIN_PERMUTATION, grains, ..spec }, Some(table))?)
        }
        _ => Ok(Plan::new(&spec)?),
    }
}

fn bytes_so_far() -> Result<u64, Failure> {
    let counts = fs::read_to_string("/proc/self/io")?;
    let read = counts.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(read.ok_or("the system does not count what this process reads")?.parse()?)
}

impl Bare {
    /// The ranges of the records, if the locators say them. Otherwise the files, in as many pieces as there are records.
    fn of(source: &dyn Source) -> Result<Self, Failure> {
        let (mut files, mut known, mut pieces, mut whole) = (Vec::new(), BTreeMap::new(), Vec::new(), true);
        let mut buf = Vec::new();
        for record in 0..source.len() {
            let locator = source.locator(record);
            let Container::File(path) = locator.container else { return Err("a record is not in a file".into()) };
            let file = *known.entry(path.clone()).or_insert_with(|| {
                files.push(path);
                files.len() - 1
            });
            source.read(record, ROOM, &mut buf)?;
            let offset = match locator.part {
                Part::Whole => 0,
                Part::Bytes { offset, .. } => offset,
                _ => u64::MAX,
            };
            whole &= matches!(locator.part, Part::Whole);
            pieces.push(Piece { file, offset, length: buf.len() });
        }
        if pieces.iter().any(|piece| piece.offset == u64::MAX) {
            pieces = in_pieces(&files, pieces.len())?;
        }
        Ok(Self { files, pieces, whole })
    }

    fn read(&self, number: u64, open: &[File], buf: &mut Vec<u8>) -> Result<(), Failure> {
        let piece = &self.pieces[usize::try_from(number)?];
        buf.resize(piece.length, 0);
        if self.whole {
            File::open(&self.files[piece.file])?.read_exact_at(buf, 0)?;
        } else {
            open[piece.file].read_exact_at(buf, piece.offset)?;
        }
        Ok(())
    }
}

fn in_pieces(files: &[PathBuf], count: usize) -> Result<Vec<Piece>, Failure> {
    let mut pieces = Vec::new();
    let each = count.div_ceil(files.len());
    for (file, path) in files.iter().enumerate() {
        let size = path.metadata()?.len();
        let length = size.div_ceil(each as u64).max(1);
        let offsets = (0..size).step_by(usize::try_from(length)?);
        for offset in offsets {
            pieces.push(Piece { file, offset, length: usize::try_from(length.min(size - offset))? });
        }
    }
    Ok(pieces)
}
