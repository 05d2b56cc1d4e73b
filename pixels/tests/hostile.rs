//! Whatever the bytes, the list of transforms and the picture's size: no panic, and a place is filled just so.
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{
    Background, CenterCrop, ColorJitter, CpuDecoder, Crop, Draw, Dtype, ExpectSize, Fault, Form, GaussianBlur,
    Grayscale, Interpolation, Jitter, Layout, Limits, Match, Mode, Normalize, OneOrTwo, Output, Pad, PaddingMode,
    PerChannel, RandomAdjustSharpness, RandomApply, RandomAutocontrast, RandomChoice, RandomEqualize, RandomGrayscale,
    RandomHorizontalFlip, RandomInvert, RandomOrder, RandomPosterize, RandomResizedCrop, RandomSolarize,
    RandomVerticalFlip, Recipe, RecipeError, Resize, Size, Transform, probe,
};
use proptest::prelude::*;
use serde_json::{from_value, json};

/// Small, so that no case takes long.
const LIMITS: Limits = Limits { pixels: 1 << 22, bytes: 1 << 20, scans: 20, time: None };

fn size() -> impl Strategy<Value = Size> {
    let side = 1..40u32;
    prop_oneof![side.clone().prop_map(Size::One), [side.clone(), side].prop_map(Size::HeightWidth)]
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop::sample::select(vec![
        Interpolation::Nearest,
        Interpolation::Bilinear,
        Interpolation::Bicubic,
        Interpolation::Lanczos3,
    ])
}

fn padding_mode() -> impl Strategy<Value = PaddingMode> {
    use PaddingMode::{Constant, Edge, Reflect, Symmetric};
    prop::sample::select(vec![Constant, Edge, Reflect, Symmetric])
}

fn geometry() -> impl Strategy<Value = Transform> {
    let range = |low: f64, high: f64| (low..high, 1.0..3.0f64).prop_map(|(low, factor)| [low, low * factor]);
    let crop = (size(), range(0.01, 1.0), range(0.1, 5.0), interpolation());
    prop_oneof![
        crop.prop_map(|(size, scale, ratio, interpolation)| {
            Transform::RandomResizedCrop(RandomResizedCrop { size, scale, ratio, interpolation })
        }),
        (size(), interpolation()).prop_map(|(size, interpolation)| Transform::Resize(Resize { size, interpolation })),
        size().prop_map(|size| Transform::CenterCrop(CenterCrop { size })),
        size().prop_map(|size| Transform::ExpectSize(ExpectSize { size })),
        (size(), any::<u8>(), padding_mode())
            .prop_map(|(size, fill, padding_mode)| { Transform::Pad(Pad { size, fill, padding_mode }) }),
        ((-60..60, -60..60), (1..40u32, 1..40u32))
            .prop_map(|((top, left), (height, width))| { Transform::Crop(Crop { top, left, height, width }) }),
        (0.0..=1.0).prop_map(|p| Transform::RandomHorizontalFlip(RandomHorizontalFlip::by_chance(p))),
        (0.0..=1.0).prop_map(|p| Transform::RandomVerticalFlip(RandomVerticalFlip::by_chance(p))),
    ]
}

/// Transforms with many parameters.
fn documents() -> impl Strategy<Value = Transform> {
    let filter = prop::sample::select(vec!["nearest", "bilinear", "bicubic"]);
    (0..15, filter, -1e6..1e6_f64, 0.0..=1.0_f64, 0..31_u32).prop_map(|(kind, filter, far, part, bin)| {
        let document = match kind {
            0 => json!({ "random_erasing": {
                "p": part, "scale": [0.001, part.max(0.001)], "ratio": [0.01, 50.0], "value": bin } }),
            1 => json!({ "random_rotation": {
                "degrees": [far, far], "interpolation": filter, "fill": bin, "center": [far, part] } }),
            2 => json!({ "random_affine": {
                "degrees": far.abs(), "translate": [part, 1], "scale": [1e-6 + part, 1e6], "shear": [0, far.abs()],
                "interpolation": filter } }),
            3 => json!({ "rand_augment": { "num_ops": bin % 17, "magnitude": bin, "interpolation": filter } }),
            6 => json!({ "random_perspective": { "distortion_scale": part, "p": part, "interpolation": filter } }),
            7 => json!({ "pillow_gaussian_blur": { "radius": part * 1000.0, "p": part } }),
            8 => json!({ "three_augment": { "threshold": far, "radius": part } }),
            9 => json!({ "timm_rand_augment": { "config": format!("rand-m{bin}-mstd{part}-n3-p1-mmax{bin}") } }),
            10 => json!({ "timm_rand_augment": { "config": "rand-m9-mstd101-inc1-p1", "interpolation": filter } }),
            11 => json!({ "aug_mix": {
                "severity": 1 + bin % 10, "mixture_width": 1 + bin % 4, "chain_depth": bin % 5, "alpha": part + 0.001 } }),
            12 => json!({ "random_order": { "transforms": [
                { "random_shortest_size": { "min_size": [bin + 1, 9], "max_size": 40 } },
                { "scale_jitter": { "target_size": [9, bin + 1], "scale_range": [part + 0.01, part + 1.0] } },
                { "random_rotation": { "degrees": [far, far], "expand": true, "interpolation": filter } },
                { "pad_by": { "padding": [bin, 1], "padding_mode": "reflect" } },
                { "random_crop": { "size": [bin + 1, 9], "padding": bin, "pad_if_needed": true, "fill": bin } },
                { "letterbox": { "size": bin + 1 } }] } }),
            13 => json!({ "random_zoom_out": { "fill": [bin, part, 255], "side_range": [1.0, 1.0 + part * 9.0], "p": part } }),
            14 => json!({ "random_hsv": { "hsv_h": part, "hsv_s": 1.0 - part, "hsv_v": part } }),
            4 => json!({ "auto_augment": { "policy": "svhn", "interpolation": filter, "fill": [bin, 0, 255] } }),
            _ => json!({ "trivial_augment_wide": { "num_magnitude_bins": bin + 2, "interpolation": filter } }),
        };
        from_value(document).unwrap()
    })
}

