//! Pictures that are cut into patches: each is the whole picture of the same transforms, cut afterwards (semantics rule 65).

use forebay_pixels::{
    CpuDecoder, Crop, Draw, Dtype, Fault, Fit, Interpolation, Layout, Limits, Mode, Normalize, Origin, Output,
    PatchGrid, PatchPadding, PatchRule, Patches, PerChannel, RandomHorizontalFlip, RandomPart, RandomVerticalFlip,
    Recipe, RecipeError, Rect, Resize, Size, Step, Transform, TransformList, sample,
};
use proptest::prelude::*;

const DRAW: Draw = Draw { seed: 3, epoch: 1, record: 7 };

fn patches(rule: PatchRule, side: u32, length: u32, padding: PatchPadding) -> Patches {
    Patches { rule, side, length, interpolation: rule.interpolation(), padding, part: None }
}

/// The patches of a picture in rows, whose pixels have so many bytes.
fn cut(bytes: &[u8], PatchGrid { rows, columns }: PatchGrid, side: usize, pixel: usize) -> Vec<u8> {
    let (rows, columns) = (rows as usize, columns as usize);
    let mut all = Vec::with_capacity(bytes.len());
    for patch in 0..rows * columns {
        for row in 0..side {
            let line = (patch / columns * side + row) * columns * side + patch % columns * side;
            all.extend_from_slice(&bytes[line * pixel..(line + side) * pixel]);
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn rule_65_patches_are_those_of_the_whole_picture_and_the_rest_is_padding(
        (width, height) in (1..150_u32, 1..150_u32),
        side in 1..20_u32,
        length in 1..60_u32,
        dtype in prop::sample::select(vec![Dtype::Uint8, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32]),
        mode in prop::sample::select(vec![Mode::Rgb, Mode::L]),
        (mirrors, flips, is_timm) in any::<(bool, bool, bool)>(),
    ) {
        let padding = if is_timm { PatchPadding::Timm } else { PatchPadding::Zero };
        let patches = patches(PatchRule::Naflex, side, length, padding);
        let output = Output { dtype, mode, ..Output::default() };
        let mut list = vec![
            Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(f64::from(u8::from(mirrors)))),
            Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(f64::from(u8::from(flips)))),
        ];
        if dtype != Dtype::Uint8 {
            list.push(Transform::Normalize(Normalize { mean: PerChannel::One(0.25), std: PerChannel::One(0.5) }));
        }
        let recipe = Recipe::fitting(Fit::Patches(patches), list.clone(), output).unwrap();
        let channels = mode.channels();
        prop_assert_eq!(recipe.shape(), (length, side * side, channels));
        let bytes = sample::photograph(5, width, height);
        let (mut decoder, limits) = (CpuDecoder::new(), Limits::default());
        let mut place = vec![0xA5; recipe.place_len()];
        let made = decoder.decode(&bytes, &recipe, DRAW, &limits, &mut place).unwrap();
        let grid = patches.grid_of(&made.origin, DRAW).unwrap();
        prop_assert_eq!(Some(grid), patches.grid(height, width));
        let size = Size::HeightWidth([grid.rows * side, grid.columns * side]);
        list.insert(0, Transform::Resize(Resize { size, interpolation: Interpolation::Bicubic }));
        let whole = TransformList::new(list, output).unwrap();
        let whole = decoder.decode_sized(&bytes, &whole, DRAW, &limits).unwrap();
        let pixel = channels as usize * dtype.len();
        let expected = cut(&whole.bytes, grid, side as usize, pixel);
        let (own, rest) = place.split_at(expected.len());
        prop_assert!(own == expected, "{:?}", grid);
        // -0.25 / 0.5, in the upper bytes of each type.
        let black: &[u8] = match dtype {
            Dtype::Uint8 => &[0],
            Dtype::Float16 => &[0, 0xB8],
            Dtype::Bfloat16 => &[0, 0xBF],
            Dtype::Float32 => &[0, 0, 0, 0xBF],
        };
        let zero = vec![0; dtype.len()];
        let filled = if is_timm { black } else { &zero };
        prop_assert!(rest.chunks_exact(dtype.len()).all(|value| value == filled));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn rule_65_patches_of_a_random_part_are_those_of_a_picture_that_is_cut_first(
        (width, height) in (1..150_u32, 1..150_u32),
        (side, length) in (1..20_u32, 1..60_u32),
        (low, ratio) in (0.05..1.0_f64, 1.0..1.5_f64),
        record in 0..1000_u64,
        mirrors in any::<bool>(),
    ) {
        let part = RandomPart { scale: [low, 1.0], ratio: [1.0 / ratio, ratio] };
        let patches = Patches { part: Some(part), ..patches(PatchRule::Naflex, side, length, PatchPadding::Zero) };
        let mirror = Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(f64::from(u8::from(mirrors))));
        let recipe = Recipe::fitting(Fit::Patches(patches), vec![mirror.clone()], Output::default()).unwrap();
        let draw = Draw { record, ..DRAW };
        let bytes = sample::photograph(5, width, height);
        let (mut decoder, limits) = (CpuDecoder::new(), Limits::default());
        let mut place = vec![0xA5; recipe.place_len()];
        let made = decoder.decode(&bytes, &recipe, draw, &limits, &mut place).unwrap();
        let plan = recipe.plan(width, height, draw);
        let cut = plan.steps.iter().find_map(|step| match step {
            Step::Cut(rect) => Some(*rect),
            _ => None,
        });
        let cut = cut.unwrap_or(Rect { left: 0, top: 0, width, height });
        let grid = patches.grid_of(&made.origin, draw).unwrap();
        prop_assert_eq!(Some(grid), patches.grid(cut.height, cut.width), "the rule's size of what is cut out");
        prop_assert_eq!(Some(grid), patches.drawn_grid((height, width), draw), "known without the picture");
        let (left, top) = (cut.left.cast_signed(), cut.top.cast_signed());
        let size = Size::HeightWidth([grid.rows * side, grid.columns * side]);
        let whole = TransformList::new(
            vec![
                Transform::Crop(Crop { left, top, width: cut.width, height: cut.height }),
                Transform::Resize(Resize { size, interpolation: Interpolation::Bicubic }),
                mirror,
            ],
            Output::default(),
        );
        let whole = decoder.decode_sized(&bytes, &whole.unwrap(), draw, &limits).unwrap();
        let expected = crate::cut(&whole.bytes, grid, side as usize, 3);
        let (own, rest) = place.split_at(expected.len());
        prop_assert!(own == expected, "{:?} of {:?}", grid, cut);
        prop_assert!(rest.iter().all(|value| *value == 0));
    }
}

