//! Reads and decodes every record once, by many threads. Of a record only facts are kept.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use forebay_pixels::{CpuDecoder, Fault, Form, Further, Limits, MaskDecoder, Mode, Orientation, Origin, probe};
use forebay_sources::{MaskColumn, ReadError, ReadErrorKind, RecordParts, Retry, Source};
use indicatif::ProgressBar;
use parking_lot::Mutex;

use super::checked::{Checked, CheckedContent, Digest, GoodPicture, Trouble};
use super::kind::{PictureKind, is_misnamed};
use super::masks::MaskReader;

/// What is read and decoded, and by how many threads.
pub(super) struct Scan<'a> {
    pub source: &'a dyn Source,
    /// What a pixel of the pictures has.
    pub mode: Mode,
    pub limits: Limits,
    pub threads: usize,
    pub bar: &'a ProgressBar,
}

/// Memory for one record beyond which it waits until no other one takes as much.
const LARGE: u64 = 64 << 20;
/// How often a read that fails by an outage is tried.
const TRIES: u32 = 3;
/// After this many outages in a row, the cause is not single records.
const OUTAGES: u64 = 100;

/// What the threads share.
struct ScanState<'a> {
    scan: &'a Scan<'a>,
    next: AtomicU64,
    /// Records in a row that were not read because of an outage.
    outages: AtomicU64,
    /// Held by the thread that has a large record.
    large: Mutex<()>,
}

impl Scan<'_> {
    /// All records that are selected, in order.
    ///
    /// # Errors
    /// The storage gives nothing any more.
    pub(super) fn run(&self) -> Result<Vec<Checked>, Box<ReadError>> {
        let state = ScanState { scan: self, next: 0.into(), outages: 0.into(), large: Mutex::new(()) };
        let work = || state.work();
        let mut checked = thread::scope(|scope| {
            // Where the system has no room for more threads, fewer work.
            let start = |_| thread::Builder::new().name("forebay-verify".into()).spawn_scoped(scope, work).ok();
            let helpers: Vec<_> = (1..self.threads).map_while(start).collect();
            let own = work();
            helpers.into_iter().fold(own, |all, helper| {
                let theirs = helper.join().unwrap_or_else(|panic| resume_unwind(panic));
                let (mut all, mut theirs) = (all?, theirs?);
                all.append(&mut theirs);
                Ok(all)
            })
        })?;
        checked.sort_unstable_by_key(|checked| checked.record);
        Ok(checked)
    }
}

impl ScanState<'_> {
    fn work(&self) -> Result<Vec<Checked>, Box<ReadError>> {
        let (mut decoder, mut bytes, mut checked) = (CpuDecoder::new(), Vec::new(), Vec::new());
        let records = self.scan.source.len();
        loop {
            let record = self.next.fetch_add(1, Ordering::Relaxed);
            if record >= records {
                return Ok(checked);
            }
            if self.scan.source.selection().is_some_and(|selection| !selection.contains(record)) {
                continue;
            }
            let found = self.check(record, &mut bytes, &mut decoder);
            self.scan.bar.inc(1);
            match &found.outcome {
                Err(Trouble::Read(error)) if error.kind == ReadErrorKind::Index => {
                    self.next.fetch_max(records, Ordering::Relaxed);
                    return Err(error.clone());
                }
                Err(Trouble::Read(error)) if found.content.is_none() && error.retry() == Retry::Later => {
                    if self.outages.fetch_add(1, Ordering::Relaxed) + 1 >= OUTAGES {
                        // The others end too.
                        self.next.fetch_max(records, Ordering::Relaxed);
                        return Err(error.clone());
                    }
                }
                _ => self.outages.store(0, Ordering::Relaxed),
            }
            checked.push(found);
            if bytes.capacity() as u64 > LARGE {
                bytes = Vec::new();
            }
        }
    }

    fn check(&self, record: u64, bytes: &mut Vec<u8>, decoder: &mut CpuDecoder) -> Checked {
        let Scan { source, mode, limits, .. } = self.scan;
        let mut alone = (source.size(record) > LARGE).then(|| self.large.lock());
        if let Err(error) = read(*source, record, bytes) {
            return Checked { record, content: None, outcome: Err(Trouble::Read(Box::new(error))) };
        }
        let parts = RecordParts::of(bytes, source.masks().len());
        let picture = parts.picture();
        let content = CheckedContent {
            len: bytes.len() as u64,
            digest: digest(picture),
            misnamed: is_misnamed(&source.locator(record), picture),
        };
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            // A header that cannot be read leads to no memory either: the decoder refuses it.
            let masks = (0..source.masks().len()).filter_map(|mask| parts.mask(mask)).map(MaskDecoder::memory);
            let most = probe(picture).map_or(0, |probe| probe.decode_bytes()).max(masks.max().unwrap_or(0));
            if alone.is_none() && most > LARGE {
                alone = Some(self.large.lock());
            }
            let good = look(picture, *mode, limits, decoder)?;
            check_masks(source.masks(), parts, limits)?;
            Ok(good)
        }));
        let outcome = decoded.unwrap_or_else(|panic| {
            // Its state is whatever the panic left.
            *decoder = CpuDecoder::new();
            Err(Trouble::Panic(said(&*panic).into()))
        });
        Checked { record, content: Some(content), outcome }
    }
}

