//! nvJPEG's state for one thread, in whichever way its kind of lane decodes.

use super::LaneError;
use super::gpu::Gpu;
use super::kind::{LaneKind, OnGpu};
use crate::frame::Form;
use crate::nvjpeg::{BatchState, SingleState};

/// A state of nvJPEG.
#[derive(Debug)]
pub(super) enum LaneState {
    /// One call for several pictures.
    Batch(BatchState),
    /// A call for each picture, which gives planes.
    Single(SingleState),
}

impl LaneState {
    /// A state that takes at most `page_locked` bytes of the host's memory, as pictures come. One for single pictures gives
    /// planes, whatever the form.
    pub(super) fn new(gpu: &Gpu, kind: LaneKind, form: Form, page_locked: usize) -> Result<Self, LaneError> {
        let OnGpu { backend, together, .. } = kind.on_gpu()?;
        let handle = gpu.handle(*backend)?;
        Ok(if *together {
            Self::Batch(BatchState::new(form, handle, page_locked)?)
        } else {
            Self::Single(SingleState::new(handle, page_locked)?)
        })
    }
}
