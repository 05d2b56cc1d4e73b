//! Composing: all pictures that were decoded together become what a trainer reads, by one launch of the kernel in `kernels/`.
//!
//! Pictures are added one after the other, with their tables of weights; then all are launched at once, or those of them that
//! were decoded. Each result is wherever it is wanted: in staging memory, or in a ring in the GPU's memory.
#![allow(unsafe_code, reason = "launches a kernel")]

pub(crate) mod beside;
mod cases;
mod picture;
#[cfg(test)]
mod tests;
mod twin;

use std::sync::Arc;

use forebay_pixels::{Composition, Match, Pass, fixed};

pub(crate) use picture::Source;

use crate::driver::{Context, CudaError, Kernel, PinnedMemory, Stream};
use crate::error::LaneError;
use crate::nvjpeg::{Account, AccountedMemory};
use picture::{Picture, PictureTables, Taps};
use twin::Copied;

/// The kernel for Hopper, and for all GPUs whose driver compiles PTX of CUDA 12.4; `kernels/make` makes both.
const FORMS: [&[u8]; 2] =
    [include_bytes!("../kernels/compose.sm_90.cubin"), include_bytes!("../kernels/compose.ptx").as_slice()];

/// Threads of a block.
const THREADS: u32 = 128;
/// Pixels that a thread makes: `TILE` of the kernel.
const TILE: u32 = 8;
/// Tables begin at multiples of this.
const ALIGN: usize = 8;

/// The kernel on a GPU, which all workers share.
#[derive(Clone, Debug)]
pub(crate) struct ComposeKernel(Arc<Kernel>);

/// What one thread composes with: the pictures of its next launch, and memory for their tables on both sides.
#[derive(Debug)]
pub(crate) struct Composer {
    kernel: ComposeKernel,
    host: PinnedMemory,
    device: AccountedMemory,
    used: usize,
    pictures: Vec<Picture>,
}

impl ComposeKernel {
    /// Loads the kernel.
    ///
    /// # Errors
    /// The driver takes none of its forms.
    pub(crate) fn load(context: &Arc<Context>) -> Result<Self, CudaError> {
        Kernel::load(context, &FORMS, c"forebay_compose").map(Self)
    }
}

impl Composer {
    /// A composer with room for tables of `len` bytes.
    ///
    /// # Errors
    /// There is not enough memory.
    pub(crate) fn new(
        context: &Arc<Context>,
        account: &Arc<Account>,
        kernel: &ComposeKernel,
        len: usize,
    ) -> Result<Self, LaneError> {
        let memory = LaneError::Memory { limit: account.limit(), needed: len };
        let device = account.take(len)?.ok_or(memory)?;
        let host = PinnedMemory::new(context, len)?;
        Ok(Self { kernel: kernel.clone(), host, device, used: 0, pictures: Vec::new() })
    }

    /// Forgets the pictures of the last launch.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.pictures.clear();
    }

    /// Bytes that a picture takes of the tables' room.
    pub(crate) fn table_len(made: &Composition) -> usize {
        let taps = |pass: &Pass| (stride(pass) * pass.len() * 4).next_multiple_of(ALIGN);
        size_of::<Picture>() + taps(&made.columns) + taps(&made.rows)
    }

    /// Room for tables, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.host.len()
    }

    /// Adds a picture to the next launch, in which it has the next number. Its result's first value will stand at `address` in
    /// the GPU's memory, a multiple of a value's size.
    ///
    /// # Panics
    /// Its tables have no room.
    pub(crate) fn add(&mut self, source: &Source, made: &Composition, address: u64) {
        let tables = PictureTables {
            columns: self.taps(&made.columns, made.result.0, made.matched),
            rows: self.taps(&made.rows, made.result.1, made.matched),
        };
        self.pictures.push(Picture::new(source, made, address, tables));
        assert!(self.used + size_of_val(self.pictures.as_slice()) <= self.host.len(), "there is room for its tables");
    }

    /// Writes the weights of a pass where the GPU will find them.
    fn taps(&mut self, pass: &Pass, side: u32, matched: Match) -> Taps {
        let stride = stride(pass);
        let begin = self.used;
        let mut numbers = self.host[begin..].as_chunks_mut::<4>().0.chunks_exact_mut(stride);
        pass.each(|first, weights| {
            let count = u32::try_from(weights.len()).expect("a side of a picture has 32 bits");
            let head = [first.to_le_bytes(), count.to_le_bytes()];
            let numbers = numbers.next().expect("there is room for its tables");
            for (to, number) in numbers.iter_mut().zip(head) {
                *to = number;
            }
            for (to, weight) in numbers[head.len()..].iter_mut().zip(weights) {
                *to = number_of(*weight, matched);
            }
        });
        self.used += (stride * pass.len() * 4).next_multiple_of(ALIGN);
        Taps::new(self.device.at() + begin as u64, stride, pass, side)
    }

    /// Queues the launch of those pictures that `is_there` says by their numbers.
    ///
    /// # Safety
    /// Sources and outputs of these pictures are memory of the GPU that has the bytes which the pictures' sizes say, and nobody
    /// else writes to the sources, or uses the outputs, before [`Stream::wait`] has returned; nor is the composer changed or
    /// dropped before.
    ///
    /// # Errors
    /// It cannot be queued, or something before it failed.
    pub(crate) unsafe fn launch(
        &mut self,
        stream: &mut Stream,
        mut is_there: impl FnMut(usize) -> bool,
    ) -> Result<(), CudaError> {
        let mut number = 0..;
        self.pictures.retain(|_| number.next().is_some_and(&mut is_there));
        let (tiles, count) = (self.pictures.iter().map(Picture::tiles).max().unwrap_or(0), self.pictures.len());
        if tiles == 0 {
            return Ok(());
        }
        let at = self.used;
        let places = self.host[at..].chunks_exact_mut(size_of::<Picture>());
        for (to, picture) in places.zip(&self.pictures) {
            to.copy_from_slice(picture.bytes());
        }
        let len = at + count * size_of::<Picture>();
        // SAFETY: the host's side is left alone until the wait, as the caller promises.
        unsafe { stream.begin_write(&self.host, len, &self.device) }?;
        let blocks = (tiles.div_ceil(THREADS), u32::try_from(count).expect("a batch is counted in 32 bits"));
        // SAFETY: the pictures stand at that address once the copy above is done; the rest is the caller's promise.
        unsafe { self.kernel.0.launch(stream, blocks, THREADS, self.device.at() + at as u64) }
    }
}

impl Composer {
    /// The pictures of the last launch, and their tables as the host has them.
    fn composed(&mut self) -> (&[Picture], Copied<'_>) {
        (&self.pictures, Copied { at: self.device.at(), bytes: &mut self.host })
    }
}

/// Numbers that each pixel of a pass takes: the first pixel that it is made of, their count, and a weight for each.
fn stride(pass: &Pass) -> usize {
    2 + pass.longest()
}

/// A weight as the kernel takes it.
#[expect(clippy::cast_possible_truncation, reason = "single precision is what torch computes with")]
fn number_of(weight: f64, matched: Match) -> [u8; 4] {
    match matched {
        Match::Pillow => fixed(weight).to_le_bytes(),
        Match::Torch => (weight as f32).to_le_bytes(),
    }
}
