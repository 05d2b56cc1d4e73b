//! How pictures are decoded: threads, lanes, memory, and the limits of a picture.

use std::path::PathBuf;

use forebay_pixels::Limits;

use super::{Lanes, RemoteSettings};
use crate::ByteSize;

/// The decode pools, and the limits for every picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeSettings {
    /// Threads of the pool. If left out, the number of usable cores. 0: the decoders of `remote` make the pictures, and one thread
    /// does what is left.
    pub threads: Option<usize>,
    /// Ways to decode.
    pub lanes: Lanes,
    /// Memory that decoding may take of each GPU.
    pub gpu_memory_limit: ByteSize,
    /// The file of libnvjpeg.
    pub nvjpeg: Option<PathBuf>,
    /// Whether each thread is pinned to one core.
    pub pin: bool,
    /// What decodes JPEGs.
    pub jpeg: JpegDecoder,
    /// Whether seek points are kept.
    pub seek: SeekKeeping,
    /// Memory for decoding.
    pub memory: ByteSize,
    /// What a picture may be and take.
    pub limits: Limits,
    /// Decoders on other machines.
    pub remote: Option<RemoteSettings>,
}

/// What decodes JPEGs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JpegDecoder {
    /// The fastest decoder that accepts the picture.
    #[default]
    Auto,
    /// libjpeg-turbo alone.
    LibjpegTurbo,
}

/// Where the seek points of pictures are kept, with which later epochs decode less of a JPEG.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeekKeeping {
    /// In memory.
    #[default]
    Memory,
    /// Nowhere.
    Off,
}

impl Default for DecodeSettings {
    fn default() -> Self {
        Self {
            threads: None,
            lanes: Lanes::default(),
            gpu_memory_limit: ByteSize(2_000_000_000),
            nvjpeg: None,
            pin: false,
            jpeg: JpegDecoder::default(),
            seek: SeekKeeping::default(),
            memory: ByteSize(128_000_000),
            limits: Limits::default(),
            remote: None,
        }
    }
}

impl DecodeSettings {
    /// Where seek points are kept: nowhere if JPEGs go to another decoder than our own, which alone makes use of them.
    pub fn seek_keeping(&self) -> SeekKeeping {
        if self.jpeg == JpegDecoder::Auto { self.seek } else { SeekKeeping::Off }
    }
}
