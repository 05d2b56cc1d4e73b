//! libjpeg-turbo with nothing around it, for benchmarks to compare with: no plan, no canvas, no limits.

use std::time::Instant;

use crate::cpu::jpeg::turbo::TurboReader;
use crate::fault::Limits;
use crate::plan::Rect;
use crate::scale::Scale;

/// A decompressor, used for one picture after the other.
#[derive(Debug, Default)]
pub struct BareTurbo {
    reader: TurboReader,
}

impl BareTurbo {
    /// Decodes a part of a picture at its full size as packed RGB, perhaps with more columns beside it. Returns which part
    /// is in `out`. `None` if the picture is damaged, has other colours, or does not have that part.
    pub fn decode(&mut self, bytes: &[u8], part: Rect, out: &mut Vec<u8>) -> Option<Rect> {
        let limits = Limits::default();
        let open = self.reader.open(bytes, &limits, Instant::now()).ok()?;
        let size = open.size();
        let is_inside =
            |start: u32, len: u32, side: u32| len > 0 && start.checked_add(len).is_some_and(|end| end <= side);
        if !is_inside(part.left, part.width, size.0) || !is_inside(part.top, part.height, size.1) {
            return None;
        }
        let begun = open.begin(Scale::Full, size, part).ok().filter(|begun| begun.channels() == 3)?;
        let region = begun.region();
        out.resize(region.width as usize * region.height as usize * 3, 0);
        begun.read(out).ok().map(|()| region)
    }
}
