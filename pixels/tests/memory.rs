//! What decoding and a recipe really allocate, against what is counted for them before. libjpeg-turbo, which is C, allocates
//! elsewhere and is not seen here.
#![allow(unsafe_code, reason = "counts what passes by on the way to the system's allocator")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "shared/counting.rs"]
mod counting;

use std::io::Cursor;
use std::path::Path;

use counting::{BYTES, FIXED, most};
use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{
    CpuDecoder, Draw, Fault, Form, Limits, Match, Mode, Output, Recipe, Transform, View, ViewOrder, ViewPlaces, probe,
};
use image::{DynamicImage, ImageFormat, RgbImage};
use serde_json::{Value, json};

const DRAW: Draw = Draw { seed: 1, epoch: 0, record: 0 };

fn recipe(transforms: &Value, matched: Match) -> Recipe {
    let mut list: Vec<Transform> = serde_json::from_value(transforms.clone()).unwrap();
    list.push(serde_json::from_value(json!({ "center_crop": { "size": 24 } })).unwrap());
    Recipe::new(list, Output::default()).unwrap().with_match(matched).unwrap()
}

/// Recipes that need much of the picture, or make much of it.
fn recipes() -> Vec<Recipe> {
    let one = [
        json!([{ "aug_mix": { "mixture_width": 2 } }]),
        json!([{ "random_rotation": { "degrees": [30, 30], "expand": true } }]),
        json!([{ "pad_by": { "padding": [40, 60], "padding_mode": "reflect" } }, { "pillow_gaussian_blur": {} }]),
        json!([]),
        json!([{ "resize": { "size": 300 } }]),
        json!([{ "resize": { "size": [2000, 40] } }, { "random_horizontal_flip": { "p": 1 } }]),
        json!([{ "resize": { "size": [30, 3000], "interpolation": "bicubic" } }, { "resize": { "size": 64 } }]),
        json!([{ "random_resized_crop": { "size": 500 } }, { "color_jitter": { "contrast": 0.4 } }]),
        json!([{ "gaussian_blur": { "kernel_size": 23 } }, { "random_resized_crop": { "size": 64 } }]),
        json!([{ "resize": { "size": 256 } }, { "rand_augment": {} }]),
        json!([{ "pad": { "size": 1500 } }, { "random_affine": { "degrees": 40 } }]),
        json!([{ "random_rotation": { "degrees": 90 } }, { "random_erasing": { "p": 1 } }]),
        json!([{ "random_horizontal_flip": { "p": 1 } }, { "random_equalize": { "p": 1 } }]),
    ];
    one.iter().flat_map(|list| [Match::Pillow, Match::Torch].map(|matched| recipe(list, matched))).collect()
}

fn jpeg(width: u32, height: u32) -> Vec<u8> {
    JpegForm::default().encode(&photograph_rgb(1, width, height), width, height).unwrap()
}

/// With as many coefficients as it can have.
fn progressive(width: u32, height: u32) -> Vec<u8> {
    let form = JpegForm { progressive: true, sampling: [1, 1], ..JpegForm::default() };
    form.encode(&photograph_rgb(1, width, height), width, height).unwrap()
}

fn stored(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Files of all formats, with as many bytes for each pixel as they can have.
fn files() -> Vec<(String, Vec<u8>)> {
    let rgb = DynamicImage::ImageRgb8(RgbImage::from_raw(700, 500, photograph_rgb(2, 700, 500)).unwrap());
    let rgba: DynamicImage = rgb.to_rgba8().into();
    let kinds = [
        (ImageFormat::Png, vec![rgb.to_rgba16().into(), rgb.to_luma8().into(), rgb.clone()]),
        (ImageFormat::Tiff, vec![rgb.to_rgba16().into(), rgba.clone(), rgb.clone()]),
        (ImageFormat::WebP, vec![rgba.clone(), rgb.clone()]),
        (ImageFormat::Gif, vec![rgba.clone()]),
        (ImageFormat::Bmp, vec![rgba, rgb.clone()]),
        (ImageFormat::Pnm, vec![rgb.to_rgb16().into(), rgb]),
    ];
    let files = kinds.iter().flat_map(|(format, images): &(_, Vec<DynamicImage>)| {
        images.iter().map(move |image| (format!("{format:?} of {:?}", image.color()), stored(image, *format)))
    });
    // The largest that libjxl has written.
    let of_libjxl = ["large-lossy", "large-lossless", "large-deep-alpha", "large-deep-alpha-lossy"].map(|name| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jxl");
        (format!("JPEG XL, {name}"), std::fs::read(folder.join(format!("{name}-700x500.jxl"))).unwrap())
    });
    let of_avif = ["420-full-150x101", "alpha-444-22x20", "444-12-bits-31x23"].map(|name| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../avif/tests/pictures");
        (format!("AVIF, {name}"), std::fs::read(folder.join(format!("{name}.avif"))).unwrap())
    });
    files.chain(of_libjxl).chain(of_avif).collect()
}

