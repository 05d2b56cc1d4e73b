//! One thread's share of a GPU lane: a state of nvJPEG, a stream, surfaces of its own, and pinned memory to read them into.
//!
//! A batch is decoded into surfaces that nothing else touches, read back, and waited for; only then does the worker take the
//! next. So nothing is ever written into a surface that is still read, whatever order the hardware keeps.

use std::sync::Arc;

use forebay_pixels::Rect;

use super::gpu::Gpu;
use super::planar::Planar;
use super::slab::{Slab, Slabs};
use super::{LaneError, LaneKind, Refusal};
use crate::driver::{CudaError, Stream};
use crate::frame::{Frame, Placed, Surface};
use crate::nvjpeg::{AccountedMemory, BatchState, NvjpegError, SingleState};

/// Pieces of pinned memory of each worker: one is filled while pictures of the other are worked on.
pub(super) const SLABS: usize = 2;

/// A thread's share of a lane.
#[derive(Debug)]
pub struct Worker {
    kind: LaneKind,
    decoder: Decoder,
    stream: Stream,
    surfaces: AccountedMemory,
    slabs: Arc<Slabs>,
    batch: usize,
}

#[derive(Debug)]
enum Decoder {
    Batch(BatchState),
    Single(SingleState),
}

/// A decoded picture: its planes in pinned memory, which is free again when the last picture of its batch is dropped.
#[derive(Debug)]
pub struct Decoded {
    slab: Arc<Slab>,
    surface: Surface,
    at: usize,
}

/// A picture that is to be decoded, with its number among those that were given.
type Numbered<'a> = (usize, Placed<'a>);

impl Worker {
    /// A worker with surfaces of `len` bytes for batches of `batch` pictures.
    pub(super) fn new(gpu: &Gpu, kind: LaneKind, batch: usize, len: usize) -> Result<Self, LaneError> {
        let decoder = match kind {
            LaneKind::Hardware | LaneKind::GpuHuffman => Decoder::Batch(reserved(gpu, kind, batch, len)?),
            _ => Decoder::Single(SingleState::new(gpu.handle(kind)?)?),
        };
        let memory = LaneError::Memory { limit: gpu.account().limit(), needed: len };
        Ok(Self {
            kind,
            decoder,
            stream: Stream::new(gpu.context())?,
            surfaces: gpu.account().take(len)?.ok_or(memory)?,
            slabs: Slabs::new(gpu.context(), SLABS, len)?,
            batch,
        })
    }

    /// Pictures that it decodes best at a time.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Which lane it belongs to.
    pub fn kind(&self) -> LaneKind {
        self.kind
    }

    /// Decodes the first of these pictures, as many as its surfaces hold: planes for each of them, or why another lane has to
    /// take it. There are as many outcomes as pictures were taken, at least one; the rest is for another call. Waits where all
    /// of its pinned memory is lent, so whoever keeps what two calls gave must not make a third.
    ///
    /// # Errors
    /// The GPU is broken, and with it this process's use of it.
    pub fn decode(&mut self, files: &[&[u8]]) -> Result<Vec<Result<Decoded, Refusal>>, CudaError> {
        let mut outcomes = Vec::with_capacity(files.len());
        let mut group: Vec<Numbered<'_>> = Vec::new();
        let mut used = 0;
        for bytes in files {
            match self.admit(bytes) {
                Ok(surface) if used + surface.bytes() > self.surfaces.len() => break,
                Ok(surface) => {
                    group.push((outcomes.len(), Placed { bytes, surface, at: used }));
                    used += surface.bytes();
                    // Until it is decoded, it counts as failed.
                    outcomes.push(Err(Refusal::Failed));
                }
                Err(refusal) => outcomes.push(Err(refusal)),
            }
        }
        self.decode_group(&group, &mut outcomes)?;
        Ok(outcomes)
    }

    /// Whether the lane takes the picture, from its header alone.
    fn admit(&mut self, bytes: &[u8]) -> Result<Surface, Refusal> {
        let frame = Frame::read(bytes)?;
        let surface = Surface::of(frame);
        if surface.bytes() > self.surfaces.len() {
            return Err(Refusal::TooLarge);
        }
        if !frame.baseline && self.kind != LaneKind::Hybrid {
            return Err(Refusal::Kind);
        }
        match &mut self.decoder {
            Decoder::Batch(state) => match state.takes(bytes, &frame) {
                Ok(true) => Ok(surface),
                Ok(false) => Err(Refusal::NotSupported),
                Err(_) => Err(Refusal::Failed),
            },
            // Its parser reads the whole file; it is asked when the picture's turn comes.
            Decoder::Single(_) => Ok(surface),
        }
    }

