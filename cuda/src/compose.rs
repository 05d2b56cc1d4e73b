//! Composing: all pictures that were decoded together become what a trainer reads, by launches of the kernel in `kernels/`: one,
//! and another for each further round that operations of some picture need.
//!
//! Pictures are added one after the other, with their tables; then all are launched at once, or those of them that were
//! decoded. Each result is written where it is wanted: in staging memory, or in a ring in the GPU's memory. A round passes
//! values to the next in memory that comes with the picture.
#![allow(unsafe_code, reason = "launches a kernel")]

pub(crate) mod beside;
mod cases;
mod changes;
mod picture;
mod places;
#[cfg(test)]
mod tests;
mod twin;

use std::sync::Arc;

use forebay_pixels::{Composition, Counted, Dtype, Layout, Match, Output, Pass, Round, RoundSource, fixed};

pub(crate) use picture::Source;

use crate::driver::{Context, CudaError, Kernel, PinnedMemory, Stream};
use crate::error::LaneError;
use crate::nvjpeg::{Account, AccountedMemory};
use changes::{changes_len, write_changes};
use picture::{Picture, RoundTables, Taps};
use places::{source_len, source_number, write_source};
use twin::Copied;

/// The kernel for Hopper, and for all GPUs whose driver compiles PTX of CUDA 12.4; `kernels/make` makes both.
const FORMS: [&[u8]; 2] =
    [include_bytes!("../kernels/compose.sm_90.cubin"), include_bytes!("../kernels/compose.ptx").as_slice()];

/// Threads of a block: as the launch bounds of the kernel say.
const THREADS: u32 = 128;
/// Pixels that a thread makes: `TILE` of the kernel.
const TILE: u32 = 4;
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
    /// In the order of their rounds when they are launched.
    rounds: Vec<PictureRound>,
    /// Pictures that were added.
    pictures: usize,
}

