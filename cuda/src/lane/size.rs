//! How large a lane is: its threads, and the memory of each.

use super::LaneError;
use super::gpu::Gpu;
use super::kind::{LaneKind, OnGpu};
use super::poison;

/// Every lane has to decode pictures of this size, in the usual samplings. Engines have a smallest picture, which nvJPEG does not
/// tell; a lane whose memory is not enough for so large a one is not worth having.
pub(super) const REQUIRED: (u32, u32) = (128, 96);

/// Tables of weights have this part of the results' room. A result of 224 x 224 in bytes has tables of an eighth of it with the
/// triangle filter where pictures shrink to a half, and results of training are floats.
const TABLES: usize = 8;

/// Bytes of tables, on the GPU and page-locked on the host, for results of this many bytes.
pub(super) fn table_room(results: usize) -> usize {
    results / TABLES
}

/// How a lane of a GPU is to be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneSize {
    /// Threads.
    pub workers: usize,
    /// Bytes of surfaces for each.
    pub surfaces: usize,
    /// Bytes for each that the engines' decoder may take beside them, in lanes that use the engines.
    pub engines: usize,
}

impl LaneSize {
    /// A lane of this kind that may take `limit` bytes of the GPU.
    ///
    /// # Errors
    /// The GPU has no such lane.
    pub fn of(kind: LaneKind, gpu: &Gpu, limit: usize) -> Result<Self, LaneError> {
        let OnGpu { workers, surfaces, .. } = kind.on_gpu()?;
        Self::within(limit, kind, workers(gpu)?, *surfaces)
    }

    /// This many workers with surfaces of at most `most` bytes each, in a lane that may take `limit` bytes of the GPU.
    /// nvJPEG then has memory for every picture that fits into the surfaces.
    ///
    /// # Errors
    /// No GPU has such a lane.
    pub fn within(limit: usize, kind: LaneKind, workers: usize, most: usize) -> Result<Self, LaneError> {
        let OnGpu { parts, engine_surfaces, .. } = kind.on_gpu()?;
        let each = limit / workers.max(1);
        let engines = if engine_surfaces.is_some() { each * 3 / 8 } else { 0 };
        Ok(Self { workers, surfaces: (each / parts).min(most), engines })
    }

    /// Bytes of page-locked memory of the host that such a lane takes: of these, nvJPEG takes its own as pictures come.
    pub fn page_locked(self, kind: LaneKind) -> usize {
        let of_nvjpeg = kind.on_gpu().map_or(0, |lane| lane.states * (lane.page_locked)(self.surfaces));
        self.workers * (table_room(self.surfaces) + poison::PAGE_LOCKED + of_nvjpeg)
    }
}