    fn decode_group(
        &mut self,
        group: &[Numbered<'_>],
        outcomes: &mut [Result<Decoded, Refusal>],
    ) -> Result<(), CudaError> {
        if group.is_empty() {
            return Ok(());
        }
        let mut slab = self.slabs.lend();
        let mut failed = Vec::new();
        let together = match self.decoder {
            Decoder::Batch(_) => group.len(),
            Decoder::Single(_) => 1,
        };
        for part in group.chunks(together) {
            self.decode_part(part, &mut slab, &mut failed)?;
        }
        let slab = Arc::new(slab);
        for (number, Placed { surface, at, .. }) in group {
            outcomes[*number] = match failed.iter().find(|(failed, _)| failed == number) {
                Some((_, refusal)) => Err(*refusal),
                None => Ok(Decoded { slab: Arc::clone(&slab), surface: *surface, at: *at }),
            };
        }
        Ok(())
    }

    /// Decodes a part of a group. One bad picture fails a whole call, so a part that fails is tried in halves.
    fn decode_part(
        &mut self,
        part: &[Numbered<'_>],
        slab: &mut Slab,
        failed: &mut Vec<(usize, Refusal)>,
    ) -> Result<(), CudaError> {
        let (surfaces, stream) = (&mut self.surfaces, &mut self.stream);
        let outcome = match &mut self.decoder {
            Decoder::Batch(state) => {
                let pictures: Vec<_> = part.iter().map(|(_, placed)| *placed).collect();
                let range = pictures[0].at..pictures[pictures.len() - 1].range().end;
                state.decode(&pictures, surfaces, stream, range, slab)
            }
            Decoder::Single(state) => state.decode(&part[0].1, surfaces, stream, slab),
        };
        match outcome {
            Ok(()) => Ok(()),
            Err(LaneError::Cuda(error)) => Err(error),
            Err(LaneError::Nvjpeg(error)) if part.len() == 1 => {
                failed.push((part[0].0, error.refusal()));
                Ok(())
            }
            Err(_) => {
                let (left, right) = part.split_at(part.len() / 2);
                self.decode_part(left, slab, failed)?;
                self.decode_part(right, slab, failed)
            }
        }
    }
}

impl Decoded {
    /// The picture's width and height as stored.
    pub fn size(&self) -> (u32, u32) {
        self.planar().size()
    }

    /// Writes a part of the picture as packed RGB; see [`Planar::rgb`].
    pub fn rgb(&self, part: Rect, out: &mut [u8]) {
        self.planar().rgb(part, out);
    }

    /// The whole picture as packed RGB.
    pub fn whole(&self) -> Vec<u8> {
        let (width, height) = self.size();
        let mut rgb = vec![0; width as usize * height as usize * 3];
        self.rgb(Rect { left: 0, top: 0, width, height }, &mut rgb);
        rgb
    }

    /// Its planes.
    pub fn planar(&self) -> Planar<'_> {
        Planar::new(self.surface, &self.slab[self.at..])
    }
}

impl NvjpegError {
    /// Why a picture goes to the next lane after this answer.
    fn refusal(self) -> Refusal {
        match self.status {
            4 | 9 => Refusal::NotSupported,
            5 => Refusal::TooLarge,
            _ => Refusal::Failed,
        }
    }
}

/// A state with memory for pictures as large as the surfaces have room for, or, where the limit leaves less, half of
/// that, and so on.
fn reserved(gpu: &Gpu, kind: LaneKind, batch: usize, len: usize) -> Result<BatchState, LaneError> {
    let handle = gpu.handle(kind)?;
    let mut side = u32::try_from((len / batch.max(1) / 3).isqrt()).unwrap_or(u32::MAX).clamp(64, 4096);
    loop {
        match BatchState::new(handle, batch, (side, side)) {
            Ok(state) => return Ok(state),
            Err(_) if side > 64 => side /= 2,
            Err(error) => return Err(error.into()),
        }
    }
}