/// What changes values, alone and in lists by chance.
fn values() -> impl Strategy<Value = Transform> {
    let jitter = || prop::option::of((0.0..2.0_f64).prop_map(Jitter::By));
    let one = prop_oneof![
        (jitter(), jitter(), jitter(), prop::option::of((0.0..=0.5_f64).prop_map(Jitter::By))).prop_map(
            |(brightness, contrast, saturation, hue)| {
                Transform::ColorJitter(ColorJitter { brightness, contrast, saturation, hue })
            }
        ),
        Just(Transform::Grayscale(Grayscale { num_output_channels: 3 })),
        (0.0..=1.0).prop_map(|p| Transform::RandomGrayscale(RandomGrayscale { p })),
        (0.0..5.0, 0.0..=1.0).prop_map(|(sharpness_factor, p)| {
            Transform::RandomAdjustSharpness(RandomAdjustSharpness { sharpness_factor, p })
        }),
        (-9.0..300.0, 0.0..=1.0).prop_map(|(threshold, p)| Transform::RandomSolarize(RandomSolarize { threshold, p })),
        (0..=8_u8, 0.0..=1.0).prop_map(|(bits, p)| Transform::RandomPosterize(RandomPosterize { bits, p })),
        (0.0..=1.0).prop_map(|p| Transform::RandomInvert(RandomInvert { p })),
        (0.0..=1.0).prop_map(|p| Transform::RandomAutocontrast(RandomAutocontrast { p })),
        (0.0..=1.0).prop_map(|p| Transform::RandomEqualize(RandomEqualize { p })),
        (0..128_u32, 0.01..99.0_f64).prop_map(|(half, sigma)| {
            let (kernel_size, sigma) = (OneOrTwo::One(half * 2 + 1), OneOrTwo::One(sigma));
            Transform::GaussianBlur(GaussianBlur { kernel_size, sigma })
        }),
        documents(),
    ];
    one.prop_recursive(2, 8, 3, |inner| {
        let list = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            (list(), 0.0..=1.0).prop_map(|(transforms, p)| Transform::RandomApply(RandomApply { transforms, p })),
            list().prop_map(|transforms| Transform::RandomChoice(RandomChoice { transforms, p: None })),
            list().prop_map(|transforms| Transform::RandomOrder(RandomOrder { transforms })),
        ]
    })
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let dtype = prop::sample::select(vec![Dtype::Uint8, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32]);
    let layout = prop::sample::select(vec![Layout::Nhwc, Layout::Nchw]);
    let list = prop::collection::vec(prop_oneof![geometry(), values()], 0..5);
    let matched = prop::sample::select(vec![Match::Pillow, Match::Torch]);
    (list, size(), dtype, layout, matched, any::<bool>()).prop_filter_map(
        "a list of more transforms than a recipe may have",
        |(mut list, last, dtype, layout, matched, normalize)| {
            list.push(Transform::CenterCrop(CenterCrop { size: last }));
            list.push(Transform::ExpectSize(ExpectSize { size: last }));
            if normalize && dtype != Dtype::Uint8 {
                list.push(Transform::Normalize(Normalize { mean: PerChannel::One(0.5), std: PerChannel::One(0.25) }));
            }
            let recipe = match Recipe::new(
                list,
                Output { dtype, layout, background: Background::Colour([0; 3]), mode: Mode::Rgb },
            ) {
                Err(RecipeError::TooMany { .. }) => return None,
                recipe => recipe.unwrap(),
            };
            Some(recipe.clone().with_match(matched).unwrap_or(recipe))
        },
    )
}

