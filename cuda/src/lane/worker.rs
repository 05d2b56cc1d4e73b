//! One thread's share of a GPU lane: a state of nvJPEG, a stream, surfaces of its own, and memory for their results.
//!
//! A group is decoded into surfaces that nothing else touches, and composed by launches. The results are copied to where
//! they will be read, unless they are made there (a ring in this GPU). The worker waits for all of this before it takes the
//! next group. So nothing is ever written into a surface that is still read, whatever order the hardware keeps. While one
//! worker waits, the engines decode for others.
#![allow(unsafe_code, reason = "queues work on memory that has to be left alone")]

use std::ops::Range;
use std::sync::Arc;

use forebay_pixels::Composition;

use super::engine::EngineMemory;
use super::gpu::Gpu;
use super::order::{Made, Order, Target};
use super::poison::{MOST_PICTURES, Poison};
use super::size::LaneSize;
use super::staging::Staging;
use super::state::LaneState;
use super::whole::Whole;
use super::{LaneError, LaneKind, Refusal};
use crate::compose::Source;
use crate::driver::{Context, CudaError, Stream};
use crate::frame::{Form, Frame, Placed, Surface};
use crate::nvjpeg::{AccountedMemory, BatchState, NvjpegError};

/// Sides of the pictures for which a state has memory before they come: no engine refuses the largest, and a GPU that has none
/// for the smallest is no place to decode.
const MOST_RESERVED: u32 = 4096;
/// See [`MOST_RESERVED`].
const LEAST_RESERVED: u32 = 64;

/// A thread's share of a lane.
#[derive(Debug)]
pub struct Worker {
    kind: LaneKind,
    context: Arc<Context>,
    state: LaneState,
    stream: Stream,
    surfaces: AccountedMemory,
    /// Of lanes that use the engines; after the state, which takes it.
    engines: Option<EngineMemory>,
    staging: Staging,
    poison: Poison,
    group: usize,
    failure: Option<NvjpegError>,
}

/// A picture that is under way.
#[derive(Clone, Debug)]
struct UnderWay<'a> {
    /// Its number among the orders.
    order: usize,
    /// Its number among those that are under way.
    number: usize,
    placed: Placed<'a>,
    /// Where the result is among those that are copied to the host.
    result: Option<Range<usize>>,
}

impl Worker {
    /// A worker for each thread of a GPU's lane, with everything that it will need.
    ///
    /// # Errors
    /// The GPU has no such lane, or the limit of its memory is too low.
    pub fn all(gpu: &Gpu, kind: LaneKind, size: LaneSize) -> Result<Vec<Self>, LaneError> {
        let group = (kind.on_gpu()?.group)(gpu)?;
        (0..size.workers).map(|_| Self::new(gpu, kind, group, size)).collect()
    }

    /// A worker for groups of `group` pictures, with as much memory for the results as for surfaces.
    fn new(gpu: &Gpu, kind: LaneKind, group: usize, size: LaneSize) -> Result<Self, LaneError> {
        let LaneSize { surfaces: len, engines, .. } = size;
        let lane = kind.on_gpu()?;
        let engines = lane.engine_surfaces.map(|surfaces| EngineMemory::new(gpu.account(), surfaces(group), engines));
        let engines = engines.transpose()?;
        let mut state = LaneState::new(gpu, kind, Form::Planes, (lane.page_locked)(len))?;
        if let (LaneState::Batch(state), Some(engines)) = (&mut state, &engines) {
            reserve(state, group, engines.side())?;
        }
        let memory = LaneError::Memory { limit: gpu.account().limit(), needed: len };
        let mut stream = Stream::new(gpu.context())?;
        let surfaces = gpu.account().take(len)?.ok_or(memory)?;
        let poison = Poison::new(gpu, &surfaces, &mut stream)?;
        Ok(Self {
            kind,
            context: Arc::clone(gpu.context()),
            state,
            stream,
            surfaces,
            engines,
            staging: Staging::new(gpu, len)?,
            poison,
            group,
            failure: None,
        })
    }

    /// Pictures that it decodes best at a time.
    pub fn group(&self) -> usize {
        self.group
    }

    /// Which lane it belongs to.
    pub fn kind(&self) -> LaneKind {
        self.kind
    }

    /// What nvJPEG failed with in the last call, for other reasons than what a picture is, if it did.
    pub fn failure(&self) -> Option<NvjpegError> {
        self.failure
    }

    /// Bytes that the results of a call may have together.
    pub fn room(&self) -> usize {
        self.staging.room()
    }

