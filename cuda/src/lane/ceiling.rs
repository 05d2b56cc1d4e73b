//! What a GPU's decoders give at most: bare loops of nvJPEG, without reading back or anything after it. Lanes are measured
//! against them.

use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::gpu::Gpu;
use super::state::LaneState;
use super::{LaneError, LaneKind};
use crate::driver::Stream;
use crate::frame::{Form, Frame, Placed, Surface};
use crate::nvjpeg::AccountedMemory;

/// What a state may take of the host's page-locked memory: more than any does.
const PAGE_LOCKED: usize = 1 << 30;

/// A way to drive a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drive {
    /// Whose decoder.
    pub kind: LaneKind,
    /// What it gives; lanes that decode picture by picture give planes.
    pub form: Form,
    /// States, each on a thread of its own.
    pub states: usize,
    /// Pictures of a batch; of lanes that decode picture by picture they are decoded one after the other.
    pub batch: usize,
}

/// Pictures per second that are decoded so, over and over from these files, for about this time, which begins when each state
/// is set up and has decoded a batch. Files that the engines do not take are left out; 0 if none is left.
///
/// # Errors
/// The GPU has no such decoder, the limit of its memory is too low, or decoding fails.
pub fn ceiling(gpu: &Gpu, files: &[Vec<u8>], drive: Drive, time: Duration) -> Result<f64, LaneError> {
    let taken: Vec<_> = files
        .iter()
        .filter_map(|bytes| Some((bytes, Frame::read(bytes).ok().filter(|frame| frame.baseline)?)))
        .map(|(bytes, frame)| (bytes.as_slice(), drive.surface(frame)))
        .collect();
    if taken.is_empty() {
        return Ok(0.0);
    }
    let (begun, counts) = thread::scope(|scope| {
        let taken = &taken;
        let (ready, set_up) = mpsc::channel::<Infallible>();
        let run = move |number: usize, ready: Sender<Infallible>, go: Receiver<()>| {
            let bare = BareLoop::new(gpu, taken, number, drive).and_then(|mut bare| {
                // The first batch of a state takes memory, and longer than all others.
                bare.decode()?;
                Ok(bare)
            });
            // Those that could not be set up come here as well: the others wait for them.
            drop(ready);
            if go.recv().is_err() { Ok(0) } else { bare?.run(time) }
        };
        let mut started = Vec::new();
        for number in 0..drive.states {
            let (ready, (go, gone)) = (ready.clone(), mpsc::channel());
            let thread = thread::Builder::new().name(format!("forebay-bare-{number}"));
            // Without room for one of them, none of the others goes.
            let thread = thread
                .spawn_scoped(scope, move || run(number, ready, gone))
                .map_err(|error| LaneError::Thread(error.to_string()))?;
            started.push((thread, go));
        }
        drop(ready);
        let Err(mpsc::RecvError) = set_up.recv();
        let begun = Instant::now();
        for (_, go) in &started {
            go.send(()).expect("it waits for this");
        }
        let counts = started.into_iter().map(|(thread, _)| thread.join().expect("a bare loop does not panic"));
        Ok::<_, LaneError>((begun, counts.collect::<Result<Vec<u32>, _>>()))
    })?;
    let pictures: u32 = counts?.iter().sum();
    Ok(f64::from(pictures) / begun.elapsed().as_secs_f64())
}

impl Drive {
    /// Everything that is measured.
    pub fn all() -> Vec<Self> {
        let bare = |kind: LaneKind| kind.on_gpu().into_iter().flat_map(|lane| lane.bare).map(move |bare| (kind, *bare));
        let drives = |(kind, (form, states, batches)): (_, (_, _, &'static [usize]))| {
            batches.iter().map(move |batch| Self { kind, form, states, batch: *batch })
        };
        LaneKind::GPU.into_iter().flat_map(bare).flat_map(drives).collect()
    }

    fn surface(&self, frame: Frame) -> Surface {
        match self.form {
            Form::Planes => Surface::of(frame),
            Form::Rgb => Surface::rgb(frame),
        }
    }
}

/// One thread's loop.
struct BareLoop<'a> {
    state: LaneState,
    surfaces: AccountedMemory,
    stream: Stream,
    taken: &'a [(&'a [u8], Surface)],
    /// Where the next batch begins.
    next: usize,
    batch: usize,
    /// Bytes of the largest surface.
    largest: usize,
}

impl<'a> BareLoop<'a> {
    fn new(gpu: &Gpu, taken: &'a [(&'a [u8], Surface)], number: usize, drive: Drive) -> Result<Self, LaneError> {
        let Drive { kind, form, batch, .. } = drive;
        let largest = taken.iter().map(|(_, surface)| surface.bytes()).max().unwrap_or(0);
        let side = |of: fn(Frame) -> u32| taken.iter().map(|(_, surface)| of(surface.frame())).max().unwrap_or(1);
        let size = (side(|frame| frame.width), side(|frame| frame.height));
        let needed = largest * batch;
        let memory = LaneError::Memory { limit: gpu.account().limit(), needed };
        let mut state = LaneState::new(gpu, kind, form, PAGE_LOCKED)?;
        if let (LaneState::Batch(state), true) = (&mut state, kind.uses_engines()) {
            state.reserve(batch, size)?;
        }
        Ok(Self {
            state,
            surfaces: gpu.account().take(needed)?.ok_or(memory)?,
            stream: Stream::new(gpu.context())?,
            taken,
            next: number,
            batch,
            largest,
        })
    }

    /// Decodes the next batch.
    fn decode(&mut self) -> Result<(), LaneError> {
        let following = self.taken.iter().cycle().skip(self.next % self.taken.len());
        let placed: Vec<_> = (0..self.batch)
            .zip(following)
            .map(|(place, (bytes, surface))| Placed { bytes, surface: *surface, at: place * self.largest })
            .collect();
        self.next += self.batch;
        match &mut self.state {
            LaneState::Batch(state) => state.decode(&placed, &mut self.surfaces, &mut self.stream),
            LaneState::Single(states) => {
                let (surfaces, stream) = (&mut self.surfaces, &mut self.stream);
                placed.iter().zip(0..).try_for_each(|(picture, turn)| {
                    let count = states.len();
                    states[turn % count].decode(picture, surfaces, stream)
                })
            }
        }
    }

    /// The number of its pictures; its last batch counts as all others.
    fn run(mut self, time: Duration) -> Result<u32, LaneError> {
        let (mut pictures, begun) = (0, Instant::now());
        loop {
            self.decode()?;
            pictures += u32::try_from(self.batch).unwrap_or(u32::MAX);
            if begun.elapsed() >= time {
                return Ok(pictures);
            }
        }
    }
}