#[test]
fn rule_31_a_recipe_takes_no_more_memory_than_is_counted_for_it() {
    let limits = Limits::default();
    let sizes = [(700, 500), (24, 1200), (1200, 24)];
    let files = sizes.map(|(width, height)| (width, height, jpeg(width, height)));
    let of_several_scans = [(704, 512, progressive(704, 512))];
    for (width, height, bytes) in files.into_iter().chain(of_several_scans) {
        let probed = probe(&bytes).unwrap();
        for recipe in recipes() {
            let mut place = vec![0; recipe.place_len()];
            for epoch in 0..3 {
                let (draw, mut decoder) = (Draw { epoch, ..DRAW }, CpuDecoder::new());
                let case = format!("{width} x {height}, {draw:?}, {:?}: {recipe:?}", recipe.matched());
                let counted = decoder.memory().decode_bytes(&probed, &recipe, draw, &limits);
                let (made, taken) = most(|| decoder.decode(&bytes, &recipe, draw, &limits, &mut place));
                made.unwrap();
                assert!(taken <= counted + FIXED, "{taken} bytes, of which {counted} are counted: {case}");

                let (kept, _) = decoder.upright(&bytes, Form::default(), &limits).unwrap();
                let mut decoder = CpuDecoder::new();
                let counted = decoder.memory().transform_bytes(&kept.origin, &recipe, draw, &limits);
                let (made, taken) = most(|| decoder.transform(&kept, &recipe, draw, &limits, &mut place));
                made.unwrap();
                assert!(taken <= counted + FIXED, "kept, {taken} bytes, of which {counted} are counted: {case}");
            }
        }
    }
}

#[test]
fn rule_31_a_mixture_of_chains_takes_its_memory_for_the_first_pictures_only() {
    let recipe = recipe(&json!([{ "aug_mix": {} }]), Match::Pillow);
    let (limits, mut decoder, mut place) = (Limits::default(), CpuDecoder::new(), vec![0; recipe.place_len()]);
    let (kept, _) = decoder.upright(&jpeg(300, 200), Form::default(), &limits).unwrap();
    let mut transform = |epoch: u64| {
        let draw = Draw { epoch, ..DRAW };
        decoder.transform(&kept, &recipe, draw, &limits, &mut place).unwrap();
    };
    (0..20).for_each(&mut transform);
    let ((), taken) = most(|| (20..40).for_each(&mut transform));
    assert!(taken < 4096, "{taken} bytes");
}

#[test]
fn rule_49_views_decode_the_part_that_all_of_them_need_and_no_more() {
    let cut = |left: u32, top: u32| {
        let list = json!([{ "crop": { "top": top, "left": left, "height": 40, "width": 40 } }]);
        Recipe::new(serde_json::from_value(list).unwrap(), Output::default()).unwrap()
    };
    let (bytes, limits) = (jpeg(1600, 1200), Limits::default());
    // Bytes that a decoder takes for these two views of 40 x 40.
    let taken = |second: (u32, u32)| {
        let (first, view) = (cut(100, 200), View { name: "second".to_owned(), recipe: cut(second.0, second.1) });
        let (mut place, mut further) = (vec![0; first.place_len()], vec![0; view.recipe.place_len()]);
        let order = ViewOrder { recipe: &first, views: &[view], draw: DRAW };
        let mut further = [further.as_mut_slice()];
        let to = ViewPlaces { first: &mut place, further: &mut further };
        let mut decoder = CpuDecoder::new();
        let (made, taken) = most(|| decoder.decode_views((&bytes, None), order, &limits, to));
        made.unwrap();
        taken
    };
    // Beside each other: 100 x 40 pixels. In two corners: 1,100 x 900 of them, which are held once.
    let (near, far) = (taken((160, 200)), taken((1160, 1060)));
    assert!(near < 100 * 40 * 3 + FIXED, "{near} bytes");
    assert!((1100 * 900 * 3..1100 * 900 * 3 + FIXED).contains(&far), "{far} bytes");
}

#[test]
fn rule_31_a_picture_that_is_shrunk_and_kept_takes_no_more_memory_than_is_counted_for_it() {
    let (limits, form) = (Limits::default(), Form { max_side: Some(400), ..Form::default() });
    let bytes = jpeg(1200, 900);
    for recipe in recipes() {
        let (mut place, mut decoder) = (vec![0; recipe.place_len()], CpuDecoder::new());
        let counted = decoder.memory().keep_bytes(&probe(&bytes).unwrap(), form, &recipe, DRAW, &limits);
        let ((), taken) = most(|| {
            let (kept, _) = decoder.upright(&bytes, form, &limits).unwrap();
            decoder.transform(&kept, &recipe, DRAW, &limits, &mut place).unwrap();
        });
        assert!(taken <= counted + FIXED, "{taken} bytes, of which {counted} are counted: {recipe:?}");
    }
}

