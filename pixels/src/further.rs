//! What a file has that is not in its pixels, which have a mode: further pages, frames, pictures and bands, alpha,
//! 16 bits, and a profile. They are counted by what the file says of itself, without decoding it.

use crate::cpu::avif::OpenAvif;
use crate::cpu::jpeg::segments::Segments;
use crate::cpu::jxl::{self, JxlColours, OpenJxl};
use crate::cpu::other::OpenOther;
use crate::cpu::webp::OpenWebp;
use crate::fault::Limits;
use crate::format::Format;
use crate::icc;
use crate::output::Mode;
use crate::tiff_tags::{FirstPage, further_pages};

/// Most frames that are counted. A file with more has this many.
const MOST: u64 = 1 << 20;

/// What a file has beside the first picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FurtherKind {
    /// Pages of a TIFF.
    Pages,
    /// Frames of a GIF, a WebP, a PNG or a JPEG XL.
    Frames,
    /// Pictures behind the first one of a JPEG (MPO), or beside the still picture of an AVIF.
    Pictures,
    /// Bands of a TIFF beyond the colour and its alpha.
    Bands,
    /// Alpha, which may be opaque everywhere. Without it in the mode, the picture is laid on the recipe's fill.
    Alpha,
    /// Values of 16 bits, of which the upper byte is taken.
    SixteenBits,
    /// An ICC profile that does not say that it is sRGB. Colours are taken as they are.
    Profile,
}

impl FurtherKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Pages, Self::Frames, Self::Pictures, Self::Bands, Self::Alpha, Self::SixteenBits, Self::Profile];

    /// Whether pictures of a mode have it.
    fn is_in(self, mode: Mode) -> bool {
        self == Self::Alpha && mode.has_alpha()
    }

    /// What they are called, in the plural.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Frames => "frames",
            Self::Pictures => "pictures",
            Self::Bands => "bands",
            Self::Alpha => "alpha channels",
            Self::SixteenBits => "pictures of 16 bits",
            Self::Profile => "ICC profiles other than sRGB",
        }
    }
}

/// What a file has that is left out: how many pages, frames, pictures or bands beyond those that are read, or what its pixels have
/// beyond those of the mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Further {
    /// What it is.
    pub kind: FurtherKind,
    /// How many; never 0.
    pub count: u64,
}

impl Further {
    /// What these bytes have that pictures of this mode leave out. Nothing if the bytes are no picture.
    ///
    /// ```
    /// use forebay_pixels::{Further, Limits, Mode};
    ///
    /// assert_eq!(Further::of(b"P5 1 1 255 x", Mode::Rgb, &Limits::default()), []);
    /// ```
    pub fn of(bytes: &[u8], mode: Mode, limits: &Limits) -> Vec<Self> {
        let Ok(format) = Format::of(bytes) else { return Vec::new() };
        let (has_alpha, has_16_bits) = depth(bytes, format, limits);
        let has_profile = match format {
            Format::Jxl => OpenJxl::open(bytes).is_ok_and(|open| match open.colours() {
                JxlColours::Srgb => false,
                JxlColours::Named => true,
                JxlColours::Profile(profile) => !icc::is_srgb(profile),
            }),
            Format::Avif => OpenAvif::open(bytes)
                .is_ok_and(|open| !open.profile().map_or_else(|| open.is_named_srgb(), icc::is_srgb)),
            _ => icc::profile(bytes, format).is_some_and(|profile| !icc::is_srgb(&profile)),
        };
        let of_pixels = [
            (FurtherKind::Alpha, has_alpha),
            (FurtherKind::SixteenBits, has_16_bits),
            (FurtherKind::Profile, has_profile),
        ];
        let of_pixels =
            of_pixels.into_iter().filter(|(kind, is_there)| *is_there && !kind.is_in(mode)).map(|(kind, _)| (kind, 1));
        let all = parts(bytes, format).into_iter().chain(of_pixels);
        all.map(|(kind, count)| Self { kind, count }).collect()
    }
}

/// Pages, frames, pictures or bands beyond those that are read.
fn parts(bytes: &[u8], format: Format) -> Option<(FurtherKind, u64)> {
    let (kind, count) = match format {
        Format::Tiff => match further_pages(bytes) {
            0 => (FurtherKind::Bands, FirstPage::of(bytes)?.further_bands()),
            pages => (FurtherKind::Pages, pages),
        },
        Format::Gif => (FurtherKind::Frames, gif_frames(bytes)?.saturating_sub(1)),
        Format::WebP => (FurtherKind::Frames, webp_frames(bytes).saturating_sub(1)),
        Format::Png => (FurtherKind::Frames, png_frames(bytes)),
        Format::Jpeg => (FurtherKind::Pictures, jpeg_pictures(bytes).unwrap_or(0).saturating_sub(1)),
        Format::Jxl => (FurtherKind::Frames, jxl::frames(bytes, MOST).saturating_sub(1)),
        Format::Avif => (FurtherKind::Pictures, OpenAvif::open(bytes).map_or(0, |open| open.further_pictures())),
        Format::Bmp | Format::Pnm => return None,
    };
    (count > 0).then_some((kind, count))
}

