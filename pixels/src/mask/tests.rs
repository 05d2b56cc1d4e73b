//! Tests of masks: each against the steps of its picture's plan, carried out one after the other.

mod npy;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::border::{Border, PaddingMode};
use crate::interpolation::Interpolation;
use crate::matching::Match;
use crate::operation::{Affine, Grayscale, Operation, Perspective, Rotate};
use crate::orientation::Orientation;
use crate::output::Output;
use crate::plan::{Rect, Step, Turned};
use crate::sample::{mask_png, mask_png_of};
use crate::transform::shape::Size;
use crate::transform::{
    CenterCrop, Pad, RandomHorizontalFlip, RandomResizedCrop, RandomVerticalFlip, Resize, Transform,
};
use crate::transform_list::Input;

/// A mask as rows of numbers; -1 is the border.
type Rows = Vec<Vec<i32>>;

const DRAW: Draw = Draw { seed: 3, epoch: 1, record: 4 };

fn number(x: u32, y: u32) -> u8 {
    u8::try_from((x * 7 + y * 13) % 251).unwrap()
}

fn rows(width: u32, height: u32) -> Rows {
    (0..height).map(|y| (0..width).map(|x| number(x, y).into()).collect()).collect()
}

/// torch's rule, written out.
fn nearest(at: usize, from: usize, to: usize) -> usize {
    match to {
        _ if to == from => at,
        _ if to == 2 * from => at / 2,
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small"
        )]
        _ => (((at as f32) * (from as f32 / to as f32)).floor() as usize).min(from - 1),
    }
}

fn resized(mask: &Rows, width: u32, height: u32) -> Rows {
    let (width, height) = (width as usize, height as usize);
    let row = |y: usize| {
        let source = &mask[nearest(y, mask.len(), height)];
        (0..width).map(|x| source[nearest(x, source.len(), width)]).collect()
    };
    (0..height).map(row).collect()
}

fn turned(mask: &Rows, orientation: Orientation) -> Rows {
    let (width, height) = (u32::try_from(mask[0].len()).unwrap(), u32::try_from(mask.len()).unwrap());
    let (wide, high) = orientation.seen(width, height);
    let mut seen = vec![vec![0; wide as usize]; high as usize];
    for (y, row) in (0..).zip(mask) {
        for (x, number) in (0..).zip(row) {
            let at = orientation.seen_part(Rect { left: x, top: y, width: 1, height: 1 }, width, height);
            seen[at.top as usize][at.left as usize] = *number;
        }
    }
    seen
}

/// What the plan makes of a mask, step by step. The plan mirrors last of all: a resize of a mirrored picture is carried out
/// on the mirrored one.
fn stepwise(mut mask: Rows, plan: &Plan) -> Rows {
    for (number, step) in plan.steps.iter().enumerate() {
        mask = match *step {
            Step::Cut(Rect { left, top, width, height }) => {
                let row = |row: &Vec<i32>| row[left as usize..(left + width) as usize].to_vec();
                mask[top as usize..(top + height) as usize].iter().map(row).collect()
            }
            Step::Resize { width, height, .. } => {
                let turned = |mask| around(mask, plan.turned_before(number));
                turned(resized(&turned(mask), width, height))
            }
            Step::Canvas { width, height, left, top, border } if !matches!(border, Border::Fill(_)) => {
                let (wide, high) = (mask[0].len(), mask.len());
                let columns = surrounded(wide, width as usize, left as usize, border);
                let rows = surrounded(high, height as usize, top as usize, border);
                rows.iter().map(|row| columns.iter().map(|column| mask[*row][*column]).collect()).collect()
            }
            Step::Canvas { width, height, left, top, .. } => {
                let mut canvas = vec![vec![-1; width as usize]; height as usize];
                for (y, row) in mask.iter().enumerate() {
                    let into = &mut canvas[top as usize + y][left as usize..left as usize + row.len()];
                    into.copy_from_slice(row);
                }
                canvas
            }
            Step::Mirror => around(mask, Turned { mirrored: true, flipped: false }),
            Step::Flip => around(mask, Turned { mirrored: false, flipped: true }),
            Step::Operate(operation) => operated(&mask, operation),
            Step::Turn { rotate, width, height } => {
                let (from, size) = coloured(&mask);
                let mut to = vec![0; (width * height * 3) as usize];
                let rotate = Rotate { interpolation: Interpolation::Nearest, fill: None, ..rotate };
                rotate.expand((&from, size), (&mut to, (width, height)), Match::Torch);
                uncoloured(&to, width)
            }
        };
    }
    around(mask, Turned { mirrored: plan.mirrored, flipped: plan.flipped })
}

