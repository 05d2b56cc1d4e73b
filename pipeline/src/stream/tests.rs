//! Tests of a stream. One checks what its refusals tell a trainer to do. Another runs 2^40 records through all stages,
//! a ledger and a trainer. Each record is made when it is read.
//!
//! A single bit for each record would take 128 GiB. So this test passes only if no memory grows with the dataset.

mod grains;
mod requests;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use forebay_client::{Next, Options, Patient, Session, State, Target};
use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
use forebay_delivery::ResumedClaims;
use forebay_pixels::{CenterCrop, Output, Recipe, Size, Transform};
use forebay_plan::{PERMUTATION, Plan};
use forebay_proto::RecordSum;
use forebay_proto::v1::{EpochTally, LedgerSpec, RestoreRequest, Tally};
use forebay_ring::{Listener, Membership, PACKET_LEN, PROTOCOL, Peer};
use forebay_sources::{Locator, ReadError, ReaderFolders, Source};
use prost::Message as _;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::runtime::Runtime;

use super::stages::NO_ROOM;
use super::*;
use crate::cache::Caches;
use crate::decode::budget::Budget;
use crate::decode::cpu::{CpuLane, CpuShared};
use crate::decode::{GpuLanes, Pool};
use crate::gpu_ring::Gpus;
use crate::incarnation;
use crate::seek::SeekStores;
use crate::settings::{DecodeSettings, PrefetchSettings, RingSettings, SeekKeeping, Shuffle};

const RECORDS: u64 = 1 << 40;
const BATCH: usize = 4;
/// A picture of 1 x 2 pixels: its six bytes are its record's number.
const PICTURE: usize = 6;
const HEAD: &[u8] = b"P6\n2 1\n255\n";

/// Records that stand nowhere.
#[derive(Debug, Default)]
struct Synthetic {
    reads: AtomicU64,
}

impl Source for Synthetic {
    fn len(&self) -> u64 {
        RECORDS
    }

    fn classes(&self) -> &[String] {
        &[]
    }

    fn label(&self, record: u64) -> i64 {
        i64::try_from(record % 1000).unwrap()
    }

    fn locator(&self, record: u64) -> Locator {
        Locator::file(format!("{record}.ppm"))
    }

    fn size(&self, _record: u64) -> u64 {
        (HEAD.len() + PICTURE) as u64
    }

    fn read(&self, record: u64, _room: u64, buf: &mut Vec<u8>) -> Result<(), ReadError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        buf.clear();
        buf.extend_from_slice(HEAD);
        buf.extend_from_slice(&record.to_be_bytes()[8 - PICTURE..]);
        Ok(())
    }

    fn fingerprint(&self) -> [u8; 32] {
        [40; 32]
    }

    fn shard_name(&self, _record: u64) -> &'static str {
        "synthetic"
    }
}

/// A stream of a test.
struct TestStream {
    runtime: Runtime,
    stream: Arc<Stream>,
}

/// The stream of a dataset that no array could be made for.
struct Vast {
    test_stream: TestStream,
    source: Arc<Synthetic>,
    plan: Plan,
}

impl TestStream {
    /// Opens a stream of pictures of 1 x 2 pixels, in batches of [`BATCH`]. The settings are changed before.
    fn open(source: Arc<dyn Source>, prefetch: PrefetchSettings, set: impl FnOnce(&mut StreamSettings)) -> Self {
        let runtime = Runtime::new().unwrap();
        let whole = Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([1, 2]) });
        let recipe = Recipe::new(vec![whole], Output::default()).unwrap();
        let mut settings = StreamSettings::new(4, recipe);
        set(&mut settings);
        let decode = DecodeSettings::default();
        let memory = &Arc::new(Budget::new(decode.memory.0));
        let lane = CpuShared::new(decode.limits, Arc::clone(memory), decode.jpeg);
        let bounds = (decode.limits, memory);
        let pool = Pool::start(2, None, &CpuLane::maker(lane), bounds, GpuLanes::default()).unwrap();
        let coordinator =
            Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap();
        let opening = Opening {
            document: String::new(),
            identity: Identity {
                run: "first".into(),
                stream: "vast".into(),
                part: None,
                incarnation: incarnation::fresh().unwrap(),
            },
            settings,
            dataset: OpenDataset { name: "synthetic".into(), source },
            prefetch,
            ledger: LedgerAccess { coordinator, node: Node { name: "local".into(), process: None } },
            shared: SharedResources {
                pool: Arc::new(pool),
                memory: Arc::new(RingMemory::new(RingSettings::default(), Arc::default())),
                caches: Arc::new(Caches::new(Arc::default())),
                seeks: Arc::new(SeekStores::new(SeekKeeping::Memory, Arc::default())),
                gpus: Arc::new(Gpus::new(rustix::process::getuid().as_raw(), None)),
                decoders: None,
            },
            readers: ReaderFolders::Anywhere,
            trainer: None,
        };
        let stream = runtime.block_on(opening.open(Box::new(|_| {}))).unwrap();
        Self { runtime, stream }
    }

    fn attach(&self, folder: &Path) -> Session {
        let place = folder.join("socket");
        let listener = Listener::bind(&place, 0o600).unwrap();
        let target = Target::Stream { socket: Some(place), name: "vast".into(), settings: None };
        let trainer = thread::spawn(|| Session::attach(target, Options::default(), &mut Patient));
        poll(&mut [PollFd::new(&listener, PollFlags::IN)], None).unwrap();
        let socket = listener.accept().unwrap().unwrap();
        // There is one stream that it can ask for.
        socket.wait(None).unwrap();
        socket.recv(&mut vec![0; PACKET_LEN]).unwrap();
        let peer = Peer::of(&socket).unwrap();
        let (credits, membership, resumed_claims) =
            (Options::default().credits, Membership::default(), ResumedClaims::default());
        let request = AttachRequest { number: 7, protocol: PROTOCOL, credits, membership, resumed_claims };
        self.runtime.block_on(self.stream.attach(socket, peer, request));
        trainer.join().unwrap().unwrap()
    }

    fn close(self, trainer: Session) {
        trainer.close().unwrap();
        self.runtime.block_on(self.stream.close());
    }
}

