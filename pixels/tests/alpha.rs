//! Rule 68: in the modes `LA` and `RGBA`, a place has Pillow's `convert` of the picture, and flips, crops, borders and resizes do what
//! they do in Pillow. What Pillow makes needs a Python with it: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they skip"
)]

use std::io::Cursor;
use std::process::Command;

use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{
    Background, CpuDecoder, Draw, Dtype, Form, Layout, Limits, Match, Mode, Output, Recipe, RecipeError, Transform,
    document,
};
use image::{DynamicImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb, RgbImage, Rgba, RgbaImage};
use proptest::prelude::*;
use serde_json::{Map, Value, from_value, json};

const DRAW: Draw = Draw { seed: 11, epoch: 2, record: 3 };
const MODES: [Mode; 2] = [Mode::La, Mode::Rgba];
const FILTERS: [&str; 4] = ["nearest", "bilinear", "bicubic", "lanczos3"];

const WRITE: &str = r#"
import os, sys
from PIL import Image, ImageOps

os.chdir(sys.argv[1])
photo = Image.frombytes("RGB", (70, 50), open("photo.rgb", "rb").read())
alpha = Image.frombytes("L", (70, 50), bytes((x * 5 + y * 3) % 256 if x > 9 else x % 2 * 255 for y in range(50) for x in range(70)))
seen = photo.copy()
seen.putalpha(alpha)
FILTERS = {"nearest": 0, "bilinear": 2, "bicubic": 3, "lanczos3": 1}


def save(name, image, **settings):
    image.save(name, **settings)
    for mode, fill in (("LA", (7, 200)), ("RGBA", (7, 80, 9, 200))):
        # Of a colour key, convert("LA") also makes other colours of the same brightness transparent.
        opened = Image.open(name).convert("RGBA") if name == "key-rgb.png" else Image.open(name)
        made = opened.convert(mode)

        def write(what, picture):
            open(f"{name}.{mode}.{what}", "wb").write(picture.tobytes())

        write("whole", made)
        write("mirrored", made.transpose(Image.Transpose.FLIP_LEFT_RIGHT))
        write("flipped", made.transpose(Image.Transpose.FLIP_TOP_BOTTOM))
        write("cropped", made.crop((-3, 5, 40, 60)))
        write("padded", ImageOps.expand(made, (2, 3, 4, 5), fill))
        for filter, number in FILTERS.items():
            write("small-" + filter, made.resize((31, 23), number))
            write("large-" + filter, made.resize((101, 77), number))
            write("part-" + filter, made.crop((8, 6, 60, 44)).resize((33, 51), number))


save("photo.jpg", photo, quality=85)
save("gray.jpg", photo.convert("L"), quality=85)
save("cmyk.jpg", photo.convert("CMYK"), quality=85)
save("opaque.png", photo)
save("rgba.png", seen)
save("la.png", seen.convert("LA"))
save("palette.png", photo.quantize(60), transparency=bytes(range(0, 240, 4)))
save("one.png", photo.convert("1"))
save("key-gray.png", photo.convert("L"), transparency=photo.convert("L").getpixel((20, 20)))
save("key-rgb.png", photo, transparency=photo.getpixel((20, 20)))
save("lossy.webp", seen, quality=60)
save("lossless.webp", seen, lossless=True)
save("opaque.webp", photo, lossless=True)
save("rgba.tif", seen)
save("opaque.tif", photo)
save("opaque.bmp", photo)
save("clear.gif", photo.quantize(60), transparency=3)
save("opaque.gif", photo.quantize(60))
"#;

const FILES: [&str; 18] = [
    "photo.jpg",
    "gray.jpg",
    "cmyk.jpg",
    "opaque.png",
    "rgba.png",
    "la.png",
    "palette.png",
    "one.png",
    "key-gray.png",
    "key-rgb.png",
    "lossy.webp",
    "lossless.webp",
    "opaque.webp",
    "rgba.tif",
    "opaque.tif",
    "opaque.bmp",
    "clear.gif",
    "opaque.gif",
];

