//! Metadata of all formats: however long it is, it takes no memory that is not counted, and changes no pixel.
#![allow(unsafe_code, reason = "counts what passes by on the way to the system's allocator")]
#![allow(clippy::unwrap_used, reason = "tests stop at what should not be")]

#[path = "shared/counting.rs"]
mod counting;
#[path = "shared/tiff.rs"]
mod tiff;

use std::io::{Cursor, Write};

use counting::{FIXED, most};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_pixels::{CpuDecoder, Draw, Fault, Limits, Recipe, probe};
use image::{DynamicImage, ImageFormat, RgbImage};
use png::text_metadata::{ITXtChunk, TEXtChunk, ZTXtChunk};
use tiff::{STRIPS, fields, tiff};

const DRAW: Draw = Draw { seed: 1, epoch: 0, record: 0 };

/// Every picture here.
const SIDES: (u32, u32) = (31, 17);

fn pixels() -> Vec<u8> {
    photograph_rgb(3, SIDES.0, SIDES.1)
}

fn stored(format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let rgb = RgbImage::from_raw(SIDES.0, SIDES.1, pixels()).unwrap();
    DynamicImage::ImageRgb8(rgb).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// A PNG of which more is told than its pixels.
fn png_with(tell: impl FnOnce(&mut png::Info<'_>)) -> Vec<u8> {
    let mut info = png::Info::with_size(SIDES.0, SIDES.1);
    (info.color_type, info.bit_depth) = (png::ColorType::Rgb, png::BitDepth::Eight);
    tell(&mut info);
    let mut bytes = Vec::new();
    let mut writer = png::Encoder::with_info(&mut bytes, info).unwrap().write_header().unwrap();
    writer.write_image_data(&pixels()).unwrap();
    writer.finish().unwrap();
    bytes
}

/// A GIF with this behind its header, and the picture behind that.
fn gif_with(block: &[u8]) -> Vec<u8> {
    let gif = stored(ImageFormat::Gif);
    let colours = if gif[10] & 0x80 == 0 { 0 } else { 3 << ((gif[10] & 7) + 1) };
    [&gif[..13 + colours], block, &gif[13 + colours..]].concat()
}

/// A WebP with chunks before and behind its pixels.
fn webp_with(before: &[(&[u8; 4], &[u8])], behind: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let chunk = |(name, data): &(&[u8; 4], &[u8])| {
        let len = u32::try_from(data.len()).unwrap().to_le_bytes();
        [&name[..], &len, data, &vec![0; data.len() % 2]].concat()
    };
    let chunks = |list: &[(&[u8; 4], &[u8])]| list.iter().flat_map(chunk).collect::<Vec<_>>();
    let side = |side: u32| (side - 1).to_le_bytes();
    let has = |name: &[u8; 4]| before.iter().chain(behind).any(|chunk| chunk.0 == name);
    let flags = [(b"ICCP", 0x20), (b"EXIF", 8), (b"XMP ", 4)].map(|(name, flag)| if has(name) { flag } else { 0_u8 });
    let header = [&[flags.iter().sum::<u8>(), 0, 0, 0][..], &side(SIDES.0)[..3], &side(SIDES.1)[..3]].concat();
    let picture = &stored(ImageFormat::WebP)[12..];
    let body = [b"WEBP", &chunk(&(b"VP8X", &header))[..], &chunks(before), picture, &chunks(behind)].concat();
    [b"RIFF", &u32::try_from(body.len()).unwrap().to_le_bytes()[..], &body].concat()
}

/// A TIFF with further fields of bytes.
fn tiff_with(more: &[(u16, u16, Vec<u8>)]) -> Vec<u8> {
    let [width, height] = [SIDES.0, SIDES.1].map(|side| u16::try_from(side).unwrap());
    let more = more.iter().map(|(tag, kind, data)| (*tag, *kind, u32::try_from(data.len()).unwrap(), data.clone()));
    let all: Vec<_> = fields(width, height, &[8; 3], 2).into_iter().chain(more).collect();
    tiff(&[pixels()], STRIPS, &all)
}

/// A BMP of version 5 with a profile of this length between its head and its pixels.
fn bmp_with(profile: usize) -> Vec<u8> {
    let (width, height) = (SIDES.0 as usize, SIDES.1 as usize);
    let row = (width * 3).next_multiple_of(4);
    let long = |value: usize| u32::try_from(value).unwrap().to_le_bytes();
    let at = 14 + 124 + profile;
    let mut bytes = [&b"BM"[..], &long(at + row * height), &[0; 4], &long(at)].concat();
    bytes.extend([&long(124)[..], &long(width), &long(height), &[1, 0, 24, 0], &[0; 36], b"DEBM"].concat());
    bytes.resize(14 + 124 - 12, 0);
    bytes.extend([long(124), long(profile), [0; 4]].concat());
    bytes.resize(at, b'i');
    for line in pixels().chunks_exact(width * 3).rev() {
        bytes.extend(line.chunks_exact(3).flat_map(|rgb| [rgb[2], rgb[1], rgb[0]]));
        bytes.resize(bytes.len() + row - width * 3, 0);
    }
    bytes
}

fn pnm_with(comment: &[u8]) -> Vec<u8> {
    [b"P6\n", comment, b"31 17\n255\n", &pixels()].concat()
}

/// A JPEG with these segments behind its start.
fn jpeg_with(segments: &[u8]) -> Vec<u8> {
    let jpeg = JpegForm::default().encode(&pixels(), SIDES.0, SIDES.1).unwrap();
    [&jpeg[..2], segments, &jpeg[2..]].concat()
}

fn segment(code: u8, head: &[u8], len: usize) -> Vec<u8> {
    let length = u16::try_from(2 + head.len() + len).unwrap().to_be_bytes();
    [&[0xFF, code][..], &length, head, &vec![b'x'; len]].concat()
}

/// Packed to a thousandth.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// By format: the plain picture, and the same with metadata of many megabytes.
fn files() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let zeros = vec![0; 40 << 20];
    let text = || "x".repeat(9 << 20);
    let exif = [&b"II*\0\x08\0\0\0"[..], &zeros[..3 << 20]].concat();
    let digits = format!("\nexif\n{}\n{}", 4 << 20, "4d".repeat(4 << 20));
    let sub_blocks = [&[255_u8][..], &[32; 255]].concat().repeat(20_000);
    let extension = |name: &[u8; 11]| [&[0x21, 0xff, 11][..], name, &sub_blocks, &[0]].concat();
    let png = [
        ("a profile in a PNG", png_with(|info| info.icc_profile = Some(zeros.clone().into()))),
        ("a compressed text", png_with(|info| info.compressed_latin1_text.push(ZTXtChunk::new("Comment", text())))),
        ("a long text", png_with(|info| info.uncompressed_latin1_text.push(TEXtChunk::new("Comment", text())))),
        (
            "an international text",
            png_with(|info| {
                let mut chunk = ITXtChunk::new("XML:com.adobe.xmp", text());
                chunk.compressed = true;
                info.utf8_text.push(chunk);
            }),
        ),
        (
            "EXIF in a compressed text",
            png_with(|info| info.compressed_latin1_text.push(ZTXtChunk::new("Raw profile type exif", digits.clone()))),
        ),
        (
            "EXIF in a text",
            png_with(|info| {
                info.uncompressed_latin1_text.push(TEXtChunk::new("Raw profile type exif", digits.clone()));
            }),
        ),
        ("many texts", png_with(|info| info.uncompressed_latin1_text = vec![TEXtChunk::new("key", "value"); 100_000])),
        ("long EXIF in a PNG", png_with(|info| info.exif_metadata = Some(exif.clone().into()))),
    ];
    let gif = [
        ("a profile in a GIF", gif_with(&extension(b"ICCRGBG1012"))),
        ("a text in a GIF", gif_with(&extension(b"XMP DataXMP"))),
        ("a comment in a GIF", gif_with(&[&[0x21, 0xfe][..], &sub_blocks, &[0]].concat())),
    ];
    let some = &zeros[..5 << 20];
    let webp = [
        ("a profile in a WebP", webp_with(&[(b"ICCP", some)], &[])),
        ("a packed profile in a WebP", webp_with(&[(b"ICCP", &packed(&zeros))], &[])),
        ("EXIF in a WebP", webp_with(&[], &[(b"EXIF", &exif)])),
        ("XMP in a WebP", webp_with(&[], &[(b"XMP ", some)])),
        ("many chunks in a WebP", webp_with(&[], &vec![(b"junk", &zeros[..3]); 100_000])),
    ];
    let tiff = [
        ("a profile in a TIFF", tiff_with(&[(34675, 7, some.to_vec())])),
        ("XMP in a TIFF", tiff_with(&[(700, 1, some.to_vec())])),
        ("a comment in a TIFF", tiff_with(&[(270, 2, some.to_vec())])),
        ("many fields in a TIFF", tiff_with(&(60_000..65_000).map(|tag| (tag, 7, vec![1; 900])).collect::<Vec<_>>())),
    ];
    let comments = b"#yy\n".repeat(1 << 20);
    let long = [b"#", &text().into_bytes()[..], b"\n"].concat();
    let pnm = [("a comment in a PPM", pnm_with(&long)), ("many comments in a PPM", pnm_with(&comments))];
    let first = segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0", 60_000);
    let jpeg = [
        ("EXIF in many parts", [first, segment(0xE1, b"Exif\0\0", 60_000).repeat(80)].concat()),
        ("XMP in many parts", segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0", 60_000).repeat(80)),
        ("a profile in many parts", segment(0xE2, b"ICC_PROFILE\0\x01\x50", 60_000).repeat(80)),
        ("comments in a JPEG", segment(0xFE, b"", 65_000).repeat(80)),
    ];
    let each = |plain: Vec<u8>, list: Vec<(&'static str, Vec<u8>)>| {
        list.into_iter().map(move |(name, bytes)| (name, plain.clone(), bytes))
    };
    each(png_with(|_| {}), png.to_vec())
        .chain(each(gif_with(&[]), gif.to_vec()))
        .chain(each(stored(ImageFormat::WebP), webp.to_vec()))
        .chain(each(tiff_with(&[]), tiff.to_vec()))
        .chain(each(bmp_with(0), vec![("a profile in a BMP", bmp_with(5 << 20))]))
        .chain(each(pnm_with(b""), pnm.to_vec()))
        .chain(each(jpeg_with(&[]), jpeg.map(|(name, segments)| (name, jpeg_with(&segments))).to_vec()))
        .collect()
}

#[test]
fn rule_31_metadata_takes_no_memory_beside_what_is_counted_and_changes_no_pixel() {
    let recipe = Recipe::evaluation(8).unwrap();
    for (name, plain, bytes) in &files() {
        let mut place = vec![0; recipe.place_len()];
        let (probed, of_probe) = most(|| probe(bytes));
        let (mut decoder, probed) = (CpuDecoder::new(), probed.unwrap());
        let counted = decoder.memory().decode_bytes(&probed, &recipe, DRAW, &Limits::default());
        let (made, taken) = most(|| decoder.decode(bytes, &recipe, DRAW, &Limits::default(), &mut place));
        made.unwrap();
        assert!(taken <= counted + FIXED, "{name}: {taken} bytes, of which {counted} are counted");
        assert!(of_probe <= counted + FIXED, "{name}: {of_probe} bytes to look at it, and {counted} are counted");
        assert!(counted <= 3 * bytes.len() as u64 + FIXED, "{name}: {counted} bytes of {}", bytes.len());
        let mut expected = vec![0; recipe.place_len()];
        decoder.decode(plain, &recipe, DRAW, &Limits::default(), &mut expected).unwrap();
        assert_eq!(place, expected, "{name}");
    }
}

/// What a TIFF says of lengths and places is not believed.
#[test]
fn rule_31_fields_that_claim_gigabytes_take_no_memory() {
    for tag in [258, 270, 273, 274, 279, 320, 338, 339, 347, 700, 34675] {
        for (kind, count) in [(1, u32::MAX), (3, u32::MAX / 2), (4, 1 << 30), (12, 1 << 28), (2, 3_000_000_000)] {
            let mut bytes = tiff_with(&[(tag, 4, vec![8; 12])]);
            let directory = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
            let wanted = [u16::to_le_bytes(tag), u16::to_le_bytes(4)].concat();
            let entry = directory + bytes[directory..].windows(4).position(|found| found == wanted).unwrap();
            bytes[entry + 2..entry + 4].copy_from_slice(&u16::to_le_bytes(kind));
            bytes[entry + 4..entry + 8].copy_from_slice(&count.to_le_bytes());
            let (outcome, taken) =
                most(|| (probe(&bytes).map(drop), CpuDecoder::new().whole(&bytes, &Limits::default())));
            assert!(taken < 8 << 20, "tag {tag}, kind {kind}: {taken} bytes, {:?}", outcome.1.err());
        }
    }
}

#[test]
fn rule_31_a_picture_whose_metadata_is_cut_gives_a_verdict() {
    for (name, _, bytes) in files() {
        for part in 1..40 {
            let cut = &bytes[..bytes.len() / 40 * part];
            let (outcome, taken) = most(|| CpuDecoder::new().whole(cut, &Limits::default()).map(|_| ()));
            assert!(taken < 3 * bytes.len() as u64 + (8 << 20), "{name}: {taken} bytes");
            assert!(
                outcome.is_ok() || matches!(outcome, Err(Fault::Truncated | Fault::Corrupt { .. })),
                "{name}: {outcome:?}"
            );
        }
    }
}