/// A round of a picture.
#[derive(Clone, Debug)]
struct PictureRound {
    /// The picture's number.
    number: usize,
    /// The round's.
    round: usize,
    picture: Picture,
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
        Ok(Self { kernel: kernel.clone(), host, device, used: 0, rounds: Vec::new(), pictures: 0 })
    }

    /// Forgets the pictures of the last launch.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        self.rounds.clear();
        self.pictures = 0;
    }

    /// Bytes that a picture takes of the tables' room.
    pub(crate) fn table_len(made: &Composition) -> usize {
        let taps = |pass: &Pass| (stride(pass) * pass.len() * 4).next_multiple_of(ALIGN);
        let round = |round: &Round| {
            let tables = [source_len(&round.source), changes_len(&round.changes), counts_len(round.counted())];
            size_of::<Picture>() + tables.map(|len| len.next_multiple_of(ALIGN)).into_iter().sum::<usize>()
        };
        made.rounds.iter().map(round).sum::<usize>() + taps(&made.sums.columns) + taps(&made.sums.rows)
    }

    /// Bytes that a picture takes for what its rounds hand on. Two rounds need room for one picture, and more use room for two by
    /// turns.
    pub(crate) fn between_len(made: &Composition) -> usize {
        (made.rounds.len() - 1).min(2) * made.pixels_len()
    }

    /// Room for tables, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.host.len()
    }

    /// Adds a picture to the next launch, in which it has the next number. The kernel writes its result to `address` in the
    /// GPU's memory, which must be a multiple of a value's size. At `between`, its rounds have [this many
    /// bytes](Self::between_len) to pass on values.
    ///
    /// # Panics
    /// Its tables have no room.
    pub(crate) fn add(&mut self, source: &Source, made: &Composition, address: u64, between: u64) {
        let sums = (
            self.taps(&made.sums.columns, made.result.0, made.matched),
            self.taps(&made.sums.rows, made.result.1, made.matched),
        );
        let handed_on = |round: usize| between + (round % 2 * made.pixels_len()) as u64;
        let packed = Output { dtype: Dtype::Uint8, layout: Layout::Nhwc, ..made.output };
        let mut seen = 0;
        for (round, of) in made.rounds.iter().enumerate() {
            let next = made.rounds.get(round + 1);
            let to = if next.is_some() { (handed_on(round), packed) } else { (address, made.output) };
            let tables = self.tables(of, next.and_then(Round::counted), seen, (sums, made.result));
            seen = tables.count;
            let picture = match round {
                0 => Picture::first(source, made, to, tables),
                _ => Picture::further(handed_on(round - 1), made, to, tables),
            };
            self.rounds.push(PictureRound { number: self.pictures, round, picture });
        }
        self.pictures += 1;
        assert!(
            self.used + self.rounds.len() * size_of::<Picture>() <= self.host.len(),
            "there is room for its tables"
        );
    }

    /// Writes what a round takes. It counts for the next one, and has what the one before has counted.
    fn tables(
        &mut self,
        round: &Round,
        counting: Option<Counted>,
        seen: u64,
        (sums, (width, height)): ((Taps, Taps), (u32, u32)),
    ) -> RoundTables {
        let (columns, rows) =
            if round.source == RoundSource::Sums { sums } else { (Taps::none(width), Taps::none(height)) };
        RoundTables {
            columns,
            rows,
            source: source_number(&round.source),
            places: self.write(source_len(&round.source), |to| write_source(&round.source, to)),
            changes: self.write(changes_len(&round.changes), |to| write_changes(&round.changes, to)),
            change_count: round.changes.len(),
            seen,
            count: self.write(counts_len(counting), |to| to.fill(0)),
            counting,
            mirrored: round.mirrored,
        }
    }

    /// Writes `len` bytes where the GPU will find them, and returns their address; 0 without bytes.
    fn write(&mut self, len: usize, write: impl FnOnce(&mut [u8])) -> u64 {
        if len == 0 {
            return 0;
        }
        let begin = self.used;
        write(&mut self.host[begin..][..len]);
        self.used += len.next_multiple_of(ALIGN);
        self.device.at() + begin as u64
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

    /// Queues the launches of the pictures for whose numbers `is_there` is true.
    ///
    /// # Safety
    /// Sources and outputs of these pictures are memory of the GPU, as large as the pictures' sizes require. Until
    /// [`Stream::wait`] has returned, nothing else writes to the sources or uses the outputs, and the composer is neither
    /// changed nor dropped.
    ///
    /// # Errors
    /// It cannot be queued, or something before it failed.
    pub(crate) unsafe fn launch(
        &mut self,
        stream: &mut Stream,
        mut is_there: impl FnMut(usize) -> bool,
    ) -> Result<(), CudaError> {
        let there: Vec<_> = (0..self.pictures).map(&mut is_there).collect();
        self.rounds.retain(|of| there[of.number]);
        if self.rounds.is_empty() {
            return Ok(());
        }
        self.rounds.sort_by_key(|of| of.round);
        let places = self.host[self.used..].chunks_exact_mut(size_of::<Picture>());
        for (to, of) in places.zip(&self.rounds) {
            to.copy_from_slice(of.picture.bytes());
        }
        let len = self.used + self.rounds.len() * size_of::<Picture>();
        // SAFETY: the host's side is left alone until the wait, as the caller promises.
        unsafe { stream.begin_write(&self.host, len, &self.device) }?;
        // SAFETY: the tables were just queued, and the rest is the caller's promise.
        unsafe { self.launch_again(stream) }
    }

    /// Queues the launches of the last [`launch`](Self::launch) again, with the tables that are on the GPU since then.
    ///
    /// # Safety
    /// As that of the last launch, which must be followed by nothing but this.
    ///
    /// # Errors
    /// It cannot be queued, or something before it failed.
    pub(crate) unsafe fn launch_again(&self, stream: &mut Stream) -> Result<(), CudaError> {
        let mut at = self.used;
        for round in self.rounds.chunk_by(|one, next| one.round == next.round) {
            let tiles = round.iter().map(|of| of.picture.tiles()).max().unwrap_or(0);
            let count = u32::try_from(round.len()).expect("a batch is counted in 32 bits");
            let blocks = (tiles.div_ceil(THREADS), count);
            // SAFETY: the pictures are at that address once the copy of `launch` is done, and launches of a stream run one after
            // the other; the rest is the caller's promise.
            unsafe { self.kernel.0.launch(stream, blocks, THREADS, self.device.at() + at as u64) }?;
            at += size_of::<Picture>() * round.len();
        }
        Ok(())
    }
}

impl Composer {
    /// The rounds of the last launches in their order, and their tables as the host has them.
    fn composed(&mut self) -> (Vec<Picture>, Copied<'_>) {
        let rounds = self.rounds.iter().map(|of| of.picture).collect();
        (rounds, Copied { at: self.device.at(), bytes: &mut self.host })
    }
}

/// Numbers that each pixel of a pass takes: the first pixel that it is made of, their count, and a weight for each.
fn stride(pass: &Pass) -> usize {
    2 + pass.longest()
}

/// Bytes of what a round counts: 256 numbers for each channel, or for grays.
fn counts_len(counted: Option<Counted>) -> usize {
    match counted {
        None => 0,
        Some(Counted::Grays) => 256 * 4,
        Some(Counted::Values) => 3 * 256 * 4,
    }
}

/// A weight as the kernel takes it.
#[expect(clippy::cast_possible_truncation, reason = "single precision is what torch computes with")]
fn number_of(weight: f64, matched: Match) -> [u8; 4] {
    match matched {
        Match::Pillow => fixed(weight).to_le_bytes(),
        Match::Torch => (weight as f32).to_le_bytes(),
    }
}