fn output(mode: Mode) -> Output {
    Output { mode, background: Background::Colour([1, 2, 3]), ..Output::default() }
}

fn recipe(mode: Mode, transforms: &Value) -> Result<Recipe, RecipeError> {
    Recipe::new(from_value::<Vec<Transform>>(transforms.clone()).unwrap(), output(mode))
}

fn made(recipe: &Recipe, bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0xAA; recipe.place_len()];
    CpuDecoder::new().decode(bytes, recipe, DRAW, &Limits::default(), &mut out).unwrap();
    out
}

/// The bytes of a picture that is in the modes, by a list that ends with the size that the picture has.
fn through(mode: Mode, transforms: &Value, bytes: &[u8]) -> Vec<u8> {
    made(&recipe(mode, transforms).unwrap(), bytes)
}

fn written(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    picture.into().write_to(&mut file, format).unwrap();
    file.into_inner()
}

fn size(width: u32, height: u32) -> Value {
    json!({ "expect_size": { "size": [height, width] } })
}

/// What the script has written, and the transforms that should give the same.
fn cases(mode: Mode) -> Vec<(String, Value)> {
    let fill = if mode == Mode::La { json!([7, 200]) } else { json!([7, 80, 9, 200.9]) };
    let mut cases = vec![
        ("whole".to_owned(), json!([size(70, 50)])),
        ("mirrored".to_owned(), json!([{ "random_horizontal_flip": { "p": 1 } }, size(70, 50)])),
        ("flipped".to_owned(), json!([size(70, 50), { "random_vertical_flip": { "p": 1 } }])),
        ("cropped".to_owned(), json!([{ "crop": { "left": -3, "top": 5, "width": 43, "height": 55 } }])),
        ("padded".to_owned(), json!([{ "pad_by": { "padding": [2, 3, 4, 5], "fill": fill } }, size(76, 58)])),
    ];
    for filter in FILTERS {
        let to = |width, height| json!({ "resize": { "size": [height, width], "interpolation": filter } });
        let part = json!({ "crop": { "left": 8, "top": 6, "width": 52, "height": 38 } });
        cases.push((format!("small-{filter}"), json!([to(31, 23)])));
        cases.push((format!("large-{filter}"), json!([to(101, 77)])));
        cases.push((format!("part-{filter}"), json!([part, to(33, 51)])));
    }
    cases
}

