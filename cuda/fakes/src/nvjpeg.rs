//! libnvjpeg's functions: objects are counted, pictures are decoded by libjpeg-turbo on the stream's thread.
#![allow(unsafe_code, non_snake_case, reason = "functions with C's names")]

use std::ffi::{c_int, c_uint, c_void};
use std::sync::Arc;

use turbojpeg_sys as tj;

use crate::boundary::{SUCCESS, c_functions, hand_out, slice, write};
use crate::buffer::{Allocator, Buffer};
use crate::cuda::{broken, current, queue, wrong};
use crate::dial::{Count, Knob};
use crate::engines;
use crate::object::{
    ALLOCATOR, INVALID, NOT_INITIALISED, Object, away, create, destroy, grown, grown_attached, object, shared,
};
use crate::yuv::{self, Header};

const BAD: c_int = 3;
const NOT_SUPPORTED: c_int = 4;
const EXECUTION: c_int = 6;
const ARCHITECTURE: c_int = 7;
const HYBRID: c_int = 1;
const HARDWARE: c_int = 3;

/// Surfaces of a state that decodes single pictures.
const SINGLE_SLOTS: usize = 2;

/// Bytes of the host for each picture of a batch.
const PINNED_EACH: usize = 2432;

/// `nvjpegImage_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Image {
    channel: [*mut u8; 4],
    pitch: [usize; 4],
}

// SAFETY: the planes are memory that the caller keeps until the stream has got there.
unsafe impl Send for Image {}

/// The engines' memory for a picture, which the allocators have no part in.
fn by_engines(state: *mut c_void, slots: usize, bytes: &[u8]) -> c_int {
    let Some(Header { width, height, .. }) = yuv::header(bytes) else { return BAD };
    let [width, height] = [width, height].map(|side| usize::try_from(side).unwrap_or(0));
    if object(state).engines.grow(slots, width, height, bytes.len()) { SUCCESS } else { EXECUTION }
}

/// Surfaces of a state that decodes batches: twice what the engines decode at once.
fn batch_slots() -> usize {
    2 * usize::try_from(Knob::Engines.get()).unwrap_or(0)
}

/// Samples of a picture that is kept for decoding.
fn samples(bytes: &[u8]) -> usize {
    yuv::header(bytes).map_or(0, |header| header.samples())
}

fn parse(parser: *mut c_void, bytes: &[u8]) -> c_int {
    if away(parser) {
        return NOT_INITIALISED;
    }
    object(parser).bytes = bytes.to_vec();
    if yuv::header(bytes).is_some() { SUCCESS } else { BAD }
}

/// How a decoder fails on a picture of this header, by the knobs.
fn failure(header: &Header) -> Option<c_int> {
    let status = c_int::try_from(Knob::FailStatus.get()).unwrap_or(EXECUTION);
    let fails = Knob::FailWidth.get() == i64::from(header.width);
    fails.then_some(if status == 0 { BAD } else { status })
}

fn sampled(header: &Header) -> bool {
    let known = [
        tj::TJSAMP_TJSAMP_444,
        tj::TJSAMP_TJSAMP_422,
        tj::TJSAMP_TJSAMP_420,
        tj::TJSAMP_TJSAMP_440,
        tj::TJSAMP_TJSAMP_GRAY,
    ];
    known.contains(&header.sampling)
}

/// Whether a backend takes pictures of this header.
fn takes(backend: c_int, header: &Header) -> bool {
    let kind = backend == HYBRID
        || !header.progressive
            && Knob::RefuseWidth.get() != i64::from(header.width)
            && Knob::RefuseSampling.get() != i64::from(header.sampling) + 1;
    kind && sampled(header)
}

/// Starts decoding on a stream; the engines may ignore its order.
fn start(backend: c_int, on: *mut c_void, decode: impl FnOnce() + Send + 'static) {
    let held = Knob::HoldAfter.run_out();
    let decode = move || {
        if held {
            Knob::HoldAfter.wait_off();
        }
        decode();
    };
    if backend == HARDWARE && Knob::IgnoreOrder.on() {
        let early = engines::begin(decode);
        queue(on, move || early.join().expect("decoding does not panic"));
    } else {
        queue(on, decode);
    }
}