fn draw() -> impl Strategy<Value = Draw> {
    (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(seed, epoch, record)| Draw { seed, epoch, record })
}

/// A GIF of one pixel, whose compressed data ends before that pixel.
const GIF_WITHOUT_PIXELS: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xFF\x7F9,\0\0\0\0\x01\0\x01\0\x02\x03D\x02\0;";

#[test]
fn what_a_file_lacks_does_not_show_the_picture_before_it() {
    let mut used = CpuDecoder::new();
    let white = image::RgbImage::from_pixel(4, 4, image::Rgb([0xFF; 3]));
    let mut png = std::io::Cursor::new(Vec::new());
    white.write_to(&mut png, image::ImageFormat::Png).unwrap();
    for mode in [Mode::Rgb, Mode::L, Mode::La, Mode::Rgba] {
        let form = Form { mode, ..Form::default() };
        used.upright(png.get_ref(), form, &LIMITS).unwrap();
        let whole = |decoder: &mut CpuDecoder| decoder.upright(GIF_WITHOUT_PIXELS, form, &LIMITS).unwrap().0;
        assert_eq!(whole(&mut used), whole(&mut CpuDecoder::new()), "{mode:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_recipe_fills_its_place_from_a_picture_of_any_size(
        recipe in recipe(), draw in draw(), width in 1..70u32, height in 1..70u32,
    ) {
        let bytes = JpegForm::default().encode(&photograph_rgb(draw.record, width, height), width, height).unwrap();
        let mut decoder = CpuDecoder::new();
        let mut one = vec![0x00; recipe.place_len()];
        let mut two = vec![0xFF; recipe.place_len()];
        let decoded = match decoder.decode(&bytes, &recipe, draw, &LIMITS, &mut one) {
            Err(Fault::WrongSize { found, expected }) => {
                // The one at the end never refuses.
                let expects = recipe.transforms().iter().filter(|each| matches!(each, Transform::ExpectSize(_)));
                prop_assert!(expects.count() > 1 && found != expected);
                return Ok(());
            }
            decoded => decoded.unwrap(),
        };
        decoder.decode(&bytes, &recipe, draw, &LIMITS, &mut two).unwrap();
        prop_assert_eq!((decoded.width, decoded.height), (width, height));
        prop_assert!(one == two, "every byte of the place is written, the same each time");
    }

    #[test]
    fn plans_of_pictures_of_any_size_stay_inside_them(
        recipe in recipe(), draw in draw(), width in 1..u32::MAX, height in 1..u32::MAX,
    ) {
        let plan = recipe.plan(width, height, draw);
        prop_assert_eq!((plan.height, plan.width, 3), recipe.shape());
    }

    #[test]
    fn damaged_jpegs_give_a_verdict(
        progressive in any::<bool>(), arithmetic in any::<bool>(), sampling in [1..=4u32, 1..=4u32], restart_rows in 0..2u32,
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let form = JpegForm { progressive, arithmetic, sampling, restart_rows, ..JpegForm::default() };
        let Some(mut bytes) = form.encode(&photograph_rgb(1, 60, 50), 60, 50) else { return Ok(()) };
        for (at, value) in hits {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        verdict(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        bytes.extend([0xFF, 0xD9]);
        verdict(&bytes);
    }

    #[test]
    fn noise_behind_any_signature_gives_a_verdict(
        signature in prop::sample::select(vec![
            b"\xFF\xD8\xFF".as_slice(), b"\x89PNG\r\n\x1A\n", b"GIF89a", b"BM", b"II*\0", b"MM\0*", b"P6\n", b"P7\n",
            b"RIFF\0\0\0\0WEBP",
        ]),
        noise in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        verdict(&[signature, noise.as_slice()].concat());
    }
}

#[test]
fn a_gif_without_a_row_is_damaged() {
    let gif = [b"GIF89a\x01\0\0\0".as_slice(), &[0; 100]].concat();
    verdict(&gif);
    assert!(CpuDecoder::new().whole(&gif, &LIMITS).is_err());
}

fn verdict(bytes: &[u8]) {
    let mut decoder = CpuDecoder::new();
    let recipe = Recipe::training(16).unwrap();
    let mut place = vec![0; recipe.place_len()];
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    let decoded = decoder.decode(bytes, &recipe, draw, &LIMITS, &mut place);
    let probed = probe(bytes);
    if let (Ok(decoded), Ok(probed)) = (decoded, probed) {
        assert_eq!((decoded.width, decoded.height), (probed.width, probed.height));
    }
}
