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
    /// A call for each picture, which gives planes. Several of them decode pictures in turn: a thread works on one, while the GPU
    /// is at the last one of another.
    Single(Vec<SingleState>),
}

impl LaneState {
    /// States that take at most `page_locked` bytes of the host's memory each, as pictures come. Those for single pictures give
    /// planes, whatever the form, and there are as many as the kind of lane has.
    pub(super) fn new(gpu: &Gpu, kind: LaneKind, form: Form, page_locked: usize) -> Result<Self, LaneError> {
        let OnGpu { backend, together, states, .. } = kind.on_gpu()?;
        let handle = gpu.handle(*backend)?;
        Ok(if *together {
            Self::Batch(BatchState::new(form, handle, page_locked)?)
        } else {
            Self::Single((0..*states).map(|_| SingleState::new(handle, page_locked)).collect::<Result<_, _>>()?)
        })
    }
}
