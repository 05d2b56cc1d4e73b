//! What is said of files that Pillow writes: formats that are not decoded are named, and what is beside the first picture is
//! counted. Needs a Python with Pillow: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they skip"
)]

#[path = "shared/with_pillow.rs"]
mod with_pillow;

use std::process::Command;

use forebay_pixels::{CpuDecoder, Fault, Further, FurtherKind, Limits, Mode, probe};
use with_pillow::with_pillow;

const WRITE: &str = r#"
import os, sys
from PIL import Image, features

os.chdir(sys.argv[1])


def save(name, mode="RGB", count=1, **settings):
    # A picture keeps the settings of the format that it was saved in last, so each file has its own.
    frames = [Image.new("RGB", (24, 16), (60 * n, 255 - 60 * n, 40 * n)).convert(mode) for n in range(count)]
    several = dict(save_all=True, append_images=frames[1:]) if count > 1 else {}
    frames[0].save(name, **several, **settings)


for name in ("frames.gif", "frames.png", "pictures.mpo", "pages.tif"):
    save(name, count=4)
save("frames.webp", count=4, lossless=True)
for name in ("one.tif", "one.png", "x.pdf", "x.dds", "x.pcx", "x.sgi", "x.eps"):
    save(name)
save("x.ico", sizes=[(16, 16)])
save("big.tif", big_tiff=True)
for name, mode in (("ycbcr", "YCbCr"), ("lab", "LAB"), ("floats", "F"), ("integers", "I")):
    save(f"{name}.tif", mode)
if features.check("libtiff"):
    save("jpeg.tif", "YCbCr", compression="jpeg")
    save("lzma.tif", compression="lzma")
if features.check("avif"):
    save("x.avif")
if features.check("jpg_2000"):
    save("x.jp2")
    save("x.j2k")
"#;

#[test]
fn files_of_pillow_are_read_from_their_first_picture_or_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let Some(python) = with_pillow() else { return };
    assert!(Command::new(&python).args(["-c", WRITE]).arg(folder.path()).status().unwrap().success());
    let read = |name: &str| std::fs::read(folder.path().join(name)).ok();
    let mut decoder = CpuDecoder::new();
    for (name, further) in [
        ("frames.gif", Some((FurtherKind::Frames, 3))),
        ("frames.png", Some((FurtherKind::Frames, 3))),
        ("frames.webp", Some((FurtherKind::Frames, 3))),
        ("pictures.mpo", Some((FurtherKind::Pictures, 3))),
        ("pages.tif", Some((FurtherKind::Pages, 3))),
        ("one.tif", None),
        ("one.png", None),
    ] {
        let bytes = read(name).unwrap();
        assert_eq!(
            Further::of(&bytes, Mode::Rgb, &Limits::default()).first().map(|found| (found.kind, found.count)),
            further,
            "{name}"
        );
        let picture = decoder.whole(&bytes, &Limits::default()).unwrap();
        assert_eq!((picture.width, picture.height), (24, 16), "{name}");
    }
    for (name, word) in [
        ("big.tif", "BigTIFF"),
        ("ycbcr.tif", "TIFF in YCbCr, 3 bands of 8 bits"),
        ("jpeg.tif", "TIFF in YCbCr, 3 bands of 8 bits, compressed with JPEG"),
        ("lab.tif", "TIFF in L*a*b*, 3 bands of 8 bits"),
        ("floats.tif", "TIFF in gray, 1 band of 32 bits floating-point"),
        ("integers.tif", "TIFF in gray, 1 band of 32 bits signed"),
        ("x.pdf", "PDF"),
        ("x.ico", "icon"),
        ("x.dds", "DDS"),
        ("x.pcx", "PCX"),
        ("x.sgi", "SGI"),
        ("x.eps", "PostScript"),
        ("x.jp2", "JPEG 2000"),
        ("x.j2k", "JPEG 2000"),
    ] {
        let Some(bytes) = read(name) else { continue };
        let expected = Fault::Unsupported { kind: word.to_owned() };
        assert_eq!(probe(&bytes).map(|_| ()), Err(expected.clone()), "{name}");
        assert_eq!(decoder.whole(&bytes, &Limits::default()).map(|_| ()), Err(expected), "{name}");
    }
    // Whether it can be decompressed is known only when it is.
    if let Some(bytes) = read("lzma.tif") {
        let kind = "TIFF in RGB, 3 bands of 8 bits, compressed with LZMA".to_owned();
        assert_eq!(decoder.whole(&bytes, &Limits::default()).map(|_| ()), Err(Fault::Unsupported { kind }));
    }
}
