//! What a file says of its first picture, and that picture's pixels.

use crate::calls;
use crate::fault::WebpFault;
use crate::part::Part;

/// What a file says of its first picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Width and height of the canvas, which a still picture fills.
    pub size: (u32, u32),
    /// Frames: 1 for a still picture.
    pub frames: u32,
    /// Whether the file says that something is transparent.
    pub has_alpha: bool,
    /// Whether the first frame is lossless.
    pub is_lossless: bool,
    /// Whether the first frame has alpha of its own.
    frame_has_alpha: bool,
    /// Where the first frame is on the canvas.
    frame: Part,
    /// Where its data begin, and their length.
    data: (usize, usize),
}

impl Head {
    /// Memory that tables may take in any picture, in bytes. The files of libwebp's own encoder need less: it makes at most 2,600
    /// groups of tables.
    pub const TABLES: u64 = 32 << 20;
    /// Bytes of tables for each pixel: a group has 12 KB, and belongs to at least 16 pixels.
    const TABLES_PER_PIXEL: u64 = 768;
    /// Bytes for rows, and for the list of what is in the file: more than 100,000 chunks.
    const LITTLE: u64 = 4 << 20;

    /// Reads what a file says, and looks whether all of it is there.
    ///
    /// # Errors
    /// [`WebpFault`].
    pub fn read(bytes: &[u8]) -> Result<Self, WebpFault> {
        let found = calls::open(bytes, Self::LITTLE)?;
        let [left, top, width, height] = found.frame;
        let size = (found.canvas[0], found.canvas[1]);
        let head = Self {
            size,
            frames: found.frames,
            has_alpha: found.has_alpha != 0,
            is_lossless: found.is_lossless != 0,
            frame_has_alpha: found.frame_has_alpha != 0,
            frame: Part { left, top, width, height },
            data: (found.data[0], found.data[1]),
        };
        if head.frame.is_in(size) { Ok(head) } else { Err(WebpFault::Corrupt) }
    }

    /// Whether the first frame fills the canvas. Only then are parts decoded by themselves.
    pub fn is_still(&self) -> bool {
        self.frame == Part { left: 0, top: 0, width: self.size.0, height: self.size.1 }
    }

    /// Bytes of each pixel of [`decode`](Self::decode): 3 for RGB, 4 for RGB and alpha.
    pub fn channels(&self) -> u8 {
        if self.has_alpha { 4 } else { 3 }
    }

    /// Bytes that libwebp takes for each pixel of the whole picture, beside what it is decoded into: colours of four bytes, the
    /// plane of alpha, and what that is made of.
    pub fn own_form(&self) -> u8 {
        if self.is_lossless {
            4
        } else if self.frame_has_alpha {
            5
        } else {
            0
        }
    }

    /// Bytes that it takes at most for tables.
    pub fn tables(&self) -> u64 {
        if self.own_form() == 0 { 0 } else { self.pixels().saturating_mul(Self::TABLES_PER_PIXEL).min(Self::TABLES) }
    }

    fn pixels(&self) -> u64 {
        u64::from(self.size.0) * u64::from(self.size.1)
    }

    /// The part that [`decode`](Self::decode) must be asked for so that it has this one: as many columns and rows more as the
    /// pixels at the edges need to be those of the whole picture. All of it if the frame does not fill the canvas.
    ///
    /// # Panics
    /// If the part is not in the picture.
    pub fn part_for(&self, part: Part) -> Part {
        assert!(part.is_in(self.size), "the part is in the picture");
        if self.is_still() { part.widened(self.size) } else { self.whole() }
    }

    /// All of the canvas.
    pub fn whole(&self) -> Part {
        Part { left: 0, top: 0, width: self.size.0, height: self.size.1 }
    }

    /// Decodes a part that [`part_for`](Self::part_for) gave into `out`, row by row. Where the first frame does not reach, all
    /// values are 0.
    ///
    /// # Errors
    /// [`WebpFault`]. `out` may hold anything then. Data below the part are not looked at.
    ///
    /// # Panics
    /// If the part is none of `part_for`, `out` has not just the bytes of its pixels, or the bytes are other ones than those of
    /// the head.
    pub fn decode(&self, bytes: &[u8], part: Part, out: &mut [u8]) -> Result<(), WebpFault> {
        let channels = usize::from(self.channels());
        assert!(
            part.is_in(self.size) && part.left.is_multiple_of(2) && part.top.is_multiple_of(2),
            "the part is one of part_for"
        );
        assert_eq!(out.len(), part.area() * channels, "the part fills the buffer");
        let data = &bytes[self.data.0..][..self.data.1];
        let of_pixels = self.pixels().saturating_mul(self.own_form().into());
        let memory = of_pixels.saturating_add(self.tables()).saturating_add(Self::LITTLE);
        let stride = part.width as usize * channels;
        if self.is_still() {
            return calls::read(data, part, self.channels(), memory, (out, stride));
        }
        assert_eq!(part, self.whole(), "the part is one of part_for");
        out.fill(0);
        let first = self.frame.top as usize * stride + self.frame.left as usize * channels;
        let frame = Part { left: 0, top: 0, ..self.frame };
        calls::read(data, frame, self.channels(), memory, (&mut out[first..], stride))
    }
}
