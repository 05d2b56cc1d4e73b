//! Draws what a dataset has beside a picture onto it: masks, polygons, points and boxes with the names of their classes.
//!
//! A batch does not say what the numbers of a column mean, so their type decides: floats in rows of four are boxes, in rows of
//! two points or polygons, in rows of three keypoints. Numbers in the size of the pictures are masks.

mod record;

use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_6X10;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Drawable as _, Point, Primitive as _, RgbColor as _, Size};
use embedded_graphics::primitives::{Line, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Baseline, Text};
use forebay_client::Batch;
use forebay_columns::{ColumnType, ElementType, Field};
use forebay_ring::ColumnView;
use image::RgbImage;

use crate::paper::Paper;
pub(crate) use record::{annotate_record, mask_depth};

/// What the numbers of a column are drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Drawn {
    /// A colour for each number, below all else.
    Mask,
    Polygons,
    Points,
    Keypoints,
    Boxes,
}

/// Width and height of a letter of the names of classes.
const LETTER: (u32, u32) = (6, 10);
/// Pixels from the middle of a point to its ends.
const ARM: i32 = 3;
/// More objects than this are not drawn: nothing could be told apart.
const MOST_OBJECTS: usize = 300;
/// The column whose numbers are classes.
const CLASSES: &str = "classes";

/// What one picture has in a column, in pixels of the picture that is drawn on.
#[derive(Debug)]
pub(crate) struct Annotation<'a> {
    pub name: &'a str,
    pub column_type: &'a ColumnType,
    /// Whether it has an item for each object of the picture.
    pub is_of_objects: bool,
    /// All rows.
    pub rows: &'a [u8],
    /// The innermost lists, each with the number of its object.
    pub lists: Vec<(usize, &'a [u8])>,
}

/// What a place of a batch has, but for columns without a value there.
pub(crate) fn of_batch(batch: &Batch, place: usize) -> Vec<Annotation<'_>> {
    let annotations = batch.columns().fields().iter().filter_map(|field: &Field| {
        let column: ColumnView<'_> = batch.column(&field.name).filter(|column| column.validity()[place] == 1)?;
        let (rows, lists) = (column.place(place), column.lists(place));
        let (name, column_type, is_of_objects) = (&*field.name, &field.column_type, field.objects.is_some());
        Some(Annotation { name, column_type, is_of_objects, rows, lists })
    });
    annotations.collect()
}

