//! nvJPEG's objects: handles, states, parsers, decoders, parameters and buffers, each of which belongs to a context.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::boundary::{SUCCESS, hand_out, lent, lent_alone, take_back};
use crate::buffer::{Allocator, Buffer, Refused};
use crate::cuda::current;
use crate::dial::Count;
use crate::engines;

pub(crate) const NOT_INITIALISED: c_int = 1;
pub(crate) const INVALID: c_int = 2;
pub(crate) const ALLOCATOR: c_int = 5;

/// Any of nvJPEG's objects.
#[derive(Default)]
pub(crate) struct Object {
    /// What gives memory of the GPU, and of the host.
    pub(crate) allocators: Option<(Allocator, Allocator)>,
    /// The context in which it was made, which every call needs.
    pub(crate) home: usize,
    /// What the engines have for a state.
    pub(crate) engines: engines::EngineMemory,
    /// Memory that grows with its pictures, of the GPU and of the host.
    pub(crate) device: Option<Buffer>,
    pub(crate) pinned: Option<Buffer>,
    /// The buffers of a state that has none of its own.
    pub(crate) attached: Option<[*mut c_void; 2]>,
    /// Of a handle and of what is made with it.
    pub(crate) backend: c_int,
    /// Pictures of a batch.
    pub(crate) batch: usize,
    /// A parser's picture, or a state's.
    pub(crate) bytes: Vec<u8>,
    /// What the host has left in a state's buffer for the GPU, which reads it when its turn comes.
    pub(crate) coded: Arc<Mutex<Vec<u8>>>,
}

/// A state or a parser, which one thread uses.
pub(crate) fn object<'a>(at: *mut c_void) -> &'a mut Object {
    lent_alone(at)
}

/// A handle or a decoder, which all threads use.
pub(crate) fn shared<'a>(at: *mut c_void) -> &'a Object {
    lent(at)
}

/// Whether the calling thread's context is not the object's.
pub(crate) fn away(from: *mut c_void) -> bool {
    shared(from).home != current()
}

/// Gives an object to the caller, made in the context of `by`.
pub(crate) fn create(by: *mut c_void, to: *mut *mut c_void, object: Object) -> c_int {
    if away(by) {
        return NOT_INITIALISED;
    }
    hand_out(to, Count::Objects, Object { home: current(), ..object })
}

/// Takes one back.
pub(crate) fn destroy(at: *mut c_void) -> c_int {
    if away(at) {
        return NOT_INITIALISED;
    }
    drop(take_back::<Object>(at, Count::Objects));
    SUCCESS
}

/// Makes a buffer large enough.
pub(crate) fn grown(buffer: Option<&mut Buffer>, len: usize) -> c_int {
    match buffer.map(|buffer| buffer.grow(len)) {
        Some(Ok(())) => SUCCESS,
        Some(Err(Refused)) => ALLOCATOR,
        None => INVALID,
    }
}

/// The same for one of those that are attached to a state: 0 is the GPU's, 1 the host's.
pub(crate) fn grown_attached(state: *mut c_void, which: usize, len: usize) -> c_int {
    let Some(attached) = object(state).attached else { return INVALID };
    let buffer = object(attached[which]);
    grown(buffer.device.as_mut().or(buffer.pinned.as_mut()), len)
}
