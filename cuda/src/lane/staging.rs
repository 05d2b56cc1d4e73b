//! Where a worker's pictures are composed: the composer, memory of the GPU for what it makes, and the copies from there to the host.
#![allow(unsafe_code, reason = "queues work on memory that has to be left alone")]

use std::ops::Range;

use forebay_pixels::Composition;

use super::LaneError;
use super::gpu::Gpu;
use super::size::table_room;
use crate::compose::{Composer, Source};
use crate::driver::{CudaError, Stream};
use crate::nvjpeg::AccountedMemory;

/// Results begin at multiples of this.
const ALIGN: usize = 256;
/// The memory that a worker composes in.
#[derive(Debug)]
pub(super) struct Staging {
    composer: Composer,
    results: AccountedMemory,
    results_used: usize,
    tables_used: usize,
}

impl Staging {
    /// Memory for results of `len` bytes, and for their tables.
    pub(super) fn new(gpu: &Gpu, len: usize) -> Result<Self, LaneError> {
        let memory = LaneError::Memory { limit: gpu.account().limit(), needed: len };
        let results = gpu.account().take(len)?.ok_or(memory)?;
        let composer = Composer::new(gpu.context(), gpu.account(), gpu.kernel()?, table_room(len))?;
        Ok(Self { composer, results, results_used: 0, tables_used: 0 })
    }

    /// Bytes that all results of a launch may take.
    pub(super) fn room(&self) -> usize {
        self.results.len()
    }

    /// Whether a picture fits in at all.
    pub(super) fn takes(&self, made: &Composition) -> bool {
        made.result_len() + Composer::between_len(made) <= self.results.len()
            && Composer::table_len(made) <= self.composer.room()
    }

    /// Whether a picture fits in beside those that are there; one that is made `elsewhere` needs no room for its result.
    pub(super) fn has_room(&self, made: &Composition, elsewhere: Option<u64>) -> bool {
        let result = if elsewhere.is_some() { 0 } else { made.result_len() };
        self.results_used + result + Composer::between_len(made) <= self.results.len()
            && self.tables_used + Composer::table_len(made) <= self.composer.room()
    }

    /// Begins with no picture; none is under way.
    pub(super) fn clear(&mut self) {
        self.composer.clear();
        (self.results_used, self.tables_used) = (0, 0);
    }

    /// Adds a picture for which there is room, and says where among the results it will be if it is not made `elsewhere`.
    pub(super) fn add(&mut self, source: &Source, made: &Composition, elsewhere: Option<u64>) -> Option<Range<usize>> {
        let begin = self.results_used;
        let result = elsewhere.is_none().then(|| begin..begin + made.result_len());
        let between = result.as_ref().map_or(begin, |result| result.end);
        let at = |place: usize| self.results.at() + place as u64;
        self.composer.add(source, made, elsewhere.unwrap_or_else(|| at(begin)), at(between));
        self.results_used = (between + Composer::between_len(made)).next_multiple_of(ALIGN);
        self.tables_used += Composer::table_len(made);
        result
    }

    /// Queues the launches of the pictures for whose numbers `is_there` is true.
    ///
    /// # Safety
    /// As of [`Composer::launch`]: until [`Stream::wait`] has returned, nothing else writes to the sources, and this value
    /// is not used.
    pub(super) unsafe fn launch(
        &mut self,
        stream: &mut Stream,
        is_there: impl FnMut(usize) -> bool,
    ) -> Result<(), CudaError> {
        // SAFETY: results lie in memory that is this one's alone; the rest is the caller's promise.
        unsafe { self.composer.launch(stream, is_there) }
    }

    /// Queues the copy of a result to where it will be read.
    ///
    /// # Safety
    /// Nothing uses or frees `to` before [`Stream::wait`] has returned.
    pub(super) unsafe fn hand_over(
        &self,
        stream: &mut Stream,
        result: Range<usize>,
        to: &mut [u8],
    ) -> Result<(), CudaError> {
        assert_eq!(result.len(), to.len(), "a place has the bytes of its picture");
        // SAFETY: as the caller promises.
        unsafe { stream.begin_read_at(&self.results, result.start, to) }
    }
}