/// Draws what is known of a picture onto it.
pub(crate) fn annotate(picture: &mut RgbImage, annotations: &[Annotation<'_>], classes: &[String]) {
    let size = picture.dimensions();
    let mut kinds: Vec<_> =
        annotations.iter().filter_map(|of| Some((drawn(of.name, of.column_type, size)?, of))).collect();
    kinds.sort_by_key(|(kind, _)| *kind);
    let objects = annotations.iter().find(|of| of.name == CLASSES).map(|of| integers(of.rows)).unwrap_or_default();
    for (kind, Annotation { column_type, is_of_objects, rows: bytes, lists, .. }) in kinds {
        let numbers: &[i64] = if *is_of_objects { &objects } else { &[] };
        match kind {
            Drawn::Mask => mask(picture, column_type.element(), bytes),
            Drawn::Polygons => {
                for (object, points) in lists.iter().take(MOST_OBJECTS) {
                    polygon(picture, &rows::<2>(points), colour_of(numbers, *object));
                }
            }
            Drawn::Points => {
                for (object, point) in rows::<2>(bytes).into_iter().take(MOST_OBJECTS).enumerate() {
                    cross(picture, point, colour_of(numbers, object));
                }
            }
            Drawn::Keypoints => {
                for (object, points) in lists.iter().take(MOST_OBJECTS) {
                    for [x, y, _] in rows::<3>(points).into_iter().filter(|[.., visibility]| *visibility > 0.0) {
                        cross(picture, [x, y], colour_of(numbers, *object));
                    }
                }
            }
            Drawn::Boxes => {
                for (object, corners) in rows::<4>(bytes).into_iter().take(MOST_OBJECTS).enumerate() {
                    let name = numbers.get(object).map(|class| class_name(*class, classes)).unwrap_or_default();
                    boxed(picture, corners, &name, colour_of(numbers, object));
                }
            }
        }
    }
}

/// The first text of a picture: a caption, if the dataset has some.
pub(crate) fn first_text(annotations: &[Annotation<'_>]) -> Option<String> {
    let is_text =
        |of: &ColumnType| of.element() == ElementType::U8 && (1..=2).contains(&of.depth()) && of.dims().is_empty();
    let texts = annotations.iter().find(|of| is_text(of.column_type))?;
    let (_, text) = texts.lists.first()?;
    Some(String::from_utf8_lossy(text).into_owned()).filter(|text| !text.is_empty())
}

/// What is drawn of a column, on a picture of this width and height.
fn drawn(name: &str, of: &ColumnType, (width, height): (u32, u32)) -> Option<Drawn> {
    let numbers = [ElementType::U8, ElementType::U16, ElementType::I32].contains(&of.element());
    if of.depth() == 0 {
        return (numbers && of.dims() == [height, width]).then_some(Drawn::Mask);
    }
    match (of.element(), of.depth(), of.dims()) {
        // Fractions of the whole picture: they do not follow it.
        _ if name.ends_with("_normalised") => None,
        (ElementType::F32, 1, [4]) => Some(Drawn::Boxes),
        (ElementType::F32, 1, [2]) => Some(Drawn::Points),
        (ElementType::F32, 2 | 3, [2]) => Some(Drawn::Polygons),
        (ElementType::F32, _, [.., 3]) => Some(Drawn::Keypoints),
        _ => None,
    }
}

fn class_name(class: i64, classes: &[String]) -> String {
    let name = usize::try_from(class).ok().and_then(|class| classes.get(class));
    name.map_or_else(|| class.to_string(), Clone::clone)
}

/// A colour of its own for each class, or for each object if nothing says its class.
fn colour_of(classes: &[i64], object: usize) -> Rgb888 {
    let number = classes.get(object).copied().unwrap_or_else(|| i64::try_from(object).unwrap_or_default());
    let [red, green, blue] = palette(number.unsigned_abs() + 1).map(|value| value.max(64));
    Rgb888::new(red, green, blue)
}

/// The colours of Pascal VOC's masks: the lowest bits of a number are the highest ones of red, green and blue. Numbers above
/// a byte are spread first, since only their lowest bits would count.
fn palette(number: u64) -> [u8; 3] {
    let mut rest = if number > 255 { number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 | 1 } else { number };
    let mut colour = [0; 3];
    for shift in (0..8).rev() {
        for (channel, value) in colour.iter_mut().enumerate() {
            *value |= u8::from(rest >> channel & 1 == 1) << shift;
        }
        rest >>= 3;
    }
    colour
}

/// Blends a mask's colours into a picture. 0 is the background, and stays as it is.
fn mask(picture: &mut RgbImage, element: ElementType, numbers: &[u8]) {
    for (pixel, number) in picture.pixels_mut().zip(numbers.chunks_exact(element.size())) {
        let number = number.iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        if number != 0 {
            for (value, colour) in pixel.0.iter_mut().zip(palette(number)) {
                *value = value.midpoint(colour);
            }
        }
    }
}

fn polygon(picture: &mut RgbImage, points: &[[f32; 2]], colour: Rgb888) {
    let next = points.iter().cycle().skip(1);
    for (from, to) in points.iter().zip(next) {
        line(picture, at(*from), at(*to), colour);
    }
}

fn cross(picture: &mut RgbImage, point: [f32; 2], colour: Rgb888) {
    let Point { x, y } = at(point);
    line(picture, Point::new(x - ARM, y), Point::new(x + ARM, y), colour);
    line(picture, Point::new(x, y - ARM), Point::new(x, y + ARM), colour);
}

fn line(picture: &mut RgbImage, from: Point, to: Point, colour: Rgb888) {
    // Drawing onto memory cannot fail.
    let Ok(()) = Line::new(from, to).into_styled(PrimitiveStyle::with_stroke(colour, 1)).draw(&mut Paper(picture));
}

/// A box, whose right and lower end are not part of it, with a name at its top.
fn boxed(picture: &mut RgbImage, [left, top, right, below]: [f32; 4], name: &str, colour: Rgb888) {
    let (first, last) = (at([left, top]), at([right - 1.0, below - 1.0]));
    let summary = Rectangle::with_corners(first, last).into_styled(PrimitiveStyle::with_stroke(colour, 1));
    let Ok(()) = summary.draw(&mut Paper(picture));
    if name.is_empty() {
        return;
    }
    let letters = u32::try_from(name.chars().count()).unwrap_or(u32::MAX);
    let ground = Rectangle::new(first, Size::new(letters.saturating_mul(LETTER.0).saturating_add(2), LETTER.1));
    let Ok(()) = ground.into_styled(PrimitiveStyle::with_fill(colour)).draw(&mut Paper(picture));
    let bright = u32::from(colour.r()) + 2 * u32::from(colour.g()) + u32::from(colour.b()) / 2 > 450;
    let style = MonoTextStyle::new(&FONT_6X10, if bright { Rgb888::BLACK } else { Rgb888::WHITE });
    let start = Point::new(first.x + 1, first.y);
    let Ok(_) = Text::with_baseline(name, start, style, Baseline::Top).draw(&mut Paper(picture));
}

/// The pixel that has this point. What is far outside stays outside.
#[expect(clippy::cast_possible_truncation, reason = "clamped to far less than an i32 first")]
fn at([x, y]: [f32; 2]) -> Point {
    let pixel = |at: f32| at.floor().clamp(-32_768.0, 32_767.0) as i32;
    Point::new(pixel(x), pixel(y))
}

/// Rows of `N` floats.
fn rows<const N: usize>(bytes: &[u8]) -> Vec<[f32; N]> {
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    floats.as_chunks::<N>().0.to_vec()
}

fn integers(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks::<8>().0.iter().map(|eight| i64::from_le_bytes(*eight)).collect()
}

#[cfg(test)]
mod tests {
    use image::Rgb;

    use super::*;

    const RED: Rgb888 = Rgb888::RED;

    fn red(picture: &RgbImage) -> Vec<(u32, u32)> {
        picture.enumerate_pixels().filter(|(.., pixel)| **pixel == Rgb([255, 0, 0])).map(|(x, y, _)| (x, y)).collect()
    }

    #[test]
    fn a_box_is_drawn_along_its_outermost_pixels_and_what_is_outside_is_cut() {
        let mut picture = RgbImage::new(8, 6);
        boxed(&mut picture, [1.0, 2.0, 4.0, 5.0], "", RED);
        assert_eq!(red(&picture), [(1, 2), (2, 2), (3, 2), (1, 3), (3, 3), (1, 4), (2, 4), (3, 4)]);
        boxed(&mut picture, [-9.0, -1e30, f32::INFINITY, f32::NAN], "far too long a name", RED);
    }

    #[test]
    fn polygons_are_closed_and_points_are_crosses() {
        let mut picture = RgbImage::new(9, 9);
        polygon(&mut picture, &[[1.0, 1.0], [4.0, 1.0], [4.0, 4.0]], RED);
        assert_eq!(red(&picture), [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (4, 2), (3, 3), (4, 3), (4, 4)]);
        let mut picture = RgbImage::new(9, 9);
        cross(&mut picture, [4.9, 4.0], RED);
        assert_eq!((red(&picture).len(), red(&picture)[0]), (13, (4, 1)));
        polygon(&mut picture, &[], RED);
    }

    #[test]
    fn a_mask_is_half_its_colours_and_its_background_is_the_picture() {
        assert_eq!(
            [1, 2, 3, 15, 255].map(palette),
            [[128, 0, 0], [0, 128, 0], [128, 128, 0], [192, 128, 128], [224, 224, 192]]
        );
        let mut picture = RgbImage::from_pixel(3, 1, Rgb([100, 100, 100]));
        mask(&mut picture, ElementType::U16, &[0, 0, 1, 0, 0, 1]);
        let pixels: Vec<_> = picture.pixels().map(|pixel| pixel.0).collect();
        assert_eq!(pixels[..2], [[100, 100, 100], [114, 50, 50]]);
        assert!(pixels[2] != pixels[0] && pixels[2] != pixels[1]);
    }

    #[test]
    fn the_type_of_a_column_says_what_is_drawn() {
        for (name, column_type, expected) in [
            ("boxes", "f32 [*, 4]", Some(Drawn::Boxes)),
            ("boxes_normalised", "f32 [*, 4]", None),
            ("polygons", "f32 [*][*][*, 2]", Some(Drawn::Polygons)),
            ("keypoints", "f32 [*][*, 3]", Some(Drawn::Keypoints)),
            ("corners", "f32 [*, 2]", Some(Drawn::Points)),
            ("seg", "u8 [6, 8]", Some(Drawn::Mask)),
            ("seg", "u8 [8, 6]", None),
            ("area", "f32 [*]", None),
        ] {
            let of = column_type.parse().unwrap();
            assert_eq!(drawn(name, &of, (8, 6)), expected, "{name}: {column_type}");
        }
    }
}
