//! The functions of libnvjpeg that are used, with their C types: those of nvjpeg.h, which are the same from 11.6 to 13.3.
//! Enums are plain numbers, since a library may answer with one that its header has not.
#![allow(unsafe_code, reason = "takes functions from libnvjpeg")]

use std::ffi::{c_int, c_uint, c_void};

use crate::driver::sys::Stream;
use crate::library::table;

pub(crate) type Status = c_int;
pub(crate) type Handle = *mut c_void;
pub(crate) type State = *mut c_void;
pub(crate) type JpegStream = *mut c_void;
pub(crate) type Buffer = *mut c_void;
pub(crate) type Decoder = *mut c_void;
pub(crate) type Params = *mut c_void;

pub(crate) const SUCCESS: Status = 0;

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
    pub(crate) malloc: unsafe extern "C" fn(*mut c_void, *mut *mut c_void, usize, Stream) -> c_int,
    pub(crate) free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize, Stream) -> c_int,
    pub(crate) giver: *mut c_void,
}

table! {
    /// Functions of libnvjpeg.
    Table {
        property = "nvjpegGetProperty": fn(c_int, *mut c_int) -> Status;
        create = "nvjpegCreateExV2":
            fn(c_int, *mut Allocator, *mut Allocator, c_uint, *mut Handle) -> Status;
        destroy = "nvjpegDestroy": fn(Handle) -> Status;
        hardware = "nvjpegGetHardwareDecoderInfo": fn(Handle, *mut c_uint, *mut c_uint) -> Status;
        state_create = "nvjpegJpegStateCreate": fn(Handle, *mut State) -> Status;
        state_destroy = "nvjpegJpegStateDestroy": fn(State) -> Status;
        batch_begin = "nvjpegDecodeBatchedInitialize": fn(Handle, State, c_int, c_int, c_int) -> Status;
        batch_reserve = "nvjpegDecodeBatchedPreAllocate":
            fn(Handle, State, c_int, c_int, c_int, c_int, c_int) -> Status;
        batch_takes = "nvjpegDecodeBatchedSupported": fn(Handle, JpegStream, *mut c_int) -> Status;
        batch_decode = "nvjpegDecodeBatched":
            fn(Handle, State, *const *const u8, *const usize, *mut Image, Stream) -> Status;
        stream_create = "nvjpegJpegStreamCreate": fn(Handle, *mut JpegStream) -> Status;
        stream_destroy = "nvjpegJpegStreamDestroy": fn(JpegStream) -> Status;
        stream_header = "nvjpegJpegStreamParseHeader": fn(Handle, *const u8, usize, JpegStream) -> Status;
        stream_parse = "nvjpegJpegStreamParse": fn(Handle, *const u8, usize, c_int, c_int, JpegStream) -> Status;
        stream_size = "nvjpegJpegStreamGetFrameDimensions": fn(JpegStream, *mut c_uint, *mut c_uint) -> Status;
        stream_sampling = "nvjpegJpegStreamGetChromaSubsampling": fn(JpegStream, *mut c_int) -> Status;
        params_create = "nvjpegDecodeParamsCreate": fn(Handle, *mut Params) -> Status;
        params_destroy = "nvjpegDecodeParamsDestroy": fn(Params) -> Status;
        params_format = "nvjpegDecodeParamsSetOutputFormat": fn(Params, c_int) -> Status;
        decoder_create = "nvjpegDecoderCreate": fn(Handle, c_int, *mut Decoder) -> Status;
        decoder_destroy = "nvjpegDecoderDestroy": fn(Decoder) -> Status;
        decoder_takes = "nvjpegDecoderJpegSupported": fn(Decoder, JpegStream, Params, *mut c_int) -> Status;
        decoder_state = "nvjpegDecoderStateCreate": fn(Handle, Decoder, *mut State) -> Status;
        pinned_create = "nvjpegBufferPinnedCreateV2": fn(Handle, *mut Allocator, *mut Buffer) -> Status;
        pinned_destroy = "nvjpegBufferPinnedDestroy": fn(Buffer) -> Status;
        device_create = "nvjpegBufferDeviceCreateV2": fn(Handle, *mut Allocator, *mut Buffer) -> Status;
        device_destroy = "nvjpegBufferDeviceDestroy": fn(Buffer) -> Status;
        attach_pinned = "nvjpegStateAttachPinnedBuffer": fn(State, Buffer) -> Status;
        attach_device = "nvjpegStateAttachDeviceBuffer": fn(State, Buffer) -> Status;
        decode_host = "nvjpegDecodeJpegHost": fn(Handle, Decoder, State, Params, JpegStream) -> Status;
        decode_transfer = "nvjpegDecodeJpegTransferToDevice":
            fn(Handle, Decoder, State, JpegStream, Stream) -> Status;
        decode_device = "nvjpegDecodeJpegDevice": fn(Handle, Decoder, State, *mut Image, Stream) -> Status;
    }
}
