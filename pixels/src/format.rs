//! The formats of picture files, told apart by their first bytes.

use crate::fault::Fault;
use crate::foreign;

/// How a JPEG XL begins: in its container, and without one.
const JXL: [&[u8]; 2] = [b"\0\0\0\x0cJXL \r\n\x87\n", b"\xff\x0a"];

/// Format of a picture file. The content decides, never the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JPEG, also the first picture of an MPO.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    WebP,
    /// BMP.
    Bmp,
    /// GIF; only the first frame is decoded.
    Gif,
    /// TIFF; only the first page is decoded.
    Tiff,
    /// PBM, PGM, PPM, PAM.
    Pnm,
    /// JPEG XL; of an animation, only the first frame is decoded.
    Jxl,
    /// AVIF; of an image sequence, only the still picture is decoded.
    Avif,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 9] =
        [Self::Jpeg, Self::Png, Self::WebP, Self::Bmp, Self::Gif, Self::Tiff, Self::Pnm, Self::Jxl, Self::Avif];

    /// The format that the content's first bytes show.
    ///
    /// # Errors
    /// [`Fault::Empty`], [`Fault::NotAPicture`], and [`Fault::Unsupported`] if the content is of a format that is known but
    /// not read, such as HEIC.
    pub fn of(bytes: &[u8]) -> Result<Self, Fault> {
        if bytes.is_empty() {
            return Err(Fault::Empty);
        }
        match image::guess_format(bytes) {
            Ok(image::ImageFormat::Jpeg) => Ok(Self::Jpeg),
            Ok(image::ImageFormat::Png) => Ok(Self::Png),
            Ok(image::ImageFormat::WebP) => Ok(Self::WebP),
            Ok(image::ImageFormat::Bmp) => Ok(Self::Bmp),
            Ok(image::ImageFormat::Gif) => Ok(Self::Gif),
            Ok(image::ImageFormat::Tiff) => Ok(Self::Tiff),
            Ok(image::ImageFormat::Pnm) => Ok(Self::Pnm),
            _ if JXL.iter().any(|beginning| bytes.starts_with(beginning)) => Ok(Self::Jxl),
            _ => match foreign::name_of(bytes) {
                Some(foreign::AVIF) => Ok(Self::Avif),
                Some(name) => Err(Fault::Unsupported { kind: name.into() }),
                None => Err(Fault::NotAPicture),
            },
        }
    }

    /// Its name in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jpeg => "jpeg",
            Self::Png => "png",
            Self::WebP => "webp",
            Self::Bmp => "bmp",
            Self::Gif => "gif",
            Self::Tiff => "tiff",
            Self::Pnm => "pnm",
            Self::Jxl => "jxl",
            Self::Avif => "avif",
        }
    }

    /// What decodes it on a CPU.
    pub fn decoder(self) -> &'static str {
        match self {
            Self::Jpeg => "forebay-jpeg, libjpeg-turbo",
            Self::Png => "png",
            Self::WebP => "libwebp",
            Self::Tiff => "tiff",
            Self::Gif => "gif",
            Self::Bmp | Self::Pnm => "image",
            Self::Jxl => "jxl",
            Self::Avif => "forebay-avif, dav1d",
        }
    }

    /// Formats that users have in datasets and that nothing here decodes. Files of them are told by name.
    pub const NONE_FOR: [&str; 2] = ["HEIC", "JPEG 2000"];

    /// What the `image` crate calls it, if that knows it.
    pub(crate) fn of_image(self) -> Option<image::ImageFormat> {
        Some(match self {
            Self::Jpeg => image::ImageFormat::Jpeg,
            Self::Png => image::ImageFormat::Png,
            Self::WebP => image::ImageFormat::WebP,
            Self::Bmp => image::ImageFormat::Bmp,
            Self::Gif => image::ImageFormat::Gif,
            Self::Tiff => image::ImageFormat::Tiff,
            Self::Pnm => image::ImageFormat::Pnm,
            Self::Jxl | Self::Avif => return None,
        })
    }
}
