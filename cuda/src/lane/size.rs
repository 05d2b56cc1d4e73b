//! How large a lane is: its threads, and the memory of each.

/// Tables of weights have this part of the results' room. A result of 224 x 224 in bytes has tables of an eighth of it with the
/// triangle filter where pictures shrink to a half, and results of training are floats.
const TABLES: usize = 8;

/// Bytes of tables, on the GPU and page-locked on the host, where results have so many.
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
}

impl LaneSize {
    /// Bytes of page-locked memory of the host that the lane takes.
    pub fn page_locked(self) -> usize {
        self.workers * table_room(self.surfaces)
    }
}
