//! The kinds of picture files, told by their content, and the extensions that promise another content.

use std::ffi::OsStr;
use std::path::Path;

use forebay_pixels::{Fault, Format, JpegHead};
use forebay_sources::{Container, Locator, Part};

/// The kind of a picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PictureKind {
    JpegBaseline,
    JpegProgressive,
    JpegOther,
    Png,
    WebP,
    Bmp,
    Gif,
    Tiff,
    Pnm,
    Jxl,
    Avif,
    Other,
}

impl PictureKind {
    /// What the content is.
    ///
    /// # Errors
    /// It is no picture, or the header of a JPEG is damaged.
    pub(super) fn of(bytes: &[u8]) -> Result<Self, Fault> {
        Ok(match Format::of(bytes)? {
            Format::Jpeg => match JpegHead::read(bytes)? {
                head if head.baseline() => Self::JpegBaseline,
                head if head.progressive() => Self::JpegProgressive,
                _ => Self::JpegOther,
            },
            Format::Png => Self::Png,
            Format::WebP => Self::WebP,
            Format::Bmp => Self::Bmp,
            Format::Gif => Self::Gif,
            Format::Tiff => Self::Tiff,
            Format::Pnm => Self::Pnm,
            Format::Jxl => Self::Jxl,
            Format::Avif => Self::Avif,
            _ => Self::Other,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::JpegBaseline => "JPEG, baseline",
            Self::JpegProgressive => "JPEG, progressive",
            Self::JpegOther => "JPEG, other",
            Self::Png => "PNG",
            Self::WebP => "WebP",
            Self::Bmp => "BMP",
            Self::Gif => "GIF",
            Self::Tiff => "TIFF",
            Self::Pnm => "PNM",
            Self::Jxl => "JPEG XL",
            Self::Avif => "AVIF",
            Self::Other => "other",
        }
    }
}

/// Whether the record's name has the extension of another format than its content.
pub(super) fn is_misnamed(locator: &Locator, bytes: &[u8]) -> bool {
    match (extension(locator).and_then(|extension| promised(&extension)), Format::of(bytes)) {
        (Some(promised), Ok(found)) => promised != found,
        _ => false,
    }
}

fn extension(locator: &Locator) -> Option<String> {
    let of = |name: &OsStr| Path::new(name).extension().map(|found| found.to_string_lossy().to_ascii_lowercase());
    match (&locator.part, &locator.container) {
        (Part::Member(name), _) => of(name),
        (Part::Whole, Container::File(path)) => of(path.as_os_str()),
        (Part::Whole, Container::Object { url, .. }) => of(OsStr::new(url)),
        _ => None,
    }
}

/// The format that an extension promises.
fn promised(extension: &str) -> Option<Format> {
    Some(match extension {
        "jpg" | "jpeg" | "jpe" | "jfif" => Format::Jpeg,
        "png" => Format::Png,
        "webp" => Format::WebP,
        "bmp" => Format::Bmp,
        "gif" => Format::Gif,
        "tif" | "tiff" => Format::Tiff,
        "ppm" | "pgm" | "pbm" | "pnm" => Format::Pnm,
        "jxl" => Format::Jxl,
        "avif" | "avifs" => Format::Avif,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use forebay_pixels::sample::{JpegForm, photograph, photograph_rgb};

    use super::*;

    #[test]
    fn the_content_decides_what_a_file_is_and_the_name_whether_it_promises_something_else() {
        let baseline = photograph(0, 24, 16);
        let form = JpegForm { progressive: true, ..JpegForm::default() };
        let progressive = form.encode(&photograph_rgb(0, 24, 16), 24, 16).unwrap();
        assert_eq!(PictureKind::of(&baseline), Ok(PictureKind::JpegBaseline));
        assert_eq!(PictureKind::of(&progressive), Ok(PictureKind::JpegProgressive));
        assert_eq!(PictureKind::of(b"P5 1 1 255 x"), Ok(PictureKind::Pnm));
        assert_eq!(PictureKind::of(b"no picture"), Err(Fault::NotAPicture));
        let member = |name: &str| Locator { part: Part::Member(name.into()), ..Locator::file("/a.png") };
        for (locator, bytes, misnamed) in [
            (Locator::file("/a.JPG"), &*baseline, false),
            (Locator::file("/a.png"), &*baseline, true),
            (Locator::file("/a"), &*baseline, false),
            (Locator::file("/a.png"), b"no picture", false),
            (member("x/1.jpeg"), &*baseline, false),
            (member("x/1.gif"), &*baseline, true),
            (Locator { part: Part::Row(3), ..Locator::file("/a.png") }, &*baseline, false),
        ] {
            assert_eq!(is_misnamed(&locator, bytes), misnamed, "{locator}");
        }
    }
}
