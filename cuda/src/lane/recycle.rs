//! Whether surfaces may be used again: two pictures in turn, decoded into one surface that a slow copy still reads, or not.

use forebay_pixels::sample;

use super::gpu::Gpu;
use super::{LaneError, LaneKind};
use crate::driver::{PinnedMemory, Stream};
use crate::frame::{Frame, Placed, Surface};
use crate::nvjpeg::{AccountedMemory, BatchState};

/// Size of the pictures.
const SIZE: (u32, u32) = (160, 120);

/// How many pictures came out wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycled {
    /// Pictures that were decoded in either way.
    pub rounds: usize,
    /// Wrong ones with the wait that the lane keeps between batches. Anything but 0 is an error of this project.
    pub wrong: usize,
    /// Wrong ones without it: what this hardware does with the order of its stream.
    pub without_wait: usize,
}

/// Everything that a batch needs, with the surface at the end of `memory`: a copy of all of it comes to the surface last.
struct Road {
    state: BatchState,
    stream: Stream,
    memory: AccountedMemory,
    host: PinnedMemory,
    surface: Surface,
}

/// Decodes pictures by the engines, `rounds` in either way. The copy that is still under way has `len` bytes: 128 MiB take
/// some milliseconds.
///
/// # Errors
/// The GPU has no engines, the limit of its memory is too low, or decoding fails.
///
/// # Panics
/// If `len` is smaller than a picture of 160 x 120.
pub fn recycle(gpu: &Gpu, rounds: usize, len: usize) -> Result<Recycled, LaneError> {
    let files = [1, 2].map(|index| sample::photograph(index, SIZE.0, SIZE.1));
    let frame = Frame::read(&files[0]).expect("a photograph of ours is one that lanes take");
    let memory = LaneError::Memory { limit: gpu.account().limit(), needed: len };
    let mut road = Road {
        state: BatchState::new(gpu.handle(LaneKind::Hardware)?, 1, SIZE)?,
        stream: Stream::new(gpu.context())?,
        memory: gpu.account().take(len)?.ok_or(memory)?,
        host: PinnedMemory::new(gpu.context(), len)?,
        surface: Surface::of(frame),
    };
    let right = [road.decode(&files[0])?, road.decode(&files[1])?];
    let mut recycled = Recycled { rounds, wrong: 0, without_wait: 0 };
    for round in 0..rounds {
        let (one, other) = (round % 2, (round + 1) % 2);
        recycled.wrong += usize::from(road.decode(&files[one])? != right[one]);
        recycled.without_wait += usize::from(road.overtaken(&files[one], &files[other])? != right[one]);
    }
    Ok(recycled)
}

impl Road {
    fn decode(&mut self, bytes: &[u8]) -> Result<Vec<u8>, LaneError> {
        let placed = self.placed(bytes);
        let len = self.memory.len();
        self.state.decode(&[placed], &mut self.memory, &mut self.stream, 0..len, &mut self.host)?;
        Ok(self.planes())
    }

    fn overtaken(&mut self, bytes: &[u8], by: &[u8]) -> Result<Vec<u8>, LaneError> {
        let pair = [self.placed(bytes), self.placed(by)];
        self.state.decode_without_wait(pair, &mut self.memory, &mut self.stream, &mut self.host)?;
        Ok(self.planes())
    }

    fn placed<'a>(&self, bytes: &'a [u8]) -> Placed<'a> {
        Placed { bytes, surface: self.surface, at: self.at() }
    }

    fn planes(&self) -> Vec<u8> {
        let bytes = &self.host[self.at()..];
        let rows = self.surface.planes().iter().flat_map(|plane| (0..plane.height).map(move |row| (plane, row)));
        rows.flat_map(|(plane, row)| &bytes[plane.offset + row * plane.pitch..][..plane.width]).copied().collect()
    }

    /// Memory of a GPU is aligned, and so are surfaces.
    fn at(&self) -> usize {
        (self.memory.len() - self.surface.bytes()) / crate::frame::ALIGN * crate::frame::ALIGN
    }
}
