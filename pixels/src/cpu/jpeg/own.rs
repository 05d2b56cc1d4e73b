//! Our own decoder: equal to libjpeg-turbo in every pixel of what it takes.

use forebay_jpeg::{Decoder, Fault as OwnFault, Header, Path, Region, Rows, Scale as OwnScale, SeekPoints};

use crate::cpu::canvas::{Canvas, KEEP};
use crate::cpu::jpeg::task::JpegTask;
use crate::fault::Fault;
use crate::plan::Rect;
use crate::scale::Scale;

/// Rows between two looks at the clock.
const ROWS_PER_LOOK: usize = 16;

/// A decoder on one set of instructions, used for one picture after the other.
#[derive(Debug)]
pub(super) struct OwnReader {
    decoder: Decoder,
}

impl OwnReader {
    pub(super) fn new(path: Path) -> Self {
        Self { decoder: Decoder::new(path) }
    }

    /// Decodes the task's part into the canvas, with the help of the picture's seek points if these are given. None where it
    /// does not take the picture, or where anything in it is irregular; the canvas may hold anything then.
    ///
    /// # Errors
    /// [`Fault::TooSlow`].
    pub(super) fn decode(
        &mut self,
        task: &JpegTask<'_>,
        mut points: Option<&mut SeekPoints>,
        canvas: &mut Canvas,
    ) -> Result<Option<Rect>, Fault> {
        let header = Header::read(task.bytes).ok().filter(|header| is_of(header, task));
        // libjpeg-turbo gives the error if there are too many scans.
        let Some(header) = header.filter(|header| header.scans <= task.limits.scans) else { return Ok(None) };
        let Rect { left, top, width, height } = task.part;
        let region = Region { left, top, width, height };
        let (rgb, _spare) = canvas.begin(width, height, task.limits)?;
        loop {
            let (scale, decoder) = (scale(task.scale), &mut self.decoder);
            let rows = match points.as_deref_mut() {
                Some(points) => decoder.begin_seeking(&header, task.bytes, scale, region, points),
                None => decoder.begin(&header, task.bytes, scale, region),
            };
            let outcome = read(rows, rgb, width, task);
            // The memory for coefficients is counted for this picture only, and libjpeg-turbo may need as much for it.
            self.decoder.trim(KEEP);
            match outcome? {
                Ok(()) => return Ok(Some(task.part)),
                // The seek points were wrong and are dropped: the second try has none.
                Err(OwnFault::Misled) => {}
                Err(_) => return Ok(None),
            }
        }
    }
}

/// Reads all rows of a region of this width, and looks at the clock now and then.
fn read(mut rows: Rows<'_>, rgb: &mut [u8], width: u32, task: &JpegTask<'_>) -> Result<Result<(), OwnFault>, Fault> {
    loop {
        task.check_time()?;
        match rows.prepare() {
            Ok(true) => {}
            Ok(false) => break,
            Err(fault) => return Ok(Err(fault)),
        }
    }
    for rgb in rgb.chunks_mut(width as usize * 3 * ROWS_PER_LOOK) {
        task.check_time()?;
        if let Err(fault) = rows.read(rgb) {
            return Ok(Err(fault));
        }
    }
    Ok(Ok(()))
}

/// Whether both readers of the markers see the same size.
fn is_of(header: &Header, task: &JpegTask<'_>) -> bool {
    (header.width, header.height) == (task.head.width, task.head.height)
}

fn scale(scale: Scale) -> OwnScale {
    match scale {
        Scale::Full => OwnScale::Full,
        Scale::Half => OwnScale::Half,
        Scale::Quarter => OwnScale::Quarter,
        Scale::Eighth => OwnScale::Eighth,
    }
}