/// Decodes into the planes. What cannot be decoded leaves them gray.
fn fill(bytes: &[u8], image: &Image, wrong: bool) {
    Count::Pictures.add(1);
    if yuv::header(bytes).is_some_and(|header| i64::from(header.width) == Knob::SkipWidth.get()) {
        return;
    }
    let wrong = if wrong { 0xFF } else { 0 };
    if let Some((width, height)) = yuv::gray_size(bytes) {
        for number in (1..3).filter(|number| !image.channel[*number].is_null()) {
            for row in 0..height {
                // SAFETY: the caller's planes have the picture's size.
                let place = unsafe { image.channel[number].add(row * image.pitch[number]) };
                // SAFETY: as above; no other thread writes there.
                unsafe { place.write_bytes(0x80, width) };
            }
        }
    }
    let planes = yuv::decode(bytes).into_iter().flatten().enumerate();
    // A plane for red, green and blue is the only one.
    for (number, (width, plane)) in planes.filter(|(number, _)| !image.channel[*number].is_null()) {
        for (row, samples) in plane.chunks_exact(width).enumerate() {
            let samples: Vec<u8> = samples.iter().map(|sample| sample ^ wrong).collect();
            // SAFETY: the caller's planes have the picture's size.
            let place = unsafe { image.channel[number].add(row * image.pitch[number]) };
            // SAFETY: as above; no other thread writes there.
            unsafe { place.copy_from_nonoverlapping(samples.as_ptr(), width) };
        }
    }
}

type Any = *mut c_void;

