//! The worst picture of each comparison. It shows ours, Pillow's and the amplified difference side by side.

use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_7X13;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Drawable as _, Point, RgbColor as _};
use embedded_graphics::text::Text;
use image::{Rgb, RgbImage};

use super::difference::Difference;
use super::pillow::Pixels;
use super::short;
use crate::paper::Paper;

/// Longest side of what is shown of a picture; more of it would be made smaller, and the difference lost.
const WINDOW: u32 = 256;
const GAP: u32 = 8;
/// Height of a line of text, and of the caption's two.
const LINE: u32 = 15;
const CAPTION: u32 = 2 * LINE + 3;
const PAPER: Rgb<u8> = Rgb([250, 250, 248]);

/// One row for each dataset and comparison that has a difference.
#[derive(Default)]
pub(super) struct Sheet {
    rows: Vec<ContactRow>,
}

struct ContactRow {
    path: String,
    task: &'static str,
    caption: [String; 2],
    /// Ours, Pillow's, the difference.
    pictures: [RgbImage; 3],
}

impl Sheet {
    /// Takes a picture in the place of the one that was this comparison's worst so far.
    pub(super) fn keep(
        &mut self,
        path: &str,
        task: &'static str,
        name: &str,
        ours: &Pixels,
        theirs: &Pixels,
        difference: &Difference,
    ) {
        let factor = 255 / difference.greatest.max(1);
        let title = format!("{}, {task}", short(path));
        let caption =
            format!("{name}: greatest {}, mean {:.3}; difference x {factor}", difference.greatest, difference.mean());
        let (left, top) = (first(difference.at.0, ours.width), first(difference.at.1, ours.height));
        let (width, height) = (ours.width.min(WINDOW), ours.height.min(WINDOW));
        // Small pictures are shown larger, each pixel as a square.
        let zoom = WINDOW / width.max(height).max(1);
        let cut = |value: &dyn Fn(usize) -> u8| {
            RgbImage::from_fn(width * zoom, height * zoom, |x, y| {
                let (column, row) = (left + x / zoom, top + y / zoom);
                let at = (row as usize * ours.width as usize + column as usize) * 3;
                Rgb([0, 1, 2].map(|channel| value(at + channel)))
            })
        };
        let pictures = [
            cut(&|at| ours.rgb[at]),
            cut(&|at| theirs.rgb[at]),
            cut(&|at| ours.rgb[at].abs_diff(theirs.rgb[at]).saturating_mul(factor)),
        ];
        let row = ContactRow { path: path.to_owned(), task, caption: [title, caption], pictures };
        match self.rows.iter_mut().find(|row| (row.path.as_str(), row.task) == (path, task)) {
            Some(old) => *old = row,
            None => self.rows.push(row),
        }
    }

    /// Draws the sheet; none where nothing differs.
    pub(super) fn draw(&self) -> Option<RgbImage> {
        if self.rows.is_empty() {
            return None;
        }
        let height = |row: &ContactRow| row.pictures[0].height() + CAPTION + GAP;
        let mut sheet =
            RgbImage::from_pixel(3 * (WINDOW + GAP) + GAP, self.rows.iter().map(height).sum::<u32>() + GAP, PAPER);
        let mut top = GAP;
        for row in &self.rows {
            let style = MonoTextStyle::new(&FONT_7X13, Rgb888::BLACK);
            for (line, text) in (1..).zip(&row.caption) {
                let base = Point::new(GAP.cast_signed(), (top + line * LINE - 5).cast_signed());
                // Drawing onto memory cannot fail.
                let Ok(_) = Text::new(text, base, style).draw(&mut Paper(&mut sheet));
            }
            for (picture, place) in row.pictures.iter().zip(0u32..) {
                let left = GAP + place * (WINDOW + GAP);
                image::imageops::replace(&mut sheet, picture, left.into(), (top + CAPTION).into());
            }
            top += height(row);
        }
        Some(sheet)
    }
}

/// First column (or row) of a window around a place.
fn first(place: u32, length: u32) -> u32 {
    place.saturating_sub(WINDOW / 2).min(length.saturating_sub(WINDOW))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_lies_around_the_place_and_inside_the_picture() {
        assert_eq!(first(500, 1000), 500 - WINDOW / 2);
        assert_eq!(first(3, 1000), 0);
        assert_eq!(first(990, 1000), 1000 - WINDOW);
        assert_eq!(first(50, 100), 0);
    }
}