#[test]
fn rule_68_la_and_rgba_are_what_pillow_makes_of_every_kind_of_file() {
    let python = std::env::var("FOREBAY_PYTHON").unwrap_or_else(|_| "python3".into());
    let folder = tempfile::tempdir().unwrap();
    let has_pillow = Command::new(&python).args(["-c", "import PIL"]).output();
    if !has_pillow.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no Pillow; set FOREBAY_PYTHON to one that has it");
        return;
    }
    std::fs::write(folder.path().join("photo.rgb"), photograph_rgb(4, 70, 50)).unwrap();
    assert!(Command::new(&python).args(["-c", WRITE]).arg(folder.path()).status().unwrap().success());
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let mut wrong = Vec::new();
    for (file, mode) in FILES.into_iter().flat_map(|file| MODES.map(|mode| (file, mode))) {
        let bytes = read(file);
        for (what, transforms) in cases(mode) {
            let name = format!("{file}.{}.{what}", mode.name());
            if through(mode, &transforms, &bytes) != read(&name) {
                wrong.push(name);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn rule_68_values_of_16_bits_keep_their_upper_byte_and_their_alpha() {
    let (width, height) = (5, 4);
    let number = |x: u32, y: u32, c: u32| u16::try_from((x * 7919 + y * 4001 + c * 15013) % 65536).unwrap();
    let upper = |value: u16| u8::try_from(value >> 8).unwrap();
    let rgba = ImageBuffer::from_fn(width, height, |x, y| Rgba([0, 1, 2, 3].map(|c| number(x, y, c))));
    let la = ImageBuffer::from_fn(width, height, |x, y| LumaA([0, 1].map(|c| number(x, y, c))));
    let rgb = ImageBuffer::from_fn(width, height, |x, y| Rgb([0, 1, 2].map(|c| number(x, y, c))));
    let l = ImageBuffer::from_fn(width, height, |x, y| Luma([number(x, y, 0)]));
    let all = json!([size(width, height)]);
    let in_rgba = |bytes: &[u8]| through(Mode::Rgba, &all, bytes);
    let in_la = |bytes: &[u8]| through(Mode::La, &all, bytes);
    for format in [ImageFormat::Png, ImageFormat::Tiff] {
        let expected: Vec<u8> = rgba.iter().map(|value| upper(*value)).collect();
        assert_eq!(in_rgba(&written(rgba.clone(), format)), expected);
        let expected: Vec<u8> =
            rgb.pixels().flat_map(|Rgb([r, g, b])| [upper(*r), upper(*g), upper(*b), 255]).collect();
        assert_eq!(in_rgba(&written(rgb.clone(), format)), expected);
        let expected: Vec<u8> = l.iter().flat_map(|value| [upper(*value), 255]).collect();
        assert_eq!(in_la(&written(l.clone(), format)), expected);
    }
    let expected: Vec<u8> = la.iter().map(|value| upper(*value)).collect();
    assert_eq!(in_la(&written(la, ImageFormat::Png)), expected);
}

#[test]
fn rule_68_alpha_of_a_jpeg_xl_is_kept() {
    let read = |name: &str| std::fs::read(format!("{}/tests/jxl/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let found = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jxl")).unwrap();
    let mut with_alpha = 0;
    for name in found.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
        let bytes = read(&name);
        let Ok(found) = forebay_pixels::probe(&bytes) else { continue };
        let all = json!([size(found.width, found.height)]);
        let mut decoder = CpuDecoder::new();
        let drop = Form { background: Background::Dropped, ..Form::default() };
        let Ok((dropped, _)) = decoder.upright(&bytes, drop, &Limits::default()) else { continue };
        let (rgba, la) = (through(Mode::Rgba, &all, &bytes), through(Mode::La, &all, &bytes));
        for ((rgba, la), rgb) in rgba.chunks(4).zip(la.chunks(2)).zip(dropped.pixels().chunks(3)) {
            assert_eq!((&rgba[..3], rgba[3]), (rgb, la[1]), "{name}");
        }
        with_alpha += u32::from(rgba.chunks(4).any(|pixel| pixel[3] < 255));
    }
    assert!(with_alpha > 0, "one of the files has alpha");
}

#[test]
fn rule_68_a_kept_picture_and_a_turned_one_give_what_the_file_gives() {
    let photo = RgbaImage::from_fn(60, 40, |x, y| {
        Rgba([x * 4, y * 6, x + y, x * y % 256].map(|value| u8::try_from(value).unwrap()))
    });
    let png = written(photo, ImageFormat::Png);
    let jpeg = JpegForm::default().encode(&photograph_rgb(2, 60, 40), 60, 40).unwrap();
    let exif = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let jpeg = [&jpeg[..2], exif, &jpeg[2..]].concat();
    let transforms = json!([{ "random_resized_crop": { "size": 24 } }, { "random_horizontal_flip": { "p": 1 } },
                            { "pad_by": { "padding": 3, "padding_mode": "reflect" } }]);
    for (mode, bytes) in MODES.into_iter().flat_map(|mode| [(mode, &png), (mode, &jpeg)]) {
        for layout in [Layout::Nhwc, Layout::Nchw] {
            let output = Output { layout, ..output(mode) };
            let recipe = Recipe::new(from_value(transforms.clone()).unwrap(), output).unwrap();
            let direct = made(&recipe, bytes);
            let mut decoder = CpuDecoder::new();
            let (kept, _) = decoder.upright(bytes, Form { mode, ..Form::default() }, &Limits::default()).unwrap();
            assert_eq!(kept.mode, mode);
            assert_eq!(kept.pixels().len(), 60 * 40 * mode.channels() as usize);
            let mut out = vec![0; recipe.place_len()];
            decoder.transform(&kept, &recipe, DRAW, &Limits::default(), &mut out).unwrap();
            assert!(out == direct, "{mode:?} {layout:?}");
        }
    }
    let rgb = through(Mode::Rgb, &json!([size(40, 60)]), &jpeg);
    let rgba = through(Mode::Rgba, &json!([size(40, 60)]), &jpeg);
    assert!(
        rgba.chunks(4).eq(rgb.chunks(3).map(|rgb| [rgb, &[255]].concat())),
        "a JPEG is opaque, however it is turned"
    );
}

#[test]
fn rule_68_normalize_has_numbers_for_alpha_too() {
    let pixel = [10_u8, 20, 30, 40];
    let png = written(RgbaImage::from_pixel(3, 2, Rgba(pixel)), ImageFormat::Png);
    let gray = u8::try_from((10 * 19595 + 20 * 38470 + 30 * 7471 + 0x8000) >> 16).unwrap();
    let numbers = [[0.5_f32, 0.25, 0.75, 0.125], [0.5, 1.0, 2.0, 4.0]];
    for (mode, values) in [(Mode::Rgba, &pixel[..]), (Mode::La, &[gray, 40])] {
        let [mean, std] = numbers.map(|numbers| numbers[..values.len()].to_vec());
        let list = json!([size(3, 2), { "normalize": { "mean": mean, "std": std } }]);
        for layout in [Layout::Nhwc, Layout::Nchw] {
            let output = Output { dtype: Dtype::Float32, layout, ..output(mode) };
            let recipe = Recipe::new(from_value(list.clone()).unwrap(), output).unwrap();
            let made: Vec<f32> =
                made(&recipe, &png).as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            let expected = |channel: usize| (f32::from(values[channel]) / 255.0 - mean[channel]) / std[channel];
            for (at, value) in made.iter().enumerate() {
                let channel = if layout == Layout::Nhwc { at % values.len() } else { at / 6 };
                assert_eq!(value.to_bits(), expected(channel).to_bits(), "{mode:?} {layout:?} {at}");
            }
        }
    }
}

#[test]
fn rule_68_what_does_not_take_alpha_is_refused_by_name() {
    let crop = json!({ "center_crop": { "size": 8 } });
    for (transforms, words) in [
        (json!([{ "color_jitter": { "brightness": 0.4 } }, crop]), "transform 0 (color_jitter): pictures of the mode"),
        (json!([{ "random_rotation": { "degrees": 9 } }, crop]), "transform 0 (random_rotation)"),
        (json!([crop, { "random_erasing": {} }]), "transform 1 (random_erasing)"),
        (json!([{ "random_apply": { "transforms": [{ "random_invert": {} }] } }, crop]), "random_invert: pictures of"),
        (json!([crop, { "python": { "function": "a:b" } }]), "transform 1 (python)"),
        (json!([{ "mosaic": { "size": 8 } }]), "transform 0 (mosaic)"),
        (json!([{ "pad_by": { "padding": 1, "fill": [1, 2, 3] } }, crop]), "fill must be one number or"),
        (json!([{ "random_crop": { "size": 8, "fill": [1, 2, 3] } }]), "fill must be one number or"),
    ] {
        for mode in MODES {
            let error = recipe(mode, &transforms).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        recipe(Mode::Rgb, &transforms).unwrap();
    }
    for mode in MODES {
        let normalize = json!([crop, { "normalize": { "mean": [0.5, 0.4, 0.3], "std": 1 } }]);
        let float = Output { dtype: Dtype::Float32, ..output(mode) };
        let error = Recipe::new(from_value(normalize).unwrap(), float).unwrap_err().to_string();
        let wanted = format!("one number each, or {}, with the mode \"{}\"", mode.channels(), mode.name());
        assert!(error.contains(&wanted), "{error}");
        let torch = recipe(mode, &json!([crop])).unwrap().with_match(Match::Torch).unwrap_err();
        assert_eq!(torch, RecipeError::NoTorchMode { mode: mode.name() });
        let keys = Map::from_iter([("size".to_owned(), 8.into()), ("mode".to_owned(), mode.name().into())]);
        assert_eq!(document::read(&keys, false).unwrap().output().mode, mode);
    }
    for (fill, mode) in [(json!([1, 2]), Mode::Rgb), (json!([1, 2, 3, 4]), Mode::Rgb), (json!([1, 2, 3, 4]), Mode::L)] {
        let error = recipe(mode, &json!([{ "pad_by": { "padding": 1, "fill": fill } }, crop])).unwrap_err();
        assert!(error.to_string().contains("fill must be one number"), "{error}");
        let rotation = json!([{ "random_rotation": { "degrees": 9, "fill": fill } }, crop]);
        assert!(recipe(Mode::Rgb, &rotation).unwrap_err().to_string().contains("must be one number or [red"));
    }
}

/// `value` x `alpha` / 255, to the nearest.
fn product(value: u8, alpha: u8) -> u8 {
    u8::try_from((u32::from(value) * u32::from(alpha) * 2 + 255) / 510).unwrap()
}

fn quotient(value: u8, alpha: u8) -> u8 {
    let value = u32::from(value);
    if alpha == 0 {
        u8::try_from(value).unwrap()
    } else {
        u8::try_from((value * 255 / u32::from(alpha)).min(255)).unwrap()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A resize of RGBA is that of the multiplied colours and of alpha, each as a picture of its own, and a division.
    #[test]
    fn rule_68_a_resize_works_on_colours_that_are_multiplied_by_alpha(
        (width, height) in (1_u32..40, 1_u32..40),
        (to_width, to_height) in (1_u32..60, 1_u32..60),
        filter in 1_usize..4,
        seed in any::<u64>(),
    ) {
        let draws = |at: u32, channel: u64| u8::try_from(Draw { seed, epoch: 0, record: u64::from(at) }.at(0).below(channel, 256)).unwrap();
        let pixel = |x: u32, y: u32| {
            let [r, g, b, a] = [0, 1, 2, 3].map(|channel| draws(y * width + x, channel));
            // Transparent and opaque pixels are as frequent as others.
            [r, g, b, match a { 0..64 => 0, 192.. => 255, a => a }]
        };
        let seen = written(RgbaImage::from_fn(width, height, |x, y| Rgba(pixel(x, y))), ImageFormat::Png);
        let multiplied = RgbImage::from_fn(width, height, |x, y| {
            let [r, g, b, a] = pixel(x, y);
            Rgb([r, g, b].map(|value| product(value, a)))
        });
        let alpha = RgbImage::from_fn(width, height, |x, y| Rgb([pixel(x, y)[3]; 3]));
        let resize = json!([{ "resize": { "size": [to_height, to_width], "interpolation": FILTERS[filter] } }]);
        let made = through(Mode::Rgba, &resize, &seen);
        prop_assume!((width, height) != (to_width, to_height));
        let [colours, alpha] = [multiplied, alpha].map(|part| through(Mode::Rgb, &resize, &written(part, ImageFormat::Png)));
        for ((made, colour), alpha) in made.chunks(4).zip(colours.chunks(3)).zip(alpha.chunks(3)) {
            let alpha = alpha[0];
            let expected = [quotient(colour[0], alpha), quotient(colour[1], alpha), quotient(colour[2], alpha), alpha];
            prop_assert_eq!(made, &expected[..]);
        }
    }
}
