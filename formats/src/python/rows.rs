//! A dataset whose records a reader gives: which span is read by which task, and what happens to a span that fails.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};

use forebay_columns::Table;
use forebay_sources::{Grains, Labels, Locator, MaskColumn, Part, ReadError, ReadErrorKind, Source};
use parking_lot::Mutex;

use super::child::{GivenLabel, StartFailure, TaskAnswer, TaskFailure};
use super::labels::ReaderLabels;
use super::pool::ReaderPool;
use super::shards::{ReaderShards, TaskSpan};
use crate::grain_cache::{Grain, GrainCache};

/// Bytes of records that are kept because others of their span were needed.
const KEPT: usize = 64 << 20;

/// A dataset behind a reader.
#[derive(Debug)]
pub(super) struct ReaderRows {
    pool: ReaderPool,
    shards: ReaderShards,
    labels: ReaderLabels,
    targets: Table,
    masks: Vec<MaskColumn>,
    /// Records whose columns do not fit, and why.
    wrong: BTreeMap<u64, String>,
    fingerprint: [u8; 32],
    /// What a shard without a name is called.
    nameless: String,
    /// If the error of a grain is none, the grain is broken: its records are read one by one.
    grains: GrainCache<Option<ReadError>>,
    known: Mutex<LearntSizes>,
}

/// What was learnt by reading.
#[derive(Debug, Default)]
struct LearntSizes {
    /// The sizes of the records of each grain that was read.
    sizes: HashMap<u64, Box<[u64]>>,
    /// Grains that could not be read as a whole, with the reads that are left until that is tried again.
    broken: HashMap<u64, u64>,
}

impl ReaderRows {
    pub(super) fn new(pool: ReaderPool, shards: ReaderShards, labels: Option<Vec<i64>>, about: ReaderAbout) -> Self {
        let labels = labels.unwrap_or_default();
        let fingerprint = fingerprint(&pool, &shards, &labels, &about);
        let ReaderAbout { classes, version: _, targets, wrong } = about;
        let stem = Path::new(pool.settings().name()).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (grains, known) = (GrainCache::new(KEPT), Mutex::default());
        let masks = Vec::new();
        let labels = ReaderLabels::new(labels, classes);
        Self { pool, shards, labels, targets, masks, wrong, fingerprint, nameless: stem, grains, known }
    }

    /// Reads a record, to see what records are like. Nothing if it cannot be read.
    ///
    /// # Errors
    /// Its reader cannot be started any more, or has changed.
    pub(super) fn look(&self, record: u64) -> Result<Option<TaskAnswer>, ReadError> {
        Ok(self.attempt(&self.shards.single(record), false, Vec::new())?.ok())
    }

    /// The same dataset with masks in its records.
    pub(super) fn with_masks(mut self, masks: Vec<MaskColumn>) -> Self {
        if !masks.is_empty() {
            let mut hasher = blake3::Hasher::new_derive_key("forebay masks of a reader 1");
            hasher.update(&self.fingerprint);
            for (mask, (_, keys)) in masks.iter().zip(self.pool.settings().masks.targets()) {
                for text in [&*mask.name, mask.element.name()].into_iter().chain(keys) {
                    hasher.update(&(text.len() as u64).to_le_bytes());
                    hasher.update(text.as_bytes());
                }
            }
            self.fingerprint = *hasher.finalize().as_bytes();
        }
        self.masks = masks;
        self
    }

    pub(super) fn pool(&self) -> &ReaderPool {
        &self.pool
    }

    fn at(&self, record: u64, kind: ReadErrorKind, cause: impl Into<String>) -> ReadError {
        ReadError { kind, locator: self.locator(record), cause: cause.into() }
    }

    /// The span's grain, or none if it is broken. A span that fails twice counts as broken.
    fn grain(&self, number: u64, span: &TaskSpan<'_>, record: u64, used: Vec<u8>) -> Result<Option<Grain>, ReadError> {
        if self.is_broken(number) {
            return Ok(None);
        }
        let mut read = self.attempt(span, false, used)?;
        if let Err(failure) = &read
            && !matches!(failure, TaskFailure::TooLarge(_) | TaskFailure::Bulky)
        {
            let (shard, start, end) = (span.shard, span.start, span.end);
            let words = failure.words();
            tracing::warn!(shard, start, end, record, "the reader failed; a new process tries again: {words}");
            read = self.attempt(span, true, Vec::new())?;
        }
        match read {
            Ok(answer) => {
                self.learn(number, &answer.grain);
                Ok(Some(answer.grain))
            }
            // A span of one record says all about that record.
            Err(failure) if span.len() == 1 => Err(self.bad(record, &failure)),
            Err(_) => {
                self.known.lock().broken.insert(number, span.len());
                Ok(None)
            }
        }
    }

