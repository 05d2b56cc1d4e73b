//! JPEG XL, by the `jxl` crate of libjxl's authors: the first picture that a file shows, whole.

mod work;

use image::ColorType;
use jxl::api::{
    Endianness, Event, ExtraChannel, JxlBasicInfo, JxlBitDepth, JxlColorEncoding, JxlColorProfile, JxlColorType,
    JxlDataFormat, JxlDecoder, JxlDecoderOptions, JxlOutputBuffer, JxlPixelFormat, JxlPrimaries, JxlTransferFunction,
    JxlWhitePoint, ProfileLevel,
};
use jxl::error::Error;

use crate::buffer::cleared;
use crate::cpu::other::colours::Colours;
use crate::cpu::other::contained;
use crate::cpu::pixel_kind::PixelKind;
use crate::fault::Fault;
use crate::orientation::Orientation;
pub(super) use work::Clock;
use work::TimedInput;

/// Channels beside the colours that a file may have. Each takes as much memory as a colour.
const MOST_EXTRA: usize = 4;
/// Samples that a frame may have in any picture: an encoder's frame of patches may be larger than a small picture.
const LEAST_SAMPLES: usize = 1 << 20;
/// Bytes that the decoder takes for each sample of a picture: an integer or float of 32 bits. It takes less of most pictures, and more of
/// one that is made of several frames.
const OF_SAMPLE: usize = 4;
/// Bytes that it takes for groups of pixels and for tables.
pub(crate) const LITTLE: u64 = 4 << 20;

/// A picture whose header has been read.
pub(crate) struct OpenJxl<'a> {
    bytes: &'a [u8],
    size: (u32, u32),
    orientation: Orientation,
    form: OutputForm,
    extra: usize,
    colours: JxlColours,
}

/// What colours a picture's pixels are in.
pub(crate) enum JxlColours {
    /// sRGB.
    Srgb,
    /// Others, which the header names.
    Named,
    /// Those of this ICC profile.
    Profile(Vec<u8>),
}

/// The values that are asked of the decoder.
#[derive(Clone, Copy)]
struct OutputForm {
    is_gray: bool,
    has_alpha: bool,
    is_deep: bool,
}

