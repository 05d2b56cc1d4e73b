//! The resources that all streams of the process share: decode threads and lanes, memory for rings, caches and GPUs.

use std::sync::Arc;

use forebay_cuda::lane::Refusal;
use forebay_cuda::lane::gpu::Gpu;
use forebay_pipeline::{
    Caches, Decoders, Gpus, LaneReport, Metric, Pools, PoolsError, Promises, RingMemory, Samples, SeekStores,
    SharedResources, SwitchedOff, cores, cuda_driver,
};
use forebay_proto::v1::{self as proto, GpuStatus, LaneRefusal, LaneStatus};

use crate::config::{Config, Environment, default_threads};

/// What the streams share.
#[derive(Debug)]
pub(crate) struct Shared {
    pools: Pools,
    ring_memory: Arc<RingMemory>,
    caches: Arc<Caches>,
    seeks: Arc<SeekStores>,
    gpus: Arc<Gpus>,
    decoders: Option<Arc<Decoders>>,
}

impl Shared {
    /// Starts the threads that decode.
    ///
    /// # Errors
    /// The system has no more threads, or there is no lane that is named.
    pub(super) fn start(config: &Config, environment: &Environment) -> Result<Self, PoolsError> {
        let threads = config.decode.threads;
        let threads =
            threads.unwrap_or_else(|| default_threads(cores::usable(), environment.local_world_size.as_deref()));
        let promises = Arc::new(Promises::default());
        let decoders = config.decode.remote.as_ref().map(|remote| Decoders::open(remote, threads > 0));
        let decoders = decoders.transpose().map_err(std::io::Error::other)?.map(Arc::new);
        Ok(Self {
            pools: Pools::start(&config.decode, threads, &promises)?,
            ring_memory: Arc::new(RingMemory::new(config.ring.memory_settings(), Arc::clone(&promises))),
            caches: Arc::new(Caches::new(Arc::clone(&promises))),
            seeks: Arc::new(SeekStores::new(config.decode.seek_keeping(), promises)),
            gpus: Arc::new(Gpus::new(environment.uid, cuda_driver())),
            decoders,
        })
    }

    /// What a stream takes of them: with the threads that decode, or others if it has a number of its own.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(super) fn resources(&self, threads: Option<usize>) -> std::io::Result<SharedResources> {
        Ok(SharedResources {
            pool: self.pools.with(threads)?,
            memory: Arc::clone(&self.ring_memory),
            caches: Arc::clone(&self.caches),
            seeks: Arc::clone(&self.seeks),
            gpus: Arc::clone(&self.gpus),
            decoders: self.decoders.clone(),
        })
    }

    /// Where rings take their memory from.
    pub(super) fn ring_memory(&self) -> &Arc<RingMemory> {
        &self.ring_memory
    }

    pub(super) fn gpus(&self) -> &Arc<Gpus> {
        &self.gpus
    }

    /// The daemon ends: a GPU is not waited for any more.
    pub(super) fn leave(&self) {
        self.pools.shared().leave();
    }

    /// How many pictures each decoder has made so far.
    pub(crate) fn decoded(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.pools.decoded()
    }

    /// Of how many pictures content of the file is not in the pixels, by format and content.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        self.pools.left_out().map(|(format, kind, pictures)| (format.name(), kind.name(), pictures))
    }

    /// The lanes, for the status.
    pub(crate) fn lane_status(&self) -> Vec<LaneStatus> {
        let refusal = |(reason, pictures): (Refusal, u64)| LaneRefusal { reason: reason.name().into(), pictures };
        let status = |LaneReport { name, pictures, stolen, refused }| LaneStatus {
            name,
            pictures,
            stolen,
            refused: refused.into_iter().map(refusal).collect(),
        };
        self.pools.shared().lanes().into_iter().map(status).collect()
    }

    /// The GPUs' memory, for the status.
    pub(crate) fn gpu_status(&self) -> Vec<GpuStatus> {
        let status = |gpu: &Gpu| GpuStatus {
            gpu: gpu.ordinal(),
            memory_used: gpu.account().used() as u64,
            memory_peak: gpu.account().peak() as u64,
            memory_limit: gpu.account().limit() as u64,
            page_locked: gpu.page_locked() as u64,
        };
        self.pools.shared().gpus().iter().map(status).collect()
    }

    /// What of the GPUs is switched off, for the status.
    pub(crate) fn switched_off(&self) -> Vec<proto::SwitchedOff> {
        let status = |SwitchedOff { name, reason }: SwitchedOff| proto::SwitchedOff { name, reason };
        self.pools.shared().switched_off().into_iter().map(status).collect()
    }

    /// Their metrics.
    pub(crate) fn show_lanes(&self, samples: &mut Samples) {
        for lane in self.lane_status() {
            let label = ("lane", lane.name.as_str());
            samples.counter(Metric::LanePictures, &[label], lane.pictures);
            for LaneRefusal { reason, pictures } in lane.refused {
                samples.counter(Metric::LaneRefused, &[label, ("reason", &reason)], pictures);
            }
        }
        for off in self.switched_off() {
            samples.level(Metric::SwitchedOff, &[("what", &off.name), ("reason", &off.reason)], 1);
        }
        for gpu in self.gpu_status() {
            let number = gpu.gpu.to_string();
            for (metric, bytes) in [(Metric::GpuMemory, gpu.memory_used), (Metric::PageLocked, gpu.page_locked)] {
                samples.level(metric, &[("gpu", &number)], bytes);
            }
        }
    }
}
