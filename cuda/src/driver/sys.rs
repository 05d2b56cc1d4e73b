//! The functions of libcuda that are used, with their C types. The driver keeps every entry point for ever, so the table
//! of an old version serves all later ones (CUDA driver API, 11.4 and later).
#![allow(unsafe_code, reason = "takes functions from libcuda")]

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::library::table;

pub(crate) type CuStatus = c_int;
pub(crate) type RawDevice = c_int;
pub(crate) type RawContext = *mut c_void;
pub(crate) type RawStream = *mut c_void;
pub(crate) type Event = *mut c_void;
pub(crate) type Module = *mut c_void;
pub(crate) type Function = *mut c_void;
pub(crate) type DevicePtr = u64;
/// `CUmemGenericAllocationHandle`.
pub(crate) type Allocation = u64;

pub(crate) const SUCCESS: CuStatus = 0;

/// `CU_DEVICE_ATTRIBUTE_*`.
pub(crate) const MULTIPROCESSORS: c_int = 16;
pub(crate) const COMPUTE_MODE: c_int = 20;
pub(crate) const CAPABILITY_MAJOR: c_int = 75;
pub(crate) const CAPABILITY_MINOR: c_int = 76;
pub(crate) const VIRTUAL_MEMORY: c_int = 102;
pub(crate) const POSIX_DESCRIPTORS: c_int = 103;
pub(crate) const LOCKS_READ_ONLY: c_int = 113;
pub(crate) const MPS: c_int = 133;

/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for all contexts, and cached, since the CPU reads it.
pub(crate) const HOST_PORTABLE: c_uint = 1;
/// `CU_MEMHOSTREGISTER_PORTABLE`: page-locked for all contexts.
pub(crate) const REGISTER_PORTABLE: c_uint = 1;
/// `CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR`.
pub(crate) const POSIX_DESCRIPTOR: c_int = 1;
/// `CU_MEM_ALLOC_GRANULARITY_MINIMUM`.
pub(crate) const GRANULARITY_MINIMUM: c_int = 0;
/// `CU_STREAM_NON_BLOCKING`: no order with the legacy default stream.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING`: a thread that waits sleeps, and recording costs little.
pub(crate) const EVENT_PLAIN: c_uint = 1 | 2;

/// `CU_CTX_SCHED_BLOCKING_SYNC`: a thread that waits sleeps, in nvJPEG too.
pub(crate) const WAIT_ASLEEP: c_uint = 4;

/// `CUuuid`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct RawUuid {
    pub(crate) bytes: [u8; 16],
}

/// `CUmemLocation`: memory of the device with this number.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Location {
    kind: c_int,
    device: c_int,
}

/// `CUmemAllocationProp`: what memory is asked for.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Properties {
    kind: c_int,
    handles: c_int,
    location: Location,
    windows: *mut c_void,
    flags: [u8; 8],
}

/// `CUmemAccessDesc`: who may do what with mapped memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Access {
    location: Location,
    flags: c_int,
}

impl Location {
    /// `CU_MEM_LOCATION_TYPE_DEVICE`.
    pub(crate) fn device(device: RawDevice) -> Self {
        Self { kind: 1, device }
    }
}

impl Properties {
    /// `CU_MEM_ALLOCATION_TYPE_PINNED`, as for all memory of a device, with descriptors for other processes.
    pub(crate) fn shareable(device: RawDevice) -> Self {
        let windows = std::ptr::null_mut();
        Self { kind: 1, handles: POSIX_DESCRIPTOR, location: Location::device(device), windows, flags: [0; 8] }
    }
}

impl Access {
    /// `CU_MEM_ACCESS_FLAGS_PROT_READWRITE` from the device itself.
    pub(crate) fn read_write(device: RawDevice) -> Self {
        Self { location: Location::device(device), flags: 3 }
    }
}

