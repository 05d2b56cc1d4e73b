//! What the directories of a TIFF say of its pages (TIFF 6.0, section 2): as much as tells which pages there are, and what kind
//! of picture the first one is. Nothing is decoded, and nothing that a file says is believed without a bound.

use std::collections::HashSet;

/// Most directories that are counted. A file with more has this many.
const MOST_PAGES: usize = 65_536;
/// Most fields of a directory that are looked at.
const MOST_FIELDS: u16 = 4096;

/// Tags of TIFF 6.0, section 8, of its supplements and of DNG.
const NEW_SUBFILE_TYPE: u16 = 254;
const BITS_PER_SAMPLE: u16 = 258;
const COMPRESSION: u16 = 259;
const PHOTOMETRIC_INTERPRETATION: u16 = 262;
const SAMPLES_PER_PIXEL: u16 = 277;
const SUB_IFDS: u16 = 330;
const EXTRA_SAMPLES: u16 = 338;
const SAMPLE_FORMAT: u16 = 339;
const DNG_VERSION: u16 = 50_706;

/// Bits of the subfile type: a reduced picture of another page, and its mask.
const REDUCED: u32 = 1;
const MASK: u32 = 4;

/// Numbers in the order of bytes that a file has.
#[derive(Clone, Copy)]
struct TiffBytes<'a> {
    bytes: &'a [u8],
    is_little: bool,
}

/// What the first directory says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstPage {
    photometric: Option<u32>,
    samples: u32,
    bits: u32,
    compression: u32,
    sample_format: u32,
    /// What the bands beyond those of the colour are.
    extra_samples: Vec<u32>,
    subfile: u32,
    has_sub_pages: bool,
    is_dng: bool,
}

/// The directories of a file in their order, each with its number of fields.
struct Directories<'a> {
    file: TiffBytes<'a>,
    next: Option<usize>,
    /// Those that were there already: a chain may lead in a circle.
    seen: HashSet<usize>,
}

impl Iterator for Directories<'_> {
    type Item = (usize, u16);

    fn next(&mut self) -> Option<Self::Item> {
        let directory = self.next.take().filter(|&directory| directory != 0 && self.seen.len() < MOST_PAGES)?;
        if !self.seen.insert(directory) {
            return None;
        }
        let fields = self.file.short(directory)?;
        self.next = directory.checked_add(2 + 12 * usize::from(fields)).and_then(|next| self.file.long(next));
        Some((directory, fields))
    }
}

/// The pages of a file beyond its first. Reduced pictures and masks of another page do not count.
pub(crate) fn further_pages(bytes: &[u8]) -> u64 {
    let Some(file) = TiffBytes::of(bytes) else { return 0 };
    let further = file.directories().skip(1).filter(|&(directory, fields)| {
        // Fields are sorted by their tags, and this is usually the smallest.
        let subfile = file.value(directory, fields.min(16), NEW_SUBFILE_TYPE).unwrap_or(0);
        subfile & (REDUCED | MASK) == 0
    });
    further.count() as u64
}

/// The file with this page as its first one. Pages are counted from 0 and as Pillow's `seek` counts them, with reduced pictures and
/// masks.
///
/// # Errors
/// How many pages there are, if there is no such page.
pub(crate) fn from_page(bytes: &[u8], page: u32) -> Result<Vec<u8>, u64> {
    let file = TiffBytes::of(bytes).ok_or(0_u64)?;
    let page = usize::try_from(page).unwrap_or(usize::MAX);
    let directories: Vec<usize> =
        file.directories().map(|(directory, _)| directory).take(page.saturating_add(1)).collect();
    let directory = directories.get(page).ok_or(directories.len() as u64)?;
    let at = u32::try_from(*directory).expect("an offset of a TIFF has 32 bits");
    let mut made = bytes.to_vec();
    made[4..8].copy_from_slice(&if file.is_little { at.to_le_bytes() } else { at.to_be_bytes() });
    Ok(made)
}

