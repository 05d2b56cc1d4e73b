//! What a GPU's engines give at most: a bare loop of nvJPEG's batched decoder, without reading back or anything after it. The
//! hardware lane is measured against it.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use super::gpu::Gpu;
use super::{LaneError, LaneKind};
use crate::driver::Stream;
use crate::frame::{Frame, Placed, Surface};
use crate::nvjpeg::{AccountedMemory, BatchState};

/// Pictures per second that so many states, each on a thread of its own, decode in batches of this length, over and over from
/// these files, for about this time, which begins when all of them are set up. Files that the engines do not take are left out; 0 if none is left.
///
/// # Errors
/// The GPU has no engines, the limit of its memory is too low, or decoding fails.
pub fn ceiling(gpu: &Gpu, files: &[Vec<u8>], states: usize, batch: usize, time: Duration) -> Result<f64, LaneError> {
    let taken: Vec<_> = files
        .iter()
        .filter_map(|bytes| Some((bytes, Frame::read(bytes).ok().filter(|frame| frame.baseline)?)))
        .map(|(bytes, frame)| (bytes.as_slice(), Surface::of(frame)))
        .collect();
    if taken.is_empty() {
        return Ok(0.0);
    }
    let start = Barrier::new(states + 1);
    let (begun, counts) = thread::scope(|scope| {
        let (taken, start) = (&taken, &start);
        let run = |number: usize| {
            let bare = BareLoop::new(gpu, &taken[number % taken.len()..], batch);
            // Those that could not be set up come here as well: the others wait for them.
            start.wait();
            bare?.run(time)
        };
        let threads: Vec<_> = (0..states).map(|number| scope.spawn(move || run(number))).collect();
        start.wait();
        let begun = Instant::now();
        let counts = threads.into_iter().map(|thread| thread.join().expect("a bare loop does not panic"));
        (begun, counts.collect::<Result<Vec<u32>, _>>())
    });
    let pictures: u32 = counts?.iter().sum();
    Ok(f64::from(pictures) / begun.elapsed().as_secs_f64())
}

/// One thread's loop.
struct BareLoop<'a> {
    state: BatchState,
    surfaces: AccountedMemory,
    stream: Stream,
    taken: &'a [(&'a [u8], Surface)],
    batch: usize,
    /// Bytes of the largest surface.
    largest: usize,
}

impl<'a> BareLoop<'a> {
    fn new(gpu: &Gpu, taken: &'a [(&'a [u8], Surface)], batch: usize) -> Result<Self, LaneError> {
        let largest = taken.iter().map(|(_, surface)| surface.bytes()).max().unwrap_or(0);
        let side = |of: fn(Frame) -> u32| taken.iter().map(|(_, surface)| of(surface.frame())).max().unwrap_or(1);
        let size = (side(|frame| frame.width), side(|frame| frame.height));
        let needed = largest * batch;
        let memory = LaneError::Memory { limit: gpu.account().limit(), needed };
        let mut state = BatchState::new(gpu.handle(LaneKind::Hardware)?, needed)?;
        state.reserve(batch, size)?;
        Ok(Self {
            state,
            surfaces: gpu.account().take(needed)?.ok_or(memory)?,
            stream: Stream::new(gpu.context())?,
            taken,
            batch,
            largest,
        })
    }

    /// The number of its pictures; its last batch counts as all others.
    fn run(mut self, time: Duration) -> Result<u32, LaneError> {
        let mut next = self.taken.iter().cycle();
        let (mut pictures, begun) = (0, Instant::now());
        loop {
            let placed = (0..self.batch).zip(next.by_ref());
            let placed: Vec<_> = placed
                .map(|(place, (bytes, surface))| Placed { bytes, surface: *surface, at: place * self.largest })
                .collect();
            self.state.decode(&placed, &mut self.surfaces, &mut self.stream)?;
            pictures += u32::try_from(self.batch).unwrap_or(u32::MAX);
            if begun.elapsed() >= time {
                return Ok(pictures);
            }
        }
    }
}