impl<'a> OpenJxl<'a> {
    /// Reads a picture's header.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        contained(|| {
            let mut decoder = JxlDecoder::new(options());
            match decoder.process(&mut &*bytes, None, None) {
                Ok(Event::BasicInfo) => {}
                Ok(_) => return Err(Fault::Truncated),
                Err(error) => return Err(fault(&error)),
            }
            let info = decoder.basic_info().ok_or(Fault::Truncated)?;
            let extra = info.extra_channels.len();
            let has = |kind| info.extra_channels.iter().any(|channel| channel.ec_type == kind);
            if extra > MOST_EXTRA {
                return Err(Fault::Unsupported { kind: format!("JPEG XL with {extra} channels beside the colours") });
            }
            if has(ExtraChannel::Black) {
                return Err(Fault::Unsupported { kind: "JPEG XL of inks (CMYK)".into() });
            }
            let is_gray = decoder.embedded_color_profile().is_some_and(|profile| profile.channels() == 1);
            let form = OutputForm { is_gray, has_alpha: has(ExtraChannel::Alpha), is_deep: is_deep(info) };
            let (size, orientation) = (size(info)?, Orientation::from_exif(info.orientation as u16));
            decoder.set_pixel_format(form.of_decoder(extra)).map_err(|error| fault(&error))?;
            let colours = decoder.output_color_profile().map_or(JxlColours::Named, JxlColours::of);
            Ok(Self { bytes, size, orientation, form, extra, colours })
        })
    }

    /// Width and height as stored.
    pub(crate) fn size(&self) -> (u32, u32) {
        self.size
    }

    /// How the stored pixels are turned. The file's header says it, and EXIF beside it counts for nothing (ISO/IEC 18181-2).
    pub(crate) fn orientation(&self) -> Orientation {
        self.orientation
    }

    /// Whether something may be transparent, and whether values have more than 8 bits.
    pub(crate) fn depth(&self) -> (bool, bool) {
        (self.form.has_alpha, self.form.is_deep)
    }

    /// What colours the pixels are in.
    pub(crate) fn colours(&self) -> &JxlColours {
        &self.colours
    }

    /// Bytes of each pixel beside the picture's pixels: the decoder's, and values that are not yet RGB of 8 bits.
    pub(crate) fn own_form(&self) -> u8 {
        let made = if self.form.is_rgb() { 0 } else { self.form.color().bytes_per_pixel() };
        u8::try_from((3 + self.extra) * OF_SAMPLE).unwrap_or(u8::MAX).saturating_add(made)
    }

    /// Whether the decoder's values are RGB of 8 bits.
    pub(super) fn is_rgb(&self) -> bool {
        self.form.is_rgb()
    }

    /// Decodes the picture into `out`, which has width x height pixels of this kind. [RGB](Self::is_rgb) stays as it is.
    pub(super) fn read(
        &self,
        kind: PixelKind,
        clock: Clock<'_>,
        spare: &mut Vec<u8>,
        out: &mut [u8],
    ) -> Result<(), Fault> {
        if self.form.is_rgb() {
            // Values that the file leaves out are not those of another picture.
            out.fill(0);
            return self.decode(clock, out);
        }
        let color = self.form.color();
        let len = out.len() / kind.pixel_len() * usize::from(color.bytes_per_pixel());
        // Values of two bytes must be at an even address.
        let room = cleared(spare, len + 1);
        let odd = room.as_ptr().addr() % 2;
        let raw = &mut room[odd..odd + len];
        self.decode(clock, raw)?;
        Colours::AsDecoded.to_pixels(color, raw, kind, out)
    }

    fn decode(&self, clock: Clock<'_>, out: &mut [u8]) -> Result<(), Fault> {
        let outcome = contained(|| self.first_frame(clock, out));
        // An error says only that the work was given up.
        clock.check()?;
        outcome
    }

    /// The first frame that is shown, with those that it is made of.
    fn first_frame(&self, mut clock: Clock<'_>, out: &mut [u8]) -> Result<(), Fault> {
        let mut options = options();
        options.sample_limit = Some(self.samples().max(LEAST_SAMPLES) + 1);
        let mut decoder = JxlDecoder::new(options);
        let mut input = TimedInput::new(self.bytes, clock);
        let rows = self.size.1 as usize;
        let row = out.len() / rows;
        loop {
            let mut buffers = [JxlOutputBuffer::new(out, rows, row)];
            let is_open = decoder.basic_info().is_some();
            let event = decoder.process(&mut input, is_open.then_some(&mut buffers), Some(&mut clock));
            match event.map_err(|error| fault(&error))? {
                Event::BasicInfo => {
                    decoder.set_pixel_format(self.form.of_decoder(self.extra)).map_err(|error| fault(&error))?;
                }
                Event::FrameHeader => {}
                Event::FrameComplete { .. } => return Ok(()),
                Event::NeedMoreInput { .. } | Event::Complete => return Err(Fault::Truncated),
            }
        }
    }

    /// Samples of the picture as its decoder counts them: three for a gray one too, and rows of at least 16.
    fn samples(&self) -> usize {
        (self.size.0.max(16) as usize).saturating_mul(self.size.1 as usize).saturating_mul(3 + self.extra)
    }
}

