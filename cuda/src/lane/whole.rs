//! Whole pictures as a lane decodes them, for tests of lanes and for comparisons with other decoders.

use crate::frame::Frame;

/// A whole picture, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Stored width.
    pub width: u32,
    /// Stored height.
    pub height: u32,
    /// Packed RGB.
    pub rgb: Vec<u8>,
}

impl Whole {
    /// The picture of a file before it is decoded. One that a worker with this room for a result will refuse has no pixels.
    pub(super) fn expected(bytes: &[u8], room: usize) -> Self {
        let (width, height) = Frame::head(bytes).map_or((0, 0), |head| (head.width, head.height));
        let len = width as usize * height as usize * 3;
        Self { width, height, rgb: vec![0; if len <= room { len } else { 0 }] }
    }
}
