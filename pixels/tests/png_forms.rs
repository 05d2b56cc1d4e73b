//! PNG in every form: depths, interlacing, palettes, transparency of palettes and of single colours, and gamma. Each has Pillow's
//! pixels, with what is transparent laid on the background. A key has the depth of the file, as the format says; Pillow compares it
//! with values of 8 bits. Needs a Python with Pillow: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they skip"
)]

#[path = "shared/with_pillow.rs"]
mod with_pillow;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use forebay_pixels::{Background, CpuDecoder, Form, Limits};
use with_pillow::with_pillow;

/// The encoders that there are write no interlaced files, and no gamma.
const WRITE: &str = r#"
import os, random, struct, sys, zlib
from PIL import Image

os.chdir(sys.argv[1])
draw = random.Random(5)
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def packed(values, depth):
    """The values of a row as bytes."""
    if depth == 16:
        return b"".join(struct.pack(">H", value) for value in values)
    bits = "".join(format(value, f"0{depth}b") for value in values)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8))


def png(size, kind, depth, interlaced, before=b""):
    wide, high = size
    most = min((1 << depth) - 1, 15 if kind == 3 else 65535)
    # Few values, so that single colours come often.
    values = [draw.randint(0, most) for _ in range(5)]
    pixels = [[[draw.choice(values) for _ in range(CHANNELS[kind])] for _ in range(wide)] for _ in range(high)]
    data = b""
    for left, top, right, down in PASSES if interlaced else [(0, 0, 1, 1)]:
        for row in pixels[top::down]:
            part = row[left::right]
            if part:
                data += b"\0" + packed([value for pixel in part for value in pixel], depth)
    head = struct.pack(">IIBBBBB", wide, high, depth, kind, 0, 0, int(interlaced))
    if callable(before):
        before = before(pixels)
    half = zlib.compress(data)
    body = chunk(b"IDAT", half[: len(half) // 2]) + chunk(b"IDAT", half[len(half) // 2 :])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + before + body + chunk(b"IEND", b""), pixels


def over(pixel, background):
    *colour, alpha = pixel
    return [(value * alpha + under * (255 - alpha) + 127) // 255 for value, under in zip(colour, background)]


def keyed(pixel, key, depth):
    value = [value >> 8 if depth == 16 else value * 255 // ((1 << depth) - 1) for value in pixel]
    return bytes([10, 20, 30] if pixel == key else value * (3 // len(value)))


palette = chunk(b"PLTE", bytes(draw.randrange(256) for _ in range(48)))
clear = chunk(b"tRNS", bytes([0, 255, 100, 7, 200]))
gamma = chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"cHRM", struct.pack(">8I", *[30000] * 8))
key = lambda pixels: chunk(b"tRNS", b"".join(struct.pack(">H", value) for value in pixels[0][0]))
files, by_the_key = {}, {}
for size in ((21, 13), (3, 2), (1, 1), (8, 9)):
    for interlaced in (False, True):
        for kind, depth in [(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8),
                            (4, 8), (4, 16), (6, 8), (6, 16)]:
            name = f"{size[0]}x{size[1]}-{kind}-{depth}{'-interlaced' * interlaced}"
            before = palette if kind == 3 else b""
            files[name], _ = png(size, kind, depth, interlaced, before)
            if kind == 3:
                files[name + "-clear"], _ = png(size, kind, depth, interlaced, palette + clear)
            if kind in (0, 2):
                files[name + "-key"], pixels = png(size, kind, depth, interlaced, key)
                # Pillow compares the key with values of 8 bits, whatever depth they had.
                if depth in (2, 4, 16):
                    by_the_key[name + "-key"] = b"".join(keyed(pixel, pixels[0][0], depth) for row in pixels for pixel in row)
            files[name + "-gamma"], _ = png(size, kind, depth, interlaced, gamma + before)
for name, data in files.items():
    open(name + ".png", "wb").write(data)
    image = Image.open(name + ".png")
    image.load()
    if image.mode.startswith("I"):
        # The upper byte, where Pillow clips.
        image = Image.frombytes("L", image.size, bytes(min(value >> 8, 255) for value in image.get_flattened_data()))
    if image.mode in ("LA", "RGBA", "PA") or "transparency" in image.info:
        pixels = [over(pixel, (10, 20, 30)) for pixel in image.convert("RGBA").get_flattened_data()]
        rgb = bytes(value for pixel in pixels for value in pixel)
    else:
        rgb = image.convert("RGB").tobytes()
    open(name + ".rgb", "wb").write(by_the_key.get(name, rgb))
"#;

fn run(python: &str, folder: &Path) {
    assert!(Command::new(python).args(["-c", WRITE]).arg(folder).status().unwrap().success());
}

#[test]
fn every_form_of_png_has_the_pixels_of_pillow_on_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let Some(python) = with_pillow() else { return };
    run(&python, folder.path());
    let form = Form { background: Background::Colour([10, 20, 30]), ..Form::default() };
    let mut decoder = CpuDecoder::new();
    let mut different = BTreeMap::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "png") {
            count += 1;
            let expected = std::fs::read(path.with_extension("rgb")).unwrap();
            let found = decoder.upright(&std::fs::read(&path).unwrap(), form, &Limits::default());
            let found = found.map(|(picture, _)| picture.pixels().to_vec());
            if found.as_ref() != Ok(&expected) {
                let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                different.insert(name, found.map(|found| found.iter().zip(&expected).filter(|(a, b)| a != b).count()));
            }
        }
    }
    assert!(count > 300, "{count} files");
    assert!(different.is_empty(), "{} of {count} differ: {different:?}", different.len());
}
