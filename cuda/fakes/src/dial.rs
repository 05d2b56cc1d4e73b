//! What tests set and read: the knobs that make the fake misbehave, and the counts of what was made and is alive.
#![allow(unsafe_code, reason = "functions with C's names")]

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};

use parking_lot::{Condvar, Mutex};

/// What a test sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Knob {
    /// GPUs.
    Gpus,
    /// NVJPG engines, 0 for a GPU without.
    Engines,
    /// Bytes of a GPU's memory.
    Memory,
    /// nvJPEG's version, as 12 * 1000 + 3.
    Version,
    /// Batches fail with this status while it is not 0.
    FailBatches,
    /// Batches and pictures that contain a picture of this width fail with "bad JPEG".
    FailWidth,
    /// Only the hybrid decoder takes pictures of this width.
    RefuseWidth,
    /// Pictures come out wrong while it is not 0.
    Wrong,
    /// After this many more decoding calls, the GPU is broken for good; 0 for never.
    BreakAfter,
    /// The engines decode at once, without regard to what was queued before, as Hopper's engines do.
    IgnoreOrder,
    /// Copies to the host wait while it is not 0.
    HoldCopies,
    /// Pictures come out wrong on the GPU with this number, counted from 1.
    WrongGpu,
    /// The GPU with this number, counted from 1, cannot be taken into use.
    DeadGpu,
    /// GPUs are parts of one (MIG).
    Part,
    /// GPUs do not map memory at addresses of the program's choice.
    NoVirtualMemory,
    /// Memory of GPUs has no descriptors.
    NoDescriptors,
    /// Descriptors of memory cannot be imported.
    NoImport,
    /// Memory of the host cannot be page-locked.
    NoRegister,
    /// Memory of the host that is only read cannot be page-locked.
    NoReadOnly,
    /// The first GPU's UUID has this number in each of its bytes, the next one the number after it.
    FirstUuid,
    /// nvJPEG takes pictures of this width for twice as wide.
    WideWidth,
    /// The driver takes no binary and is too old for the PTX, while it is not 0.
    OldDriver,
    /// The default streams have work for as long as it is not 0.
    BusyDefault,
    /// Events cannot be recorded, as while a graph is captured.
    NoEvents,
    /// The GPU's compute mode, as the driver counts: 2 for no process at all, 3 for one alone.
    ComputeMode,
    /// Only the hybrid decoder takes pictures of this sampling, which libjpeg-turbo counts, here from 1: 4:4:4, 4:2:2, 4:2:0,
    /// gray, 4:4:0.
    RefuseSampling,
    /// After this many more launches, every launch fails for lack of memory, and all other calls still work. 0 for never.
    FailLaunches,
    /// Streams cannot be made.
    NoStreams,
    /// Copies to the GPU wait while it is not 0.
    HoldUploads,
    /// Work on the default streams is captured into a graph. With 1, a query reports that; with 2, it does not.
    Capture,
    /// Copies to the host are done late: when their stream is waited for, and after all work that the engines have begun by
    /// then.
    LateCopies,
    /// The driver does not say how many GPUs there are.
    NoCount,
    /// Decoders of nvJPEG that do not start: 1 for the hybrid one, 2 for the one that does all on the GPU, 4 for the engines.
    Unstarted,
    /// After this many more decoding calls, they fail on a healthy GPU; 0 for never.
    FailAfter,
    /// After this many more decoding calls, their pictures are wrong; 0 for never.
    WrongAfter,
    /// After this many more decoding calls, decoding waits until this is 0; 0 for never.
    HoldAfter,
    /// The status with which a picture fails by its width, instead of "bad JPEG".
    FailStatus,
    /// How many more copies to the GPU fail for lack of memory.
    FailUploads,
    /// How many more copies to the host fail for lack of memory.
    FailReads,
    /// Of the launches that [`Knob::FailLaunches`] would fail, the number of the first that succeeds, as do all later ones;
    /// 0 for none.
    MendLaunches,
    /// The engines pass over pictures of this width: they write nothing, and report success.
    SkipWidth,
    /// Cores of each NVJPG engine.
    EngineCores,
}

