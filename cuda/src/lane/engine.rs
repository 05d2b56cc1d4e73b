//! The memory of a GPU that the engines' decoder takes. The driver's video library allocates it, past nvJPEG's allocator. So
//! the most that it can be is counted, and larger pictures go to the next lane.

use std::sync::Arc;

use super::LaneError;
use super::size::REQUIRED;
use crate::nvjpeg::{Account, Counted};

/// Bytes for each pixel of the largest picture: a surface in 4:4:4, and a file that is no longer than one of its planes.
const BYTES_A_PIXEL: usize = 4;
/// The memory of one state. The library keeps a number of surfaces, and buffers for as many files. Each is as wide and as
/// high as the widest and the highest picture so far. (nvJPEG 13.0, as its calls show. The free memory of a GPU shows how
/// good the count is.)
#[derive(Debug)]
pub(super) struct EngineMemory {
    side: u32,
    _counted: Counted,
}

impl EngineMemory {
    /// Counts `bytes` for a state that keeps `surfaces` surfaces.
    pub(super) fn new(account: &Arc<Account>, surfaces: usize, bytes: usize) -> Result<Self, LaneError> {
        let side = u32::try_from((bytes / surfaces.max(1) / BYTES_A_PIXEL).isqrt()).unwrap_or(u32::MAX);
        let counted = account.count(bytes).filter(|_| side >= REQUIRED.0.max(REQUIRED.1));
        let memory = LaneError::Memory { limit: account.limit(), needed: bytes };
        Ok(Self { side, _counted: counted.ok_or(memory)? })
    }

    /// The longest side of pictures that it is enough for, whatever came before them.
    pub(super) fn side(&self) -> u32 {
        self.side
    }

    /// Whether it is enough for a picture of this size in a file of `file` bytes.
    pub(super) fn takes(&self, width: u32, height: u32, file: usize) -> bool {
        width.max(height) <= self.side && file <= self.side as usize * self.side as usize
    }
}
