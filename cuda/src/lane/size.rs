//! How large a lane is: its threads, and the memory of each.

use super::LaneKind;

/// Every lane has to decode pictures of this size, in the usual samplings. Engines have a smallest picture, which nvJPEG does not
/// tell; a lane whose memory is not enough for so large a one is not worth having.
pub(super) const REQUIRED: (u32, u32) = (128, 96);

/// Tables of weights have this part of the results' room. A result of 224 x 224 in bytes has tables of an eighth of it with the
/// triangle filter where pictures shrink to a half, and results of training are floats.
const TABLES: usize = 8;

/// Bytes of tables, on the GPU and page-locked on the host, where results have so many.
pub(super) fn table_room(results: usize) -> usize {
    results / TABLES
}

/// Bytes of page-locked memory that nvJPEG may take for a worker with surfaces of so many bytes. Its host decoder keeps two
/// bytes a coefficient there, of whole blocks, as versions 12 and 13 have been seen to ask for. The others keep a few
/// kilobytes a picture, and, should they copy them, the files' bytes.
pub(super) fn nvjpeg_room(kind: LaneKind, surfaces: usize) -> usize {
    match kind {
        LaneKind::Hybrid => 2 * surfaces + surfaces / 4,
        _ => surfaces / 4,
    }
}

/// Parts of the memory that a lane may take of the GPU, of which a worker's surfaces are one. As much goes to results, and an
/// eighth to their tables. Where the multiprocessors decode, nvJPEG has two bytes a coefficient and one a sample; with the
/// engines, what the surfaces leave is the engines' own.
fn parts(kind: LaneKind) -> usize {
    match kind {
        LaneKind::Hybrid | LaneKind::GpuHuffman => 6,
        _ => 4,
    }
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
    /// So many workers with surfaces of at most `most` bytes each, where the lane may take `limit` bytes of the GPU: whatever
    /// fits into their surfaces, nvJPEG has memory for as well.
    pub fn within(limit: usize, kind: LaneKind, workers: usize, most: usize) -> Self {
        let each = limit / workers.max(1);
        let engines = match kind {
            LaneKind::Hardware | LaneKind::HardwareSingle => each * 3 / 8,
            _ => 0,
        };
        Self { workers, surfaces: (each / parts(kind)).min(most), engines }
    }

    /// Bytes of page-locked memory of the host that such a lane takes: of these, nvJPEG takes its own as pictures come.
    pub fn page_locked(self, kind: LaneKind) -> usize {
        self.workers * (table_room(self.surfaces) + nvjpeg_room(kind, self.surfaces))
    }
}
