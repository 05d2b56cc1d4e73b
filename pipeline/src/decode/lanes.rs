//! The lanes of this machine's GPUs. They are opened, tested and started before the first picture arrives.

use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use forebay_cuda::lane::LaneKind;
use forebay_cuda::lane::gpu::{Gpu, GpuError};
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::schedule::{LaneId, LaneSet};
use forebay_cuda::survey::Places;
use forebay_cuda::{Account, NvjpegPlaces};
use forebay_ring::Memory;
use thiserror::Error;

use crate::cores::Near;
use crate::decode::lane_thread::LaneThread;
use crate::decode::lane_workers::{NoWorkers, workers};
use crate::decode::switched_off::SwitchedOff;
use crate::decode::work_queue::{GpuLane, LaneChoice, WorkQueue};
use crate::gpu_threads::GpuThreads;
use crate::memory::{Promisee, Promises};
use crate::settings::{DecodeSettings, Lanes};
use crate::thread_class;

/// Beside the CPU's.
const MOST_LANES: usize = LaneSet::MOST - 1;
/// Why there are no more.
const TOO_MANY: &str = "there are 63 lanes of GPUs already, which is the most; name fewer kinds in decode.lanes, or show the \
                        daemon fewer GPUs (CUDA_VISIBLE_DEVICES)";

/// The lanes of all GPUs.
#[derive(Debug, Default)]
pub struct GpuLanes {
    gpus: Vec<Gpu>,
    lanes: Vec<OpenLane>,
    choice: Option<LaneChoice>,
    off: Vec<SwitchedOff>,
}

/// nvJPEG takes its page-locked memory as pictures come.
impl Promisee for Account {
    fn untaken(&self) -> u64 {
        u64::try_from(self.lockable()).unwrap_or(u64::MAX)
    }
}

/// A lane that has passed its test.
#[derive(Debug)]
struct OpenLane {
    lane: GpuLane,
    workers: Vec<Worker>,
    /// Where its threads run.
    near: Near,
}

/// A lane that the configuration requires is not available.
#[derive(Debug, Error)]
#[error(
    "decode.lanes names \"{kind}\", which is not available: {reason}. `forebay doctor` shows what this machine has; \
     lanes = \"auto\" uses what is there"
)]
pub struct LaneMissing {
    kind: LaneKind,
    reason: String,
}

/// Where this machine's libraries are, according to the configuration and the environment.
pub fn places(nvjpeg: Option<PathBuf>) -> Places {
    Places { driver: cuda_driver(), nvjpeg: NvjpegPlaces::of_this_machine(nvjpeg) }
}

/// The driver's file, if the environment names another one than the machine's.
pub fn cuda_driver() -> Option<PathBuf> {
    std::env::var_os("FOREBAY_CUDA_DRIVER").map(PathBuf::from)
}

impl GpuLanes {
    /// Opens the lanes that are asked for and tests each.
    ///
    /// # Errors
    /// A lane that the configuration names is unavailable on every GPU, or gives wrong pictures on all of them. With
    /// `fixed`, one such GPU is enough.
    pub fn open(config: &DecodeSettings, places: &Places, promises: &Promises) -> Result<Self, LaneMissing> {
        Self::open_within(config, places, promises, Memory::now)
    }