impl JxlColours {
    fn of(profile: &JxlColorProfile) -> Self {
        use JxlColorEncoding::{GrayscaleColorSpace, RgbColorSpace};
        let srgb = (&JxlWhitePoint::D65, &JxlTransferFunction::SRGB);
        match profile {
            JxlColorProfile::Icc(bytes) => Self::Profile(bytes.clone()),
            JxlColorProfile::Simple(
                RgbColorSpace { white_point, primaries: JxlPrimaries::SRGB, transfer_function, .. }
                | GrayscaleColorSpace { white_point, transfer_function, .. },
            ) if (white_point, transfer_function) == srgb => Self::Srgb,
            JxlColorProfile::Simple(_) => Self::Named,
        }
    }
}

impl OutputForm {
    /// What the decoder's values are.
    fn color(self) -> ColorType {
        match (self.is_gray, self.has_alpha, self.is_deep) {
            (true, false, false) => ColorType::L8,
            (true, true, false) => ColorType::La8,
            (false, false, false) => ColorType::Rgb8,
            (false, true, false) => ColorType::Rgba8,
            (true, false, true) => ColorType::L16,
            (true, true, true) => ColorType::La16,
            (false, false, true) => ColorType::Rgb16,
            (false, true, true) => ColorType::Rgba16,
        }
    }

    /// Whether the decoder's values are the picture's.
    fn is_rgb(self) -> bool {
        self.color() == ColorType::Rgb8
    }

    fn of_decoder(self, extra: usize) -> JxlPixelFormat {
        let color_type = match (self.is_gray, self.has_alpha) {
            (true, false) => JxlColorType::Grayscale,
            (true, true) => JxlColorType::GrayscaleAlpha,
            (false, false) => JxlColorType::Rgb,
            (false, true) => JxlColorType::Rgba,
        };
        let format = if self.is_deep {
            JxlDataFormat::U16 { endianness: Endianness::native(), bit_depth: 16 }
        } else {
            JxlDataFormat::U8 { bit_depth: 8 }
        };
        JxlPixelFormat { color_type, color_data_format: Some(format), extra_channel_format: vec![None; extra] }
    }
}

/// Frames that a file shows.
pub(crate) fn frames(bytes: &[u8], most: u64) -> u64 {
    let mut options = options();
    options.scan_frames_only = true;
    let counted = contained(|| {
        let (mut decoder, mut rest) = (JxlDecoder::new(options), bytes);
        while let Ok(Event::BasicInfo | Event::FrameHeader | Event::FrameComplete { .. }) =
            decoder.process(&mut rest, None, None)
        {
            if decoder.scanned_frames().len() as u64 >= most {
                break;
            }
        }
        Ok(decoder.scanned_frames().len() as u64)
    });
    counted.unwrap_or(0)
}

/// Level 10 has what cameras and lossless files need: its limits of size are above ours.
fn options() -> JxlDecoderOptions {
    let mut options = JxlDecoderOptions::default();
    options.adjust_orientation = false;
    options.max_profile_level = ProfileLevel::Main10;
    options.alpha_mode = jxl::api::AlphaMode::Unpremultiplied;
    options
}

/// Width and height as stored.
fn size(info: &JxlBasicInfo) -> Result<(u32, u32), Fault> {
    let side = |side: usize| u32::try_from(side).map_err(|_| Fault::TooLong { side: u32::MAX });
    Ok((side(info.size.0)?, side(info.size.1)?))
}

fn is_deep(info: &JxlBasicInfo) -> bool {
    match info.bit_depth {
        JxlBitDepth::Int { bits_per_sample } => bits_per_sample > 8,
        JxlBitDepth::Float { .. } => true,
    }
}

fn fault(error: &Error) -> Fault {
    match error {
        Error::OutOfBounds(_) | Error::UnexpectedCodestreamBoxEnd => Fault::Truncated,
        Error::ImageSizeTooLarge(..) => {
            Fault::Unsupported { kind: "JPEG XL with frames larger than the picture".into() }
        }
        Error::LevelLimitExceeded { .. } => Fault::Unsupported { kind: format!("JPEG XL: {error}") },
        _ => Fault::Corrupt { reason: error.to_string() },
    }
}
