//! The functions of libnvjpeg that are used, with their C types: those of nvjpeg.h, which are the same from 11.6 to 13.3.
//! Enums are plain numbers, since a library may answer with one that its header has not.
#![allow(unsafe_code, reason = "takes functions from libnvjpeg")]

use std::ffi::{c_int, c_uint, c_void};

use crate::driver::sys::RawStream;
use crate::library::table;

pub(crate) type NvjpegStatus = c_int;
pub(crate) type RawHandle = *mut c_void;
pub(crate) type RawState = *mut c_void;
pub(crate) type JpegStream = *mut c_void;
pub(crate) type Buffer = *mut c_void;
pub(crate) type RawDecoder = *mut c_void;
pub(crate) type Params = *mut c_void;

pub(crate) const SUCCESS: NvjpegStatus = 0;

/// `libraryPropertyType`.
pub(crate) const MAJOR: c_int = 0;
pub(crate) const MINOR: c_int = 1;
pub(crate) const PATCH: c_int = 2;

/// `nvjpegBackend_t`.
pub(crate) const BACKEND_HYBRID: c_int = 1;
pub(crate) const BACKEND_GPU_HYBRID: c_int = 2;
pub(crate) const BACKEND_HARDWARE: c_int = 3;

/// `nvjpegOutputFormat_t`: planes as they are stored.
pub(crate) const OUTPUT_YUV: c_int = 1;
/// `nvjpegOutputFormat_t`: one plane of red, green and blue in turn.
pub(crate) const OUTPUT_RGBI: c_int = 5;

/// `nvjpegChromaSubsampling_t`; memory for the first holds any.
pub(crate) const CSS_444: c_int = 0;
pub(crate) const CSS_422: c_int = 1;
pub(crate) const CSS_420: c_int = 2;
pub(crate) const CSS_440: c_int = 3;
pub(crate) const CSS_411: c_int = 4;
pub(crate) const CSS_GRAY: c_int = 6;

/// `nvjpegImage_t`: where the planes go.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Image {
    pub(crate) channel: [*mut u8; 4],
    pub(crate) pitch: [usize; 4],
}

/// `nvjpegDevAllocatorV2_t` and `nvjpegPinnedAllocatorV2_t`, which are alike: what gives nvJPEG its memory, and what that is
/// told.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Allocator {
    pub(crate) malloc: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, usize, RawStream) -> c_int,
    pub(crate) free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, RawStream) -> c_int,
    pub(crate) giver: *mut c_void,
}

table! {
    /// Functions of libnvjpeg.
    NvjpegTable {
        property = "nvjpegGetProperty": fn(c_int, *mut c_int) -> NvjpegStatus;
        create = "nvjpegCreateExV2":
            fn(c_int, *mut Allocator, *mut Allocator, c_uint, *mut RawHandle) -> NvjpegStatus;
        destroy = "nvjpegDestroy": fn(RawHandle) -> NvjpegStatus;
        hardware = "nvjpegGetHardwareDecoderInfo": fn(RawHandle, *mut c_uint, *mut c_uint) -> NvjpegStatus;
        state_create = "nvjpegJpegStateCreate": fn(RawHandle, *mut RawState) -> NvjpegStatus;
        state_destroy = "nvjpegJpegStateDestroy": fn(RawState) -> NvjpegStatus;
        batch_begin = "nvjpegDecodeBatchedInitialize": fn(RawHandle, RawState, c_int, c_int, c_int) -> NvjpegStatus;
        batch_reserve = "nvjpegDecodeBatchedPreAllocate":
            fn(RawHandle, RawState, c_int, c_int, c_int, c_int, c_int) -> NvjpegStatus;
        batch_takes = "nvjpegDecodeBatchedSupported": fn(RawHandle, JpegStream, *mut c_int) -> NvjpegStatus;
        batch_decode = "nvjpegDecodeBatched":
            fn(RawHandle, RawState, *const *const u8, *const usize, *mut Image, RawStream) -> NvjpegStatus;
        stream_create = "nvjpegJpegStreamCreate": fn(RawHandle, *mut JpegStream) -> NvjpegStatus;
        stream_destroy = "nvjpegJpegStreamDestroy": fn(JpegStream) -> NvjpegStatus;
        stream_header = "nvjpegJpegStreamParseHeader": fn(RawHandle, *const u8, usize, JpegStream) -> NvjpegStatus;
        stream_parse = "nvjpegJpegStreamParse": fn(RawHandle, *const u8, usize, c_int, c_int, JpegStream) -> NvjpegStatus;
        stream_size = "nvjpegJpegStreamGetFrameDimensions": fn(JpegStream, *mut c_uint, *mut c_uint) -> NvjpegStatus;
        stream_sampling = "nvjpegJpegStreamGetChromaSubsampling": fn(JpegStream, *mut c_int) -> NvjpegStatus;
        params_create = "nvjpegDecodeParamsCreate": fn(RawHandle, *mut Params) -> NvjpegStatus;
        params_destroy = "nvjpegDecodeParamsDestroy": fn(Params) -> NvjpegStatus;
        params_format = "nvjpegDecodeParamsSetOutputFormat": fn(Params, c_int) -> NvjpegStatus;
        decoder_create = "nvjpegDecoderCreate": fn(RawHandle, c_int, *mut RawDecoder) -> NvjpegStatus;
        decoder_destroy = "nvjpegDecoderDestroy": fn(RawDecoder) -> NvjpegStatus;
        decoder_takes = "nvjpegDecoderJpegSupported": fn(RawDecoder, JpegStream, Params, *mut c_int) -> NvjpegStatus;
        decoder_state = "nvjpegDecoderStateCreate": fn(RawHandle, RawDecoder, *mut RawState) -> NvjpegStatus;
        pinned_create = "nvjpegBufferPinnedCreateV2": fn(RawHandle, *mut Allocator, *mut Buffer) -> NvjpegStatus;
        pinned_destroy = "nvjpegBufferPinnedDestroy": fn(Buffer) -> NvjpegStatus;
        device_create = "nvjpegBufferDeviceCreateV2": fn(RawHandle, *mut Allocator, *mut Buffer) -> NvjpegStatus;
        device_destroy = "nvjpegBufferDeviceDestroy": fn(Buffer) -> NvjpegStatus;
        attach_pinned = "nvjpegStateAttachPinnedBuffer": fn(RawState, Buffer) -> NvjpegStatus;
        attach_device = "nvjpegStateAttachDeviceBuffer": fn(RawState, Buffer) -> NvjpegStatus;
        decode_host = "nvjpegDecodeJpegHost": fn(RawHandle, RawDecoder, RawState, Params, JpegStream) -> NvjpegStatus;
        decode_transfer = "nvjpegDecodeJpegTransferToDevice":
            fn(RawHandle, RawDecoder, RawState, JpegStream, RawStream) -> NvjpegStatus;
        decode_device = "nvjpegDecodeJpegDevice": fn(RawHandle, RawDecoder, RawState, *mut Image, RawStream) -> NvjpegStatus;
    }
}