    fn open_within(
        config: &DecodeSettings,
        places: &Places,
        promises: &Promises,
        system: fn() -> io::Result<Memory>,
    ) -> Result<Self, LaneMissing> {
        let kinds = config.lanes.kinds();
        let choice = LaneChoice { fixed: config.lanes == Lanes::Fixed, cpu: kinds.contains(&LaneKind::Cpu) };
        let mut lanes = Self { choice: Some(choice), ..Self::default() };
        let wanted: Vec<_> = kinds.iter().copied().filter(|kind| kind.is_of_gpu()).collect();
        let Some(first) = wanted.first().copied() else { return Ok(lanes) };
        let strict = config.lanes != Lanes::Auto;
        let limit = usize::try_from(config.gpu_memory_limit.0).unwrap_or(usize::MAX);
        match Gpu::open_all(places, limit) {
            Ok(gpus) => lanes.keep(gpus, promises),
            Err(error) if strict => return Err(LaneMissing { kind: first, reason: error.to_string() }),
            Err(error) => {
                tracing::info!(%error, "no GPU decodes; the CPU lane takes every picture");
                lanes.off.push(SwitchedOff { name: "GPUs".into(), reason: error.to_string() });
            }
        }
        let share = limit / wanted.len();
        for kind in &wanted {
            lanes.add(*kind, |gpu| workers(gpu, *kind, share, promises, system));
        }
        // With "fixed", the record's number chooses the GPU. Without one of the GPUs, all pictures would be divided
        // differently.
        let incomplete = choice.fixed && !lanes.off.is_empty();
        let missing = |kind: &&LaneKind| incomplete || lanes.lanes.iter().all(|open| open.lane.kind != **kind);
        if strict && let Some(kind) = wanted.iter().find(missing) {
            let reasons: Vec<_> = lanes.off.iter().map(|off| format!("{}: {}", off.name, off.reason)).collect();
            let reason = if reasons.is_empty() { "there is no GPU".into() } else { reasons.join("; ") };
            return Err(LaneMissing { kind: *kind, reason });
        }
        Ok(lanes)
    }

    /// Keeps the GPUs that can be used.
    fn keep(&mut self, gpus: Vec<Result<Gpu, GpuError>>, promises: &Promises) {
        for gpu in gpus {
            match gpu {
                Ok(gpu) => {
                    let Ok(_) = promises.promise(|_| Ok::<_, Infallible>(Arc::clone(gpu.account())));
                    self.gpus.push(gpu);
                }
                Err(error) => {
                    tracing::warn!(%error, "the GPU is switched off");
                    let (name, reason) = match error {
                        GpuError::Context { ordinal, error } => (format!("GPU {ordinal}"), error.to_string()),
                        error => ("a GPU".into(), error.to_string()),
                    };
                    self.off.push(SwitchedOff { name, reason });
                }
            }
        }
    }

    /// Adds a lane of this kind for each GPU whose workers can be made. Threads near the GPU make them. A GPU that fails
    /// meanwhile loses all of its lanes.
    fn add(&mut self, kind: LaneKind, make: impl Fn(&Gpu) -> Result<Vec<Worker>, NoWorkers> + Sync) {
        let mut broken = Vec::new();
        for gpu in &self.gpus {
            let near = Near::of(gpu.bus());
            let many = self.lanes.len() >= MOST_LANES;
            let made = if many { Err(NoWorkers::Lacking(TOO_MANY.into())) } else { near.run(|| make(gpu)) };
            match made {
                Ok(workers) => {
                    let count = u32::try_from(workers.len()).unwrap_or(u32::MAX);
                    let lane = GpuLane { kind, ordinal: gpu.ordinal(), workers: count };
                    self.lanes.push(OpenLane { lane, workers, near });
                }
                Err(NoWorkers::Lacking(reason)) => {
                    tracing::warn!(gpu = gpu.ordinal(), lane = %kind, reason, "the lane is switched off");
                    self.off.push(SwitchedOff { name: format!("{kind} on GPU {}", gpu.ordinal()), reason });
                }
                Err(NoWorkers::Broken(reason)) => {
                    tracing::warn!(gpu = gpu.ordinal(), lane = %kind, reason, "the GPU is switched off: it broke in the test");
                    self.off.push(SwitchedOff { name: format!("GPU {}", gpu.ordinal()), reason });
                    broken.push(gpu.ordinal());
                }
            }
        }
        self.lanes.retain(|open| !broken.contains(&open.lane.ordinal));
        self.gpus.retain(|gpu| !broken.contains(&gpu.ordinal()));
    }

    /// Whether there are any.
    pub fn is_empty(&self) -> bool {
        self.lanes.is_empty()
    }

    /// What was requested and does not decode.
    pub(super) fn off(&self) -> &[SwitchedOff] {
        &self.off
    }

