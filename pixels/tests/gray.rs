//! Rule 68: in the mode `L`, a place has Pillow's `convert("L")` of the picture, and transforms do what they do with a gray picture in
//! Pillow. What Pillow makes needs a Python with it: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they skip"
)]

#[path = "shared/with_pillow.rs"]
mod with_pillow;

use std::process::Command;

use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};
use forebay_pixels::{
    Background, CpuDecoder, Draw, Dtype, Form, Layout, Limits, Match, Mixture, Mode, Output, PlaceForm, Recipe,
    RecipeError, Rect, Transform, document,
};
use serde_json::{Map, Value, from_value, json};
use with_pillow::with_pillow;

const DRAW: Draw = Draw { seed: 11, epoch: 2, record: 3 };
const GRAY: Output =
    Output { dtype: Dtype::Uint8, layout: Layout::Nhwc, background: Background::Colour([0; 3]), mode: Mode::L };

const WRITE: &str = r#"
import os, sys
from PIL import Image

os.chdir(sys.argv[1])
photo = Image.frombytes("RGB", (70, 50), open("photo.rgb", "rb").read())


def save(name, image, **settings):
    image.save(name, **settings)
    gray = Image.open(name).convert("L")
    open(name + ".l", "wb").write(gray.tobytes())
    small = gray.resize((31, 23), Image.Resampling.BICUBIC)
    open(name + ".small", "wb").write(small.tobytes())


save("colours.jpg", photo, quality=85)
save("gray.jpg", photo.convert("L"), quality=85)
save("progressive.jpg", photo, quality=70, progressive=True)
save("cmyk.jpg", photo.convert("CMYK"), quality=85)
save("colours.png", photo)
save("gray.png", photo.convert("L"))
save("one.png", photo.convert("1"))
save("palette.png", photo.quantize(60))
save("lossy.webp", photo, quality=60)
save("lossless.webp", photo, lossless=True)
save("colours.tif", photo)
save("colours.bmp", photo)
save("palette.gif", photo.quantize(60))
"#;

fn list(transforms: Value) -> Vec<Transform> {
    from_value(transforms).unwrap()
}

fn gray(transforms: Value) -> Result<Recipe, RecipeError> {
    Recipe::new(list(transforms), GRAY)
}

fn made(recipe: &Recipe, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0xAA; recipe.place_len()];
    CpuDecoder::new().decode(bytes, recipe, DRAW, &Limits::default(), &mut out).unwrap();
    out
}

fn photo(colors: JpegColors) -> Vec<u8> {
    let form = JpegForm { colors, sampling: [1, 1], ..JpegForm::default() };
    form.encode(&photograph_rgb(4, 70, 50)[..70 * 50 * form.channels()], 70, 50).unwrap()
}

#[test]
fn rule_68_l_is_what_pillow_converts_every_kind_of_file_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some(python) = with_pillow() else { return };
    std::fs::write(folder.path().join("photo.rgb"), photograph_rgb(4, 70, 50)).unwrap();
    assert!(Command::new(&python).args(["-c", WRITE]).arg(folder.path()).status().unwrap().success());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    for name in [
        "colours.jpg",
        "gray.jpg",
        "progressive.jpg",
        "cmyk.jpg",
        "colours.png",
        "gray.png",
        "one.png",
        "palette.png",
        "lossy.webp",
        "lossless.webp",
        "colours.tif",
        "colours.bmp",
        "palette.gif",
    ] {
        let whole = gray(json!([{ "center_crop": { "size": [50, 70] } }])).unwrap();
        assert_eq!(whole.shape(), (50, 70, 1));
        assert!(made(&whole, &read(name)) == read(&format!("{name}.l")), "{name}");
        let small = gray(json!([{ "resize": { "size": [23, 31], "interpolation": "bicubic" } }])).unwrap();
        assert!(made(&small, &read(name)) == read(&format!("{name}.small")), "{name}, resized");
    }
}

#[test]
fn rule_68_a_gray_picture_is_one_channel_of_what_the_same_transforms_make_in_rgb() {
    // Of a picture that is gray already, so that the order of the conversion and the transforms does not matter.
    let bytes = photo(JpegColors::Gray);
    for transforms in [
        json!([{ "random_resized_crop": { "size": 20 } }, { "random_horizontal_flip": { "p": 1 } }]),
        json!([{ "center_crop": { "size": 24 } }, { "random_horizontal_flip": { "p": 1 } }]),
        json!([{ "color_jitter": { "brightness": 0.4, "contrast": 0.4, "saturation": 0.4, "hue": 0.1 } },
               { "center_crop": { "size": 24 } }]),
        json!([{ "rand_augment": {} }, { "random_vertical_flip": { "p": 1 } }, { "center_crop": { "size": 24 } }]),
        json!([{ "random_rotation": { "degrees": 30, "fill": 9 } }, { "pillow_gaussian_blur": { "p": 1 } },
               { "resize": { "size": [9, 30] } }]),
        json!([{ "center_crop": { "size": 24 } }, { "random_erasing": { "p": 1, "value": 7 } }]),
    ] {
        for (dtype, layout) in [Dtype::Uint8, Dtype::Float16, Dtype::Bfloat16, Dtype::Float32]
            .into_iter()
            .flat_map(|dtype| [(dtype, Layout::Nhwc), (dtype, Layout::Nchw)])
        {
            let in_mode = |mode| {
                let output = Output { dtype, layout, mode, ..GRAY };
                let mut list = list(transforms.clone());
                if dtype != Dtype::Uint8 {
                    list.extend(self::list(json!([{ "normalize": { "mean": 0.4, "std": [0.3] } }])));
                }
                Recipe::new(list, output).unwrap()
            };
            let (rgb, one) = (made(&in_mode(Mode::Rgb), &bytes), made(&in_mode(Mode::L), &bytes));
            let size = dtype.len();
            let red: Vec<u8> = match layout {
                Layout::Nhwc => rgb.chunks_exact(3 * size).flat_map(|pixel| &pixel[..size]).copied().collect(),
                Layout::Nchw => rgb[..rgb.len() / 3].to_vec(),
            };
            assert!(red == one, "{transforms} as {dtype:?} {layout:?}");
        }
    }
}

