//! Results of pipelines, which have the size that the pipeline gives them.

use crate::transform_list::TransformList;

/// What a pipeline has made of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transformed {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Its values, in the pipeline's [`Output`](crate::Output). Floats are little-endian.
    pub bytes: Vec<u8>,
}

impl Transformed {
    /// Of this size, without its values.
    pub(super) fn room(width: u32, height: u32, list: &TransformList) -> Self {
        Self { width, height, bytes: vec![0; list.output().bytes(width, height)] }
    }
}
