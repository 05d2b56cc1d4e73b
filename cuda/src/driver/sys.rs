//! The functions of libcuda that are used, with their C types. The driver keeps every entry point for ever, so the table
//! of an old version serves all later ones (CUDA driver API, 11.4 and later).
#![allow(unsafe_code, reason = "takes functions from libcuda")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::library::table;

pub(crate) type Status = c_int;
pub(crate) type Device = c_int;
pub(crate) type Context = *mut c_void;
pub(crate) type Stream = *mut c_void;
pub(crate) type Event = *mut c_void;
pub(crate) type DevicePtr = u64;

pub(crate) const SUCCESS: Status = 0;

/// `CU_DEVICE_ATTRIBUTE_*`.
pub(crate) const MULTIPROCESSORS: c_int = 16;
pub(crate) const CAPABILITY_MAJOR: c_int = 75;
pub(crate) const CAPABILITY_MINOR: c_int = 76;

/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for all contexts, and cached, since the CPU reads it.
pub(crate) const HOST_PORTABLE: c_uint = 1;
/// `CU_STREAM_NON_BLOCKING`: no order with the legacy default stream.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING`: who waits sleeps, and recording costs little.
pub(crate) const EVENT_PLAIN: c_uint = 1 | 2;

table! {
    /// Functions of libcuda.
    Table {
        init = "cuInit": fn(c_uint) -> Status;
        driver_version = "cuDriverGetVersion": fn(*mut c_int) -> Status;
        error_name = "cuGetErrorName": fn(Status, *mut *const c_char) -> Status;
        device_count = "cuDeviceGetCount": fn(*mut c_int) -> Status;
        device = "cuDeviceGet": fn(*mut Device, c_int) -> Status;
        device_name = "cuDeviceGetName": fn(*mut c_char, c_int, Device) -> Status;
        device_memory = "cuDeviceTotalMem_v2": fn(*mut usize, Device) -> Status;
        device_attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, Device) -> Status;
        device_bus = "cuDeviceGetPCIBusId": fn(*mut c_char, c_int, Device) -> Status;
        context_retain = "cuDevicePrimaryCtxRetain": fn(*mut Context, Device) -> Status;
        context_release = "cuDevicePrimaryCtxRelease_v2": fn(Device) -> Status;
        context_set = "cuCtxSetCurrent": fn(Context) -> Status;
        memory_alloc = "cuMemAlloc_v2": fn(*mut DevicePtr, usize) -> Status;
        memory_free = "cuMemFree_v2": fn(DevicePtr) -> Status;
        host_alloc = "cuMemHostAlloc": fn(*mut *mut c_void, usize, c_uint) -> Status;
        host_free = "cuMemFreeHost": fn(*mut c_void) -> Status;
        copy_to_host = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, DevicePtr, usize, Stream) -> Status;
        stream_create = "cuStreamCreate": fn(*mut Stream, c_uint) -> Status;
        stream_destroy = "cuStreamDestroy_v2": fn(Stream) -> Status;
        event_create = "cuEventCreate": fn(*mut Event, c_uint) -> Status;
        event_record = "cuEventRecord": fn(Event, Stream) -> Status;
        event_synchronize = "cuEventSynchronize": fn(Event) -> Status;
        event_destroy = "cuEventDestroy_v2": fn(Event) -> Status;
    }
}