/// Whether the masks of a record can be decoded, and fit its picture.
fn check_masks(columns: &[MaskColumn], parts: RecordParts<'_>, limits: &Limits) -> Result<(), Trouble> {
    if columns.is_empty() {
        return Ok(());
    }
    let seen = probe(parts.picture()).map_err(|fault| Trouble::Decode(Box::new(fault)))?;
    let (stored, orientation) = ((seen.width, seen.height), seen.orientation);
    let origin = Origin { stored, orientation, turned: orientation, size: orientation.seen(stored.0, stored.1) };
    MaskReader::default().check(columns, parts, origin, limits)
}

fn look(bytes: &[u8], mode: Mode, limits: &Limits, decoder: &mut CpuDecoder) -> Result<GoodPicture, Trouble> {
    let bad = |fault: Fault| Trouble::Decode(Box::new(fault));
    let form = Form { mode, ..Form::default() };
    let (picture, _) = decoder.upright(bytes, form, limits).map_err(bad)?;
    let turned = probe(bytes).map_err(bad)?.orientation != Orientation::AsStored;
    let kind = PictureKind::of(bytes).map_err(bad)?;
    let further = Further::of(bytes, mode, limits);
    Ok(GoodPicture { kind, width: picture.width, height: picture.height, turned, further })
}

/// Reads a record, a few times if the storage fails.
pub(crate) fn read(source: &dyn Source, record: u64, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
    let mut tries = 1;
    loop {
        match source.read(record, u64::MAX, bytes) {
            Err(error) if error.retry() == Retry::Later && tries < TRIES => tries += 1,
            outcome => return outcome,
        }
    }
}

fn digest(bytes: &[u8]) -> Digest {
    *blake3::hash(bytes).as_bytes().first_chunk().expect("a hash has 32 bytes")
}

/// What a panic said.
pub(super) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason is known")
}

#[cfg(test)]
mod tests {
    use forebay_pixels::FurtherKind;
    use forebay_pixels::sample::photograph;
    use forebay_sources::{Locator, ReadErrorKind};

    use super::*;

    /// Records that the storage gives, or does not.
    #[derive(Debug)]
    struct Failing {
        records: u64,
        /// Which of them the storage fails to read, and how often before it gives them.
        fails: fn(u64) -> u32,
        tried: Mutex<std::collections::BTreeMap<u64, u32>>,
    }

    impl Failing {
        fn new(records: u64, fails: fn(u64) -> u32) -> Self {
            Self { records, fails, tried: Mutex::default() }
        }

        fn scan(&self, threads: usize) -> Result<Vec<Checked>, Box<ReadError>> {
            Scan { source: self, mode: Mode::Rgb, limits: Limits::default(), threads, bar: &ProgressBar::hidden() }
                .run()
        }
    }

    impl Source for Failing {
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
            Locator::file(format!("/{record}.png"))
        }
        fn size(&self, record: u64) -> u64 {
            // Some are announced as large, and wait for each other.
            if record.is_multiple_of(3) { LARGE + 1 } else { 0 }
        }
        fn read(&self, record: u64, _: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
            buf.clear();
            let mut tried = self.tried.lock();
            let tried = tried.entry(record).or_default();
            *tried += 1;
            if *tried <= (self.fails)(record) {
                return Err(ReadError::new(ReadErrorKind::Storage, self.locator(record)));
            }
            buf.extend(photograph(record % 5, 24, 16));
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
    fn every_record_is_looked_at_once_in_order_whoever_does_it() {
        let scanned = |threads| Failing::new(40, |_| 0).scan(threads).unwrap();
        let checked = scanned(6);
        assert_eq!(checked, scanned(1));
        assert!(checked.iter().map(|one| one.record).eq(0..40));
        assert!(checked.iter().all(|one| one.outcome.is_ok() && one.content.unwrap().misnamed));
        let digest = |record: usize| checked[record].content.unwrap().digest;
        assert!(digest(0) == digest(5) && digest(0) != digest(1));
    }

    #[test]
    fn a_record_that_the_storage_gives_at_last_is_good_and_one_that_it_never_gives_is_not_bad() {
        let checked = Failing::new(9, |record| if record == 4 { 2 } else { u32::try_from(record).unwrap().max(5) - 5 })
            .scan(2)
            .unwrap();
        let unread: Vec<u64> = checked.iter().filter(|one| one.outcome.is_err()).map(|one| one.record).collect();
        assert_eq!(unread, [8], "three tries");
        assert!(checked[8].outcome.as_ref().is_err_and(Trouble::is_outage));
    }

    #[test]
    fn rule_68_alpha_is_left_out_of_a_mode_without_it_alone() {
        let mut png = std::io::Cursor::new(Vec::new());
        image::RgbaImage::new(3, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
        let further = |mode| look(png.get_ref(), mode, &Limits::default(), &mut CpuDecoder::new()).unwrap().further;
        for mode in [Mode::Rgb, Mode::L] {
            assert_eq!(further(mode).iter().map(|left_out| left_out.kind).collect::<Vec<_>>(), [FurtherKind::Alpha]);
        }
        assert!(further(Mode::La).is_empty() && further(Mode::Rgba).is_empty());
    }

    #[test]
    fn a_storage_that_gives_nothing_ends_the_scan() {
        let source = Failing::new(100_000, |record| if record < 10 { 0 } else { u32::MAX });
        let error = source.scan(3).unwrap_err();
        assert_eq!(error.kind, ReadErrorKind::Storage);
        assert!(source.tried.lock().len() < 1000, "it is not asked for every record");
    }
}
