//! The calls of the C shim, which calls dav1d, and the planes that it decodes into.
#![allow(unsafe_code, reason = "calls the C shim, and reads the planes that dav1d has made")]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use crate::fault::AvifFault;

/// `struct forebay_avif_picture`.
#[repr(C)]
struct CPicture {
    planes: [*const u8; 3],
    strides: [usize; 2],
    width: u32,
    height: u32,
    depth: u32,
    layout: u32,
    primaries: u32,
    transfer: u32,
    matrix: u32,
    is_full_range: u32,
    owner: *mut c_void,
    memory: usize,
}

unsafe extern "C" {
    fn forebay_avif_decode(
        data: *const u8,
        len: usize,
        operating_point: u32,
        pixels: u32,
        memory: usize,
        picture: *mut CPicture,
    ) -> c_int;
    fn forebay_avif_close(owner: *mut c_void);
}

/// How much smaller the planes of colour are than the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// There are none.
    Gray,
    /// By two in both directions: 4:2:0.
    Quarter,
    /// By two in a row: 4:2:2.
    Half,
    /// Not: 4:4:4.
    Full,
}

/// What a decoder may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Pixels of a frame.
    pub(crate) pixels: u32,
    /// Bytes in all.
    pub(crate) memory: u64,
}

/// The planes of a picture, in dav1d's memory.
#[derive(Debug)]
pub(crate) struct Planes {
    /// Where each plane begins; none where the layout has none.
    firsts: [Option<NonNull<u8>>; 3],
    strides: [usize; 2],
    pub(crate) size: (u32, u32),
    pub(crate) depth: u8,
    pub(crate) layout: Layout,
    /// Primaries, transfer and matrix, as the data's header names them.
    pub(crate) cicp: [u16; 3],
    pub(crate) is_full_range: bool,
    /// Bytes that dav1d has taken at most.
    pub(crate) memory: usize,
    owner: NonNull<c_void>,
}

impl Drop for Planes {
    fn drop(&mut self) {
        // SAFETY: the owner is of a decode that went well, is closed once, and in its own thread: the type is not `Send`, as it has
        // pointers.
        unsafe { forebay_avif_close(self.owner.as_ptr()) };
    }
}

/// Decodes the first picture that some AV1 data show.
pub(crate) fn decode(data: &[u8], operating_point: u8, allowance: Allowance) -> Result<Planes, AvifFault> {
    let memory = usize::try_from(allowance.memory).unwrap_or(usize::MAX);
    let mut found = CPicture {
        planes: [std::ptr::null(); 3],
        strides: [0; 2],
        width: 0,
        height: 0,
        depth: 0,
        layout: 0,
        primaries: 0,
        transfer: 0,
        matrix: 0,
        is_full_range: 0,
        owner: std::ptr::null_mut(),
        memory: 0,
    };
    let (first, len, to) = (data.as_ptr(), data.len(), &raw mut found);
    // SAFETY: the data are readable for their length until the call returns, and are not kept. The picture is writable and laid out as in
    // avif.h.
    let outcome = unsafe { forebay_avif_decode(first, len, operating_point.into(), allowance.pixels, memory, to) };
    match outcome {
        0 => {}
        2 => return Err(AvifFault::Truncated),
        3 => return Err(AvifFault::NoMemory),
        4 => return Err(AvifFault::TooMuchMemory),
        5 => return Err(AvifFault::Unsupported("with a frame larger than the picture")),
        _ => return Err(AvifFault::Corrupt("its AV1 data are not valid")),
    }
    let number = |value: u32| u16::try_from(value).unwrap_or(u16::MAX);
    Ok(Planes {
        firsts: found.planes.map(|plane| NonNull::new(plane.cast_mut())),
        strides: found.strides,
        size: (found.width, found.height),
        depth: u8::try_from(found.depth).unwrap_or(u8::MAX),
        layout: match found.layout {
            0 => Layout::Gray,
            1 => Layout::Quarter,
            2 => Layout::Half,
            _ => Layout::Full,
        },
        cicp: [found.primaries, found.transfer, found.matrix].map(number),
        is_full_range: found.is_full_range != 0,
        memory: found.memory,
        owner: NonNull::new(found.owner).expect("a picture that was decoded has an owner"),
    })
}

/// A row of a plane.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Row<'a> {
    /// Values of 8 bits.
    Bytes(&'a [u8]),
    /// Values of more.
    Shorts(&'a [u16]),
}

impl Planes {
    /// Width and height of the planes of colour.
    pub(crate) fn colour_size(&self) -> (u32, u32) {
        let (width, height) = self.size;
        match self.layout {
            Layout::Gray => (0, 0),
            Layout::Quarter => (width.div_ceil(2), height.div_ceil(2)),
            Layout::Half => (width.div_ceil(2), height),
            Layout::Full => (width, height),
        }
    }

    /// A row of a plane: 0 is the first one, 1 and 2 are those of colour.
    ///
    /// # Panics
    /// If there is no such plane or row.
    pub(crate) fn row(&self, plane: usize, row: usize) -> Row<'_> {
        let (width, height) = if plane == 0 { self.size } else { self.colour_size() };
        let (width, stride) = (width as usize, self.strides[plane.min(1)]);
        assert!(row < height as usize, "the plane has the row");
        let first = self.firsts[plane].expect("the layout has the plane").as_ptr();
        // SAFETY: dav1d's planes have this many rows, `stride` bytes from one to the next, in one piece of memory.
        let first = unsafe { first.add(row * stride) };
        if self.depth == 8 {
            // SAFETY: a row has `width` values of a byte, all of which the decoder has written, and which are not written again while
            // `self` is borrowed.
            Row::Bytes(unsafe { std::slice::from_raw_parts(first, width) })
        } else {
            #[expect(clippy::cast_ptr_alignment, reason = "the next line looks at it")]
            let first = first.cast::<u16>();
            assert!(first.is_aligned(), "rows of values of two bytes begin at even addresses");
            // SAFETY: as above, with values of two bytes, to which the pointer is aligned.
            Row::Shorts(unsafe { std::slice::from_raw_parts(first, width) })
        }
    }
}