/// Whether a picture has alpha, and 16 bits.
fn depth(bytes: &[u8], format: Format, limits: &Limits) -> (bool, bool) {
    match format {
        Format::Jpeg => (false, false),
        Format::WebP => (OpenWebp::open(bytes).is_ok_and(|open| open.has_alpha()), false),
        Format::Jxl => OpenJxl::open(bytes).map_or((false, false), |open| open.depth()),
        Format::Avif => OpenAvif::open(bytes).map_or((false, false), |open| open.depth()),
        _ => OpenOther::open(bytes, format, 0, limits).map_or((false, false), |open| open.depth()),
    }
}

fn le16(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn be32(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?)).ok()
}

/// Bytes of the table of colours that flags announce.
fn gif_table(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The frames of a GIF (`GIF89a`, appendix B). What is cut counts as far as it begins.
fn gif_frames(bytes: &[u8]) -> Option<u64> {
    let mut at = 13 + gif_table(*bytes.get(10)?);
    let mut frames = 0;
    while frames < MOST {
        let blocks = match bytes.get(at) {
            Some(0x21) => at + 2,
            Some(0x2c) => {
                frames += 1;
                let Some(flags) = bytes.get(at + 9) else { break };
                at + 10 + gif_table(*flags) + 1
            }
            _ => break,
        };
        at = blocks;
        loop {
            match bytes.get(at) {
                None => return Some(frames),
                Some(0) => break,
                Some(len) => at += 1 + usize::from(*len),
            }
        }
        at += 1;
    }
    Some(frames)
}

/// The frames of an animated WebP: its ANMF chunks.
fn webp_frames(bytes: &[u8]) -> u64 {
    let (mut at, mut frames) = (12_usize, 0);
    while let Some(name) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        let len = bytes.get(at + 4..).and_then(|rest| rest.first_chunk()).map(|len| u32::from_le_bytes(*len));
        let Some(len) = len.and_then(|len| usize::try_from(len).ok()) else { break };
        frames += u64::from(name == b"ANMF");
        let Some(next) = len.checked_add(len & 1).and_then(|len| at.checked_add(8)?.checked_add(len)) else { break };
        at = next;
    }
    frames
}