    /// The lanes in the form that the work queue needs, and how to divide pictures among them.
    pub(super) fn for_work_queue(&self) -> (Vec<GpuLane>, LaneChoice) {
        let lanes = self.lanes.iter().map(|open| open.lane.clone()).collect();
        (lanes, self.choice.unwrap_or(LaneChoice { fixed: false, cpu: true }))
    }

    /// Gives the GPUs, which outlive their lanes' threads.
    pub(super) fn take_gpus(&mut self) -> Vec<Gpu> {
        std::mem::take(&mut self.gpus)
    }

    /// Starts a thread for each worker, which works until the work queue is closed. If one cannot be started, the caller must
    /// close the work queue, because it has both the work queue and the threads.
    pub(super) fn start(self, work_queue: &Arc<WorkQueue>, threads: &mut GpuThreads) -> io::Result<()> {
        for (number, OpenLane { lane, workers, near }) in (1..).zip(self.lanes) {
            for (place, worker) in workers.into_iter().enumerate() {
                let (work_queue, near, kind) = (Arc::clone(work_queue), near.clone(), lane.kind);
                let name = format!("forebay-{}-{}-{place}", lane.kind, lane.ordinal);
                threads.start(&name, move |watched| {
                    // A GPU that waits for a thread to wake up does nothing meanwhile.
                    if kind.keeps_threads_busy() {
                        thread_class::background();
                    }
                    near.bind();
                    LaneThread::new(work_queue, LaneId(number), worker, watched).run();
                })?;
            }
        }
        threads.watch()
    }
}

#[cfg(test)]
mod tests {
    use forebay_fake_gpu::{Count, Fake, Knob};

    use super::*;

    fn open(lanes: Lanes, available: fn() -> io::Result<Memory>) -> (Result<GpuLanes, LaneMissing>, Fake) {
        let fake = Fake::new();
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let places = Places { driver: Some(fake.path()), nvjpeg };
        let config = DecodeSettings { lanes, ..DecodeSettings::default() };
        (GpuLanes::open_within(&config, &places, &Promises::default(), available), fake)
    }

    #[test]
    fn lanes_beyond_those_that_a_work_queue_has_places_for_are_switched_off_and_say_so() {
        let fake = Fake::new();
        fake.set(Knob::Gpus, 40);
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let mut lanes = GpuLanes::default();
        let gpus = Gpu::open_all(&Places { driver: Some(fake.path()), nvjpeg }, 1 << 20).unwrap();
        lanes.keep(gpus, &Promises::default());
        lanes.add(LaneKind::Hardware, |_| Ok(Vec::new()));
        lanes.add(LaneKind::Hybrid, |_| Ok(Vec::new()));
        assert_eq!((lanes.lanes.len(), lanes.off().len()), (63, 17));
        let SwitchedOff { name, reason } = &lanes.off()[0];
        assert!(name == "hybrid on GPU 23" && reason.contains("63 lanes"), "{name}: {reason}");
        let (work_queue, choice) = lanes.for_work_queue();
        WorkQueue::new(1, work_queue, choice, forebay_pixels::Limits::default());
    }

