//! The lanes that a picture may use. This depends on the picture, on its destination, and on how pictures are divided
//! among lanes. Pure.

#[cfg(test)]
mod tests;

use std::fmt;

use forebay_cuda::Frame;
use forebay_cuda::lane::{LaneKind, Refusal};
use forebay_cuda::schedule::{LaneId, LaneSet, LaneSpec, Work};
use forebay_pixels::{Fault, Format, JpegHead, Limits, Mode, Origin};

use crate::cache::Keep;
use crate::decode::job::DecodeJob;
use crate::record::Input;

/// The CPU lane, which every work queue has.
pub(crate) const CPU: LaneId = LaneId(0);

/// A GPU's lane on the work queue.
#[derive(Clone, Debug)]
pub(crate) struct GpuLane {
    pub(crate) kind: LaneKind,
    pub(crate) ordinal: i32,
    pub(crate) workers: u32,
}

/// How a picture gets its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneChoice {
    /// By the record's number, not by the load.
    pub(crate) fixed: bool,
    /// Whether the CPU lane decodes what a GPU lane would take.
    pub(crate) cpu: bool,
}

/// The ways to the lanes of a work queue.
#[derive(Debug)]
pub(super) struct Routes {
    lanes: Vec<GpuLane>,
    choice: LaneChoice,
    limits: Limits,
}

/// What a picture is to the lanes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Routing {
    pub(super) work: Work,
    pub(super) takers: Takers,
    /// What GPU lanes would make it of.
    pub(super) origin: Option<Origin>,
    /// Why the kind of the first GPU lane does not take it, if that is known.
    pub(super) refusal: Option<Refusal>,
}

/// Lanes beside the CPU's that take a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takers {
    /// None.
    Cpu,
    /// Those that take several scans.
    SeveralScans,
    /// All.
    All,
}

/// Where a picture comes from and goes to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Errand {
    pub(super) record: u64,
    /// The GPU that its stream is bound to.
    pub(super) bound: Option<i32>,
    /// The GPU whose memory holds its batch.
    pub(super) ring: Option<i32>,
}

impl fmt::Display for GpuLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on GPU {}", self.kind, self.ordinal)
    }
}

impl Errand {
    pub(super) fn of(job: &DecodeJob) -> Self {
        Self { record: job.record, bound: job.pictures.gpu, ring: job.place.gpu() }
    }
}

impl Routes {
    pub(super) fn new(lanes: Vec<GpuLane>, choice: LaneChoice, limits: Limits) -> Self {
        Self { lanes, choice, limits }
    }

    /// Whether the record's number chooses.
    pub(super) fn is_fixed(&self) -> bool {
        self.choice.fixed
    }

    /// The lanes of GPUs. The first one has the number after the CPU's.
    pub(super) fn gpu_lanes(&self) -> &[GpuLane] {
        &self.lanes
    }