/// The frames of a PNG beside the picture that every decoder shows. That one is the first frame if a control of a frame is
/// before it.
fn png_frames(bytes: &[u8]) -> u64 {
    let (mut at, mut frames, mut is_first) = (8_usize, 0_u64, false);
    while let Some((len, name)) = be32(bytes, at).zip(bytes.get(at + 4..).and_then(|rest| rest.first_chunk::<4>())) {
        match name {
            b"acTL" => frames = be32(bytes, at + 8).unwrap_or(0) as u64,
            b"fcTL" => is_first = true,
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
        let Some(next) = at.checked_add(12).and_then(|at| at.checked_add(len)) else { break };
        at = next;
    }
    frames.saturating_sub(u64::from(is_first)).min(MOST)
}

/// The pictures of a JPEG that says that it has several (CIPA DC-007).
fn jpeg_pictures(bytes: &[u8]) -> Option<u64> {
    let mut marked = Segments::before_scan(bytes).filter(|(kind, _)| *kind == 0xe2);
    pictures_of_index(marked.find_map(|(_, body)| body.strip_prefix(b"MPF\0"))?)
}

/// The field 0xB001 of the index, which has the form of a TIFF.
fn pictures_of_index(index: &[u8]) -> Option<u64> {
    const PICTURES: usize = 0xb001;
    let is_little = index.starts_with(b"II");
    let short = |at: usize| {
        if is_little {
            le16(index, at)
        } else {
            Some(usize::from(u16::from_be_bytes(*index.get(at..)?.first_chunk()?)))
        }
    };
    let long = |at: usize| {
        if is_little {
            usize::try_from(u32::from_le_bytes(*index.get(at..)?.first_chunk()?)).ok()
        } else {
            be32(index, at)
        }
    };
    let directory = long(4)?;
    let fields = short(directory)?;
    let field = (0..fields).map(|number| directory + 2 + 12 * number).find(|&at| short(at) == Some(PICTURES))?;
    Some((long(field + 8)? as u64).min(MOST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::photograph;
    use crate::tiff_tags::tests::tiff;

    fn count(bytes: &[u8]) -> Option<(FurtherKind, u64)> {
        parts(bytes, Format::of(bytes).unwrap())
    }

    fn kinds(bytes: &[u8]) -> Vec<FurtherKind> {
        Further::of(bytes, Mode::Rgb, &Limits::default()).iter().map(|further| further.kind).collect()
    }

    fn written(picture: impl Into<image::DynamicImage>, format: image::ImageFormat) -> Vec<u8> {
        let mut file = std::io::Cursor::new(Vec::new());
        picture.into().write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    fn gif(frames: usize) -> Vec<u8> {
        let frame = b"\x21\xf9\x04\0\0\0\0\0\x2c\0\0\0\0\x01\0\x01\0\x80\0\0\0\xff\xff\xff\x02\x02\x44\x01\0";
        [&b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff"[..], b"\x21\xfe\x02hi\0", &frame.repeat(frames), b"\x3b"]
            .concat()
    }

    fn png(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
        for (name, body) in chunks {
            bytes.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
            bytes.extend([&name[..], body, b"crc!"].concat());
        }
        bytes
    }

    fn webp(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"RIFF\xff\0\0\0WEBP".to_vec();
        for (name, body) in chunks {
            bytes.extend([&name[..], &u32::try_from(body.len()).unwrap().to_le_bytes(), body].concat());
            bytes.extend(vec![0; body.len() % 2]);
        }
        bytes
    }

    #[test]
    fn pages_frames_pictures_and_bands_beyond_what_is_read_are_counted() {
        let head = [0; 13];
        let frames = 5_u32.to_be_bytes();
        let animated = [&frames[..], &[0; 4]].concat();
        let page: &[_] = &[(256, 4, 1), (262, 3, 2), (277, 3, 3)];
        let bands: &[_] = &[(262, 3, 2), (277, 3, 6)];
        assert_eq!(count(&gif(1)), None);
        assert_eq!(count(&gif(7)), Some((FurtherKind::Frames, 6)));
        assert_eq!(count(&png(&[(b"IHDR", &head), (b"IDAT", b"x")])), None);
        let first = [(b"IHDR", &head[..]), (b"acTL", &animated), (b"fcTL", b"x"), (b"IDAT", b"x"), (b"fcTL", b"y")];
        assert_eq!(count(&png(&first)), Some((FurtherKind::Frames, 4)));
        let apart = [(b"IHDR", &head[..]), (b"acTL", &animated), (b"IDAT", b"x"), (b"fcTL", b"y")];
        assert_eq!(count(&png(&apart)), Some((FurtherKind::Frames, 5)), "the picture is none of the frames");
        assert_eq!(count(&webp(&[(b"VP8 ", b"x")])), None);
        let animation = [(b"VP8X", &b"x"[..]), (b"ANIM", b"six"), (b"ANMF", b"1"), (b"ANMF", b"22"), (b"ANMF", b"333")];
        assert_eq!(count(&webp(&animation)), Some((FurtherKind::Frames, 2)));
        assert_eq!(count(&tiff(true, &[page])), None);
        assert_eq!(count(&tiff(false, &[page, page, page])), Some((FurtherKind::Pages, 2)));
        assert_eq!(count(&tiff(true, &[bands])), Some((FurtherKind::Bands, 3)));
        assert_eq!(kinds(b"BM rest"), []);
    }

    #[test]
    fn a_jpeg_says_in_its_index_how_many_pictures_it_has() {
        let plain = photograph(0, 24, 16);
        assert_eq!(count(&plain), None);
        let little =
            b"MPF\0II*\0\x08\0\0\0\x02\0\0\xb0\x07\0\x04\0\0\0\x30100\x01\xb0\x04\0\x01\0\0\0\x03\0\0\0\0\0\0\0";
        let big = b"MPF\0MM\0*\0\0\0\x08\0\x01\xb0\x01\0\x04\0\0\0\x01\0\0\0\x02\0\0\0\0";
        for (index, pictures) in [(&little[..], 2), (&big[..], 1)] {
            let len = u16::try_from(index.len() + 2).unwrap().to_be_bytes();
            let whole = [&plain[..2], b"\xff\xe2", &len, index, &plain[2..]].concat();
            assert_eq!(count(&whole), Some((FurtherKind::Pictures, pictures)));
        }
    }

    #[test]
    fn alpha_and_16_bits_are_found_in_every_format_that_has_them() {
        use FurtherKind::{Alpha, SixteenBits};
        use image::ImageFormat::{Gif, Png, Pnm, Tiff, WebP};
        for (format, deep) in [(Png, true), (Tiff, true), (WebP, false)] {
            assert_eq!(kinds(&written(image::RgbImage::new(3, 2), format)), []);
            let seen = written(image::RgbaImage::new(3, 2), format);
            assert_eq!(kinds(&seen), [Alpha], "{format:?}");
            for mode in [Mode::La, Mode::Rgba] {
                assert_eq!(Further::of(&seen, mode, &Limits::default()), [], "the mode has it");
            }
            if deep {
                assert_eq!(kinds(&written(image::ImageBuffer::<image::Rgb<u16>, _>::new(3, 2), format)), [SixteenBits]);
                let both = image::ImageBuffer::<image::Rgba<u16>, _>::new(3, 2);
                assert_eq!(kinds(&written(both, format)), [Alpha, SixteenBits]);
            }
        }
        assert_eq!(kinds(&written(image::RgbaImage::new(3, 2), Gif)), [Alpha]);
        assert_eq!(kinds(&written(image::RgbaImage::from_pixel(3, 2, image::Rgba([7, 8, 9, 255])), Gif)), []);
        assert_eq!(kinds(&written(image::GrayImage::new(3, 2), Pnm)), []);
        assert_eq!(kinds(b"P5 1 2 1023\n\0\x01\x02\x03"), [SixteenBits]);
    }

    #[test]
    fn profiles_other_than_srgb_are_found_where_each_format_has_them() {
        let profile = |name: &[u8]| {
            let len = u32::try_from(name.len()).unwrap().to_be_bytes();
            [&[0; 128][..], &[0, 0, 0, 1], b"desc", &144_u32.to_be_bytes(), &len, name].concat()
        };
        for (name, found) in [(&b"sRGB IEC61966-2.1"[..], vec![]), (b"Display P3", vec![FurtherKind::Profile])] {
            let profile = profile(name);
            let jpeg = photograph(0, 24, 16);
            let body = [b"ICC_PROFILE\0\x01\x01", &profile[..]].concat();
            let len = u16::try_from(body.len() + 2).unwrap().to_be_bytes();
            assert_eq!(kinds(&[&jpeg[..2], b"\xff\xe2", &len, &body, &jpeg[2..]].concat()), found);
            let webp = written(image::RgbImage::new(3, 2), image::ImageFormat::WebP);
            let head = [32_u8, 0, 0, 0, 2, 0, 0, 1, 0, 0];
            let chunk = |name: &[u8; 4], body: &[u8]| {
                [name, &u32::try_from(body.len()).unwrap().to_le_bytes()[..], body, &vec![0; body.len() % 2]].concat()
            };
            let body = [b"WEBP", &chunk(b"VP8X", &head)[..], &chunk(b"ICCP", &profile), &webp[12..]].concat();
            assert_eq!(kinds(&chunk(b"RIFF", &body)), found);
            for format in [image::ImageFormat::Png, image::ImageFormat::Tiff] {
                assert_eq!(kinds(&with_profile(&profile, format)), found, "{format:?}");
            }
        }
    }

    fn with_profile(profile: &[u8], format: image::ImageFormat) -> Vec<u8> {
        use image::ImageEncoder;
        let mut file = std::io::Cursor::new(Vec::new());
        let (pixels, color) = ([0; 18], image::ExtendedColorType::Rgb8);
        if format == image::ImageFormat::Png {
            let mut encoder = image::codecs::png::PngEncoder::new(&mut file);
            encoder.set_icc_profile(profile.to_vec()).unwrap();
            encoder.write_image(&pixels, 3, 2, color).unwrap();
        } else {
            let mut encoder = image::codecs::tiff::TiffEncoder::new(&mut file);
            encoder.set_icc_profile(profile.to_vec()).unwrap();
            encoder.write_image(&pixels, 3, 2, color).unwrap();
        }
        file.into_inner()
    }

    #[test]
    fn no_cut_or_changed_file_causes_a_panic() {
        let animated = [&9_u32.to_be_bytes()[..], &[0; 4]].concat();
        let files = [
            gif(3),
            png(&[(b"IHDR", &[0; 13]), (b"acTL", &animated), (b"IDAT", b"x")]),
            webp(&[(b"VP8X", b"x"), (b"ANMF", b"1")]),
            tiff(true, &[&[(262, 3, 2), (277, 3, 6)], &[]]),
            [&photograph(0, 24, 16)[..2], b"\xff\xe2\0\x10MPF\0II*\0\x08\0\0\0"].concat(),
        ];
        for file in files {
            for end in 0..file.len() {
                Further::of(&file[..end], Mode::Rgb, &Limits::default());
                for value in [0, 1, 0x7f, 0x80, 0xff] {
                    let mut changed = file.clone();
                    changed[end] = value;
                    Further::of(&changed, Mode::Rgb, &Limits::default());
                }
            }
        }
    }
}