/// What a test reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Count {
    /// Contexts that are retained.
    Contexts,
    /// Bytes of the GPU's memory that are taken.
    DeviceBytes,
    /// Pieces of pinned memory.
    HostPieces,
    /// Streams.
    Streams,
    /// Events.
    Events,
    /// nvJPEG's handles, states, parsers, decoders, parameters and buffers.
    Objects,
    /// Batches that were decoded, in all.
    Batches,
    /// Pictures that were decoded, in all.
    Pictures,
    /// Pieces of the GPU's memory that were taken, in all.
    Allocations,
    /// Copies that wait at a knob.
    Held,
    /// Pictures of the largest batch.
    LargestBatch,
    /// Ranges of the host that are page-locked.
    Registered,
    /// Handles of memory that processes share, own and imported.
    SharedHandles,
    /// Ranges of addresses that are reserved for such memory.
    SharedRanges,
    /// Mappings of such memory.
    SharedMaps,
    /// Modules that are loaded.
    Modules,
    /// Kernels that were launched, in all.
    Launches,
    /// Waits of the host for a stream, in all.
    Waits,
    /// Of the ranges that are page-locked, those that were given as memory that is only read.
    ReadOnly,
    /// Pictures whose Huffman coding the host has decoded, in all.
    HostDecodes,
}

/// Variable that sets knobs of a process from its start: `NUMBER=VALUE ...`.
pub const ENVIRONMENT: &str = "FOREBAY_FAKE_KNOBS";

const KNOBS: usize = Knob::EngineCores as usize + 1;
const COUNTS: usize = Count::HostDecodes as usize + 1;

static COUNTERS: [AtomicI64; COUNTS] = [const { AtomicI64::new(0) }; COUNTS];
static SETTINGS: LazyLock<Mutex<[i64; KNOBS]>> = LazyLock::new(|| Mutex::new(first()));
static TURNED: Condvar = Condvar::new();

/// Knobs that are not 0 at first.
const FIRST: [(Knob, i64); 6] = [
    (Knob::EngineCores, 1),
    (Knob::Gpus, 1),
    (Knob::Engines, 2),
    (Knob::Memory, 16 << 30),
    (Knob::Version, 12_003),
    (Knob::FirstUuid, 160),
];

/// The initial settings. A child process gets its own in the environment, as [`ENVIRONMENT`] says.
fn first() -> [i64; KNOBS] {
    let mut settings = [0; KNOBS];
    for (knob, value) in FIRST {
        settings[knob as usize] = value;
    }
    for pair in std::env::var(ENVIRONMENT).unwrap_or_default().split_whitespace() {
        let (knob, value) = pair.split_once('=').expect("a knob's number and its value");
        let knob: usize = knob.parse().expect("a knob's number");
        settings[knob] = value.parse().expect("a number");
    }
    settings
}

impl Knob {
    pub(crate) fn get(self) -> i64 {
        SETTINGS.lock()[self as usize]
    }

    pub(crate) fn on(self) -> bool {
        self.get() != 0
    }

    /// Counts down, and returns whether the count has run out, now or earlier. -1 means that it has; 0 never does.
    pub(crate) fn run_out(self) -> bool {
        let left = &mut SETTINGS.lock()[self as usize];
        if *left > 0 {
            *left -= 1;
            if *left == 0 {
                *left = -1;
            }
        }
        *left < 0
    }

    /// Counts down to 0. Returns whether the count was above 0 before.
    pub(crate) fn use_up(self) -> bool {
        let left = &mut SETTINGS.lock()[self as usize];
        let some = *left > 0;
        *left -= i64::from(some);
        some
    }

    /// Waits until it is 0.
    pub(crate) fn wait_off(self) {
        let mut settings = SETTINGS.lock();
        while settings[self as usize] != 0 {
            TURNED.wait(&mut settings);
        }
    }
}

impl Count {
    pub(crate) fn add(self, more: i64) {
        COUNTERS[self as usize].fetch_add(more, Ordering::SeqCst);
    }

    pub(crate) fn rise_to(self, count: usize) {
        COUNTERS[self as usize].fetch_max(i64::try_from(count).unwrap_or(i64::MAX), Ordering::SeqCst);
    }

    pub(crate) fn get(self) -> i64 {
        COUNTERS[self as usize].load(Ordering::SeqCst)
    }
}

/// Sets a knob.
// SAFETY: no other library has this name.
#[unsafe(no_mangle)]
extern "C" fn forebay_fake_set(knob: usize, value: i64) {
    SETTINGS.lock()[knob] = value;
    TURNED.notify_all();
}

/// Reads a count.
// SAFETY: no other library has this name.
#[unsafe(no_mangle)]
extern "C" fn forebay_fake_count(count: usize) -> i64 {
    COUNTERS[count].load(Ordering::SeqCst)
}
