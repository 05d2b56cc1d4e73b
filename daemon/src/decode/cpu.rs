//! The CPU lane: pixels' decoder within the memory that decoding may have.

use std::sync::Arc;

use forebay_pixels::{CpuDecoder, Fault, Format, Limits, Probe, probe};

use crate::decode::budget::Budget;
use crate::decode::{Decoder, MakeDecoder, Picture};

/// A picture smaller than this always finds room: the reserve of 100 MB beside the budgets holds a few per thread.
const SMALL: u64 = 4 << 20;

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
        let pixels = u64::from(probe.width) * u64::from(probe.height);
        let needed = pixels * bytes_per_pixel(&probe);
        // Beyond the pixel limit the decoder refuses before it takes any memory.
        let counts = needed > SMALL && pixels <= self.limits.pixels;
        let _share = counts.then(|| self.memory.take(needed));
        self.decoder.decode(picture.bytes, picture.recipe, picture.draw, &self.limits, picture.out).map(drop)
    }
}

/// Memory for a pixel while it is decoded: RGB; the coefficients of a progressive JPEG beside it, three of two bytes;
/// the four channels of 16 bits that other formats may have.
fn bytes_per_pixel(probe: &Probe) -> u64 {
    match probe.format {
        Format::Jpeg if probe.progressive => 3 + 6,
        Format::Jpeg => 3,
        _ => 3 + 8,
    }
}

#[cfg(test)]
mod tests {
    use forebay_pixels::{Draw, Recipe, sample};

    use super::*;

    #[test]
    fn rule_31_pictures_larger_than_the_budget_are_decoded_and_those_above_the_pixel_limit_refused_by_name() {
        let bytes = sample::photograph(1, 1500, 1200);
        let recipe = Recipe::evaluation(32).unwrap();
        let mut out = vec![0; recipe.place_len()];
        let memory = Arc::new(Budget::new(1));
        let mut decode = |limits| {
            let mut lane = CpuLane::maker(limits, Arc::clone(&memory))();
            let draw = Draw { seed: 0, epoch: 0, record: 0 };
            lane.decode(Picture { bytes: &bytes, recipe: &recipe, draw, out: &mut out })
        };
        decode(Limits::default()).unwrap();
        let refused = decode(Limits { pixels: 1000, ..Limits::default() });
        assert!(matches!(refused, Err(Fault::TooLarge { pixels: 1_800_000, limit: 1000 })), "{refused:?}");
        assert_eq!(memory.used(), 0);
    }
}