    #[test]
    fn rule_31_a_lane_whose_page_locked_memory_does_not_fit_is_switched_off_or_refused_with_the_number() {
        let little = || Ok(Memory { available: 1 << 20, limited_by: "the test".into() });
        let (lanes, _fake) = open(Lanes::Auto, little);
        let lanes = lanes.unwrap();
        assert!(lanes.is_empty());
        let [SwitchedOff { name, reason }] = lanes.off() else { panic!("{:?}", lanes.off()) };
        assert_eq!(name, "hardware on GPU 0");
        assert!(reason.starts_with("its 27.0 MiB of") && reason.contains("1.00 MiB that the test leaves"), "{reason}");
        let (lanes, _fake) = open(Lanes::Named(vec![LaneKind::Hardware]), little);
        assert!(lanes.unwrap_err().to_string().contains("page-locked"));
        let (lanes, _fake) = open(Lanes::Auto, || Ok(Memory { available: 1 << 30, limited_by: "the test".into() }));
        let lanes = lanes.unwrap();
        assert_eq!(lanes.off().len(), 0);
        let gpu = &lanes.gpus[0];
        // nvJPEG will take a part of it. That part is promised to nothing else.
        assert_eq!(gpu.page_locked() as u64 + gpu.account().untaken(), 28_360_704);
        assert!(gpu.account().untaken() > 18_000_000);
    }
    #[test]
    fn a_gpu_that_breaks_in_the_test_of_one_lane_loses_all_of_its_lanes_and_others_keep_theirs() {
        let fake = Fake::new();
        fake.set(Knob::Gpus, 2);
        let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
        let mut lanes = GpuLanes::default();
        let gpus = Gpu::open_all(&Places { driver: Some(fake.path()), nvjpeg }, 1 << 20).unwrap();
        lanes.keep(gpus, &Promises::default());
        lanes.add(LaneKind::Hardware, |_| Ok(Vec::new()));
        lanes.add(LaneKind::Hybrid, |gpu| match gpu.ordinal() {
            0 => Err(NoWorkers::Broken("it broke".into())),
            _ => Ok(Vec::new()),
        });
        lanes.add(LaneKind::GpuHuffman, |_| Ok(Vec::new()));
        let names: Vec<_> = lanes.lanes.iter().map(|open| open.lane.to_string()).collect();
        assert_eq!(names, ["hardware on GPU 1", "hybrid on GPU 1", "gpu-huffman on GPU 1"]);
        assert_eq!(lanes.off(), [SwitchedOff { name: "GPU 0".into(), reason: "it broke".into() }]);
    }

    /// The test of the hardware lane takes seven calls for each of three workers; the one after them is another lane's.
    #[test]
    fn a_fault_in_a_self_test_is_told_from_a_lane_that_fails() {
        for (lanes, calls, kind) in [
            (Lanes::Auto, 3, None),
            (Lanes::Named(vec![LaneKind::Hardware, LaneKind::Hybrid]), 22, Some(LaneKind::Hardware)),
            (Lanes::Fixed, 3, Some(LaneKind::Hardware)),
        ] {
            let fake = Fake::new();
            fake.set(Knob::BreakAfter, calls);
            let nvjpeg = NvjpegPlaces { file: Some(fake.path()), packages: Vec::new() };
            let places = Places { driver: Some(fake.path()), nvjpeg };
            let config = DecodeSettings { lanes, ..DecodeSettings::default() };
            let plenty = || Ok(Memory { available: 1 << 30, limited_by: "the test".into() });
            match (GpuLanes::open_within(&config, &places, &Promises::default(), plenty), kind) {
                (Ok(lanes), None) => {
                    let [SwitchedOff { name, reason }] = lanes.off() else { panic!("{:?}", lanes.off()) };
                    assert!(name == "GPU 0" && reason.contains("ILLEGAL_ADDRESS"), "{name}: {reason}");
                }
                (Err(missing), Some(kind)) => {
                    assert_eq!(missing.kind, kind);
                    assert!(missing.reason.starts_with("GPU 0: cu"), "{}", missing.reason);
                }
                (other, _) => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_lane_that_is_given_up_while_the_daemon_runs_ends_its_threads_and_gives_their_memory_back() {
        let (lanes, fake) = open(Lanes::Auto, || Ok(Memory { available: 1 << 30, limited_by: "the test".into() }));
        let mut lanes = lanes.unwrap();
        let (gpu_lanes, choice) = lanes.for_work_queue();
        let work_queue = Arc::new(WorkQueue::new(1, gpu_lanes, choice, forebay_pixels::Limits::default()));
        let (gpus, mut threads) = (lanes.take_gpus(), GpuThreads::default());
        lanes.start(&work_queue, &mut threads).unwrap();
        let before = gpus[0].account().used();
        work_queue.switch_off(LaneId(1), "the test wants it".into());
        // This waits for their end.
        drop(threads);
        assert_eq!((fake.count(Count::Streams), gpus[0].page_locked()), (0, 0));
        let after = gpus[0].account().used();
        assert!(
            after < before / 10,
            "{after} of {before} bytes: nvJPEG's handle is left, for a GPU that is still shown"
        );
    }
}
