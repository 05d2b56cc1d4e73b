//! Decoding on the CPU: one [`CpuDecoder`] per thread turns a file's bytes into the pixels of a place.

pub(crate) mod jpeg_head;

use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::picture::{Decoded, Picture};
use crate::recipe::Recipe;

/// Decodes pictures, one after the other; made once per thread. Its buffers grow to the largest picture so far and are
/// used again.
#[derive(Debug, Default)]
pub struct CpuDecoder {}

impl CpuDecoder {
    /// A decoder with empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a file's bytes and carries the recipe out, into a place of [`Recipe::place_len`] bytes. Floats are
    /// little-endian; the place needs no alignment.
    ///
    /// # Errors
    /// The picture's [`Fault`]. The place may hold anything then.
    ///
    /// # Panics
    /// If `out` has another length than [`Recipe::place_len`].
    pub fn decode(
        &mut self,
        bytes: &[u8],
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
    ) -> Result<Decoded, Fault> {
        let _ = (bytes, recipe, draw, limits, out);
        Err(Fault::NotAPicture)
    }

    /// Decodes a whole picture, turned as it is seen.
    ///
    /// # Errors
    /// The picture's [`Fault`].
    pub fn whole(&mut self, bytes: &[u8], limits: &Limits) -> Result<Picture, Fault> {
        let _ = (bytes, limits);
        Err(Fault::NotAPicture)
    }
}
