//! The form in which decoded pictures are kept: whole and upright, of bounded size if wanted.

use crate::background::Background;
use crate::output::Mode;

/// In which form a decoded picture is kept.
///
/// ```
/// use forebay_pixels::Form;
///
/// let form = Form { max_side: Some(512), ..Form::default() };
/// assert_eq!(form.size(1024, 683), (512, 342));
/// assert_eq!(form.size(500, 375), (500, 375), "smaller pictures stay as they are");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Whether the picture is turned as its EXIF orientation says.
    pub adjust_orientation: bool,
    /// What is seen where the picture is transparent.
    pub background: Background,
    /// What a pixel has.
    pub mode: Mode,
    /// Which page of a TIFF is read.
    pub page: u32,
    /// Longest side; a picture with a longer one is shrunk to it, by the antialiased triangle filter. None keeps every
    /// picture at its size.
    pub max_side: Option<u32>,
}

impl Default for Form {
    fn default() -> Self {
        Self { adjust_orientation: true, background: Background::default(), mode: Mode::Rgb, page: 0, max_side: None }
    }
}

impl Form {
    /// Width and height of the kept form of a picture of this size.
    pub fn size(&self, width: u32, height: u32) -> (u32, u32) {
        let longer = width.max(height);
        match self.max_side.filter(|max| *max < longer) {
            None => (width, height),
            Some(max) => (scaled(width, max, longer), scaled(height, max, longer)),
        }
    }
}

/// `side` x `max` / `longer`, to the nearest, at least 1.
fn scaled(side: u32, max: u32, longer: u32) -> u32 {
    let twice = u64::from(side) * u64::from(max) * 2 + u64::from(longer);
    u32::try_from(twice / (u64::from(longer) * 2)).unwrap_or(max).max(1)
}
