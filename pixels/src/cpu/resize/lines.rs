//! What either pass of a resize reads, and how much of it at a time.

use crate::buffer::SLACK;

/// The pass down the columns is given rows of whole blocks of this many bytes.
pub(super) const BLOCK: usize = 32;

/// The pass along the rows does this many at a time.
pub(super) const GROUP: usize = 4;

const _: () = assert!(BLOCK <= SLACK, "the last block of a source may end behind its last pixel");

/// Rows of a buffer.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a> {
    pub(super) bytes: &'a [u8],
    /// Bytes from one to the next.
    pub(super) stride: usize,
    pub(super) count: usize,
    /// Bytes of a pixel.
    pub(super) pixel: usize,
}
