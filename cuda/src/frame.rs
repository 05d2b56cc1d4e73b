//! What a GPU lane must know about a JPEG before it accepts it: size, sampling and kind, from its markers alone.

use forebay_pixels::sample::JpegColors;
use forebay_pixels::{Fault, Format, JpegHead, Sampling};

use crate::refusal::Refusal;

/// A JPEG that a GPU lane may take: 8 bits, Huffman coding, gray or luminance with two colour differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Stored width in pixels.
    pub width: u32,
    /// Stored height in pixels.
    pub height: u32,
    /// Its planes' sizes.
    pub sampling: Sampling,
    /// Baseline, with all components in the first scan: what the engines decode.
    pub baseline: bool,
}

/// A plane's place in the bytes of its surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plane {
    /// Where it begins.
    pub offset: usize,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Samples of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
}

/// What a decoder gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Planes as they are stored, which lanes take.
    Planes,
    /// Red, green and blue in turn, in one plane.
    Rgb,
}

/// Where a picture's planes are in a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Surface {
    frame: Frame,
    planes: [Plane; 3],
    /// Of the planes, those that nvJPEG is given.
    given: usize,
    /// Of these, those that are read.
    count: usize,
    bytes: usize,
}

/// A picture with its place among the surfaces of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Its planes.
    pub surface: Surface,
    /// Where they begin, in the memory of all surfaces.
    pub at: usize,
}

/// Rows begin at multiples of this.
const PITCH: usize = 32;
/// Planes begin at multiples of this.
pub(crate) const ALIGN: usize = 256;

impl Frame {
    /// Reads the markers.
    ///
    /// # Errors
    /// Why no GPU lane takes it. What is wrong with a damaged file is for the CPU lane to say.
    pub fn read(bytes: &[u8]) -> Result<Self, Refusal> {
        Self::of(&Self::head(bytes)?)
    }

    /// The markers themselves.
    pub(crate) fn head(bytes: &[u8]) -> Result<JpegHead, Refusal> {
        if Format::of(bytes) != Ok(Format::Jpeg) {
            return Err(Refusal::NotJpeg);
        }
        JpegHead::read(bytes).map_err(|fault| match fault {
            Fault::Unsupported { .. } => Refusal::Kind,
            _ => Refusal::Damaged,
        })
    }

    /// What the markers of a picture say.
    ///
    /// # Errors
    /// As of [`Self::read`].
    pub fn of(head: &JpegHead) -> Result<Self, Refusal> {
        if !head.huffman() {
            return Err(Refusal::Kind);
        }
        if !matches!(head.colors, Some(JpegColors::Gray | JpegColors::YCbCr)) {
            return Err(Refusal::Colours);
        }
        // Of 4:1:1 the engines take none.
        let sampling = head.sampling.filter(|sampling| *sampling != Sampling::S411).ok_or(Refusal::Sampling)?;
        Ok(Self { width: head.width, height: head.height, sampling, baseline: head.baseline() })
    }
}

impl Surface {
    /// The layout of the planes of such a picture.
    pub(crate) fn of(frame: Frame) -> Self {
        let (width, height) = (frame.width as usize, frame.height as usize);
        let (across, down) = frame.sampling.factors();
        let (across, down) = (across as usize, down as usize);
        let count = if frame.sampling == Sampling::Gray { 1 } else { 3 };
        let mut surface = Self { frame, planes: [Plane::default(); 3], given: 3, count, bytes: 0 };
        // nvJPEG may write colours of a gray picture too, if only to make them gray. They have room that nothing reads.
        for number in 0..surface.given {
            let (width, height) =
                if number == 0 { (width, height) } else { (width.div_ceil(across), height.div_ceil(down)) };
            let pitch = width.next_multiple_of(PITCH);
            surface.planes[number] = Plane { offset: surface.bytes, pitch, width, height };
            surface.bytes += (pitch * height).next_multiple_of(ALIGN);
        }
        surface
    }

    /// The layout of such a picture as one plane with red, green and blue interleaved.
    pub(crate) fn rgb(frame: Frame) -> Self {
        let (width, height) = (frame.width as usize * 3, frame.height as usize);
        let pitch = width.next_multiple_of(PITCH);
        let plane = Plane { offset: 0, pitch, width, height };
        Self { frame, planes: [plane; 3], given: 1, count: 1, bytes: (pitch * height).next_multiple_of(ALIGN) }
    }

    /// The picture.
    pub(crate) fn frame(&self) -> Frame {
        self.frame
    }

    /// Those that nvJPEG is given.
    pub(crate) fn given(&self) -> &[Plane] {
        &self.planes[..self.given]
    }

    /// One plane, or three: those that are read.
    pub(crate) fn planes(&self) -> &[Plane] {
        &self.planes[..self.count]
    }

    /// Bytes of all planes, a multiple of the alignment.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_that_nvjpeg_is_given_lie_beside_each_other_and_a_gray_picture_has_room_for_colours_that_are_not_read() {
        for sampling in [Sampling::Gray, Sampling::S444, Sampling::S422, Sampling::S420, Sampling::S440] {
            for (width, height) in [(1, 1), (33, 7), (640, 427)] {
                let surface = Surface::of(Frame { width, height, sampling, baseline: true });
                let ends = surface.given().iter().map(|plane| plane.offset + plane.pitch * plane.height);
                let begins = surface.given().iter().skip(1).map(|plane| plane.offset).chain([surface.bytes()]);
                assert!(ends.zip(begins).all(|(end, begin)| end <= begin), "{sampling:?}, {width} x {height}");
                assert!(surface.given().iter().all(|plane| plane.offset % ALIGN == 0 && plane.width <= plane.pitch));
                assert_eq!(surface.given().len(), 3);
                assert_eq!(surface.planes().len(), if sampling == Sampling::Gray { 1 } else { 3 });
            }
        }
    }
}
