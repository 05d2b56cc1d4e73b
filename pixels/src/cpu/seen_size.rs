//! The size of a picture as it is seen, from the first bytes of its file where they suffice.

use super::jpeg::head::JpegHead;
use super::probe::probe;
use crate::fault::Fault;
use crate::format::Format;
use crate::orientation::Orientation;

/// The size of a picture, after its EXIF orientation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenSize {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// How the stored pixels are turned.
    pub orientation: Orientation,
}

impl SeenSize {
    /// The size that a file says. Of a JPEG that is damaged behind its header, this is the size that the header says.
    ///
    /// ```
    /// use forebay_pixels::{SeenSize, sample::photograph};
    /// let file = photograph(0, 60, 40);
    /// let size = SeenSize::of_file(&file)?;
    /// assert_eq!((size.width, size.height), (60, 40));
    /// assert_eq!(SeenSize::of_start(&file[..file.len() / 2]), Some(size));
    /// # Ok::<(), forebay_pixels::Fault>(())
    /// ```
    ///
    /// # Errors
    /// As those of [`probe`].
    pub fn of_file(bytes: &[u8]) -> Result<Self, Fault> {
        if Format::of(bytes)? == Format::Jpeg {
            return JpegHead::of_start(bytes).map(Self::of_jpeg);
        }
        let probe = probe(bytes)?;
        Ok(Self { width: probe.width, height: probe.height, orientation: probe.orientation })
    }

    /// The size that the first bytes of a file say; nothing if they do not suffice. They suffice for a JPEG whose first scan
    /// begins in them: other formats may say behind the pixels how these are turned.
    pub fn of_start(bytes: &[u8]) -> Option<Self> {
        if Format::of(bytes).ok()? != Format::Jpeg {
            return None;
        }
        JpegHead::of_start(bytes).ok().map(Self::of_jpeg)
    }

    fn of_jpeg(head: JpegHead) -> Self {
        let (width, height) = head.orientation.seen(head.width, head.height);
        Self { width, height, orientation: head.orientation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::photograph;

    #[test]
    fn rule_61_the_first_bytes_of_a_jpeg_say_the_size_that_the_whole_file_says_or_nothing() {
        let file = photograph(3, 48, 32);
        let whole = SeenSize::of_file(&file).unwrap();
        let sufficing: Vec<usize> =
            (0..=file.len()).filter(|end| SeenSize::of_start(&file[..*end]).is_some()).collect();
        assert!(sufficing.len() > 100 && sufficing[0] > 100, "{} from {}", sufficing.len(), sufficing[0]);
        for end in 0..=file.len() {
            let found = SeenSize::of_start(&file[..end]);
            assert_eq!(found, (end >= sufficing[0]).then_some(whole), "{end} bytes");
        }
    }

    #[test]
    fn rule_61_a_turned_jpeg_has_its_size_as_seen_and_the_orientation_in_front_of_the_scan_is_never_missed() {
        let plain = photograph(0, 40, 20);
        for number in 1..=8_u8 {
            let tiff = [&b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0"[..], &[number], &[0; 6]].concat();
            let len = u16::try_from(tiff.len() + 2).unwrap().to_be_bytes();
            let file = [&plain[..2], &[0xFF, 0xE1], &len, &tiff, &plain[2..]].concat();
            let size = SeenSize::of_file(&file).unwrap();
            assert_eq!(size.orientation, Orientation::from_exif(number.into()));
            assert_eq!((size.width, size.height), if number < 5 { (40, 20) } else { (20, 40) });
            assert!((0..file.len()).all(|end| SeenSize::of_start(&file[..end]).is_none_or(|found| found == size)));
        }
    }

    #[test]
    fn rule_61_other_formats_need_the_whole_file_and_what_is_no_picture_has_no_size() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0";
        assert_eq!(SeenSize::of_start(png), None);
        assert!(SeenSize::of_file(b"no picture").is_err() && SeenSize::of_start(b"").is_none());
    }
}