impl FirstPage {
    /// What the first directory of a file says. None if there is no such directory.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let file = TiffBytes::of(bytes)?;
        let directory = file.long(4)?;
        let fields = file.short(directory)?;
        let value = |tag: u16| file.value(directory, fields, tag);
        Some(Self {
            photometric: value(PHOTOMETRIC_INTERPRETATION),
            samples: value(SAMPLES_PER_PIXEL).unwrap_or(1),
            bits: value(BITS_PER_SAMPLE).unwrap_or(1),
            compression: value(COMPRESSION).unwrap_or(1),
            sample_format: value(SAMPLE_FORMAT).unwrap_or(1),
            extra_samples: file.values(directory, fields, EXTRA_SAMPLES),
            subfile: value(NEW_SUBFILE_TYPE).unwrap_or(0),
            has_sub_pages: value(SUB_IFDS).is_some(),
            is_dng: value(DNG_VERSION).is_some(),
        })
    }

    /// What the file is, if it is a raw photograph: its first page is a preview, or is the sensor's own data.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Option<&'static str> {
        if bytes.get(8..10) == Some(b"CR") {
            Some("raw photograph, CR2")
        } else if self.is_dng {
            Some("raw photograph, DNG")
        } else if self.subfile & REDUCED != 0 && self.has_sub_pages {
            Some("raw photograph, such as NEF or ARW, whose first page is a preview")
        } else {
            None
        }
    }

    /// The bands beyond the colour and its alpha, which no decoder here reads.
    pub(crate) fn further_bands(&self) -> u64 {
        let colours = match self.photometric {
            Some(2 | 6 | 8..=10) => 3,
            Some(5) => 4,
            _ => 1,
        };
        let extra = u64::from(self.samples).saturating_sub(colours);
        let has_alpha = match self.extra_samples.first() {
            Some(kind) => matches!(kind, 1 | 2),
            // Four bands of RGB that are not explained have alpha, as in Pillow.
            None => (colours, extra) == (3, 1),
        };
        extra.saturating_sub(u64::from(has_alpha && extra > 0))
    }

    /// The kind of its picture in words.
    pub(crate) fn described(&self) -> String {
        let colour = match self.photometric {
            None => "without a colour space".to_owned(),
            Some(0 | 1) => "in gray".to_owned(),
            Some(2) => "in RGB".to_owned(),
            Some(3) => "with a palette".to_owned(),
            Some(4) => "that is a mask".to_owned(),
            Some(5) => "in CMYK or other inks".to_owned(),
            Some(6) => "in YCbCr".to_owned(),
            Some(8..=10) => "in L*a*b*".to_owned(),
            Some(32_803 | 34_892) => "of a sensor's own data".to_owned(),
            Some(32_844 | 32_845) => "in LogLuv".to_owned(),
            Some(other) => format!("in colour space {other}"),
        };
        let values = match self.sample_format {
            2 => " signed",
            3 => " floating-point",
            5 | 6 => " complex",
            _ => "",
        };
        let compression = match self.compression {
            1 => String::new(),
            2..=4 => ", compressed for fax".to_owned(),
            5 => ", compressed with LZW".to_owned(),
            6 => ", compressed with the old form of JPEG".to_owned(),
            7 => ", compressed with JPEG".to_owned(),
            8 | 32_946 => ", compressed with deflate".to_owned(),
            32_773 => ", compressed with PackBits".to_owned(),
            33_003..=33_005 | 34_712 => ", compressed with JPEG 2000".to_owned(),
            34_661 => ", compressed with JBIG".to_owned(),
            34_887 => ", compressed with LERC".to_owned(),
            34_925 => ", compressed with LZMA".to_owned(),
            50_000 | 34_926 => ", compressed with Zstandard".to_owned(),
            50_001 | 34_927 => ", compressed with WebP".to_owned(),
            50_002 | 52_546 => ", compressed with JPEG XL".to_owned(),
            other => format!(", compressed by method {other}"),
        };
        let bands = if self.samples == 1 { "1 band".to_owned() } else { format!("{} bands", self.samples) };
        let bits = if self.bits == 1 { "1 bit".to_owned() } else { format!("{} bits", self.bits) };
        format!("TIFF {colour}, {bands} of {bits}{values}{compression}")
    }
}

