//! EXIF and XMP of a PNG: EXIF in a chunk of its own, or as hexadecimal digits in a text, as some programs write it; XMP in a
//! text.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::orientation::metadata::Metadata;

/// Bytes before the first chunk.
const SIGNATURE: usize = 8;
/// The most that is unpacked of a text. The orientation is at the beginning of EXIF.
const MOST_TEXT: u64 = 128 << 10;

/// Names of texts.
const EXIF: &[u8] = b"exif";
const PROFILE: &[u8] = b"Raw profile type exif";
const XMP: &[u8] = b"XML:com.adobe.xmp";

/// A text as the file has it.
#[derive(Clone, Copy)]
enum Text<'a> {
    Plain(&'a [u8]),
    Packed(&'a [u8]),
}

/// What a file has. Of several chunks with the same, the last counts.
pub(super) fn metadata(bytes: &[u8]) -> Metadata<'_> {
    let (mut exif, mut profile, mut xmp) = (None, None, None);
    let mut rest = bytes.get(SIGNATURE..).unwrap_or_default();
    while let Some((head, body)) = rest.split_first_chunk::<8>() {
        let [l0, l1, l2, l3, kind @ ..] = *head;
        let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
        let Some(chunk) = body.get(..length) else { break };
        if &kind == b"eXIf" {
            exif = Some(chunk);
        }
        match text(kind, chunk) {
            Some((EXIF, Text::Plain(value))) if &kind == b"tEXt" => exif = Some(value),
            Some((PROFILE, text)) => profile = Some(text),
            Some((XMP, text)) => xmp = Some(text),
            _ => {}
        }
        // Behind the data is their checksum.
        rest = body.get(length + 4..).unwrap_or_default();
    }
    let exif = exif.map(Cow::Borrowed).or_else(|| profile.map(|text| Cow::Owned(bytes_of(&unpacked(text)))));
    Metadata { exif, xmp: xmp.map(unpacked) }
}

/// Name and text of a chunk. None if it has none, or is damaged.
fn text(kind: [u8; 4], chunk: &[u8]) -> Option<(&[u8], Text<'_>)> {
    let (name, rest) = until_zero(chunk)?;
    let text = match (&kind, rest) {
        (b"tEXt", rest) => Text::Plain(rest),
        (b"zTXt", [0, packed @ ..]) => Text::Packed(packed),
        (b"iTXt", [is_packed, method, rest @ ..]) => {
            let (_language, rest) = until_zero(rest)?;
            let (_translated, text) = until_zero(rest)?;
            match (is_packed, method) {
                (0, _) => Text::Plain(text),
                (_, 0) => Text::Packed(text),
                _ => return None,
            }
        }
        _ => return None,
    };
    Some((name, text))
}

fn until_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// The beginning of a text. What cannot be unpacked is left out.
fn unpacked(text: Text<'_>) -> Cow<'_, [u8]> {
    match text {
        Text::Plain(text) => Cow::Borrowed(text),
        Text::Packed(packed) => {
            let mut text = Vec::new();
            // What comes before damage counts.
            _ = ZlibDecoder::new(packed).take(MOST_TEXT).read_to_end(&mut text);
            Cow::Owned(text)
        }
    }
}

/// The bytes of a profile: behind three ends of lines, as hexadecimal digits.
fn bytes_of(profile: &[u8]) -> Vec<u8> {
    let digits = profile.splitn(4, |byte| *byte == b'\n').nth(3).unwrap_or_default();
    let mut digits = digits.iter().filter(|byte| !byte.is_ascii_whitespace());
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    std::iter::from_fn(|| Some(digit(digits.next()?)? * 16 + digit(digits.next()?)?))
        .map(|byte| u8::try_from(byte).expect("two digits of 16"))
        .take(usize::try_from(MOST_TEXT).expect("it is small"))
        .collect()
}
