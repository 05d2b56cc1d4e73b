//! Which decoder JPEGs go to first, and the check that our own one gives what libjpeg-turbo gives on this machine.

use std::time::Instant;

use forebay_jpeg::Path;

use crate::cpu::canvas::Canvas;
use crate::cpu::jpeg::head::JpegHead;
use crate::cpu::jpeg::own::OwnReader;
use crate::cpu::jpeg::task::JpegTask;
use crate::cpu::jpeg::turbo::TurboReader;
use crate::fault::Limits;
use crate::plan::Rect;
use crate::sample::{JpegColors, JpegForm, photograph_rgb};
use crate::scale::Scale;

/// Which decoder JPEGs go to first. Pixels do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JpegChoice(Choice);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Our own decoder on these instructions.
    Own(Path),
    LibjpegTurbo,
}

impl Default for JpegChoice {
    /// Our own decoder on the fastest instructions of this CPU, unchecked.
    fn default() -> Self {
        Self(Choice::Own(Path::detect()))
    }
}

impl JpegChoice {
    /// Everything goes to libjpeg-turbo.
    pub const LIBJPEG_TURBO: Self = Self(Choice::LibjpegTurbo);

    /// Our own decoder on the fastest instructions with which it gives, on this machine, libjpeg-turbo's pixels of a
    /// picture that is made for it; where it does with none, libjpeg-turbo. The texts name those with which it did not.
    pub fn checked() -> (Self, Vec<String>) {
        let mut paths: Vec<Path> = Path::available().collect();
        paths.reverse();
        let mut complaints = Vec::new();
        for path in paths {
            if is_right(path) {
                return (Self(Choice::Own(path)), complaints);
            }
            complaints.push(format!("forebay-jpeg differs from libjpeg-turbo with the instructions {path:?}"));
        }
        (Self::LIBJPEG_TURBO, complaints)
    }

    /// The instructions of our own decoder, if JPEGs go to it first.
    pub(super) fn own(self) -> Option<Path> {
        match self.0 {
            Choice::Own(path) => Some(path),
            Choice::LibjpegTurbo => None,
        }
    }

    /// The decoder that JPEGs go to first, in words.
    pub fn name(self) -> String {
        match self.0 {
            Choice::Own(path) => format!("forebay-jpeg ({path:?})"),
            Choice::LibjpegTurbo => "libjpeg-turbo".into(),
        }
    }
}

/// Whole and in part, in every scale, in every sampling that it takes, with restart markers, and progressive.
fn is_right(path: Path) -> bool {
    let (width, height) = (83, 61);
    let photo = photograph_rgb(1, width, height);
    let parts = |scale: Scale| {
        let (width, height) = (scale.side(width), scale.side(height));
        [
            Rect::whole(width, height),
            Rect { left: width / 3, top: height / 2, width: width / 2, height: height / 3 + 1 },
        ]
    };
    let form = JpegForm { restart_rows: 1, ..JpegForm::default() };
    let colours = [[2, 2], [2, 1], [1, 2], [4, 1], [1, 1]].map(|sampling| JpegForm { sampling, ..form });
    let gray = JpegForm { colors: JpegColors::Gray, sampling: [1, 1], ..form };
    let progressive = [[2, 2], [1, 1]].map(|sampling| JpegForm { sampling, progressive: true, ..form });
    colours.into_iter().chain([gray]).chain(progressive).all(|form| {
        let pixels = &photo[..(width * height) as usize * form.channels()];
        // A form that cannot be made here cannot be said to be right.
        form.encode(pixels, width, height).is_some_and(|bytes| {
            [Scale::Full, Scale::Half, Scale::Quarter, Scale::Eighth]
                .into_iter()
                .all(|scale| parts(scale).into_iter().all(|part| agree(path, &bytes, scale, part)))
        })
    })
}

fn agree(path: Path, bytes: &[u8], scale: Scale, part: Rect) -> bool {
    let Ok(head) = JpegHead::read(bytes) else { return false };
    let limits = Limits::default();
    let task = JpegTask { bytes, head: &head, scale, part, limits: &limits, begun: Instant::now() };
    let (mut own, mut turbo) = (Canvas::default(), Canvas::default());
    let ours = OwnReader::new(path).decode(&task, None, &mut own).ok().flatten();
    let theirs = TurboReader::default().decode(&task, &mut turbo).ok();
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return false };
    (0..part.height).all(|row| own.row(ours, part, row) == turbo.row(theirs, part, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_decoder_is_right_with_every_set_of_instructions_that_this_machine_has() {
        for path in Path::available() {
            assert!(is_right(path), "{path:?}");
        }
        let (choice, complaints) = JpegChoice::checked();
        assert_eq!((choice, complaints), (JpegChoice::default(), vec![]));
    }
}
