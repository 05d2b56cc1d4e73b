//! `page = N`: each page of a TIFF has Pillow's pixels, with its own size and form, and a page that is not there is refused with the
//! number of pages. Needs a Python with Pillow: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they skip"
)]

#[path = "shared/with_pillow.rs"]
mod with_pillow;

use std::path::Path;
use std::process::Command;

use forebay_pixels::sample::photograph;
use forebay_pixels::{CpuDecoder, Draw, Fault, Form, Input, Limits, Output, Recipe, Transform, probe_page};
use serde_json::{from_value, json};
use with_pillow::with_pillow;

/// `pages.tif`, `N.rgb` with the pixels of its page N, and their widths and heights on stdout.
const WRITE: &str = r#"
import os, sys
from PIL import Image

os.chdir(sys.argv[1])
ramp = Image.linear_gradient("L")
photo = Image.merge("RGB", (ramp, ramp.rotate(90), ramp.rotate(180)))
pages = [
    photo.resize((20, 12)),
    ramp.resize((31, 17)),
    photo.resize((9, 40)).quantize(30),
    photo.resize((25, 25)).convert("CMYK"),
]
pages[0].save("pages.tif", save_all=True, append_images=pages[1:])
with Image.open("pages.tif") as file:
    for number in range(file.n_frames):
        file.seek(number)
        made = file.convert("RGB")
        open(f"{number}.rgb", "wb").write(made.tobytes())
        print(*made.size)
"#;

/// Width and height of a page, and its pixels.
type Page = ((u32, u32), Vec<u8>);

/// The pages as Pillow has them.
fn pages(folder: &Path) -> Option<Vec<Page>> {
    let python = with_pillow()?;
    let said = Command::new(&python).args(["-c", WRITE]).arg(folder).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let sizes = String::from_utf8(said.stdout).unwrap();
    let page = |(number, line): (usize, &str)| {
        let (width, height) = line.split_once(' ').unwrap();
        let pixels = std::fs::read(folder.join(format!("{number}.rgb"))).unwrap();
        ((width.parse().unwrap(), height.parse().unwrap()), pixels)
    };
    Some(sizes.lines().enumerate().map(page).collect())
}

fn recipe((width, height): (u32, u32), page: u32) -> Recipe {
    let list: Vec<Transform> = from_value(json!([{ "center_crop": { "size": [height, width] } }])).unwrap();
    Recipe::new(list, Output::default()).unwrap().with_input(Input { page, ..Input::default() }).unwrap()
}

#[test]
fn each_page_of_a_tiff_is_pillow_s() {
    let folder = tempfile::tempdir().unwrap();
    let Some(pages) = pages(folder.path()) else { return };
    let file = std::fs::read(folder.path().join("pages.tif")).unwrap();
    assert_eq!(pages.len(), 4);
    let (mut decoder, limits, draw) = (CpuDecoder::new(), Limits::default(), Draw { seed: 0, epoch: 0, record: 0 });
    for (page, (size, pixels)) in (0..).zip(&pages) {
        let found = probe_page(&file, page).unwrap();
        assert_eq!((found.width, found.height), *size, "page {page}");
        assert!(found.decode_bytes() >= pixels.len() as u64 + if page > 0 { file.len() as u64 } else { 0 });
        let recipe = recipe(*size, page);
        let mut out = vec![0; recipe.place_len()];
        decoder.decode(&file, &recipe, draw, &limits, &mut out).unwrap();
        assert!(out == *pixels, "page {page}");
        let (kept, _) = decoder.upright(&file, Form { page, ..Form::default() }, &limits).unwrap();
        assert!(kept.pixels() == pixels, "page {page}, kept");
    }
    let fault = Fault::NoPage { page: 4, pages: 4 };
    assert_eq!(probe_page(&file, 4), Err(fault.clone()));
    let (recipe, mut out) = (recipe((8, 8), 4), vec![0; 192]);
    assert_eq!(decoder.decode(&file, &recipe, draw, &limits, &mut out).unwrap_err(), fault);
    assert!(fault.to_string().contains("no page 4, counted from 0: it has 4."), "{fault}");
}

#[test]
fn a_file_of_another_format_has_only_page_0() {
    let (file, fault) = (photograph(1, 16, 16), Fault::NoPage { page: 1, pages: 1 });
    let (recipe, mut out) = (recipe((8, 8), 1), vec![0; 192]);
    let draw = Draw { seed: 0, epoch: 0, record: 0 };
    for bytes in [&file[..], b"P5 1 1 255 x"] {
        assert_eq!(probe_page(bytes, 1), Err(fault.clone()));
        let made = CpuDecoder::new().decode(bytes, &recipe, draw, &Limits::default(), &mut out);
        assert_eq!(made.unwrap_err(), fault);
    }
}