    /// A lane of a GPU.
    pub(super) fn lane(&self, lane: LaneId) -> &GpuLane {
        &self.lanes[lane.0 - 1]
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// All lanes in the form that the schedule needs. `threads` is how many threads the CPU lane has.
    pub(super) fn specs(&self, threads: usize) -> impl Iterator<Item = LaneSpec> {
        let workers = u32::try_from(threads).unwrap_or(u32::MAX);
        let cpu = LaneSpec { workers, prior: LaneKind::Cpu.prior(), rival: None };
        let gpu = self.lanes.iter().map(|lane| LaneSpec {
            workers: lane.workers,
            prior: lane.kind.prior(),
            rival: lane.kind.keeps_threads_busy().then_some(CPU),
        });
        [cpu].into_iter().chain(gpu)
    }

    /// The work that a picture makes, and which lanes take it. This decides for all lanes whether a picture is truncated
    /// or too large (semantics rule 29). The CPU lane gets such a picture and reports the fault.
    pub(super) fn admit(&self, job: &DecodeJob) -> Routing {
        let cpu = |work, refusal| Routing { work, takers: Takers::Cpu, origin: None, refusal };
        let Input::File(bytes) = job.input() else { return cpu(Work::default(), None) };
        let Some(first) = self.lanes.first() else { return cpu(Work::default(), None) };
        // The CPU lane reads the headers of other formats, because this thread belongs to the stream.
        if Format::of(bytes) != Ok(Format::Jpeg) {
            return cpu(Work::of(0, bytes.len() as u64), Some(Refusal::NotJpeg));
        }
        let decoded_is_kept = job.pictures.cache.as_ref().is_some_and(|cache| matches!(cache.keep(), Keep::Decoded(_)));
        let head = match JpegHead::read(bytes) {
            Ok(head) => head,
            Err(Fault::Unsupported { .. }) => return cpu(Work::default(), Some(Refusal::Kind)),
            Err(_) => return cpu(Work::default(), Some(Refusal::Damaged)),
        };
        let pixels = u64::from(head.width) * u64::from(head.height);
        let work = Work::of(pixels, bytes.len() as u64);
        if pixels > self.limits.pixels || bytes.len() as u64 > self.limits.bytes {
            return cpu(work, Some(Refusal::Limits));
        }
        if decoded_is_kept {
            return cpu(work, Some(Refusal::Kept));
        }
        if job.pictures.recipe.output().mode != Mode::Rgb {
            return cpu(work, Some(Refusal::Mode));
        }
        // Only a TIFF has further pages, so its file is a bad record.
        if job.pictures.recipe.input().page > 0 {
            return cpu(work, Some(Refusal::Kind));
        }
        if job.pictures.mosaics.is_some() {
            return cpu(work, Some(Refusal::Mosaic));
        }
        if job.pictures.steps.is_some() {
            return cpu(work, Some(Refusal::Python));
        }
        if !job.pictures.views.views.is_empty() {
            return cpu(work, Some(Refusal::Views));
        }
        if job.pictures.recipe.input().reducing_gap.is_some() {
            return cpu(work, Some(Refusal::Scaled));
        }
        let origin = Some(Origin::of_recipe((head.width, head.height), head.orientation, &job.pictures.recipe));
        match Frame::of(&head) {
            Ok(frame) if frame.baseline => Routing { work, takers: Takers::All, origin, refusal: None },
            Ok(_) => {
                let takers = if scans_at_most(bytes) <= self.limits.scans { Takers::SeveralScans } else { Takers::Cpu };
                let refusal = (takers == Takers::Cpu || !first.kind.takes_several_scans()).then_some(Refusal::Kind);
                Routing { work, takers, origin, refusal }
            }
            Err(refusal) => cpu(work, Some(refusal)),
        }
    }

    /// The lanes for a picture that `takers` can decode. Some lanes may be closed.
    ///
    /// If the stream is bound to a GPU, only that GPU's lanes and the CPU's are used, whatever becomes of them. If the
    /// batch is in a GPU, the lanes of other GPUs are left out as long as that GPU has a lane that decodes. Pixels from
    /// other GPUs pass through the host, like those from the CPU.
    pub(super) fn lanes(&self, takers: Takers, errand: Errand, closed: LaneSet) -> LaneSet {
        let those = |may: &dyn Fn(&GpuLane) -> bool| -> LaneSet {
            (1..).zip(&self.lanes).filter(|(_, lane)| may(lane)).map(|(number, _)| LaneId(number)).collect()
        };
        let takes = |lane: &GpuLane| match takers {
            Takers::Cpu => false,
            Takers::SeveralScans => lane.kind.takes_several_scans(),
            Takers::All => true,
        };
        let of = |gpu: i32| those(&|lane| lane.ordinal == gpu && takes(lane));
        let of_ring = || errand.ring.map(of).filter(|own| !own.minus(closed).is_empty());
        let gpus = errand.bound.map(of).or_else(of_ring).unwrap_or_else(|| those(&takes));
        match self.choice {
            _ if gpus.is_empty() => LaneSet::only(CPU),
            LaneChoice { fixed: true, cpu } => self.by_record(errand.record, gpus, cpu),
            LaneChoice { fixed: false, cpu: true } => gpus.with(CPU),
            LaneChoice { fixed: false, cpu: false } => gpus,
        }
    }

    /// The lanes of one of these GPUs, or the CPU's. With `cpu`, the CPU gets a quarter of all records. The record's number
    /// is hashed, so the order of the dataset does not matter.
    fn by_record(&self, record: u64, gpus: LaneSet, cpu: bool) -> LaneSet {
        let hash = record.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if cpu && hash >> 62 == 3 {
            return LaneSet::only(CPU);
        }
        let lanes = (1..).zip(&self.lanes).filter(|(number, _)| gpus.has(LaneId(*number)));
        let mut ordinals: Vec<_> = lanes.clone().map(|(_, lane)| lane.ordinal).collect();
        ordinals.sort_unstable();
        ordinals.dedup();
        // The first two bits of the hash decide about the CPU. The bits after them choose the GPU.
        let part = (u128::from(hash << 2) * ordinals.len() as u128) >> 64;
        let ordinal = usize::try_from(part).ok().and_then(|part| ordinals.get(part));
        lanes.filter(|(_, lane)| Some(&lane.ordinal) == ordinal).map(|(number, _)| LaneId(number)).collect()
    }

    /// The lanes for a picture that this lane does not support: GPU lanes of other, later kinds, or else the CPU.
    pub(super) fn next(&self, may: LaneSet, lane: LaneId) -> LaneSet {
        let gave_up = self.lane(lane).kind;
        let later = (1..).zip(&self.lanes).filter(|(number, lane)| lane.kind > gave_up && may.has(LaneId(*number)));
        let later: LaneSet = later.map(|(number, _)| LaneId(number)).collect();
        if later.is_empty() { LaneSet::only(CPU) } else { later }
    }
}

/// At least as many as the scans of a JPEG. Bytes in a segment's body that look like the start of a scan count as well.
fn scans_at_most(bytes: &[u8]) -> u32 {
    let starts = bytes.windows(2).filter(|pair| *pair == [0xFF, 0xDA]).count();
    u32::try_from(starts).unwrap_or(u32::MAX)
}
