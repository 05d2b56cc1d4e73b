//! The ICC profile of a file, and whether it is sRGB (ICC.1:2022, section 7). Colours are never converted by it.

use std::borrow::Cow;
use std::io::Cursor;

use image::ImageDecoder;
use image::codecs::png::PngDecoder;

use crate::cpu::jpeg::segments::Segments;
use crate::directory::Directory;
use crate::format::Format;

/// How a JPEG's segment of a profile begins. Its number and how many there are follow.
const IN_JPEG: &[u8] = b"ICC_PROFILE\0";
/// The tag of a TIFF.
const IN_TIFF: u16 = 34675;
/// Bytes of a profile before the number of its tags, and of a tag.
const HEAD: usize = 128;
const TAG: usize = 12;
/// Bytes of a PNG's profile, when it is unpacked, at most.
const MOST: u64 = 4 << 20;

/// The profile that a file has.
pub(crate) fn profile(bytes: &[u8], format: Format) -> Option<Cow<'_, [u8]>> {
    match format {
        Format::Jpeg => {
            let parts = Segments::before_scan(bytes).filter(|(kind, _)| *kind == 0xe2);
            let parts: Vec<_> = parts.filter_map(|(_, body)| body.strip_prefix(IN_JPEG)?.get(2..)).collect();
            if parts.is_empty() { None } else { Some(parts.concat().into()) }
        }
        Format::WebP => webp_profile(bytes).map(Cow::Borrowed),
        Format::Tiff => Some(Directory::first(bytes)?.field(IN_TIFF)?.data.into()),
        Format::Png => {
            let mut limits = image::Limits::no_limits();
            limits.max_alloc = Some(MOST);
            let mut decoder = PngDecoder::with_limits(Cursor::new(bytes), limits).ok()?;
            decoder.icc_profile().ok().flatten().map(Cow::Owned)
        }
        _ => None,
    }
}

/// The chunk ICCP of a WebP.
fn webp_profile(bytes: &[u8]) -> Option<&[u8]> {
    let mut rest = bytes.get(12..)?;
    loop {
        let len = usize::try_from(u32::from_le_bytes(*rest.get(4..)?.first_chunk()?)).ok()?;
        if rest.starts_with(b"ICCP") {
            return rest.get(8..)?.get(..len);
        }
        rest = rest.get(8..)?.get(len.checked_add(len & 1)?..)?;
    }
}

/// Whether a profile says of itself that it is sRGB.
pub(crate) fn is_srgb(profile: &[u8]) -> bool {
    let Some(description) = description(profile) else { return false };
    let wide: Vec<u8> = b"sRGB".iter().flat_map(|letter| [0, *letter]).collect();
    [&b"sRGB"[..], &wide].iter().any(|name| description.windows(name.len()).any(|part| part == *name))
}

/// The tag `desc`: ASCII, or in several languages in UTF-16.
fn description(profile: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| usize::try_from(u32::from_be_bytes(*profile.get(at..)?.first_chunk()?)).ok();
    let tags = profile.get(HEAD + 4..)?.chunks_exact(TAG).take(number(HEAD)?);
    let at = tags.enumerate().find(|(_, tag)| tag.starts_with(b"desc")).map(|(index, _)| HEAD + 4 + index * TAG)?;
    profile.get(number(at + 4)?..)?.get(..number(at + 8)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile_of(description: &[u8]) -> Vec<u8> {
        let (other, at) = ([b"cprt".as_slice(), &[0, 0, 0, 200, 0, 0, 0, 1]].concat(), 160_u32);
        let len = u32::try_from(description.len()).unwrap();
        let tag = [b"desc".as_slice(), &at.to_be_bytes(), &len.to_be_bytes()].concat();
        [&[0; HEAD][..], &2_u32.to_be_bytes(), &other, &tag, &[0; 4], description].concat()
    }

    #[test]
    fn a_profile_is_srgb_by_its_description_alone() {
        let wide: Vec<u8> = b"sRGB built-in".iter().flat_map(|letter| [0, *letter]).collect();
        assert!(is_srgb(&profile_of(b"desc\0\0\0\0\0\0\0\x12sRGB IEC61966-2.1\0")));
        assert!(is_srgb(&profile_of(&[b"mluc\0\0\0\0", &wide[..]].concat())));
        assert!(!is_srgb(&profile_of(b"desc\0\0\0\0\0\0\0\x12Adobe RGB (1998)\0")));
        let beyond = [&profile_of(b"Display P3")[..], b"sRGB"].concat();
        assert!(!is_srgb(&beyond), "the text is not the description");
        assert!(!is_srgb(b"sRGB"));
        let whole = profile_of(b"sRGB");
        for end in 0..whole.len() {
            assert!(!is_srgb(&whole[..end]), "cut at {end}");
        }
    }
}