    /// Decodes the first of these pictures, as many as fit into its memory, and writes their results to their targets. For a
    /// refused picture, the outcome says why another lane has to take it. There are as many outcomes as pictures were taken,
    /// at least one; the rest is for another call. Places of refused pictures may hold anything.
    ///
    /// # Errors
    /// The GPU failed. Unless that [is a fault](CudaError::is_fault), nothing of the call is under way any more, and other lanes may
    /// take its pictures.
    ///
    /// # Panics
    /// If a place has other bytes than its result, or is in another GPU.
    pub fn decode(&mut self, orders: &mut [Order<'_>]) -> Result<Vec<Result<(), Refusal>>, CudaError> {
        // A broken context is reported here, so that no picture is blamed for it.
        self.context.bind()?;
        self.staging.clear();
        self.failure = None;
        let mut outcomes = Vec::with_capacity(orders.len());
        let mut group: Vec<UnderWay<'_>> = Vec::new();
        let mut used = 0;
        for (number, order) in orders.iter().enumerate() {
            match self.admit(order)? {
                Ok((surface, made)) => {
                    if used + surface.bytes() > self.surfaces.len()
                        || !self.staging.has_room(&made, order.out.address())
                        || group.len() == MOST_PICTURES
                    {
                        break;
                    }
                    assert_eq!(order.out.len(), made.result_len(), "a place has the bytes of its picture");
                    assert!(order.out.is_of(&self.context), "a place is in the host or in the worker's GPU");
                    let source = Source::planar(&surface, self.surfaces.at() + used as u64);
                    let placed = Placed { bytes: order.bytes, surface, at: used };
                    let result = self.staging.add(&source, &made, order.out.address());
                    group.push(UnderWay { order: number, number: group.len(), placed, result });
                    used += surface.bytes();
                    outcomes.push(Ok(()));
                }
                Err(refusal) => outcomes.push(Err(refusal)),
            }
        }
        for (order, refusal) in self.make(&group, orders)? {
            outcomes[order] = Err(refusal);
        }
        Ok(outcomes)
    }

    /// Whether the lane takes the picture, by its header alone, and how it is composed.
    fn admit(&mut self, order: &Order<'_>) -> Result<Result<(Surface, Composition), Refusal>, CudaError> {
        let (surface, made) = match self.fits(order) {
            Ok(fitting) => fitting,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let taken = match &mut self.state {
            LaneState::Batch(state) => state.takes(order.bytes, &surface.frame()),
            // Its parser reads the whole file, so it decides only when the picture's turn comes.
            LaneState::Single(_) => Ok(true),
        };
        Ok(match taken {
            Ok(true) => Ok((surface, made)),
            Ok(false) => Err(Refusal::NotSupported),
            Err(error) => Err(self.refused(error)?),
        })
    }

    /// Whether the worker has room for a picture of this kind and size, and for its result.
    fn fits(&self, order: &Order<'_>) -> Result<(Surface, Composition), Refusal> {
        let head = Frame::head(order.bytes)?;
        let frame = Frame::of(&head)?;
        let surface = Surface::of(frame);
        let of_engines =
            self.engines.as_ref().is_none_or(|engines| engines.takes(head.width, head.height, order.bytes.len()));
        if surface.bytes() > self.surfaces.len() || !of_engines {
            return Err(Refusal::TooLarge);
        }
        if !frame.baseline && !self.kind.takes_several_scans() {
            return Err(Refusal::Kind);
        }
        let made = order.made.of(&head)?;
        if self.staging.takes(&made) { Ok((surface, made)) } else { Err(Refusal::TooLarge) }
    }

    /// Why a picture goes to the next lane after such an error.
    fn refused(&mut self, error: LaneError) -> Result<Refusal, CudaError> {
        match error {
            LaneError::Nvjpeg(error) => {
                let refusal = error.refusal();
                if matches!(refusal, Refusal::Memory | Refusal::Failed) {
                    self.failure = Some(error);
                }
                Ok(refusal)
            }
            LaneError::Cuda(error) => Err(error),
            LaneError::Kernel(_) | LaneError::Memory { .. } | LaneError::NoGpu(_) | LaneError::Thread(_) => {
                unreachable!("decoding takes no memory, no kernel, no lane and no thread")
            }
        }
    }

    /// Makes all that is under way, and gives the orders that failed.
    fn make(&mut self, group: &[UnderWay<'_>], orders: &mut [Order<'_>]) -> Result<Vec<(usize, Refusal)>, CudaError> {
        if group.is_empty() {
            return Ok(Vec::new());
        }
        let mut failed = vec![None; group.len()];
        let queued = self.queue(group, orders, &mut failed);
        let used = group.last().map_or(0, |picture| picture.placed.at + picture.placed.surface.bytes());
        // SAFETY: what is under way in the surfaces was queued before, and the wait is next.
        let laid = unsafe { Poison::lay(&mut self.stream, &self.surfaces, used) };
        // Whatever was queued is done after this wait, or else the context is broken and it never comes: surfaces, results, and
        // the places that orders borrow are idle.
        let done = self.stream.wait();
        done.and(queued).and(laid)?;
        for UnderWay { number, placed, .. } in group {
            if failed[*number].is_none() && self.poison.is_left(*number, &placed.surface) {
                failed[*number] = Some(Refusal::NotWritten);
            }
        }
        Ok(group.iter().filter_map(|picture| Some((picture.order, failed[picture.number]?))).collect())
    }

    /// Queues decoding, the launches, and the copies of their results.
    fn queue(
        &mut self,
        group: &[UnderWay<'_>],
        orders: &mut [Order<'_>],
        failed: &mut [Option<Refusal>],
    ) -> Result<(), CudaError> {
        let together = match self.state {
            LaneState::Batch(_) => group.len(),
            LaneState::Single(_) => 1,
        };
        for part in group.chunks(together) {
            self.decode_part(part, failed)?;
        }
        // SAFETY: sources lie in the surfaces, which with the staging memory are this worker's, and places in the GPU are
        // borrowed by the orders; `make` waits before it continues.
        unsafe { self.staging.launch(&mut self.stream, |number| failed[number].is_none()) }?;
        for picture in group.iter().filter(|picture| failed[picture.number].is_none()) {
            // SAFETY: `make` waits before it looks.
            unsafe { self.poison.look(&mut self.stream, &self.surfaces, picture.number, &picture.placed) }?;
            if let (Some(result), Target::Host(out)) = (&picture.result, &mut orders[picture.order].out) {
                // SAFETY: `make` has the orders borrowed, and waits before it gives them back.
                unsafe { self.staging.hand_over(&mut self.stream, result.clone(), out) }?;
            }
        }
        Ok(())
    }

    /// Queues decoding of a part of a group. One bad picture fails a whole call, so a part that fails is tried in halves.
    fn decode_part(&mut self, part: &[UnderWay<'_>], failed: &mut [Option<Refusal>]) -> Result<(), CudaError> {
        let (surfaces, stream) = (&mut self.surfaces, &mut self.stream);
        let outcome = match &mut self.state {
            LaneState::Batch(state) => {
                let pictures: Vec<_> = part.iter().map(|picture| picture.placed).collect();
                // SAFETY: the surfaces are this worker's; whatever used them or the state was waited for, at the end of `make` or
                // below; the files are borrowed until `make` has waited.
                unsafe { state.begin(&pictures, surfaces, stream) }
            }
            LaneState::Single(states) => match &mut states[..] {
                // Engines begin without regard to what was queued before.
                [state] => state.decode(&part[0].placed, surfaces, stream),
                // SAFETY: the surfaces are this worker's, and whatever used them was waited for at the end of `make`; the
                // next wait there is before anything else uses them.
                states => unsafe {
                    let turn = part[0].number % states.len();
                    states[turn].begin(&part[0].placed, surfaces, stream)
                },
            },
        };
        match outcome {
            Ok(()) => Ok(()),
            Err(LaneError::Nvjpeg(_)) if part.len() > 1 => {
                let (left, right) = part.split_at(part.len() / 2);
                self.decode_part(left, failed)?;
                self.stream.wait()?;
                self.decode_part(right, failed)
            }
            Err(error) => {
                failed[part[0].number] = Some(self.refused(error)?);
                Ok(())
            }
        }
    }

    /// Decodes the first of these files whole, as many as its memory holds; otherwise as [`decode`](Self::decode).
    ///
    /// # Errors
    /// The GPU is broken.
    pub fn whole(&mut self, files: &[&[u8]]) -> Result<Vec<Result<Whole, Refusal>>, CudaError> {
        let room = self.room();
        let mut pictures: Vec<_> = files.iter().map(|bytes| Whole::expected(bytes, room)).collect();
        let orders = files.iter().zip(&mut pictures);
        let mut orders: Vec<_> = orders
            .map(|(bytes, picture)| Order { bytes, made: Made::Whole, out: Target::Host(&mut picture.rgb) })
            .collect();
        let outcomes = self.decode(&mut orders)?;
        drop(orders);
        Ok(outcomes.into_iter().zip(pictures).map(|(outcome, picture)| outcome.map(|()| picture)).collect())
    }
}

impl NvjpegError {
    /// Why a picture goes to the next lane after this answer.
    fn refusal(self) -> Refusal {
        match self.status {
            4 | 9 => Refusal::NotSupported,
            5 => Refusal::Memory,
            3 | 10 => Refusal::Damaged,
            _ => Refusal::Failed,
        }
    }
}

/// Takes memory of the engines for pictures of this side. If the GPU has less, it takes half of that, and so on: the rest is
/// taken as pictures come.
fn reserve(state: &mut BatchState, group: usize, side: u32) -> Result<(), LaneError> {
    let mut side = side.min(MOST_RESERVED);
    loop {
        match state.reserve(group, (side, side)) {
            Err(LaneError::Nvjpeg(_)) if side > LEAST_RESERVED => side /= 2,
            outcome => return outcome,
        }
    }
}
