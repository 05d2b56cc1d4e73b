//! The kinds of lanes: one table, with a line for each. A kind's own file says everything in which it differs from the others;
//! workers, sizes, schedules, tests and what is shown to people follow from that. The help of `decode.lanes` tells users of them.

mod cpu;
mod gpu_huffman;
mod hardware;
mod hardware_single;
mod hybrid;

use std::fmt;

use super::LaneError;
use super::gpu::Gpu;
use crate::frame::Form;
use crate::nvjpeg::Backend;
use crate::schedule::Cost;

/// A kind of lane. A picture falls from one to the next in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaneKind {
    /// The NVJPG engines, a group of pictures at a time.
    Hardware,
    /// The NVJPG engines, a picture at a time for each: no picture waits for the others of a group.
    HardwareSingle,
    /// All on the GPU's multiprocessors, a group at a time.
    GpuHuffman,
    /// Huffman coding on a CPU thread, the rest on the GPU's multiprocessors.
    Hybrid,
    /// The CPU alone.
    Cpu,
}

/// The descriptors, in the order of the kinds; the CPU's, which takes every picture, is the last.
const TABLE: [Descriptor; 5] = [hardware::LANE, hardware_single::LANE, gpu_huffman::LANE, hybrid::LANE, cpu::LANE];

/// What a kind of lane is.
///
/// The contract of every lane: pixels are a pure function of the picture's bytes, recipe and draw, and of the form in which a
/// cache keeps pictures, whatever was decoded before; a bad picture harms no later one; nothing outside of a picture's place is
/// written. The suite in `pipeline/src/decode/suite.rs` holds every line of the table to it.
#[derive(Debug)]
pub(super) struct Descriptor {
    kind: LaneKind,
    /// As the configuration names it.
    name: &'static str,
    /// Whether `lanes = "auto"` and `"fixed"` use it where it is there.
    automatic: bool,
    /// What a picture costs a worker before anything was measured, by guesses that the first hundred pictures mend.
    prior: Cost,
    /// How a GPU decodes; none for the CPU's.
    on_gpu: Option<OnGpu>,
}

/// How a GPU decodes in a kind of lane.
#[derive(Debug)]
pub(super) struct OnGpu {
    /// The backend of nvJPEG that decodes.
    pub(super) backend: Backend,
    /// Whether one call decodes a whole group. Otherwise each picture of it has a call of its own.
    pub(super) together: bool,
    /// Where each picture has a call of its own: the states of a worker, which decode pictures in turn. With one, the worker
    /// waits for each picture.
    pub(super) states: usize,
    /// Pictures that a worker takes at once.
    pub(super) group: fn(&Gpu) -> Result<usize, LaneError>,
    /// Threads.
    pub(super) workers: fn(&Gpu) -> Result<usize, LaneError>,
    /// The most bytes of surfaces that a worker has. Their results take as many again.
    pub(super) surfaces: usize,
    /// Into how many parts a worker's share of the lane's GPU memory is divided. Its surfaces are one part. Results take
    /// another, and their tables an eighth of one; the rest is for nvJPEG or the engines.
    pub(super) parts: usize,
    /// Bytes of page-locked memory that nvJPEG may take for a state, from the bytes of the surfaces.
    pub(super) page_locked: fn(usize) -> usize,
    /// If the engines decode: how many surfaces their decoder keeps for a worker, from the size of its groups.
    pub(super) engine_surfaces: Option<fn(usize) -> usize>,
    /// Whether its threads decode a part of each picture themselves. Others only feed the GPU and wait for it.
    pub(super) busy: bool,
    /// Whether it takes JPEGs of several scans.
    pub(super) several_scans: bool,
    /// The bare loops that are measured: what they give, how many states, and batches of how many pictures.
    pub(super) bare: &'static [(Form, usize, &'static [usize])],
}

impl LaneKind {
    /// All of them, in the order in which a picture falls from one to the next.
    pub const ALL: [Self; TABLE.len()] = first();

    /// Those of a GPU, in the same order.
    pub const GPU: [Self; TABLE.len() - 1] = first();

    fn descriptor(self) -> &'static Descriptor {
        const LANES: &[Descriptor] = &TABLE;
        &LANES[self as usize]
    }

    /// As the configuration names it.
    pub fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// Whether `lanes = "auto"` and `"fixed"` use it where it is there.
    pub fn is_automatic(self) -> bool {
        self.descriptor().automatic
    }

    /// What a picture costs a worker before anything was measured.
    pub fn prior(self) -> Cost {
        self.descriptor().prior.clone()
    }

    /// Whether a GPU decodes.
    pub fn is_of_gpu(self) -> bool {
        self.descriptor().on_gpu.is_some()
    }

    /// Whether the NVJPG engines decode.
    pub fn uses_engines(self) -> bool {
        self.descriptor().on_gpu.as_ref().is_some_and(|lane| lane.engine_surfaces.is_some())
    }

    /// Whether its threads work for as long as they decode. Those of other kinds feed a GPU and wait for it.
    pub fn keeps_threads_busy(self) -> bool {
        self.descriptor().on_gpu.as_ref().is_none_or(|lane| lane.busy)
    }

    /// Whether it takes JPEGs of several scans.
    pub fn takes_several_scans(self) -> bool {
        self.descriptor().on_gpu.as_ref().is_none_or(|lane| lane.several_scans)
    }

    /// The decoder of nvJPEG, unless a kind before it has the same one: each is looked at once.
    pub(crate) fn own_backend(self) -> Option<Backend> {
        let of = |kind: Self| kind.on_gpu().ok().map(|lane| lane.backend);
        let backend = of(self);
        let taken = Self::GPU.into_iter().take_while(|kind| *kind != self).any(|kind| of(kind) == backend);
        backend.filter(|_| !taken)
    }

    /// How a GPU decodes.
    pub(super) fn on_gpu(self) -> Result<&'static OnGpu, LaneError> {
        self.descriptor().on_gpu.as_ref().ok_or_else(|| LaneError::NoGpu(self.name()))
    }
}

impl Gpu {
    /// Why it has no such lane.
    pub fn lacks(&self, kind: LaneKind) -> Option<LaneError> {
        kind.on_gpu().and_then(|lane| self.handle(lane.backend)).err()
    }
}

impl fmt::Display for LaneKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The first kinds of the table, where the compiler sees that each descriptor is in its kind's line.
const fn first<const N: usize>() -> [LaneKind; N] {
    assert!(LaneKind::Cpu as usize + 1 == TABLE.len(), "every kind has a line");
    let mut kinds = [LaneKind::Cpu; N];
    let mut line = 0;
    while line < TABLE.len() {
        let Descriptor { kind, on_gpu, .. } = &TABLE[line];
        assert!(*kind as usize == line, "each line is that of its kind");
        assert!(on_gpu.is_some() == (line + 1 < TABLE.len()), "the CPU's is the last line");
        if line < N {
            kinds[line] = *kind;
        }
        line += 1;
    }
    kinds
}
