//! The kernel's twin: the same source, compiled for the CPU, on memory of the host. Tests on a GPU hold the kernel against it.
#![allow(unsafe_code, reason = "calls the twin, which reads and writes where pictures say")]

use std::ffi::{c_uint, c_void};
use std::ops::Range;

use super::THREADS;
use super::picture::Picture;

unsafe extern "C" {
    fn forebay_cuda_twin(pictures: *const c_void, blocks_x: c_uint, blocks_y: c_uint, threads: c_uint);
}

/// Memory of a GPU, and a copy of it in the host.
#[derive(Debug)]
pub(super) struct Copied<'a> {
    /// Where it begins on the GPU.
    pub(super) at: u64,
    /// The copy, which begins at a multiple of eight bytes.
    pub(super) bytes: &'a mut [u8],
}

impl Copied<'_> {
    fn range(&self) -> Range<u64> {
        self.at..self.at + self.bytes.len() as u64
    }
}

/// Composes pictures of a GPU's memory within copies of it, round by round.
///
/// # Safety
/// Sources, tables and outputs of all pictures lie in these pieces of memory as a whole.
///
/// # Panics
/// If an address lies in none of them.
pub(super) unsafe fn compose(pictures: &[Picture], memory: &mut [Copied<'_>]) {
    let mut here = |address: u64| {
        let piece = memory.iter_mut().find(|piece| piece.range().contains(&address));
        let piece = piece.expect("every address of a picture lies in memory that was copied");
        piece.bytes.as_mut_ptr() as u64 + (address - piece.at)
    };
    for picture in pictures {
        let moved = picture.moved(&mut here);
        let blocks = picture.tiles().div_ceil(THREADS);
        // SAFETY: the picture lives for the call; what its addresses name lies in the copies, as the caller promises, which are
        // this call's alone.
        unsafe { forebay_cuda_twin((&raw const moved).cast(), blocks, 1, THREADS) }
    }
}