/// A mask as a picture that an operation can be carried out on: its number, and whether it has one.
fn coloured(mask: &Rows) -> (Vec<u8>, (u32, u32)) {
    let rgb = mask.iter().flatten().flat_map(|number| match u8::try_from(*number) {
        Ok(number) => [number, 255, 0],
        Err(_) => [0; 3],
    });
    (rgb.collect(), (u32::try_from(mask[0].len()).unwrap(), u32::try_from(mask.len()).unwrap()))
}

fn uncoloured(rgb: &[u8], width: u32) -> Rows {
    let number = |rgb: &[u8]| if rgb[1] == 255 { rgb[0].into() } else { -1 };
    rgb.chunks_exact(width as usize * 3).map(|row| row.chunks_exact(3).map(number).collect()).collect()
}

/// What torchvision makes of the mask: the nearest pixel, whichever filter the picture has. What comes from outside is a border.
fn operated(mask: &Rows, operation: Operation) -> Rows {
    let (interpolation, fill) = (Interpolation::Nearest, None);
    let nearest = match operation {
        Operation::Affine(affine) => Operation::Affine(Affine { interpolation, fill, ..affine }),
        Operation::Rotate(rotate) => Operation::Rotate(Rotate { interpolation, fill, ..rotate }),
        Operation::Perspective(moved) => Operation::Perspective(Perspective { interpolation, fill, ..moved }),
        _ => return mask.clone(),
    };
    let (mut rgb, size) = coloured(mask);
    nearest.apply(&mut rgb, size, Match::Torch);
    uncoloured(&rgb, size.0)
}

/// The lines that a canvas of this length shows of a side that begins at `first`, found by going on from line to line.
fn surrounded(side: usize, len: usize, first: usize, border: Border) -> Vec<usize> {
    // A walk to and fro, which stops at either end for one more step if that line is shown twice.
    let mut round: Vec<usize> = (0..side).collect();
    match border {
        Border::Symmetric => round.extend((0..side).rev()),
        Border::Reflect => round.extend((1..side.saturating_sub(1)).rev()),
        Border::Edge | Border::Fill(_) => {}
    }
    let at = |line: usize| match border {
        Border::Edge | Border::Fill(_) => line.saturating_sub(first).min(side - 1),
        Border::Reflect | Border::Symmetric => round[(line + round.len() * first - first) % round.len()],
    };
    (0..len).map(at).collect()
}

fn padding_mode() -> impl Strategy<Value = PaddingMode> {
    use PaddingMode::{Constant, Edge, Reflect, Symmetric};
    prop::sample::select(vec![Constant, Edge, Reflect, Symmetric])
}

fn around(mut mask: Rows, turned: Turned) -> Rows {
    if turned.mirrored {
        for row in &mut mask {
            row.reverse();
        }
    }
    if turned.flipped {
        mask.reverse();
    }
    mask
}

fn size() -> impl Strategy<Value = Size> {
    (1_u32..40, 1_u32..40).prop_map(|(height, width)| Size::HeightWidth([height, width]))
}

fn transform() -> impl Strategy<Value = Transform> {
    let interpolation = Interpolation::Bilinear;
    prop_oneof![
        size().prop_map(move |size| Transform::Resize(Resize { size, interpolation })),
        size().prop_map(|size| Transform::CenterCrop(CenterCrop { size })),
        (size(), padding_mode()).prop_map(|(size, padding_mode)| Transform::Pad(Pad { size, fill: 7, padding_mode })),
        size().prop_map(move |size| {
            let (scale, ratio) = ([0.1, 1.0], [0.5, 2.0]);
            Transform::RandomResizedCrop(RandomResizedCrop { size, scale, ratio, interpolation })
        }),
        Just(Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(0.6))),
        Just(Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(0.6))),
        Just(Transform::Grayscale(Grayscale { num_output_channels: 3 })),
        bend(),
    ]
}

