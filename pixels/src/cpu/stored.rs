//! Pixels that another decoder has: only the recipe is left to be carried out on them.

use crate::cpu::canvas::Held;
use crate::cpu::{CpuDecoder, Stored, Wanted, turn_canvas};
use crate::draw::Draw;
use crate::fault::{Fault, Limits};
use crate::picture::Decoded;
use crate::plan::Rect;
use crate::probe::{Orientation, Probe};
use crate::recipe::Recipe;

impl CpuDecoder {
    /// Carries a recipe out on a picture of which another decoder has the stored pixels. `read` is asked once for the part
    /// that is needed, in the coordinates of the stored picture, and writes it as packed RGB. Where its pixels are those
    /// that this decoder makes of the file, the result is that of [`decode`](Self::decode) without `reducing_gap`.
    ///
    /// # Errors
    /// The picture, or a step's result, has more pixels than the limits allow. The place may hold anything then.
    ///
    /// # Panics
    /// If `out` has another length than [`Recipe::place_len`].
    pub fn compose(
        &mut self,
        probe: &Probe,
        recipe: &Recipe,
        draw: Draw,
        limits: &Limits,
        out: &mut [u8],
        read: impl FnOnce(Rect, &mut [u8]),
    ) -> Result<Decoded, Fault> {
        assert_eq!(out.len(), recipe.place_len(), "a place has the recipe's place length");
        let size @ (width, height) = probe.orientation.seen(probe.width, probe.height);
        limits.check_pixels(width, height)?;
        let orientation = if recipe.input().adjust_orientation { probe.orientation } else { Orientation::AsStored };
        let stored = Stored { size, orientation };
        let part = Wanted::of(recipe, draw, &stored, false, limits, &mut self.plan, &mut self.stages)?.part;
        let region = orientation.stored_part(part, width, height);
        let (rgb, _spare) = self.canvas.begin(region.width, region.height, limits)?;
        read(region, rgb);
        if orientation != Orientation::AsStored {
            turn_canvas(&mut self.canvas, orientation, region);
        }
        self.canvas.carry_out(Held::canvas(part), &self.plan, &self.stages, recipe, out);
        self.canvas.trim();
        let (width, height) = stored.seen();
        Ok(Decoded { format: probe.format, width, height, by: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::probe;
    use crate::sample::{JpegForm, photograph_rgb};

    /// A JPEG that is to be seen turned, as cameras write it: the EXIF segment comes right after the start.
    fn turned(jpeg: &[u8], orientation: u8) -> Vec<u8> {
        let tiff = [b'I', b'I', 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0];
        let mut exif = vec![0xFF, 0xE1, 0, u8::try_from(2 + 6 + tiff.len()).unwrap()];
        exif.extend(b"Exif\0\0");
        exif.extend(tiff);
        [&jpeg[..2], &exif, &jpeg[2..]].concat()
    }

    #[test]
    fn pixels_of_another_decoder_give_what_our_own_would_in_every_orientation_and_cut() {
        let (width, height) = (97, 61);
        let jpeg = JpegForm::default().encode(&photograph_rgb(5, width, height), width, height).unwrap();
        let limits = Limits::default();
        let mut decoder = CpuDecoder::new();
        let stored = decoder.whole(&jpeg, &limits).unwrap().rgb;
        for orientation in 1..=8 {
            let jpeg = turned(&jpeg, orientation);
            let probe = probe(&jpeg).unwrap();
            for (recipe, records) in [(Recipe::training(32), 0..12), (Recipe::evaluation(32), 0..1)] {
                let recipe = recipe.unwrap();
                for record in records {
                    let draw = Draw { seed: 3, epoch: 0, record };
                    let mut places = [vec![0; recipe.place_len()], vec![1; recipe.place_len()]];
                    decoder.decode(&jpeg, &recipe, draw, &limits, &mut places[0]).unwrap();
                    let read = |part: Rect, rgb: &mut [u8]| {
                        for (row, to) in (part.top..).zip(rgb.chunks_exact_mut(part.width as usize * 3)) {
                            to.copy_from_slice(&stored[((row * width + part.left) * 3) as usize..][..to.len()]);
                        }
                    };
                    decoder.compose(&probe, &recipe, draw, &limits, &mut places[1], read).unwrap();
                    assert!(places[0] == places[1], "orientation {orientation}, record {record}");
                }
            }
        }
    }
}