c_functions! {
    fn nvjpegGetProperty(which: c_int, to: *mut c_int) {
        let version = c_int::try_from(Knob::Version.get()).unwrap_or(0);
        write(to, match which { 0 => version / 1000, 1 => version % 1000, _ => 0 })
    }
    fn nvjpegCreateExV2(
        backend: c_int, device: *mut Allocator, pinned: *mut Allocator, _flags: c_uint, to: *mut Any,
    ) {
        // As the library does it, whatever its header says.
        if device.is_null() || pinned.is_null() {
            return INVALID;
        }
        if backend == HARDWARE && Knob::Engines.get() == 0 {
            return ARCHITECTURE;
        }
        if Knob::Unstarted.get() & (1 << (backend - 1)) != 0 {
            return EXECUTION;
        }
        // SAFETY: the caller gives an allocator.
        let device = unsafe { *device };
        // SAFETY: as above.
        let pinned = unsafe { *pinned };
        if current() == 0 {
            return NOT_INITIALISED;
        }
        let handle = Object { allocators: Some((device, pinned)), home: current(), backend, ..Object::default() };
        hand_out(to, Count::Objects, handle)
    }
    fn nvjpegDestroy(handle: Any) { destroy(handle) }
    fn nvjpegGetHardwareDecoderInfo(handle: Any, engines: *mut c_uint, cores: *mut c_uint) {
        if away(handle) {
            return NOT_INITIALISED;
        }
        write(cores, c_uint::try_from(Knob::EngineCores.get()).unwrap_or(0));
        write(engines, c_uint::try_from(Knob::Engines.get()).unwrap_or(0))
    }
    fn nvjpegJpegStateCreate(handle: Any, to: *mut Any) {
        let Object { allocators, backend, .. } = *shared(handle);
        let device = allocators.map(|(device, _)| Buffer::new(device));
        let pinned = allocators.map(|(_, pinned)| Buffer::new(pinned));
        create(handle, to, Object { allocators, device, pinned, backend, ..Object::default() })
    }
    fn nvjpegJpegStateDestroy(state: Any) { destroy(state) }
    fn nvjpegDecodeBatchedPreAllocate(
        _handle: Any, state: Any, batch: c_int, width: c_int, height: c_int, _sampling: c_int, _format: c_int,
    ) {
        if away(state) {
            return NOT_INITIALISED;
        }
        let state = object(state);
        if state.backend != HARDWARE {
            return INVALID;
        }
        let [_, width, height] = [batch, width, height].map(|number| usize::try_from(number).unwrap_or(0));
        if !state.engines.grow(batch_slots(), width, height, 0) {
            return ALLOCATOR;
        }
        SUCCESS
    }
    fn nvjpegDecodeBatchedInitialize(_handle: Any, state: Any, batch: c_int, _threads: c_int, _format: c_int) {
        if away(state) {
            return NOT_INITIALISED;
        }
        let state = object(state);
        state.batch = usize::try_from(batch).unwrap_or(0);
        grown(state.pinned.as_mut(), PINNED_EACH * state.batch)
    }
    fn nvjpegDecodeBatchedSupported(handle: Any, parser: Any, refusal: *mut c_int) {
        if away(parser) {
            return NOT_INITIALISED;
        }
        let taken = yuv::header(&object(parser).bytes).is_some_and(|header| takes(shared(handle).backend, &header));
        write(refusal, c_int::from(!taken))
    }
    fn nvjpegDecodeBatched(
        _handle: Any, state: Any, data: *const *const u8, lengths: *const usize, to: *mut Image, on: Any,
    ) {
        if away(state) {
            return NOT_INITIALISED;
        }
        let mut work = Vec::new();
        let &mut Object { batch, backend, .. } = object(state);
        let sources = slice(data, batch).iter().zip(slice(lengths, batch));
        for ((at, len), image) in sources.zip(slice(to, batch).iter().copied()) {
            let bytes: &'static [u8] = slice(*at, *len);
            match yuv::header(bytes) {
                Some(header) => match failure(&header) {
                    None => work.push((bytes, image)),
                    Some(status) => return status,
                },
                None => return BAD,
            }
        }
        let needed = work.iter().map(|(bytes, _)| 3 * samples(bytes)).sum();
        let memory = if backend == HARDWARE {
            work.iter().map(|(bytes, _)| by_engines(state, batch_slots(), bytes)).max().unwrap_or(SUCCESS)
        } else {
            grown(object(state).device.as_mut(), needed)
        };
        if memory != SUCCESS {
            return memory;
        }
        if Knob::BreakAfter.run_out() || broken() || Knob::FailAfter.run_out() {
            return EXECUTION;
        }
        if Knob::FailBatches.on() {
            return c_int::try_from(Knob::FailBatches.get()).unwrap_or(EXECUTION);
        }
        Count::Batches.add(1);
        Count::LargestBatch.rise_to(batch);
        let wrong = wrong();
        start(backend, on, move || work.into_iter().for_each(|(bytes, image)| fill(bytes, &image, wrong)));
        SUCCESS
    }
    fn nvjpegJpegStreamCreate(handle: Any, to: *mut Any) { create(handle, to, Object::default()) }
    fn nvjpegJpegStreamDestroy(parser: Any) { destroy(parser) }
    fn nvjpegJpegStreamParseHeader(_handle: Any, data: *const u8, len: usize, parser: Any) {
        parse(parser, slice(data, len))
    }
    fn nvjpegJpegStreamParse(_handle: Any, data: *const u8, len: usize, _metadata: c_int, _copy: c_int, parser: Any) {
        parse(parser, slice(data, len))
    }
    fn nvjpegJpegStreamGetFrameDimensions(parser: Any, width: *mut c_uint, height: *mut c_uint) {
        let Some(header) = yuv::header(&object(parser).bytes) else { return BAD };
        let wide = if i64::from(header.width) == Knob::WideWidth.get() { 2 } else { 1 };
        write(width, header.width.unsigned_abs() * wide);
        write(height, header.height.unsigned_abs())
    }
    fn nvjpegJpegStreamGetChromaSubsampling(parser: Any, sampling: *mut c_int) {
        let Some(header) = yuv::header(&object(parser).bytes) else { return BAD };
        write(sampling, match header.sampling {
            tj::TJSAMP_TJSAMP_444 => 0,
            tj::TJSAMP_TJSAMP_422 => 1,
            tj::TJSAMP_TJSAMP_420 => 2,
            tj::TJSAMP_TJSAMP_440 => 3,
            tj::TJSAMP_TJSAMP_GRAY => 6,
            _ => -1,
        })
    }
    fn nvjpegDecodeParamsCreate(handle: Any, to: *mut Any) { create(handle, to, Object::default()) }
    fn nvjpegDecodeParamsDestroy(params: Any) { destroy(params) }
    fn nvjpegDecodeParamsSetOutputFormat(_params: Any, format: c_int) { if format == 1 { SUCCESS } else { INVALID } }
    fn nvjpegDecoderCreate(handle: Any, backend: c_int, to: *mut Any) {
        if backend != shared(handle).backend {
            return INVALID;
        }
        create(handle, to, Object { backend, ..Object::default() })
    }
    fn nvjpegDecoderDestroy(decoder: Any) { destroy(decoder) }
    fn nvjpegDecoderJpegSupported(decoder: Any, parser: Any, _params: Any, refusal: *mut c_int) {
        if away(parser) {
            return NOT_INITIALISED;
        }
        let taken = yuv::header(&object(parser).bytes).is_some_and(|header| takes(shared(decoder).backend, &header));
        write(refusal, c_int::from(!taken))
    }
    fn nvjpegDecoderStateCreate(_handle: Any, decoder: Any, to: *mut Any) {
        create(decoder, to, Object { backend: shared(decoder).backend, ..Object::default() })
    }
    fn nvjpegBufferPinnedCreateV2(handle: Any, allocator: *mut Allocator, to: *mut Any) {
        if allocator.is_null() {
            return INVALID;
        }
        // SAFETY: the caller gives an allocator.
        let pinned = Some(Buffer::new(unsafe { *allocator }));
        create(handle, to, Object { pinned, ..Object::default() })
    }
    fn nvjpegBufferPinnedDestroy(buffer: Any) { destroy(buffer) }
    fn nvjpegBufferDeviceCreateV2(handle: Any, allocator: *mut Allocator, to: *mut Any) {
        if allocator.is_null() {
            return INVALID;
        }
        // SAFETY: the caller gives an allocator.
        let device = Some(Buffer::new(unsafe { *allocator }));
        create(handle, to, Object { device, ..Object::default() })
    }
    fn nvjpegBufferDeviceDestroy(buffer: Any) { destroy(buffer) }
    fn nvjpegStateAttachPinnedBuffer(state: Any, buffer: Any) {
        object(state).attached.get_or_insert_default()[1] = buffer;
        SUCCESS
    }
    fn nvjpegStateAttachDeviceBuffer(state: Any, buffer: Any) {
        object(state).attached.get_or_insert_default()[0] = buffer;
        SUCCESS
    }
    fn nvjpegDecodeJpegHost(_handle: Any, _decoder: Any, state: Any, _params: Any, parser: Any) {
        if away(state) {
            return NOT_INITIALISED;
        }
        let bytes = object(parser).bytes.clone();
        match yuv::header(&bytes) {
            Some(header) if !sampled(&header) => NOT_SUPPORTED,
            Some(header) if failure(&header).is_some() => failure(&header).unwrap_or(BAD),
            Some(header) => {
                Count::HostDecodes.add(1);
                object(state).coded.lock().clone_from(&bytes);
                object(state).bytes = bytes;
                // The coefficients; the engines need none.
                let needed = if object(state).backend == HARDWARE { 0 } else { 2 * header.samples() };
                grown_attached(state, 1, needed)
            }
            None => BAD,
        }
    }
    fn nvjpegDecodeJpegTransferToDevice(_handle: Any, _decoder: Any, state: Any, _parser: Any, _on: Any) {
        let bytes = object(state).bytes.clone();
        let memory = if object(state).backend == HARDWARE {
            by_engines(state, SINGLE_SLOTS, &bytes)
        } else {
            // The coefficients, and the samples.
            grown_attached(state, 0, 3 * samples(&bytes))
        };
        if memory != SUCCESS {
            return memory;
        }
        if Knob::BreakAfter.run_out() || broken() || Knob::FailAfter.run_out() { EXECUTION } else { SUCCESS }
    }
    fn nvjpegDecodeJpegDevice(_handle: Any, _decoder: Any, state: Any, to: *mut Image, on: Any) {
        if away(state) {
            return NOT_INITIALISED;
        }
        let coded = Arc::clone(&object(state).coded);
        // SAFETY: the caller gives an image.
        let image = unsafe { *to };
        let wrong = wrong();
        start(object(state).backend, on, move || fill(&coded.lock(), &image, wrong));
        SUCCESS
    }
}
