//! What a GPU's engines give at most: a bare loop of nvJPEG's batched decoder, without reading back or anything after it. The
//! hardware lane is measured against it.

use std::thread;
use std::time::{Duration, Instant};

use super::gpu::Gpu;
use super::{LaneError, LaneKind};
use crate::driver::Stream;
use crate::frame::{Frame, Placed, Surface};
use crate::nvjpeg::BatchState;

/// Pictures per second that so many states, each on a thread of its own, decode in batches of this length, over and over from
/// these files, for about this time. Files that the engines do not take are left out; 0 if none is left.
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
    let begun = Instant::now();
    let counts: Result<Vec<u32>, _> = thread::scope(|scope| {
        let taken = &taken;
        let threads: Vec<_> = (0..states)
            .map(|number| scope.spawn(move || loop_over(gpu, &taken[number % taken.len()..], batch, time)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a bare loop does not panic")).collect()
    });
    let pictures: u32 = counts?.iter().sum();
    Ok(f64::from(pictures) / begun.elapsed().as_secs_f64())
}

/// One thread's loop; the number of its pictures. What is made before it begins counts as its time, as does its last batch.
fn loop_over(gpu: &Gpu, taken: &[(&[u8], Surface)], batch: usize, time: Duration) -> Result<u32, LaneError> {
    let largest = taken.iter().map(|(_, surface)| surface.bytes()).max().unwrap_or(0);
    let side = |of: fn(Frame) -> u32| taken.iter().map(|(_, surface)| of(surface.frame())).max().unwrap_or(1);
    let size = (side(|frame| frame.width), side(|frame| frame.height));
    let mut state = BatchState::new(gpu.handle(LaneKind::Hardware)?, batch, size)?;
    let needed = largest * batch;
    let memory = LaneError::Memory { limit: gpu.account().limit(), needed };
    let mut surfaces = gpu.account().take(needed)?.ok_or(memory)?;
    let mut stream = Stream::new(gpu.context())?;
    let mut next = taken.iter().cycle();
    let (mut pictures, begun) = (0, Instant::now());
    loop {
        let placed = (0..batch).zip(next.by_ref());
        let placed: Vec<_> =
            placed.map(|(place, (bytes, surface))| Placed { bytes, surface: *surface, at: place * largest }).collect();
        state.decode(&placed, &mut surfaces, &mut stream)?;
        pictures += u32::try_from(batch).unwrap_or(u32::MAX);
        if begun.elapsed() >= time {
            return Ok(pictures);
        }
    }
}
