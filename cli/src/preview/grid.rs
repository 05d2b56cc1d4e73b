//! A sheet of pictures with several lines of text below each.

use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_6X10;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Drawable as _, Point, RgbColor as _};
use embedded_graphics::text::{Baseline, Text};
use image::{Rgb, RgbImage};

use crate::paper::Paper;

/// A picture, and what is written below it.
pub(super) struct GridCell {
    pub picture: RgbImage,
    pub title: String,
    pub steps: Vec<String>,
}

/// Pixels between cells, and around them.
const GAP: u32 = 8;
/// Width and height of a letter.
const LETTER: (u32, u32) = (6, 10);
/// Cells are at least so wide, since text below a narrow picture could not be read.
const NARROWEST: u32 = 168;
const PAPER: Rgb<u8> = Rgb([250, 250, 248]);

/// Draws cells, `columns` in a row. Rows are as high as they need.
pub(super) fn grid(cells: &[GridCell], columns: u32) -> RgbImage {
    let width = cells.iter().map(|cell| cell.picture.width()).fold(NARROWEST, u32::max);
    let texts: Vec<Vec<String>> = cells.iter().map(|cell| cell.lines((width / LETTER.0) as usize)).collect();
    let cells: Vec<(&GridCell, Vec<String>)> = cells.iter().zip(texts).collect();
    let columns = columns.min(u32::try_from(cells.len()).unwrap_or(u32::MAX)).max(1);
    let rows: Vec<_> = cells.chunks(columns as usize).collect();
    let height = |row: &[(&GridCell, Vec<String>)]| {
        let lines = |text: &[String]| u32::try_from(text.len()).unwrap_or(u32::MAX).saturating_mul(LETTER.1);
        row.iter().map(|(cell, text)| cell.picture.height() + lines(text) + GAP).max().unwrap_or(0)
    };
    let high = GAP + rows.iter().map(|row| height(row)).sum::<u32>();
    let mut sheet = RgbImage::from_pixel(columns * (width + GAP) + GAP, high, PAPER);
    let mut top = GAP;
    for row in rows {
        for ((GridCell { picture, .. }, text), column) in row.iter().zip(0..) {
            let left = GAP + column * (width + GAP);
            image::imageops::replace(&mut sheet, picture, left.into(), top.into());
            write(&mut sheet, text, left, top + picture.height() + 2);
        }
        top += height(row);
    }
    sheet
}

impl GridCell {
    /// The title and the steps, each from a line of its own on, at most `letters` in a line.
    fn lines(&self, letters: usize) -> Vec<String> {
        std::iter::once(&self.title).chain(&self.steps).flat_map(|text| wrapped(text, letters)).collect()
    }
}

/// A text in lines that break between words. All but the first are indented.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn write(sheet: &mut RgbImage, lines: &[String], left: u32, top: u32) {
    let style = MonoTextStyle::new(&FONT_6X10, Rgb888::BLACK);
    for (line, number) in lines.iter().zip(0..) {
        let at = Point::new(left.cast_signed(), (top + number * LETTER.1).cast_signed());
        // Drawing onto memory cannot fail.
        let Ok(_) = Text::with_baseline(line, at, style, Baseline::Top).draw(&mut Paper(sheet));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(width: u32, height: u32, steps: &[&str]) -> GridCell {
        let steps = steps.iter().map(|step| (*step).to_owned()).collect();
        GridCell { picture: RgbImage::from_pixel(width, height, Rgb([9; 3])), title: "epoch 0".to_owned(), steps }
    }

    #[test]
    fn each_row_is_as_high_as_its_pictures_and_texts() {
        let cells = [cell(200, 30, &[]), cell(96, 96, &["mirror"]), cell(10, 10, &[])];
        let sheet = grid(&cells, 2);
        assert_eq!(sheet.dimensions(), (2 * 208 + 8, 8 + (96 + 20 + 8) + (10 + 10 + 8)));
        assert_eq!((sheet.get_pixel(8, 8).0, sheet.get_pixel(8 + 208 + 95, 8 + 95).0), ([9; 3], [9; 3]));
        assert_eq!((sheet.get_pixel(8, 132).0, sheet.get_pixel(8, 131).0), ([9; 3], PAPER.0));
        assert_eq!(grid(&[cell(96, 96, &[])], 6).width(), NARROWEST + 16, "no empty columns");
    }

    #[test]
    fn a_long_step_is_continued_below() {
        assert_eq!(wrapped("affine angle 4.5, scale 1", 14), ["affine angle", "  4.5, scale 1"]);
        assert_eq!(wrapped("posterize 4", 6), ["posterize", "  4"], "a word is never cut");
    }
}
