//! Whether surfaces may be used again: two pictures in turn, decoded into one surface that a slow copy still reads, or not.
#![allow(unsafe_code, reason = "begins to decode while a copy is under way, to see what comes of it")]

use forebay_pixels::sample;

use super::gpu::Gpu;
use super::state::LaneState;
use super::{LaneError, LaneKind};
use crate::driver::{PinnedMemory, Stream};
use crate::frame::{Form, Frame, Placed, Surface};
use crate::nvjpeg::AccountedMemory;

/// Size of the pictures.
const SIZE: (u32, u32) = (160, 120);

/// How many pictures came out wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recycled {
    /// Pictures that were decoded in either way.
    pub rounds: usize,
    /// Wrong ones with the wait that the lane keeps between groups. Anything but 0 is an error of this project.
    pub wrong: usize,
    /// Wrong ones without it: what this hardware does with the order of its stream.
    pub without_wait: usize,
}

/// Everything that a picture needs, with the surface at the end of `memory`: a copy of all of it comes to the surface last.
struct RecycledLane {
    state: LaneState,
    stream: Stream,
    memory: AccountedMemory,
    host: PinnedMemory,
    surface: Surface,
}

/// Decodes pictures by the engines, in groups of one or picture by picture, `rounds` in either way. The copy that is still
/// under way has `len` bytes: 128 MiB take some milliseconds.
///
/// # Errors
/// The GPU has no engines, the limit of its memory is too low, or decoding fails.
///
/// # Panics
/// If `len` is smaller than a picture of 160 x 120.
pub fn recycle(gpu: &Gpu, kind: LaneKind, rounds: usize, len: usize) -> Result<Recycled, LaneError> {
    let files = [1, 2].map(|index| sample::photograph(index, SIZE.0, SIZE.1));
    let frame = Frame::read(&files[0]).expect("a photograph of ours is one that lanes take");
    let memory = LaneError::Memory { limit: gpu.account().limit(), needed: len };
    let mut recycled_lane = RecycledLane {
        state: LaneState::new(gpu, kind, Form::Planes, len)?,
        stream: Stream::new(gpu.context())?,
        memory: gpu.account().take(len)?.ok_or(memory)?,
        host: PinnedMemory::new(gpu.context(), len)?,
        surface: Surface::of(frame),
    };
    let right = [recycled_lane.decode(&files[0])?, recycled_lane.decode(&files[1])?];
    let mut recycled = Recycled { rounds, wrong: 0, without_wait: 0 };
    for round in 0..rounds {
        let (one, other) = (round % 2, (round + 1) % 2);
        recycled.wrong += usize::from(recycled_lane.decode(&files[one])? != right[one]);
        recycled.without_wait += usize::from(recycled_lane.overtaken(&files[one], &files[other])? != right[one]);
    }
    Ok(recycled)
}

impl RecycledLane {
    fn decode(&mut self, bytes: &[u8]) -> Result<Vec<u8>, LaneError> {
        let placed = self.placed(bytes);
        // SAFETY: all that was queued before was waited for, and the wait follows.
        unsafe { self.begin(placed) }?;
        self.stream.read(&self.memory, 0..self.memory.len(), &mut self.host)?;
        Ok(self.planes())
    }

    /// Does what a lane must never do, to measure the effect. It gives the second picture to the engines while the copy of
    /// all memory, with the first picture at its end, is still under way. On hardware that keeps the order of its stream,
    /// the copy has the first picture.
    fn overtaken(&mut self, bytes: &[u8], by: &[u8]) -> Result<Vec<u8>, LaneError> {
        let (first, second) = (self.placed(bytes), self.placed(by));
        // SAFETY: as in `decode`.
        unsafe { self.begin(first) }?;
        self.stream.wait()?;
        // SAFETY: the host's memory is not read before the wait below; `begin` waits if it fails.
        unsafe { self.stream.begin_read(&self.memory, 0..self.memory.len(), &mut self.host) }?;
        // SAFETY: the copy is under way, and the test measures the result of that. Both memories live on.
        unsafe { self.begin(second) }?;
        self.stream.wait()?;
        Ok(self.planes())
    }

    /// Begins to decode.
    ///
    /// # Safety
    /// As of `begin` of either state.
    unsafe fn begin(&mut self, placed: Placed<'_>) -> Result<(), LaneError> {
        let (memory, stream) = (&self.memory, &mut self.stream);
        match &mut self.state {
            // SAFETY: as the caller promises.
            LaneState::Batch(state) => unsafe { state.begin(&[placed], memory, stream) },
            // SAFETY: as the caller promises.
            LaneState::Single(states) => unsafe { states[0].begin(&placed, memory, stream) },
        }
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
