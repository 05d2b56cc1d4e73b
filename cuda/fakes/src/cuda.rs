//! libcuda's functions. Memory of the GPU is memory of the host; work of streams runs on threads.
#![allow(unsafe_code, non_snake_case, reason = "functions with C's names")]

use std::alloc::{Layout, alloc, dealloc};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use crate::boundary::{SUCCESS, c_functions, copy, hand_out, lent, take_back, write};
use crate::dial::{Count, Knob};
use crate::engines;
use crate::kernel;
use crate::stream::{Event, Stream};

pub(crate) const INVALID: c_int = 1;
pub(crate) const OUT_OF_MEMORY: c_int = 2;
const UNAVAILABLE: c_int = 46;
const NO_DEVICE: c_int = 100;
const INVALID_DEVICE: c_int = 101;
const NOT_READY: c_int = 600;
pub(crate) const NOT_SUPPORTED: c_int = 801;
const CAPTURE: c_int = 900;
const CAPTURED_EVENT: c_int = 907;
const UNKNOWN: c_int = 999;
/// The GPU is broken for good.
pub(crate) const ILLEGAL_ADDRESS: c_int = 700;

thread_local! {
    /// The thread's context: the number of its GPU, counted from 1.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    /// Contexts below it.
    static BELOW: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's context; 0 for none.
pub(crate) fn current() -> usize {
    CURRENT.get()
}

/// Whether pictures that the calling thread queues come out wrong.
pub(crate) fn wrong() -> bool {
    let gpu = usize::try_from(Knob::WrongGpu.get()).unwrap_or(0);
    Knob::Wrong.on() || Knob::WrongAfter.run_out() || gpu != 0 && gpu == CURRENT.get()
}

/// The default streams' work.
static DEFAULT: LazyLock<Stream> = LazyLock::new(Stream::new);

/// Pieces of memory by address, with their bytes.
static PIECES: Mutex<Option<HashMap<usize, usize>>> = Mutex::new(None);

pub(crate) fn broken() -> bool {
    Knob::BreakAfter.get() < 0
}

pub(crate) fn answer() -> c_int {
    if broken() { ILLEGAL_ADDRESS } else { SUCCESS }
}

fn take(len: usize) -> *mut u8 {
    let layout = Layout::from_size_align(len.max(1), 512).expect("a piece of memory");
    // SAFETY: the layout has at least a byte.
    let at = unsafe { alloc(layout) };
    PIECES.lock().get_or_insert_default().insert(at as usize, len.max(1));
    at
}

fn give_back(at: usize) -> Option<usize> {
    let len = PIECES.lock().get_or_insert_default().remove(&at)?;
    let layout = Layout::from_size_align(len, 512).expect("as it was taken");
    // SAFETY: taken by `take` with this layout, and no longer in the list.
    unsafe { dealloc(at as *mut u8, layout) };
    Some(len)
}

fn text(to: *mut c_char, len: c_int, text: &str) -> c_int {
    // SAFETY: the caller gives room for `len` bytes.
    let room = unsafe { std::slice::from_raw_parts_mut(to.cast::<u8>(), usize::try_from(len).unwrap_or(0)) };
    for (place, byte) in room.iter_mut().zip(text.bytes().chain([0])) {
        *place = byte;
    }
    SUCCESS
}

fn stream<'a>(stream: *mut c_void) -> &'a Stream {
    lent(stream)
}

pub(crate) fn queue(on: *mut c_void, work: impl FnOnce() + Send + 'static) {
    stream(on).queue(work);
}

/// An address of the GPU's memory, which is the host's.
fn address(at: u64) -> usize {
    usize::try_from(at).expect("it is an address of this process")
}

/// Waits at a knob that holds copies.
fn hold(knob: Knob) {
    Count::Held.add(1);
    knob.wait_off();
    Count::Held.add(-1);
}

fn event<'a>(event: *mut c_void) -> &'a Arc<Event> {
    lent(event)
}

c_functions! {
    fn cuInit(_flags: c_uint) { if Knob::Gpus.get() == 0 { NO_DEVICE } else { SUCCESS } }
    fn cuDriverGetVersion(to: *mut c_int) { write(to, 13_000) }
    fn cuGetErrorName(code: c_int, to: *mut *const c_char) {
        write(to, match code {
            OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
            UNAVAILABLE => c"CUDA_ERROR_DEVICE_UNAVAILABLE",
            kernel::OTHER_GENERATION => c"CUDA_ERROR_NO_BINARY_FOR_GPU",
            kernel::OLD_DRIVER => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
            NO_DEVICE => c"CUDA_ERROR_NO_DEVICE",
            INVALID_DEVICE => c"CUDA_ERROR_INVALID_DEVICE",
            ILLEGAL_ADDRESS => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            NOT_SUPPORTED => c"CUDA_ERROR_NOT_SUPPORTED",
            CAPTURE => c"CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
            CAPTURED_EVENT => c"CUDA_ERROR_CAPTURED_EVENT",
            _ => c"CUDA_ERROR_INVALID_VALUE",
        }.as_ptr())
    }
    fn cuDeviceGetCount(to: *mut c_int) {
        if Knob::NoCount.on() {
            return UNKNOWN;
        }
        write(to, c_int::try_from(Knob::Gpus.get()).unwrap_or(0))
    }
    fn cuDeviceGet(to: *mut c_int, ordinal: c_int) {
        if i64::from(ordinal) < Knob::Gpus.get() { write(to, ordinal) } else { INVALID_DEVICE }
    }
    fn cuDeviceGetName(to: *mut c_char, len: c_int, _device: c_int) {
        text(to, len, if Knob::Part.on() { "Fake GPU MIG 1g.18gb" } else { "Fake GPU" })
    }
    fn cuDeviceGetPCIBusId(to: *mut c_char, len: c_int, device: c_int) { text(to, len, &format!("0000:{device:02}:00.0")) }
    fn cuDeviceTotalMem_v2(to: *mut usize, _device: c_int) { write(to, usize::try_from(Knob::Memory.get()).unwrap_or(0)) }
    fn cuDeviceGetAttribute(to: *mut c_int, attribute: c_int, _device: c_int) {
        write(to, match attribute {
            20 => c_int::try_from(Knob::ComputeMode.get()).unwrap_or(0),
            75 => 9,
            76 | 133 => 0,
            102 => c_int::from(!Knob::NoVirtualMemory.on()),
            103 => c_int::from(!Knob::NoDescriptors.on()),
            113 => c_int::from(!Knob::NoReadOnly.on()),
            _ => 132,
        })
    }
    fn cuDevicePrimaryCtxRetain(to: *mut *mut c_void, device: c_int) {
        if Knob::DeadGpu.get() == i64::from(device) + 1 {
            return UNAVAILABLE;
        }
        Count::Contexts.add(1);
        write(to, std::ptr::without_provenance_mut(usize::try_from(device).unwrap_or(0) + 1))
    }
    fn cuDevicePrimaryCtxSetFlags_v2(_device: c_int, flags: c_uint) {
        // Waits asleep are all that is wanted of it.
        if flags == 4 { SUCCESS } else { INVALID }
    }
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) { Count::Contexts.add(-1); SUCCESS }
    fn cuCtxSetCurrent(context: *mut c_void) {
        CURRENT.set(context as usize);
        answer()
    }
    fn cuCtxPushCurrent_v2(context: *mut c_void) {
        BELOW.with_borrow_mut(|below| below.push(CURRENT.replace(context as usize)));
        answer()
    }
    fn cuCtxPopCurrent_v2(to: *mut *mut c_void) {
        let Some(below) = BELOW.with_borrow_mut(Vec::pop) else { return INVALID };
        write(to, std::ptr::without_provenance_mut(CURRENT.replace(below)))
    }
    fn cuCtxSynchronize() {
        if Knob::Capture.on() {
            return CAPTURE;
        }
        Knob::BusyDefault.wait_off();
        answer()
    }
    fn cuMemAlloc_v2(to: *mut u64, len: usize) {
        if len == 0 {
            return INVALID;
        }
        let more = i64::try_from(len).unwrap_or(i64::MAX);
        if Count::DeviceBytes.get().saturating_add(more) > Knob::Memory.get() {
            return OUT_OF_MEMORY;
        }
        Count::DeviceBytes.add(more);
        Count::Allocations.add(1);
        write(to, take(len) as u64)
    }
    fn cuMemFree_v2(at: u64) {
        let Some(len) = usize::try_from(at).ok().and_then(give_back) else { return INVALID };
        Count::DeviceBytes.add(-i64::try_from(len).unwrap_or(0));
        SUCCESS
    }
    fn cuMemHostAlloc(to: *mut *mut c_void, len: usize, _flags: c_uint) {
        Count::HostPieces.add(1);
        write(to, take(len).cast())
    }
    fn cuMemFreeHost(at: *mut c_void) {
        Count::HostPieces.add(-1);
        if give_back(at as usize).is_some() { SUCCESS } else { INVALID }
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, len: usize, on: *mut c_void) {
        if Knob::FailReads.use_up() {
            return OUT_OF_MEMORY;
        }
        let (from, to) = (address(from), to as usize);
        let mark = Knob::LateCopies.on().then(|| stream(on).next_mark());
        queue(on, move || {
            if let Some(mark) = mark {
                mark();
                engines::wait();
            }
            hold(Knob::HoldCopies);
            copy(from, to, len);
        });
        answer()
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, len: usize, on: *mut c_void) {
        if Knob::FailUploads.use_up() {
            return OUT_OF_MEMORY;
        }
        let (from, to) = (from as usize, address(to));
        queue(on, move || {
            hold(Knob::HoldUploads);
            copy(from, to, len);
        });
        answer()
    }
    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, len: usize, on: *mut c_void) {
        let (from, to) = (address(from), address(to));
        match on as usize {
            0..=2 => copy(from, to, len),
            _ => queue(on, move || copy(from, to, len)),
        }
        answer()
    }
    fn cuMemsetD32Async(to: u64, word: c_uint, count: usize, on: *mut c_void) {
        let to = address(to);
        queue(on, move || {
            // SAFETY: the caller's memory has these words, and nothing else uses them meanwhile.
            let bytes = unsafe { std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(to), count * 4) };
            bytes.as_chunks_mut().0.fill(word.to_le_bytes());
        });
        answer()
    }
    fn cuModuleLoadData(to: *mut *mut c_void, image: *const c_void) { kernel::load(to, image) }
    fn cuModuleUnload(_module: *mut c_void) { Count::Modules.add(-1); SUCCESS }
    fn cuModuleGetFunction(to: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        kernel::find(to, module, name)
    }
    fn cuLaunchKernel(
        _function: *mut c_void, blocks_x: c_uint, blocks_y: c_uint, _one: c_uint, threads: c_uint, _one_too: c_uint,
        _third: c_uint, _shared: c_uint, on: *mut c_void, arguments: *mut *mut c_void, _extra: *mut *mut c_void
    ) {
        // SAFETY: the caller gives a list with one argument.
        let argument = unsafe { arguments.read() };
        // SAFETY: the argument is an address.
        let argument = unsafe { argument.cast::<usize>().read() };
        if Knob::FailLaunches.run_out() && !Knob::MendLaunches.run_out() {
            return OUT_OF_MEMORY;
        }
        Count::Launches.add(1);
        queue(on, move || kernel::run(argument, blocks_x, blocks_y, threads));
        answer()
    }
    fn cuStreamCreate(to: *mut *mut c_void, _flags: c_uint) {
        if Knob::NoStreams.on() { OUT_OF_MEMORY } else { hand_out(to, Count::Streams, Stream::new()) }
    }
    fn cuStreamDestroy_v2(on: *mut c_void) {
        drop(take_back::<Stream>(on, Count::Streams));
        SUCCESS
    }
    fn cuStreamIsCapturing(on: *mut c_void, to: *mut c_int) {
        write(to, c_int::from(on as usize <= 2 && Knob::Capture.get() == 1))
    }
    fn cuEventCreate(to: *mut *mut c_void, _flags: c_uint) {
        hand_out(to, Count::Events, Arc::new(Event::default()))
    }
    fn cuEventRecord(mark: *mut c_void, on: *mut c_void) {
        if Knob::NoEvents.on() {
            return CAPTURE;
        }
        match on as usize {
            0..=2 if Knob::Capture.on() => event(mark).capture(),
            // The default streams have no work but what the knob says.
            0..=2 if Knob::BusyDefault.on() => {
                DEFAULT.queue(|| Knob::BusyDefault.wait_off());
                DEFAULT.record(event(mark));
            }
            0..=2 => event(mark).record_done(),
            _ => stream(on).record(event(mark)),
        }
        answer()
    }
    fn cuEventQuery(mark: *mut c_void) {
        match event(mark) {
            mark if mark.is_captured() => CAPTURED_EVENT,
            mark if mark.is_reached() => answer(),
            _ => NOT_READY,
        }
    }
    fn cuEventSynchronize(mark: *mut c_void) {
        Count::Waits.add(1);
        if event(mark).is_captured() {
            return CAPTURED_EVENT;
        }
        event(mark).wait();
        answer()
    }
    fn cuEventDestroy_v2(mark: *mut c_void) {
        drop(take_back::<Arc<Event>>(mark, Count::Events));
        SUCCESS
    }
}