table! {
    /// Functions with which memory crosses between processes; CUDA 11.4 has the last of them.
    Sharing {
        device_uuid = "cuDeviceGetUuid_v2": fn(*mut RawUuid, RawDevice) -> CuStatus;
        register = "cuMemHostRegister_v2": fn(*mut c_void, usize, c_uint) -> CuStatus;
        unregister = "cuMemHostUnregister": fn(*mut c_void) -> CuStatus;
        granularity = "cuMemGetAllocationGranularity": fn(*mut usize, *const Properties, c_int) -> CuStatus;
        create = "cuMemCreate": fn(*mut Allocation, usize, *const Properties, u64) -> CuStatus;
        release = "cuMemRelease": fn(Allocation) -> CuStatus;
        export = "cuMemExportToShareableHandle": fn(*mut c_void, Allocation, c_int, u64) -> CuStatus;
        reserve = "cuMemAddressReserve": fn(*mut DevicePtr, usize, usize, DevicePtr, u64) -> CuStatus;
        address_free = "cuMemAddressFree": fn(DevicePtr, usize) -> CuStatus;
        map = "cuMemMap": fn(DevicePtr, usize, usize, Allocation, u64) -> CuStatus;
        set_access = "cuMemSetAccess": fn(DevicePtr, usize, *const Access, usize) -> CuStatus;
        unmap = "cuMemUnmap": fn(DevicePtr, usize) -> CuStatus;
    }
}

table! {
    /// Functions of libcuda.
    DriverTable {
        init = "cuInit": fn(c_uint) -> CuStatus;
        driver_version = "cuDriverGetVersion": fn(*mut c_int) -> CuStatus;
        error_name = "cuGetErrorName": fn(CuStatus, *mut *const c_char) -> CuStatus;
        device_count = "cuDeviceGetCount": fn(*mut c_int) -> CuStatus;
        device = "cuDeviceGet": fn(*mut RawDevice, c_int) -> CuStatus;
        device_name = "cuDeviceGetName": fn(*mut c_char, c_int, RawDevice) -> CuStatus;
        device_memory = "cuDeviceTotalMem_v2": fn(*mut usize, RawDevice) -> CuStatus;
        device_attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, RawDevice) -> CuStatus;
        device_bus = "cuDeviceGetPCIBusId": fn(*mut c_char, c_int, RawDevice) -> CuStatus;
        context_retain = "cuDevicePrimaryCtxRetain": fn(*mut RawContext, RawDevice) -> CuStatus;
        context_release = "cuDevicePrimaryCtxRelease_v2": fn(RawDevice) -> CuStatus;
        context_flags = "cuDevicePrimaryCtxSetFlags_v2": fn(RawDevice, c_uint) -> CuStatus;
        context_set = "cuCtxSetCurrent": fn(RawContext) -> CuStatus;
        memory_alloc = "cuMemAlloc_v2": fn(*mut DevicePtr, usize) -> CuStatus;
        memory_free = "cuMemFree_v2": fn(DevicePtr) -> CuStatus;
        host_alloc = "cuMemHostAlloc": fn(*mut *mut c_void, usize, c_uint) -> CuStatus;
        host_free = "cuMemFreeHost": fn(*mut c_void) -> CuStatus;
        copy_to_host = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, DevicePtr, usize, RawStream) -> CuStatus;
        copy_to_device = "cuMemcpyHtoDAsync_v2": fn(DevicePtr, *const c_void, usize, RawStream) -> CuStatus;
        fill = "cuMemsetD32Async": fn(DevicePtr, c_uint, usize, RawStream) -> CuStatus;
        module_load = "cuModuleLoadData": fn(*mut Module, *const c_void) -> CuStatus;
        module_unload = "cuModuleUnload": fn(Module) -> CuStatus;
        module_function = "cuModuleGetFunction": fn(*mut Function, Module, *const c_char) -> CuStatus;
        launch = "cuLaunchKernel": fn(
            Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, RawStream, *mut *mut c_void, *mut *mut c_void,
        ) -> CuStatus;
        stream_create = "cuStreamCreate": fn(*mut RawStream, c_uint) -> CuStatus;
        stream_destroy = "cuStreamDestroy_v2": fn(RawStream) -> CuStatus;
        event_create = "cuEventCreate": fn(*mut Event, c_uint) -> CuStatus;
        event_record = "cuEventRecord": fn(Event, RawStream) -> CuStatus;
        event_synchronize = "cuEventSynchronize": fn(Event) -> CuStatus;
        event_destroy = "cuEventDestroy_v2": fn(Event) -> CuStatus;
    }
}