impl Vast {
    /// Two epochs in random order, in batches of [`BATCH`].
    fn open() -> Self {
        let source = Arc::new(Synthetic::default());
        let test_stream =
            TestStream::open(Arc::clone(&source) as Arc<dyn Source>, PrefetchSettings::default(), |settings| {
                (settings.shuffle, settings.seed, settings.epochs) = (Shuffle::Records, 7, Some(2));
            });
        let spec = LedgerSpec {
            fingerprint: source.fingerprint().to_vec(),
            records: RECORDS,
            shuffle: true,
            seed: 7,
            permutation: PERMUTATION,
            ..LedgerSpec::default()
        };
        Self { test_stream, source, plan: Plan::new(&spec).unwrap() }
    }

    /// The records of these places of an epoch.
    fn planned(&self, epoch: u64, places: std::ops::Range<u64>) -> Vec<u64> {
        places.map(|position| self.plan.record(epoch, position)).collect()
    }

    /// Positions and sum of what was delivered of an epoch, as the ledger counts it.
    fn delivered(&self, epoch: u64) -> RecordSum {
        let reply = self.test_stream.runtime.block_on(self.test_stream.stream.audit(epoch)).unwrap();
        let tally = reply.epochs.iter().find(|tally| tally.epoch == epoch).and_then(|tally| tally.delivered).unwrap();
        RecordSum::from_halves(tally.count, tally.sum_high, tally.sum_low)
    }
}

/// The records of the next batch, by what its pixels say.
#[track_caller]
fn batch(trainer: &mut Session) -> Vec<u64> {
    let Next::Batch(batch) = trainer.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    let shown = batch.images().chunks_exact(PICTURE).zip(batch.records()).zip(batch.mask());
    let own = shown.filter(|(_, mask)| **mask != 0).map(|((picture, record), _)| {
        let mut number = [0; 8];
        number[8 - PICTURE..].copy_from_slice(picture);
        assert_eq!(i64::from_be_bytes(number), *record, "a record's pixels are its own");
        u64::from_be_bytes(number)
    });
    own.collect()
}

/// The state in which all positions of the first epoch below `cursor` were delivered, with this sum.
fn state_at(trainer: &mut Session, cursor: u64, sum: RecordSum) -> State {
    let mut snapshot = Snapshot::decode(&*trainer.state(&mut Patient).unwrap().to_bytes()).unwrap();
    let (sum_high, sum_low) = sum.halves();
    let delivered = Some(Tally { count: sum.count, sum_high, sum_low });
    (snapshot.epoch, snapshot.cursor) = (0, cursor);
    snapshot.open.clear();
    snapshot.tallies = vec![EpochTally { epoch: 0, delivered, ..EpochTally::default() }];
    State::from_bytes(&snapshot.encode_to_vec()).unwrap()
}

