//! The CPU lane: pixels' decoder within the memory that decoding may have.

use std::sync::Arc;

use forebay_pixels::{CpuDecoder, Fault, Limits, probe};

use crate::decode::budget::Budget;
use crate::decode::{Decoder, MakeDecoder, Picture};

/// A picture smaller than this always finds room: the reserve of 100 MB beside the budgets holds a few per thread.
const SMALL: u64 = 4 << 20;
/// Bytes per pixel while decoding: RGB, and the coefficients of a progressive JPEG.
const PER_PIXEL: u64 = 9;

/// Decodes on the thread that calls it.
#[derive(Debug)]
pub struct CpuLane {
    decoder: CpuDecoder,
    limits: Limits,
    memory: Arc<Budget>,
}

impl CpuLane {
    /// Makes the lane's decoders, which share `memory`.
    pub fn maker(limits: Limits, memory: Arc<Budget>) -> MakeDecoder {
        Arc::new(move || Box::new(Self { decoder: CpuDecoder::new(), limits, memory: Arc::clone(&memory) }))
    }
}

impl Decoder for CpuLane {
    fn decode(&mut self, picture: Picture<'_>) -> Result<(), Fault> {
        let probe = probe(picture.bytes)?;
        let needed = u64::from(probe.width) * u64::from(probe.height) * PER_PIXEL;
        // Beyond the pixel limit the decoder refuses before it takes any memory.
        let within = u64::from(probe.width) * u64::from(probe.height) <= self.limits.pixels;
        let _share = (needed > SMALL && within).then(|| self.memory.take(needed));
        self.decoder.decode(picture.bytes, picture.recipe, picture.draw, &self.limits, picture.out).map(drop)
    }
}