#[test]
fn rule_65_another_step_has_another_length_of_the_same_patches() {
    let of = patches(PatchRule::Naflex, 8, 20, PatchPadding::Zero);
    let recipe = Recipe::fitting(Fit::Patches(of), Vec::new(), Output::default()).unwrap();
    assert_eq!(recipe.step_size(), Some((20, 64)));
    let longer = recipe.in_step(50, 64).unwrap();
    assert_eq!((longer.shape(), longer.patches().unwrap().length), ((50, 64, 3), 50));
    assert_eq!(recipe.in_step(50, 65).unwrap_err(), RecipeError::NotOfPatches);
    assert_eq!(recipe.in_step(0, 64).unwrap_err(), RecipeError::NotOfPatches);
}

#[test]
fn rule_65_transforms_leave_the_size_and_channels_are_together() {
    let fit = Fit::Patches(patches(PatchRule::Naflex, 8, 20, PatchPadding::Zero));
    let sizes = [Size::One(24), Size::One(40), Size::HeightWidth([24, 40]), Size::HeightWidth([88, 56])];
    for size in sizes {
        let resize = Transform::Resize(Resize { size, interpolation: Interpolation::Bilinear });
        let refused = Recipe::fitting(fit, vec![resize], Output::default()).unwrap_err();
        assert_eq!(refused, RecipeError::NotOfPatches, "{size:?}");
    }
    let planes = Output { layout: Layout::Nchw, ..Output::default() };
    assert_eq!(Recipe::fitting(fit, Vec::new(), planes).unwrap_err(), RecipeError::PatchLayout);
}

#[test]
fn rule_65_a_picture_that_the_rule_refuses_is_bad() {
    // No room for a token of nine patches.
    let small = patches(PatchRule::Gemma4, 16, 8, PatchPadding::Zero);
    let recipe = Recipe::fitting(Fit::Patches(small), Vec::new(), Output::default()).unwrap();
    assert_eq!(small.grid_of(&Origin::plain((40, 30)), DRAW), None);
    let mut place = vec![0; recipe.place_len()];
    let bytes = sample::photograph(5, 40, 30);
    let refused = CpuDecoder::new().decode(&bytes, &recipe, DRAW, &Limits::default(), &mut place).unwrap_err();
    assert_eq!(refused, Fault::NoPatches { height: 30, width: 40, rule: "gemma4", length: 8 });
}
