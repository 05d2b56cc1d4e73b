//! TIFF in every form that one library or another writes: strips and tiles, planes, deflate with and without differences, 8 and 16
//! bits, inks, further bands, floats. Each has the pixels that were put into it, in Pillow's colours, or is refused by its name. Needs
//! a Python with Pillow: `FOREBAY_PYTHON`, else `python3`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at what should not be, and print what they skip"
)]

#[path = "shared/with_pillow.rs"]
mod with_pillow;

use std::collections::BTreeMap;
use std::process::Command;

use forebay_pixels::{CpuDecoder, Fault, Limits, probe};
use with_pillow::with_pillow;

/// `name.tif`, and `name.true` with its pixels as RGB of 8 bits.
const WRITE: &str = r#"
import os, random, struct, sys, zlib
from PIL import Image

os.chdir(sys.argv[1])
draw = random.Random(9)
WIDE, HIGH = 37, 29
CODES = {"B": 1, "H": 3, "I": 4}


def tiff(order, fields, parts, tags):
    """Data of strips or tiles, and a directory of fields: tag, kind, values."""
    data, places = (b"II*\0" if order == "<" else b"MM\0*") + b"\0\0\0\0", []
    for part in parts:
        places.append(len(data))
        data += part + b"\0" * (len(part) % 2)
    fields = fields + [(tags[0], "I", places), (tags[1], "I", [len(part) for part in parts])]
    entries = struct.pack(order + "H", len(fields))
    for tag, kind, values in sorted(fields):
        packed = struct.pack(f"{order}{len(values)}{kind}", *values)
        if len(packed) > 4:
            packed, at = struct.pack(order + "I", len(data)), packed
            data += at + b"\0" * (len(at) % 2)
        entries += struct.pack(order + "HHI", tag, CODES[kind], len(values)) + packed.ljust(4, b"\0")
    data = data[:4] + struct.pack(order + "I", len(data)) + data[8:]
    return data + entries + b"\0\0\0\0"


def coded(rows, order, bits, predictor, packs):
    """Rows of pixels as the data of a strip or a tile."""
    out = b""
    most = (1 << bits) - 1
    for row in rows:
        if predictor:
            row = [row[0]] + [[(a - b) & most for a, b in zip(*two)] for two in zip(row[1:], row)]
        values = [value for pixel in row for value in pixel]
        out += struct.pack(f"{order}{len(values)}{'B' if bits == 8 else 'H'}", *values)
    return zlib.compress(out) if packs else out


def form(order, bands, bits, kind, planar, tile, packs, predictor, extra=()):
    most = (1 << bits) - 1
    pixels = [[[draw.randint(0, most) for _ in range(bands)] for _ in range(WIDE)] for _ in range(HIGH)]
    planes = [[[[pixel[band]] for pixel in row] for row in pixels] for band in range(bands)] if planar else [pixels]
    fields = [(256, "H", [WIDE]), (257, "H", [HIGH]), (258, "H", [bits] * bands), (259, "H", [8 if packs else 1]),
              (262, "H", [kind]), (277, "H", [bands]), (284, "H", [2 if planar else 1])]
    fields += [(317, "H", [2])] if predictor else []
    fields += [(338, "H", list(extra))] if extra else []
    # Without a compression, nothing is made into differences, whatever the field says.
    differs = predictor and packs
    parts = []
    for plane in planes:
        if tile:
            blank = [[0] * len(plane[0][0])]
            for top in range(0, HIGH, tile):
                for left in range(0, WIDE, tile):
                    rows = [row[left : left + tile] for row in plane[top : top + tile]]
                    rows = [row + blank * (tile - len(row)) for row in rows]
                    rows += [blank * tile] * (tile - len(rows))
                    parts.append(coded(rows, order, bits, differs, packs))
        else:
            for top in range(0, HIGH, 10):
                parts.append(coded(plane[top : top + 10], order, bits, differs, packs))
    if tile:
        fields += [(322, "H", [tile]), (323, "H", [tile])]
    else:
        fields += [(278, "H", [10])]
    return tiff(order, fields, parts, (324, 325) if tile else (273, 279)), pixels


def truth(kind, bits, pixels, has_alpha):
    """The pixels in 8 bits over black."""
    flat = [[value >> (bits - 8) for value in pixel] for row in pixels for pixel in row]
    if kind < 2:
        return b"".join(bytes([255 - value if kind == 0 else value] * 3) for value, *_ in flat)
    if kind == 5:
        inks = bytes(value for pixel in flat for value in pixel[:4])
        return Image.frombytes("CMYK", (WIDE, HIGH), inks).convert("RGB").tobytes()
    return bytes((v * p[3] + 127) // 255 if has_alpha else v for p in flat for v in p[:3])


files = {}
for order in "<>":
    for planar in (0, 1):
        for tile in (0, 16):
            for packs, predictor in ((0, 0), (0, 1), (1, 0), (1, 1)):
                for bits in (8, 16):
                    for name, bands, kind, extra in (
                        ("gray", 1, 1, ()), ("white", 1, 0, ()), ("rgb", 3, 2, ()), ("rgba", 4, 2, (2,)),
                        ("rgbx", 4, 2, (0,)), ("five", 5, 2, (0, 0)), ("inks", 4, 5, ()), ("six", 6, 5, (0, 0)),
                        ("ycbcr", 3, 6, ()), ("lab", 3, 8, ()), ("la", 2, 1, (2,)),
                    ):
                        if planar and bands == 1:
                            continue
                        words = [name, str(bits), "tiles" if tile else "strips", "planar" * planar, "deflate" * packs,
                                 "differences" * predictor, "little" if order == "<" else "big"]
                        name = "-".join(word for word in words if word)
                        files[name], pixels = form(order, bands, bits, kind, planar, tile, packs, predictor, extra)
                        if kind not in (6, 8) and bands != 2:
                            open(name + ".true", "wb").write(truth(kind, bits, pixels, extra == (2,)))
for name, data in files.items():
    open(name + ".tif", "wb").write(data)
for name, mode in (("float", "F"), ("signed", "I")):
    Image.new(mode, (9, 7), 3).save(name + ".tif")
"#;

#[test]
fn every_form_of_tiff_has_its_pixels_or_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let Some(python) = with_pillow() else { return };
    assert!(Command::new(&python).args(["-c", WRITE]).arg(folder.path()).status().unwrap().success());
    let mut decoder = CpuDecoder::new();
    let (mut equal, mut refused, mut wrong) = (0, BTreeMap::new(), Vec::new());
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "tif") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        match (decoder.whole(&bytes, &Limits::default()), std::fs::read(path.with_extension("true"))) {
            (Ok(picture), Ok(pixels)) if picture.rgb == pixels => equal += 1,
            (Err(fault @ Fault::Unsupported { .. }), _) => {
                assert_eq!(probe(&bytes).unwrap_err(), fault, "{name} is refused before it is decoded");
                assert!(fault.to_string().contains("(TIFF "), "{name}: {fault}");
                *refused.entry(name.split('-').next().unwrap().to_owned()).or_insert(0) += 1;
            }
            (made, _) => wrong.push(format!("{name}: {:?}", made.map(|_| "other pixels"))),
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{wrong:#?}");
    println!("{equal} have their pixels; refused: {refused:?}");
    assert!(equal > 120, "{equal} have their pixels");
    for name in ["float", "signed", "lab", "ycbcr", "la", "five", "six", "inks"] {
        assert!(refused.contains_key(name), "{name}: {refused:?}");
    }
    assert!(!refused.contains_key("gray") && !refused.contains_key("white"), "{refused:?}");
}
