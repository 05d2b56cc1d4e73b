//! What the daemon tells of the lanes that all its streams share.

use forebay_cuda::lane::Refusal;
use forebay_cuda::lane::gpu::Gpu;
use forebay_proto::v1::{self as proto, GpuStatus, LaneRefusal, LaneStatus};
use forebay_road::{LaneReport, Metric, Samples, SwitchedOff};

use super::Daemon;

impl Daemon {
    /// The lanes, for the status.
    pub fn lane_status(&self) -> Vec<LaneStatus> {
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
    pub fn gpu_status(&self) -> Vec<GpuStatus> {
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
    pub fn switched_off(&self) -> Vec<proto::SwitchedOff> {
        let status = |SwitchedOff { name, reason }: SwitchedOff| proto::SwitchedOff { name, reason };
        self.pools.shared().switched_off().into_iter().map(status).collect()
    }

    /// Their metrics.
    pub fn show_lanes(&self, samples: &mut Samples) {
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