    fn is_broken(&self, grain: u64) -> bool {
        self.known.lock().broken.contains_key(&grain)
    }

    fn learn(&self, number: u64, grain: &Grain) {
        let starts = [0].into_iter().chain(grain.ends.iter().copied());
        let sizes = starts.zip(&grain.ends).map(|(start, end)| (end - start) as u64).collect();
        self.known.lock().sizes.insert(number, sizes);
    }

    fn learn_one(&self, record: u64, size: u64) {
        let (number, span) = self.shards.grain(record);
        let len = usize::try_from(span.len()).unwrap_or(0);
        let mut known = self.known.lock();
        let sizes = known.sizes.entry(number).or_insert_with(|| vec![0; len].into_boxed_slice());
        if let Some(known) = usize::try_from(record - span.record).ok().and_then(|place| sizes.get_mut(place)) {
            *known = size;
        }
    }

    /// Reads a record by a task of its own, because its span could not be read.
    fn alone(&self, record: u64, grain: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        {
            let mut known = self.known.lock();
            let left = known.broken.get_mut(&grain);
            if left.is_some_and(|left| {
                *left = left.saturating_sub(1);
                *left == 0
            }) {
                known.broken.remove(&grain);
            }
        }
        let span = self.shards.single(record);
        let mut read = self.attempt(&span, false, Vec::new())?;
        if matches!(read, Err(TaskFailure::Lost(_))) {
            // Something else may have killed its process.
            read = self.attempt(&span, true, Vec::new())?;
        }
        match read {
            Ok(answer) => {
                let content = answer.grain.record(0).unwrap_or_default();
                self.learn_one(record, content.len() as u64);
                self.give(record, content, room, buf)
            }
            Err(failure) => Err(self.bad(record, &failure)),
        }
    }

    /// What is wrong with a record whose own task fails.
    fn bad(&self, record: u64, failure: &TaskFailure) -> ReadError {
        match failure {
            &TaskFailure::TooLarge(size) => {
                self.at(record, ReadErrorKind::TooLarge { size, limit: self.pool.settings().byte_limit }, "")
            }
            failure => self.at(record, ReadErrorKind::Reader, failure.words()),
        }
    }

    /// Reads a span once, into memory that was used before. The outer error is an outage, or a reader that has changed.
    fn attempt(
        &self,
        span: &TaskSpan<'_>,
        fresh: bool,
        used: Vec<u8>,
    ) -> Result<Result<TaskAnswer, TaskFailure>, ReadError> {
        match self.pool.settings().is_unchanged() {
            Ok(true) => {}
            Ok(false) => return Err(self.at(span.record, ReadErrorKind::Changed, "it is the reader's own file")),
            Err(error) => {
                let words = format!("the reader's own file cannot be looked at: {error}");
                return Err(self.at(span.record, ReadErrorKind::Gone, words));
            }
        }
        let mut lent = self.pool.lend(fresh).map_err(|failure| self.outage(span.record, failure))?;
        let read = lent.child().read(span, self.pool.settings(), used);
        let read = read.and_then(|answer| self.checked(span, answer));
        match &read {
            Err(failure) if !failure.keeps_child() => drop(lent),
            _ => lent.give_back(),
        }
        match read {
            Err(TaskFailure::Outage(words)) => Err(self.at(span.record, ReadErrorKind::Storage, words)),
            // A reader of our own waits for nothing but the service that it reads from.
            Err(TaskFailure::Hung(words)) if self.pool.settings().code.is_own() => {
                Err(self.at(span.record, ReadErrorKind::Storage, words))
            }
            read => Ok(read),
        }
    }