#[test]
fn an_epoch_of_2_to_the_40_records_begins_and_its_state_stays_small() {
    let (vast, folder) = (Vast::open(), tempfile::tempdir().unwrap());
    let mut trainer = vast.test_stream.attach(folder.path());
    assert_eq!((trainer.info().records, trainer.info().batches_per_epoch), (RECORDS, RECORDS / BATCH as u64));
    let seen: Vec<u64> = (0..50).flat_map(|_| batch(&mut trainer)).collect();
    assert_eq!(seen, vast.planned(0, 0..200));
    let state = trainer.state(&mut Patient).unwrap();
    // As many leases are in it as are read ahead by then, 2048 positions at most.
    assert!(state.to_bytes().len() < 10_000, "{} bytes", state.to_bytes().len());
    let last = trainer.path(RECORDS - 1, &mut Patient).unwrap();
    assert_eq!(last, Path::new("1099511627775.ppm"));
    trainer.path(RECORDS, &mut Patient).unwrap_err();
    // What is not complete is not judged, which would take the sum of all its records.
    let audit = trainer.audit(&mut Patient).unwrap();
    assert_eq!((audit[0].complete, audit[0].adds_up), (false, None));
    assert_eq!([batch(&mut trainer), batch(&mut trainer)].concat(), vast.planned(0, 200..208));
    trainer.restore(&state, &mut Patient).unwrap();
    assert_eq!(batch(&mut trainer), vast.planned(0, 200..204), "it goes on where the state was taken");
    let reads = vast.source.reads.load(Ordering::Relaxed);
    assert!(reads < 10_000, "{reads} records were read for 53 batches");
    vast.test_stream.close(trainer);
}

#[test]
fn an_epoch_of_2_to_the_40_records_ends_with_its_last_one_and_the_next_begins() {
    let (vast, folder) = (Vast::open(), tempfile::tempdir().unwrap());
    let mut trainer = vast.test_stream.attach(folder.path());
    let cursor = RECORDS - 10;
    // The sum of so many is nobody's to compute here: any will do, as long as the ledger goes on from it.
    let before = RecordSum::from_halves(cursor, 0x1234_5678, 0x9abc_def0);
    let state = state_at(&mut trainer, cursor, before);
    trainer.restore(&state, &mut Patient).unwrap();
    let rest = vast.planned(0, cursor..RECORDS);
    let seen: Vec<_> = (0..3).map(|_| batch(&mut trainer)).collect();
    assert_eq!(seen, [&rest[..4], &rest[4..8], &rest[8..]]);
    assert!(matches!(trainer.next(None, &mut Patient).unwrap(), Next::EpochEnd(0)));
    let mut expected = before;
    expected += rest.into_iter().collect();
    assert_eq!((vast.delivered(0), expected.count), (expected, RECORDS));
    assert_eq!(batch(&mut trainer), vast.planned(1, 0..4));
    let state = state_at(&mut trainer, RECORDS + 1, before);
    let refused = trainer.restore(&state, &mut Patient).unwrap_err().to_string();
    assert!(refused.contains("position 1099511627777, is outside of the dataset"), "{refused}");
    vast.test_stream.close(trainer);
}

#[test]
fn rule_23_no_batch_number_is_used_twice_where_the_stages_could_not_be_started() {
    let (vast, folder) = (Vast::open(), tempfile::tempdir().unwrap());
    let mut trainer = vast.test_stream.attach(folder.path());
    let Next::Batch(batch) = trainer.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    let used = batch.seq();
    drop(batch);
    trainer.close().unwrap();
    let snapshot = vast.test_stream.runtime.block_on(vast.test_stream.stream.snapshot(Vec::new())).unwrap();
    let restore = || {
        let load = RestoreRequest { snapshot: Some(snapshot.clone()), ..RestoreRequest::default() };
        let restoring = restart::load(&vast.test_stream.stream, load);
        vast.test_stream.runtime.block_on(restoring)
    };
    NO_ROOM.set(true);
    let refused = restore().unwrap_err().to_string();
    NO_ROOM.set(false);
    assert!(refused.contains("cannot go on"), "{refused}");
    restore().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = vast.test_stream.attach(folder.path());
    let Next::Batch(batch) = trainer.next(None, &mut Patient).unwrap() else { panic!("a batch") };
    assert!(batch.seq() > used, "{} after {used}", batch.seq());
    drop(batch);
    vast.test_stream.close(trainer);
}

#[test]
fn a_trainer_tries_again_for_what_may_pass_and_not_for_a_changed_dataset() {
    let full = || std::io::Error::other("no room");
    let passes = [StreamError::Ledger(CallError::Unavailable("The disk is full.".into())), StreamError::System(full())];
    for error in passes {
        assert_eq!(error.code(), text_code::BUSY, "{error}");
    }
    let changed = StreamError::Ledger(CallError::SpecMismatch("records was 40 and is now 41".into()));
    assert_eq!(changed.code(), text_code::SETTINGS);
}
