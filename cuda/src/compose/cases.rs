//! Random pictures and what becomes of them: every sampling and orientation, every list of transforms that launches carry out,
//! every operation, type and layout. The same numbers give the same case.

mod operations;

use forebay_pixels::{
    CenterCrop, Draws, Dtype, ExpectSize, Fill, Input, Interpolation, Layout, Match, Normalize, Output, Pad, Padding,
    PaddingMode, RandomCrop, RandomHorizontalFlip, RandomResizedCrop, RandomVerticalFlip, RandomZoomOut, Recipe,
    Resize, Size, Transform,
};

use operations::operations;

pub(super) const FILTERS: [Interpolation; 4] =
    [Interpolation::Nearest, Interpolation::Bilinear, Interpolation::Bicubic, Interpolation::Lanczos3];

/// One of these.
pub(super) fn pick<T: Copy, const N: usize>(draws: Draws, number: u64, of: [T; N]) -> T {
    of[draws.below(number, u32::try_from(N).expect("an array of a few")) as usize]
}

/// Any list of transforms that a launch can carry out, and some that it cannot, with sides up to `longest`.
pub(super) fn recipe(draws: Draws, longest: u32) -> Recipe {
    let side = |number| 1 + draws.below(number, longest);
    let size = |number| Size::HeightWidth([side(number), side(number + 1)]);
    let interpolation = pick(draws, 10, FILTERS);
    let resize = Transform::Resize(Resize { size: size(11), interpolation });
    let center = Transform::CenterCrop(CenterCrop { size: size(13) });
    let expect = Transform::ExpectSize(ExpectSize { size: size(13) });
    let pad = Transform::Pad(Pad::to(size(15), pick(draws, 17, [0, 0, 77, 255])));
    let flip = Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(0.5));
    let part = Transform::RandomResizedCrop(RandomResizedCrop {
        size: size(18),
        scale: [0.05, 1.0],
        ratio: [0.5, 2.0],
        interpolation,
    });
    let zoom = Transform::RandomZoomOut(RandomZoomOut {
        fill: pick(draws, 26, [Fill::Gray(0.0), Fill::Gray(77.0), Fill::Rgb([1.0, 2.0, 3.0])]),
        side_range: [1.0, 3.0],
        p: 0.8,
    });
    let upside_down = Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(0.5));
    let crop = Transform::RandomCrop(RandomCrop {
        size: size(13),
        padding: Some(Padding::Both([draws.below(28, 9), draws.below(29, 9)])),
        pad_if_needed: true,
        fill: pick(draws, 26, [Fill::Gray(0.0), Fill::Gray(77.0), Fill::Rgb([1.0, 2.0, 3.0])]),
        padding_mode: pick(draws, 38, [PaddingMode::Constant, PaddingMode::Constant, PaddingMode::Reflect]),
    });
    let mut transforms = match draws.below(20, 14) {
        0 | 1 => vec![part, flip],
        2 => vec![flip, resize, center],
        3 => vec![resize, flip, pad, center],
        4 => vec![center, flip],
        5 => vec![flip, pad, center],
        6 => vec![resize, pad, flip],
        7 => vec![part, flip, center, pad],
        8 => vec![flip, zoom, center],
        9 => vec![center, expect, flip],
        10 => vec![upside_down, resize, flip, center],
        11 => vec![part, flip, upside_down],
        12 => vec![resize, upside_down, crop],
        _ => vec![flip, center, resize, pad],
    };
    if draws.below(27, 2) == 0 {
        transforms.extend(operations(draws.part(0)));
    }
    let dtype = pick(draws, 21, [Dtype::Uint8, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32]);
    if dtype != Dtype::Uint8 && draws.below(22, 3) > 0 {
        // From where half precision has no digits left to where it has no numbers any more.
        let power = |number: u64| 10_f64.powi(i32::try_from(draws.below(number, 14)).expect("it is below 14") - 7);
        #[expect(clippy::cast_possible_truncation, reason = "any float will do")]
        let float = |number: u64| (power(number) * draws.between(number + 1, 0.5, 1.0)) as f32;
        transforms.push(Transform::Normalize(Normalize {
            mean: [float(30), 0.25, -float(32)].into(),
            std: [float(34), 0.25, float(36)].into(),
        }));
    }
    let output = Output { dtype, layout: pick(draws, 23, [Layout::Nhwc, Layout::Nchw]), ..Default::default() };
    let input = Input { adjust_orientation: draws.below(24, 4) > 0, ..Input::default() };
    let recipe = Recipe::new(transforms, output)
        .and_then(|recipe| recipe.with_input(input))
        .expect("sides and numbers are within their bounds");
    let matched = pick(draws, 25, [Match::Pillow, Match::Torch]);
    recipe.clone().with_match(matched).unwrap_or(recipe)
}