/// What turns or shears.
fn bend() -> impl Strategy<Value = Transform> {
    let documents = (0..4, 0.0..180.0_f64, any::<bool>()).prop_map(|(kind, degrees, expand)| match kind {
        0 => json!({ "random_rotation": { "degrees": degrees, "expand": expand, "interpolation": "bilinear" } }),
        1 => json!({ "random_affine": {
            "degrees": degrees, "translate": [0.2, 0.3], "scale": [0.6, 1.5], "shear": 20, "fill": 200 } }),
        2 => json!({ "random_perspective": { "distortion_scale": degrees / 400.0, "p": 0.9 } }),
        _ => json!({ "trivial_augment_wide": {} }),
    });
    documents.prop_map(|document| serde_json::from_value(document).unwrap())
}

proptest! {
    #[test]
    fn rule_45_a_mask_is_what_the_steps_of_its_picture_make_of_it(
        stored in (1_u32..50, 1_u32..50),
        exif in 1_u16..9,
        mut list in prop::collection::vec(transform(), 0..4),
        last in size(),
        adjust_orientation in any::<bool>(),
        as_seen in any::<bool>(),
        shrinks in any::<bool>(),
        record in 0_u64..1000,
    ) {
        list.push(Transform::Resize(Resize { size: last, interpolation: Interpolation::Bicubic }));
        let recipe = Recipe::new(list, Output::default()).unwrap();
        let recipe = recipe.with_input(Input { adjust_orientation, ..Input::default() }).unwrap();
        let orientation = Orientation::from_exif(exif);
        let mut origin = Origin::of_recipe(stored, orientation, &recipe);
        if shrinks {
            origin.size = (origin.size.0.div_ceil(2), origin.size.1.div_ceil(3));
        }
        let annotated = if as_seen { Annotated::AsSeen } else { Annotated::AsStored };
        let (width, height) = origin.annotated(annotated);
        let draw = Draw { record, ..DRAW };
        let order = MaskOrder { origin: &origin, recipe: &recipe, draw, annotated, fill: 255 };
        let (high, wide, _) = recipe.shape();
        let mut out = vec![0; (high * wide) as usize];
        let png = mask_png(width, height, number);
        MaskDecoder::default().decode(&png, MaskDepth::U8, &order, &Limits::default(), &mut out).unwrap();

        let of_stored = match annotated {
            Annotated::AsStored => rows(width, height),
            // The orientation that turns the seen picture back.
            Annotated::AsSeen => {
                let seen = rows(width, height);
                let mut stored_rows = vec![vec![0; stored.0 as usize]; stored.1 as usize];
                for (y, x) in (0..stored.1).flat_map(|y| (0..stored.0).map(move |x| (y, x))) {
                    let at = orientation.seen_part(Rect { left: x, top: y, width: 1, height: 1 }, stored.0, stored.1);
                    stored_rows[y as usize][x as usize] = seen[at.top as usize][at.left as usize];
                }
                stored_rows
            }
        };
        let picture = resized(&turned(&of_stored, origin.turned), origin.size.0, origin.size.1);
        let expected = stepwise(picture, &recipe.plan(origin.size.0, origin.size.1, draw));
        let expected: Vec<u8> = expected.concat().iter().map(|number| u8::try_from(*number).unwrap_or(255)).collect();
        prop_assert_eq!(out, expected);
    }
}

/// Decodes a mask of 4 x 3 as it is, with a column of border on its right.
fn decoded(png: &[u8], depth: MaskDepth, fill: i32) -> Result<Vec<u8>, MaskFault> {
    let transforms = vec![Transform::CenterCrop(CenterCrop { size: Size::HeightWidth([3, 5]) })];
    let recipe = Recipe::new(transforms, Output::default()).unwrap();
    let origin = Origin::of_recipe((4, 3), Orientation::AsStored, &recipe);
    let order = MaskOrder { origin: &origin, recipe: &recipe, draw: DRAW, annotated: Annotated::AsSeen, fill };
    let mut out = vec![0; 15 * depth.size()];
    MaskDecoder::default().decode(png, depth, &order, &Limits::default(), &mut out).map(|()| out)
}

