//! Pictures that MDS keeps as pixels: images of Pillow, and arrays. They become files of PNM, which have the same bytes behind
//! another head.

use forebay_columns::ElementType;

use super::arrays::ArrayForm;

/// How a column keeps the pixels of its pictures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PixelForm {
    /// Width, height and the length of the mode (four bytes each), the mode, and the rows.
    Pillow,
    /// Arrays `[height, width]`, `[height, width, 1]` or `[height, width, 3]` of bytes.
    Array(ArrayForm),
}

/// Bytes by which a picture may become longer.
pub(super) const MOST_ADDED: u64 = 64;

impl PixelForm {
    /// Makes a file of PNM of a value, in place.
    ///
    /// # Errors
    /// It is no picture that becomes one. The text says why.
    pub(super) fn unpack(&self, stored: &mut Vec<u8>) -> Result<(), String> {
        let (width, height, channels, at) = match self {
            Self::Pillow => pillow(stored)?,
            Self::Array(form) => array(form, stored)?,
        };
        let wanted = u64::from(width) * u64::from(height) * channels;
        if (stored.len() - at) as u64 != wanted {
            let (found, head) = (stored.len() - at, "it does not have the bytes of its pixels");
            return Err(format!(
                "{head}: {width} x {height} with {channels} channels have {wanted}, and {found} are there"
            ));
        }
        let kind = if channels == 1 { 5 } else { 6 };
        stored.splice(..at, format!("P{kind} {width} {height} 255\n").into_bytes());
        Ok(())
    }
}

/// Width, height, channels, and the bytes before the pixels.
type Shape = (u32, u32, u64, usize);

fn pillow(stored: &[u8]) -> Result<Shape, String> {
    const HEAD: usize = 12;
    let number = |at: usize| Some(u32::from_le_bytes(*stored.get(at..)?.first_chunk()?));
    let head = number(0).zip(number(4)).zip(number(8));
    let ((width, height), len) = head.ok_or("it ends before its pixels")?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mode = stored[HEAD..].get(..len).ok_or("it ends before its pixels")?;
    let channels = match mode {
        b"L" => 1,
        b"RGB" => 3,
        _ => {
            let mode = String::from_utf8_lossy(&mode[..mode.len().min(16)]).escape_debug().to_string();
            return Err(format!(
                "its pixels have Pillow's mode \"{mode}\". Only L and RGB are read: convert it, or write the column as png"
            ));
        }
    };
    Ok((width, height, channels, HEAD + len))
}

fn array(form: &ArrayForm, stored: &[u8]) -> Result<Shape, String> {
    let (element, shape, at) = form.head(stored)?;
    match (element, &shape[..]) {
        (ElementType::U8, [height, width] | [height, width, 1]) => Ok((*width, *height, 1, at)),
        (ElementType::U8, [height, width, 3]) => Ok((*width, *height, 3, at)),
        _ => Err(format!(
            "its array is {element} {shape:?}, and a picture is u8 [height, width] or u8 [height, width, 3]"
        )),
    }
}
