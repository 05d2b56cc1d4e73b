//! Writing JPEG in the forms that cameras, tools and tests want, by libjpeg-turbo behind the C shim.
#![allow(unsafe_code, reason = "calls the C shim")]

use turbojpeg_sys as _;

/// How the colours are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum JpegColors {
    /// Gray; 1 byte a pixel goes in.
    Gray = 0,
    /// Luminance and two colour differences; 3 bytes a pixel go in: red, green, blue.
    #[default]
    YCbCr = 1,
    /// Red, green, blue as they are; 3 bytes a pixel go in.
    Rgb = 2,
    /// Cyan, magenta, yellow, black as they are; 4 bytes a pixel go in.
    Cmyk = 3,
    /// Cyan, magenta, yellow as luminance and differences, black as it is; 4 bytes a pixel go in.
    Ycck = 4,
}

/// Form of a JPEG file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JpegForm {
    /// How the colours are stored.
    pub colors: JpegColors,
    /// 1 to 100.
    pub quality: u32,
    /// Horizontal and vertical sampling factor of the first component, 1 to 4: `[2, 2]` is 4:2:0.
    pub sampling: [u32; 2],
    /// Whether it is progressive.
    pub progressive: bool,
    /// Whether it is coded arithmetically.
    pub arithmetic: bool,
    /// MCU rows between restart markers; 0 for none.
    pub restart_rows: u32,
}

/// `struct forebay_jpeg_form`, whose members all have 4 bytes.
#[repr(C)]
struct CForm {
    colors: u32,
    quality: u32,
    sampling: [u32; 2],
    progressive: u32,
    arithmetic: u32,
    restart_rows: u32,
}

unsafe extern "C" {
    fn forebay_jpeg_write(pixels: *const u8, width: u32, height: u32, form: *const CForm, len: *mut usize) -> *mut u8;
    fn forebay_jpeg_drop(bytes: *mut u8);
}

impl Default for JpegForm {
    fn default() -> Self {
        Self {
            colors: JpegColors::default(),
            quality: 90,
            sampling: [2, 2],
            progressive: false,
            arithmetic: false,
            restart_rows: 0,
        }
    }
}

impl JpegForm {
    /// Bytes of a pixel that goes in.
    pub fn channels(&self) -> usize {
        match self.colors {
            JpegColors::Gray => 1,
            JpegColors::YCbCr | JpegColors::Rgb => 3,
            JpegColors::Cmyk | JpegColors::Ycck => 4,
        }
    }

    /// Encodes packed pixels; none if libjpeg-turbo refuses the form or the size.
    ///
    /// # Panics
    /// If `pixels` has not just `width * height * channels` bytes.
    pub fn encode(&self, pixels: &[u8], width: u32, height: u32) -> Option<Vec<u8>> {
        assert_eq!(pixels.len(), width as usize * height as usize * self.channels(), "the pixels fill the picture");
        let form = CForm {
            colors: self.colors as u32,
            quality: self.quality,
            sampling: self.sampling,
            progressive: self.progressive.into(),
            arithmetic: self.arithmetic.into(),
            restart_rows: self.restart_rows,
        };
        let mut len = 0;
        // SAFETY: the pixels are readable for width x height x channels bytes, checked above; form and len are laid out as
        // in write.h and live through the call.
        let bytes = unsafe { forebay_jpeg_write(pixels.as_ptr(), width, height, &raw const form, &raw mut len) };
        if bytes.is_null() {
            return None;
        }
        // SAFETY: the shim gave `len` bytes that are ours until dropped.
        let encoded = unsafe { std::slice::from_raw_parts(bytes, len) }.to_vec();
        // SAFETY: the bytes came from forebay_jpeg_write and are dropped once.
        unsafe { forebay_jpeg_drop(bytes) };
        Some(encoded)
    }
}