#[test]
fn rule_45_numbers_keep_their_value_in_every_type_that_holds_them() {
    let number = |x: u32, y: u32| (x + 4 * y) * 70_001;
    for (stored, bits) in [(MaskDepth::U8, 8), (MaskDepth::U16, 16), (MaskDepth::I32, 24)] {
        let png = mask_png_of(stored, 4, 3, number);
        for depth in [MaskDepth::U8, MaskDepth::U16, MaskDepth::I32] {
            let holds = match stored {
                MaskDepth::U8 => true,
                MaskDepth::U16 => depth != MaskDepth::U8,
                MaskDepth::I32 => depth == MaskDepth::I32,
            };
            let found = decoded(&png, depth, -1);
            if !holds {
                let words = found.unwrap_err().to_string();
                assert!(words.contains(depth.name()), "{words}");
                continue;
            }
            let found = found.unwrap();
            for (at, found) in found.chunks_exact(depth.size()).enumerate() {
                let (x, y) = (u32::try_from(at % 5).unwrap(), u32::try_from(at / 5).unwrap());
                let expected = if x < 4 { number(x, y) & ((1 << bits) - 1) } else { u32::MAX };
                assert_eq!(found, &expected.to_le_bytes()[..depth.size()], "{stored:?} as {depth:?} at {at}");
            }
        }
    }
}

/// A PNG of 4 x 3 with this type of pixels.
fn png_of(colour: ::png::ColorType, bits: ::png::BitDepth, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut bytes, 4, 3);
    encoder.set_color(colour);
    encoder.set_depth(bits);
    if colour == ::png::ColorType::Indexed {
        encoder.set_palette(vec![200; 12]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn rule_45_indices_into_a_palette_are_not_looked_up_and_small_numbers_are_not_scaled() {
    use ::png::{BitDepth, ColorType};
    for colour in [ColorType::Indexed, ColorType::Grayscale] {
        let two = png_of(colour, BitDepth::Two, &[0b00_01_10_11, 0b11_10_01_00, 0b01_01_10_10]);
        assert_eq!(decoded(&two, MaskDepth::U8, 9).unwrap(), [0, 1, 2, 3, 9, 3, 2, 1, 0, 9, 1, 1, 2, 2, 9]);
        let one = png_of(colour, BitDepth::One, &[0b1010_0000, 0, 0b0001_0000]);
        assert_eq!(decoded(&one, MaskDepth::U8, 9).unwrap(), [1, 0, 1, 0, 9, 0, 0, 0, 0, 9, 0, 0, 0, 1, 9]);
    }
}

#[test]
fn what_is_no_mask_of_its_picture_is_refused_by_name() {
    use ::png::{BitDepth, ColorType};
    let words = |png: &[u8]| decoded(png, MaskDepth::U8, 0).unwrap_err().to_string();
    assert!(words(b"\xff\xd8\xff\xe0 a JPEG").contains("not a PNG"));
    assert!(words(&mask_png(3, 4, number)).contains("(3, 4) pixels (width, height), and its picture has (4, 3)"));
    assert!(words(&png_of(ColorType::Rgba, BitDepth::Eight, &[0; 48])).contains("colours with transparency"));
    assert!(words(&png_of(ColorType::GrayscaleAlpha, BitDepth::Eight, &[0; 24])).contains("grey with transparency"));
    assert!(words(&png_of(ColorType::Rgb, BitDepth::Sixteen, &[0; 72])).contains("16 bits"));
    let png = mask_png(4, 3, number);
    for end in [26, 33, png.len() - 20] {
        assert!(words(&png[..end]).contains("damaged"), "{end}");
    }
}

#[test]
fn bytes_that_were_changed_cause_no_panic() {
    let png = mask_png(4, 3, number);
    let mut right = 0;
    for at in 0..png.len() {
        for bit in 0..8 {
            let mut changed = png.clone();
            changed[at] ^= 1 << bit;
            right += usize::from(decoded(&changed, MaskDepth::U8, 0).is_ok());
        }
    }
    assert!(right < png.len() * 8 / 2, "checksums find most changes: {right}");
}
