//! The workers of one lane of a GPU: how many, and with how much memory. They are made if the system has that memory,
//! and are tested.

use std::collections::BTreeSet;
use std::io;

use forebay_cuda::lane::gpu::Gpu;
use forebay_cuda::lane::self_test::{Passed, SelfTestError, self_test};
use forebay_cuda::lane::size::LaneSize;
use forebay_cuda::lane::worker::Worker;
use forebay_cuda::lane::{LaneError, LaneKind};
use forebay_ring::{Memory, TooLittle};

use crate::ByteSize;
use crate::memory::Promises;

/// Names a variable that lets lanes decode which are off by more than the self-test allows: for measurements, so that a bound
/// which proves too tight costs no figure, and for nothing else.
const UNTESTED: &str = "FOREBAY_UNTESTED_LANES";

/// Why there are no workers for a lane, in words.
#[derive(Debug)]
pub(super) enum NoWorkers {
    /// The lane cannot be had; others of its GPU may do.
    Lacking(String),
    /// The GPU broke: nothing of this process can use it any more.
    Broken(String),
}

impl From<LaneError> for NoWorkers {
    fn from(error: LaneError) -> Self {
        let text = error.to_string();
        if matches!(error, LaneError::Cuda(error) if error.is_fault()) {
            Self::Broken(text)
        } else {
            Self::Lacking(text)
        }
    }
}

impl From<SelfTestError> for NoWorkers {
    fn from(error: SelfTestError) -> Self {
        let text = error.to_string();
        if matches!(error, SelfTestError::Cuda(error) if error.is_fault()) {
            Self::Broken(text)
        } else {
            Self::Lacking(text)
        }
    }
}

/// A lane's workers, each of which has passed the test.
pub(super) fn workers(
    gpu: &Gpu,
    kind: LaneKind,
    limit: usize,
    promises: &Promises,
    system: fn() -> io::Result<Memory>,
) -> Result<Vec<Worker>, NoWorkers> {
    let size = LaneSize::of(kind, gpu, limit)?;
    let page_locked = u64::try_from(size.page_locked(kind)).unwrap_or(u64::MAX);
    let made = promises.take(page_locked, system, || Worker::all(gpu, kind, size));
    let made = made.map_err(|error| NoWorkers::Lacking(error.to_string()))?;
    let made = made.map_err(|TooLittle { needed, available, limited_by }| {
        NoWorkers::Lacking(format!(
            "its {:#} of page-locked memory are more than the {:#} that {limited_by} leaves; lower \
             decode.gpu_memory_limit, or raise that limit",
            ByteSize(needed),
            ByteSize(available)
        ))
    })?;
    let mut workers = made?;
    let mut left = BTreeSet::new();
    for worker in &mut workers {
        let Passed { difference, refused } = match self_test(worker) {
            Err(SelfTestError::Wrong { form, difference }) if std::env::var_os(UNTESTED).is_some() => {
                tracing::warn!(lane = %kind, form, ?difference, "the lane gives wrong pictures, and is used because {UNTESTED} is set");
                Passed { difference, ..Passed::default() }
            }
            tested => tested?,
        };
        tracing::debug!(gpu = gpu.ordinal(), lane = %kind, ?difference, "a worker has passed the self-test");
        left = refused;
    }
    for refused in left {
        tracing::info!(gpu = gpu.ordinal(), lane = %kind, refused, "the lane leaves such pictures to the next lane");
    }
    tracing::info!(gpu = gpu.ordinal(), lane = %kind, workers = workers.len(), "the lane decodes");
    Ok(workers)
}
