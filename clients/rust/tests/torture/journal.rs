//! The journal of a trainer, which `clients/python/tests/torture/trainer.py` describes.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use forebay_client::Batch;
use rustix::time::{ClockId, clock_gettime};

/// Waits that are shorter are of no interest, in milliseconds.
const SHORT: i64 = 200;

/// What a trainer writes down, and since when it waits for its next batch.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    hungry: Option<i64>,
}

impl Journal {
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        Ok(Self { file: OpenOptions::new().append(true).create(true).open(path)?, hungry: None })
    }

    /// Writes a line with one write, so that a kill leaves whole lines.
    pub(crate) fn note(&mut self, line: impl Display) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Writes a line with a time, in seconds.
    pub(crate) fn note_time(&mut self, what: &str) -> io::Result<()> {
        self.note(format_args!("{what} {}", Seconds(now())))
    }

    /// Writes a line with a batch's epoch and records: all that it shows, or those that are delivered with it.
    pub(crate) fn note_records(&mut self, what: &str, batch: &Batch, all: bool) -> io::Result<()> {
        let places = batch.records().iter().zip(batch.mask()).take(batch.shown());
        let records = places.filter(|(_, mask)| all || **mask == 1).map(|(record, _)| format!(" {record}"));
        self.note(format_args!("{what} {}{}", batch.epoch(), records.collect::<String>()))
    }

    /// Writes a line with the incarnation of the daemon that made a batch's ring, and with the batch's number.
    pub(crate) fn note_origin(&mut self, batch: &Batch) -> io::Result<()> {
        // The ring's header says so, and is where its mapping begins. It is read as a file: the client shows its slots alone.
        let (address, maps) = (batch.images().as_ptr().addr(), fs::read_to_string("/proc/self/maps")?);
        let bounds = |line: &str| {
            let (begin, rest) = line.split_once('-')?;
            let (end, _) = rest.split_once(' ')?;
            Some(usize::from_str_radix(begin, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
        };
        let mapping = maps.lines().filter_map(bounds).find(|bounds| bounds.contains(&address));
        let begin = mapping.ok_or(io::ErrorKind::NotFound)?.start as u64;
        let mut incarnation = [0; 8];
        File::open("/proc/self/mem")?.read_exact_at(&mut incarnation, begin + 16)?;
        self.note(format_args!("of {} {}", u64::from_le_bytes(incarnation), batch.seq()))
    }

    /// The trainer waits for a batch, if it does not wait yet.
    pub(crate) fn begin_to_wait(&mut self) {
        self.hungry.get_or_insert_with(now);
    }

    /// The trainer waits no more. A wait that was long enough to be of interest is written down.
    pub(crate) fn eat(&mut self) -> io::Result<()> {
        match (self.hungry.take(), now()) {
            (Some(since), until) if until - since > SHORT => {
                self.note(format_args!("waited {} {}", Seconds(since), Seconds(until)))
            }
            _ => Ok(()),
        }
    }
}

/// Milliseconds, which are written as seconds.
struct Seconds(i64);

impl Display for Seconds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// Milliseconds on the clock of the journals.
fn now() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}
