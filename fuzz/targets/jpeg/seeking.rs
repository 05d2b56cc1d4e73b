//! Decodes with seek points: those that were recorded, and blocks that are damaged, of another file, or made up.

use forebay_jpeg::{Decoder, Fault, Header, Region, Scale, SeekPoints, Spacing};

/// Points that are close together, so that small pictures have many.
const SPACING: Spacing = Spacing { every: 2, columns: 100, share: u32::MAX };

/// The points of this case, and the block of the case before.
pub(crate) struct Seeking {
    points: SeekPoints,
    before: Vec<u8>,
}

impl Default for Seeking {
    fn default() -> Self {
        Self { points: SeekPoints::new(SPACING), before: Vec::new() }
    }
}

impl Seeking {
    /// Checks that a part of a picture comes out as `expected` whatever is kept of its points. `hash` chooses the damage.
    pub(crate) fn check(
        &mut self,
        decoder: &mut Decoder,
        (header, bytes): (&Header, &[u8]),
        scale: Scale,
        (all, part): (Region, Region),
        expected: &Result<Vec<u8>, Fault>,
        hash: u32,
    ) {
        let mut block = Vec::new();
        // Recorded by the part alone, and then by the whole.
        for _ in 0..2 {
            let rgb = self.decode(decoder, (header, bytes), scale, part, &mut block);
            assert!(rgb == *expected, "recorded points change nothing");
        }
        if self.decode(decoder, (header, bytes), scale, all, &mut block).is_ok() {
            decoder.note(header, bytes, &mut self.points).expect("a picture that decodes has points");
            assert!(
                self.points.changed().unwrap_or_default() == block,
                "a decode finds the points that are noted without it"
            );
        }
        let rgb = self.decode(decoder, (header, bytes), scale, part, &mut block);
        assert!(rgb == *expected, "recorded points change nothing");
        let mut foreign = std::mem::replace(&mut self.before, block.clone());
        if block.is_empty() {
            return;
        }
        let at = hash as usize % block.len();
        let mut damaged = block;
        damaged[at] ^= (hash >> 24) as u8 | 1;
        for sealed in [false, true] {
            for block in [&mut foreign, &mut damaged] {
                let mut block = block.clone();
                if sealed {
                    // Now only the points themselves can show that they are wrong. Pixels may be, too.
                    SeekPoints::seal(&mut block, bytes);
                }
                let rgb = self.decode(decoder, (header, bytes), scale, part, &mut block);
                assert!(sealed || rgb == *expected, "a block that is not this file's changes nothing");
            }
        }
    }

    /// Decodes as the daemon does: again, if the points were wrong.
    fn decode(
        &mut self,
        decoder: &mut Decoder,
        (header, bytes): (&Header, &[u8]),
        scale: Scale,
        part: Region,
        block: &mut Vec<u8>,
    ) -> Result<Vec<u8>, Fault> {
        let mut rgb = vec![0; part.width as usize * part.height as usize * 3];
        let points = &mut self.points;
        points.load(block);
        let mut decoded = decoder.begin_seeking(header, bytes, scale, part, points).read(&mut rgb);
        if decoded == Err(Fault::Misled) {
            decoded = decoder.begin_seeking(header, bytes, scale, part, points).read(&mut rgb);
        }
        if let Some(changed) = points.changed() {
            block.clear();
            block.extend_from_slice(changed);
        }
        assert!(decoded != Err(Fault::Misled), "points mislead once");
        decoded.map(|rows| {
            assert_eq!(rows, part.height, "all rows come");
            rgb
        })
    }
}