impl<'a> TiffBytes<'a> {
    fn of(bytes: &'a [u8]) -> Option<Self> {
        match bytes.get(..4)? {
            b"II*\0" => Some(Self { bytes, is_little: true }),
            b"MM\0*" => Some(Self { bytes, is_little: false }),
            _ => None,
        }
    }

    fn directories(self) -> Directories<'a> {
        Directories { file: self, next: self.long(4), seen: HashSet::new() }
    }

    fn short(self, at: usize) -> Option<u16> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn word(self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }

    /// An offset.
    fn long(self, at: usize) -> Option<usize> {
        usize::try_from(self.word(at)?).ok()
    }

    /// The first value of a field.
    fn value(self, directory: usize, fields: u16, tag: u16) -> Option<u32> {
        self.values(directory, fields, tag).first().copied()
    }

    /// The first few values of a field. None of them if there is no such field, or its values are no whole numbers.
    fn values(self, directory: usize, fields: u16, tag: u16) -> Vec<u32> {
        let found = (0..usize::from(fields.min(MOST_FIELDS)))
            .map(|number| directory.saturating_add(2 + 12 * number))
            .find(|&at| self.short(at) == Some(tag));
        let read = found.and_then(|at| {
            let (kind, count) = (self.short(at.checked_add(2)?)?, self.long(at.checked_add(4)?)?);
            let size = match kind {
                1 | 7 => 1,
                3 => 2,
                4 | 13 => 4,
                _ => return None,
            };
            let inside = at.checked_add(8)?;
            let start = if count.checked_mul(size)? <= 4 { inside } else { self.long(inside)? };
            let each = |place: usize| {
                let at = start.checked_add(place * size)?;
                match size {
                    1 => self.bytes.get(at).copied().map(u32::from),
                    2 => self.short(at).map(u32::from),
                    _ => self.word(at),
                }
            };
            (0..count.min(8)).map(each).collect::<Option<Vec<u32>>>()
        });
        read.unwrap_or_default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A TIFF of directories with fields of one SHORT or LONG value each, without any pixels.
    pub(crate) fn tiff(is_little: bool, pages: &[&[(u16, u16, u32)]]) -> Vec<u8> {
        let short = |value: u16| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        let long = |value: u32| if is_little { value.to_le_bytes() } else { value.to_be_bytes() };
        let mut bytes = if is_little { b"II*\0".to_vec() } else { b"MM\0*".to_vec() };
        bytes.extend(long(8));
        for (number, fields) in pages.iter().enumerate() {
            bytes.extend(short(u16::try_from(fields.len()).unwrap()));
            for &(tag, kind, value) in *fields {
                bytes.extend(short(tag));
                bytes.extend(short(kind));
                bytes.extend(long(1));
                match kind {
                    3 => bytes.extend([short(u16::try_from(value).unwrap()), [0; 2]].concat()),
                    _ => bytes.extend(long(value)),
                }
            }
            let next = u32::try_from(bytes.len() + 4).unwrap();
            bytes.extend(long(if number + 1 == pages.len() { 0 } else { next }));
        }
        bytes
    }

    #[test]
    fn pages_are_counted_without_reduced_pictures_and_masks_and_circles_end() {
        let (page, reduced, mask): (&[_], &[_], &[_]) = (&[(254, 4, 0), (256, 4, 9)], &[(254, 4, 1)], &[(254, 4, 4)]);
        for is_little in [true, false] {
            assert_eq!(further_pages(&tiff(is_little, &[page])), 0);
            assert_eq!(further_pages(&tiff(is_little, &[page, reduced, mask, page, page])), 2);
        }
        let mut circle = tiff(true, &[&[], &[]]);
        let end = circle.len() - 4;
        circle[end..].copy_from_slice(&8_u32.to_le_bytes());
        assert_eq!(further_pages(&circle), 1, "a circle");
        for cut in 0..circle.len() {
            further_pages(&circle[..cut]);
            FirstPage::of(&circle[..cut]);
        }
        assert_eq!((further_pages(b"II*\0\xff\xff\xff\xff"), further_pages(b"")), (0, 0));
    }

    #[test]
    fn any_page_is_made_the_first_and_one_that_is_not_there_is_told_with_the_number_of_pages() {
        for is_little in [true, false] {
            let file = tiff(is_little, &[&[(277, 3, 1)], &[(254, 4, 1), (277, 3, 2)], &[(277, 3, 3)]]);
            for (page, samples) in [(0, 1), (1, 2), (2, 3)] {
                assert_eq!(FirstPage::of(&from_page(&file, page).unwrap()).unwrap().samples, samples);
            }
            assert_eq!(from_page(&file, 3), Err(3));
            for cut in 0..file.len() {
                drop(from_page(&file[..cut], 2));
            }
        }
        let mut circle = tiff(true, &[&[], &[]]);
        let end = circle.len() - 4;
        circle[end..].copy_from_slice(&8_u32.to_le_bytes());
        assert_eq!((from_page(&circle, 9), from_page(b"", 0)), (Err(2), Err(0)));
    }

    #[test]
    fn a_first_page_is_told_in_words() {
        let told = |fields: &[(u16, u16, u32)]| FirstPage::of(&tiff(false, &[fields])).unwrap().described();
        assert_eq!(
            told(&[(258, 3, 8), (259, 3, 7), (262, 3, 6), (277, 3, 3)]),
            "TIFF in YCbCr, 3 bands of 8 bits, compressed with JPEG"
        );
        assert_eq!(told(&[(258, 3, 32), (262, 3, 1), (339, 3, 3)]), "TIFF in gray, 1 band of 32 bits floating-point");
        assert_eq!(told(&[(262, 3, 8), (277, 3, 3), (258, 3, 8)]), "TIFF in L*a*b*, 3 bands of 8 bits");
        assert_eq!(told(&[]), "TIFF without a colour space, 1 band of 1 bit");
        assert!(
            told(&[(262, 3, 777), (259, 3, 888)])
                .contains("colour space 777, 1 band of 1 bit, compressed by method 888")
        );
    }

    #[test]
    fn bands_beyond_the_colour_and_its_alpha_are_counted() {
        let bands = |fields: &[(u16, u16, u32)]| FirstPage::of(&tiff(true, &[fields])).unwrap().further_bands();
        assert_eq!(bands(&[(262, 3, 2), (277, 3, 3)]), 0);
        assert_eq!(bands(&[(262, 3, 2), (277, 3, 4), (338, 3, 2)]), 0);
        assert_eq!(bands(&[(262, 3, 2), (277, 3, 4), (338, 3, 0)]), 1);
        assert_eq!(bands(&[(262, 3, 2), (277, 3, 4)]), 0, "alpha, as in Pillow");
        assert_eq!(bands(&[(262, 3, 2), (277, 3, 13)]), 10);
        assert_eq!(bands(&[(262, 3, 1), (277, 3, 2), (338, 3, 1)]), 0);
        assert_eq!(bands(&[(262, 3, 5), (277, 3, 4)]), 0);
    }

    #[test]
    fn a_raw_photograph_is_known_by_its_first_page() {
        let raw = |bytes: &[u8]| FirstPage::of(bytes).unwrap().raw(bytes).is_some();
        assert!(raw(&tiff(true, &[&[(254, 4, 1), (330, 4, 99)]])));
        assert!(raw(&tiff(true, &[&[(50_706, 1, 1)]])));
        assert!(!raw(&tiff(true, &[&[(254, 4, 0), (330, 4, 99)]])), "a pyramid has its whole picture first");
        assert!(!raw(&tiff(true, &[&[(254, 4, 1)]])));
    }
}
