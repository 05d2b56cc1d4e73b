//! The seek points of whole pictures, found without decoding them, for those who want them before the first epoch.

use forebay_jpeg::{Decoder, Header, SeekPoints};

/// Finds the seek points of one picture after the other.
///
/// ```
/// use forebay_pixels::{SeekPointFinder, sample};
///
/// let mut finder = SeekPointFinder::default();
/// assert!(!finder.find(&sample::photograph(7, 500, 375)).is_empty());
/// assert!(finder.find(b"no JPEG").is_empty());
/// ```
#[derive(Debug, Default)]
pub struct SeekPointFinder {
    decoder: Decoder,
    points: SeekPoints,
}

impl SeekPointFinder {
    /// The block of a file's points, as [`SeekPoints::load`] takes it. It is empty if the file has none, because it is no JPEG
    /// that our own decoder supports, is damaged, or is too small.
    pub fn find(&mut self, file: &[u8]) -> &[u8] {
        let Self { decoder, points } = self;
        let found = Header::read(file).and_then(|header| decoder.note(&header, file, points));
        if found.is_err() {
            return &[];
        }
        points.changed().unwrap_or_default()
    }
}