#[test]
fn rule_68_a_colour_picture_is_gray_before_its_transforms_and_a_kept_one_gives_the_same() {
    let bytes = photo(JpegColors::YCbCr);
    let recipe = gray(json!([{ "random_solarize": { "threshold": 100, "p": 1 } }, { "center_crop": { "size": 30 } }]));
    let recipe = recipe.unwrap();
    let direct = made(&recipe, &bytes);
    let plain = made(&gray(json!([{ "center_crop": { "size": 30 } }])).unwrap(), &bytes);
    let solarized = plain.iter().map(|value| if *value >= 100 { 255 - value } else { *value });
    assert!(direct.iter().copied().eq(solarized));
    let mut decoder = CpuDecoder::new();
    let form = Form { mode: Mode::L, ..Form::default() };
    let (kept, _) = decoder.upright(&bytes, form, &Limits::default()).unwrap();
    assert!(kept.pixels().as_chunks::<3>().0.iter().all(|[red, green, blue]| red == green && green == blue));
    let mut out = vec![0; recipe.place_len()];
    decoder.transform(&kept, &recipe, DRAW, &Limits::default(), &mut out).unwrap();
    assert_eq!(out, direct);
}

#[test]
fn rule_68_what_has_no_meaning_for_gray_is_refused_by_name() {
    for (transforms, words) in [
        (json!([{ "random_hsv": {} }, { "center_crop": { "size": 8 } }]), "transform 0 (random_hsv)"),
        (json!([{ "grayscale": {} }, { "center_crop": { "size": 8 } }]), "transform 0 (grayscale)"),
        (
            json!([{ "pad_by": { "padding": 1, "fill": [1, 2, 3] } }, { "center_crop": { "size": 8 } }]),
            "fill must be one",
        ),
        (
            json!([{ "random_apply": { "transforms": [{ "random_rotation": { "degrees": 9, "fill": [1, 2, 3] } }] } },
                   { "center_crop": { "size": 8 } }]),
            "random_rotation: fill must be one number",
        ),
        (
            json!([{ "timm_rand_augment": { "config": "rand-m9" } }, { "center_crop": { "size": 8 } }]),
            "transform 0 (timm_rand_augment)",
        ),
        (
            json!([{ "center_crop": { "size": 8 } }, { "python": { "function": "a:b" } }]),
            "transform 1 (python): its function",
        ),
        (json!([{ "random_erasing": { "value": [1, 2, 3] } }, { "center_crop": { "size": 8 } }]), "value must be one"),
    ] {
        let error = gray(transforms.clone()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        Recipe::new(list(transforms), Output::default()).unwrap();
    }
    let float = Output { dtype: Dtype::Float32, ..GRAY };
    let of = |mean: Value| {
        let normalize = json!([{ "center_crop": { "size": 8 } }, { "normalize": { "mean": mean, "std": 1 } }]);
        Recipe::new(list(normalize), float).map_err(|error| error.to_string())
    };
    assert!(of(json!([0.5, 0.4, 0.5])).unwrap_err().contains("mean and std must be one number each"));
    assert_eq!(of(json!(0.5)), of(json!([0.5])));
    let torch = gray(json!([{ "center_crop": { "size": 8 } }])).unwrap().with_match(Match::Torch).unwrap_err();
    assert_eq!(torch, RecipeError::NoTorchMode { mode: "L" });
    let keys = |mode: &str| Map::from_iter([("size".to_owned(), 8.into()), ("mode".to_owned(), mode.into())]);
    assert_eq!(document::read(&keys("L"), false).unwrap().output().mode, Mode::L);
    let refused = document::read(&keys("P"), false).unwrap_err();
    assert_eq!(refused.mistakes[0].key, "mode");
    assert!(refused.mistakes[0].problem.contains("\"RGB\", \"L\""), "{:?}", refused.mistakes);
}

#[test]
fn two_gray_pictures_are_mixed_in_their_only_channel() {
    for layout in [Layout::Nhwc, Layout::Nchw] {
        let form = PlaceForm { output: Output { layout, ..GRAY }, height: 2, width: 3 };
        let mut own = [1, 2, 3, 4, 5, 6];
        let part = Mixture::Part { part: Rect { left: 1, top: 1, width: 2, height: 1 }, weight: 0.5 };
        part.carry_out(form, &mut own, &[9; 6]);
        assert_eq!(own, [1, 2, 3, 4, 9, 9]);
    }
}