    /// A reader that could be made when the dataset was opened, and now cannot: no record is to blame.
    fn outage(&self, record: u64, failure: StartFailure) -> ReadError {
        match failure {
            StartFailure::Spawn(error) => {
                let lacking = matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock)
                    || ReadError::of_file(PathBuf::new(), &error).kind == ReadErrorKind::Resources;
                let kind = if lacking { ReadErrorKind::Resources } else { ReadErrorKind::Storage };
                self.at(record, kind, format!("the reader's process cannot be started: {error}"))
            }
            StartFailure::Reader(failure) => {
                let words = format!("the reader cannot be made any more: {}", failure.words());
                self.at(record, ReadErrorKind::Storage, words)
            }
        }
    }

    /// Labels that come with records are those that were known when the dataset was opened.
    fn checked(&self, span: &TaskSpan<'_>, answer: TaskAnswer) -> Result<TaskAnswer, TaskFailure> {
        for (record, given) in (span.record..).zip(&answer.labels) {
            let Some(GivenLabel(given)) = given else { continue };
            if self.labels.agrees(record, given) {
                continue;
            }
            let words = format!(
                "the reader gave the label {given}, but another one when the dataset was opened. A record must always have the same label"
            );
            return Err(TaskFailure::Raised(words));
        }
        Ok(answer)
    }

    fn give(&self, record: u64, content: &[u8], room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        let size = content.len() as u64;
        if content.is_empty() {
            return Err(self.at(record, ReadErrorKind::Empty, ""));
        }
        if size > room {
            return Err(self.at(record, ReadErrorKind::Larger { size }, ""));
        }
        if buf.try_reserve_exact(content.len()).is_err() {
            return Err(self.at(record, ReadErrorKind::Resources, "there is no memory for the record"));
        }
        buf.extend_from_slice(content);
        Ok(())
    }
}

impl Source for ReaderRows {
    fn len(&self) -> u64 {
        self.shards.records()
    }

    fn classes(&self) -> &[String] {
        &self.labels.classes
    }

    fn label(&self, record: u64) -> i64 {
        assert!(record < self.len(), "record {record} of {}", self.len());
        self.labels.at(record)
    }

    fn locator(&self, record: u64) -> Locator {
        let TaskSpan { shard, start, .. } = self.shards.single(record);
        let part = Part::Numbered(Box::new((shard.to_owned(), start)));
        Locator { container: self.pool.settings().container(), part }
    }

    fn size(&self, record: u64) -> u64 {
        let (grain, span) = self.shards.grain(record);
        let known = self.known.lock();
        let place = usize::try_from(record - span.record).ok();
        known.sizes.get(&grain).zip(place).and_then(|(sizes, place)| sizes.get(place)).copied().unwrap_or(0)
    }

    fn read(&self, record: u64, room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        buf.clear();
        if let Some(words) = self.wrong.get(&record) {
            return Err(self.at(record, ReadErrorKind::Reader, words.clone()));
        }
        let (number, span) = self.shards.grain(record);
        let grain =
            match self.grains.get(number, |_, used| self.grain(number, &span, record, used).map_err(Some)?.ok_or(None))
            {
                Ok(grain) => grain,
                Err(None) => return self.alone(record, number, room, buf),
                Err(Some(error)) => return Err(ReadError { locator: self.locator(record), ..error }),
            };
        let place = usize::try_from(record - span.record).unwrap_or(usize::MAX);
        self.give(record, grain.record(place).unwrap_or_default(), room, buf)
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn targets(&self) -> &Table {
        &self.targets
    }

    fn take_targets(&mut self) -> Table {
        std::mem::take(&mut self.targets)
    }

    fn masks(&self) -> &[MaskColumn] {
        &self.masks
    }

    fn grains(&self) -> Grains<'_> {
        self.shards.grains()
    }

    fn shard_name(&self, record: u64) -> &str {
        let name = self.shards.single(record).shard;
        if name.is_empty() { &self.nameless } else { name }
    }
}

/// What a reader said of itself, beside shards and labels.
#[derive(Clone, Debug, Default)]
pub(super) struct ReaderAbout {
    pub classes: Vec<String>,
    /// Its own word for what it reads.
    pub version: String,
    /// The further columns.
    pub targets: Table,
    /// Records whose columns do not fit, and why.
    pub wrong: BTreeMap<u64, String>,
}

/// A reader's file and the number of its processes are no part of the dataset. Its class and its parameters are.
fn fingerprint(pool: &ReaderPool, shards: &ReaderShards, labels: &[i64], about: &ReaderAbout) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"forebay reader dataset 1\0");
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    let settings = pool.settings();
    part(settings.call.class.as_bytes());
    for (key, value) in &settings.call.parameters {
        part(key.as_bytes());
        part(value.as_str().unwrap_or_default().as_bytes());
    }
    part(b"version");
    part(about.version.as_bytes());
    for shard in shards.all() {
        part(shard.name.as_bytes());
        part(&shard.start.to_le_bytes());
        part(&shard.count.to_le_bytes());
    }
    part(b"labels");
    part(if settings.labels == Labels::None { b"none" } else { b"some" });
    for label in labels {
        part(&label.to_le_bytes());
    }
    part(b"classes");
    for class in &about.classes {
        part(class.as_bytes());
    }
    // A dataset without columns keeps the fingerprint that it had before there were columns.
    if !about.targets.schema().is_empty() {
        about.targets.digest(&mut part);
        for (record, words) in &about.wrong {
            part(&record.to_le_bytes());
            part(words.as_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}