#[test]
fn rule_31_each_format_takes_no_more_memory_than_its_header_says() {
    let in_mode = |mode| {
        let list = json!([{ "resize": { "size": 9 } }, { "center_crop": { "size": 8 } }]);
        Recipe::new(serde_json::from_value(list).unwrap(), Output { mode, ..Output::default() }).unwrap()
    };
    let recipes = [Recipe::evaluation(8).unwrap(), in_mode(Mode::L), in_mode(Mode::La), in_mode(Mode::Rgba)];
    let mut files = files();
    files.push(("JPEG".to_owned(), jpeg(700, 500)));
    for ((name, bytes), recipe) in files.iter().flat_map(|file| recipes.iter().map(move |recipe| (file, recipe))) {
        let mut place = vec![0; recipe.place_len()];
        let mode = recipe.output().mode;
        let mut decoder = CpuDecoder::new();
        let counted = decoder.memory().decode_bytes(&probe(bytes).unwrap(), recipe, DRAW, &Limits::default());
        let (made, taken) = most(|| decoder.decode(bytes, recipe, DRAW, &Limits::default(), &mut place));
        made.unwrap();
        assert!(taken <= counted + FIXED, "{name} as {mode:?}: {taken} bytes, of which {counted} are counted");
    }
}

/// The head of a PNG, with the beginning of its pixels.
fn png_head(side: u32, color: png::ColorType, depth: png::BitDepth) -> Vec<u8> {
    let mut info = png::Info::with_size(side, side);
    (info.color_type, info.bit_depth) = (color, depth);
    let mut bytes = Vec::new();
    let mut writer = png::Encoder::with_info(&mut bytes, info).unwrap().write_header().unwrap();
    writer.write_chunk(png::chunk::IDAT, &[0x78, 0x9c]).unwrap();
    drop(writer);
    bytes
}

#[test]
fn rule_31_a_picture_that_needs_more_memory_than_the_limit_of_pixels_allows_is_refused_before_it_takes_any() {
    use png::BitDepth::{Eight, Sixteen};
    use png::ColorType::{Grayscale, Rgb, Rgba};
    let (recipe, all) = (Recipe::evaluation(8).unwrap(), Limits::default());
    let few = Limits { pixels: 10_000_000, ..all };
    for (side, color, depth, limits, most) in [
        (13_000, Rgba, Sixteen, all, Some(all.pixels * 8)),
        (13_000, Rgba, Eight, all, None),
        (13_000, Grayscale, Sixteen, all, None),
        (12_700, Rgb, Sixteen, all, Some(all.pixels * 8)),
        (11_000, Rgba, Sixteen, all, None),
        (3_162, Rgba, Sixteen, few, None),
    ] {
        let bytes = png_head(side, color, depth);
        let checked = probe(&bytes).unwrap().check(&limits);
        let refused = |outcome: &Result<_, Fault>| match outcome {
            Err(Fault::TooMuchMemory { bytes, limit }) if *bytes > *limit => Some(*limit),
            _ => None,
        };
        assert_eq!(refused(&checked), most, "{side}, {color:?}, {depth:?}: {checked:?}");
        if most.is_some() {
            let mut place = vec![0; recipe.place_len()];
            let (made, taken) = counting::most(|| CpuDecoder::new().decode(&bytes, &recipe, DRAW, &limits, &mut place));
            assert_eq!(refused(&made.map(|_| ())), most);
            assert!(taken < 2 * FIXED, "{taken} bytes");
        }
    }
}

#[test]
fn rule_31_a_tiff_of_floats_is_refused_before_its_pixels_take_memory() {
    let rgb = DynamicImage::ImageRgb8(RgbImage::from_raw(700, 500, photograph_rgb(2, 700, 500)).unwrap());
    let bytes = stored(&rgb.to_rgba32f().into(), ImageFormat::Tiff);
    let (outcome, taken) = most(|| CpuDecoder::new().whole(&bytes, &Limits::default()));
    assert!(
        matches!(&outcome, Err(Fault::Unsupported { kind }) if kind == "TIFF in RGB, 4 bands of 32 bits floating-point"),
        "{outcome:?}"
    );
    assert!(taken < FIXED, "{taken} bytes");
}

#[test]
fn rule_31_a_decoder_keeps_little_of_what_long_rows_took() {
    let limits = Limits::default();
    let (long, _) = CpuDecoder::new().upright(&jpeg(8000, 1), Form::default(), &limits).unwrap();
    let stretched = json!([{ "resize": { "size": 48 } }, { "gaussian_blur": { "kernel_size": 3 } }]);
    for matched in [Match::Pillow, Match::Torch] {
        let recipe = recipe(&stretched, matched);
        let mut place = vec![0; recipe.place_len()];
        let (before, _) = BYTES.get();
        let mut decoder = CpuDecoder::new();
        let (made, taken) = most(|| decoder.transform(&long, &recipe, DRAW, &limits, &mut place));
        made.unwrap();
        let kept = BYTES.get().0 - before;
        // The blur of 384,000 columns alone takes a row of floats: 4.6 MB.
        assert!(taken > 32 << 20 && kept < 6 << 20, "{matched:?}: {kept} of {taken} bytes");
    }
}
