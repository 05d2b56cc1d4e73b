//! How pictures are decoded: threads, lanes, memory, and the limits of a picture.

use std::path::PathBuf;
use std::time::Duration;

use forebay_pixels::Limits;

use super::Lanes;
use crate::ByteSize;

/// The decode pools, and the limits for every picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeSettings {
    /// Threads of the pool. If left out, the number of usable cores.
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
    /// Pixels of a picture.
    pub pixel_limit: u64,
    /// Bytes of a file.
    pub byte_limit: ByteSize,
    /// Scans of a progressive JPEG.
    pub scan_limit: u32,
    /// Time for one picture.
    pub time_limit: Option<Duration>,
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
        let Limits { pixels, bytes, scans, time } = Limits::default();
        Self {
            threads: None,
            lanes: Lanes::default(),
            gpu_memory_limit: ByteSize(2_000_000_000),
            nvjpeg: None,
            pin: false,
            jpeg: JpegDecoder::default(),
            seek: SeekKeeping::default(),
            memory: ByteSize(128_000_000),
            pixel_limit: pixels,
            byte_limit: ByteSize(bytes),
            scan_limit: scans,
            time_limit: time,
        }
    }
}

impl DecodeSettings {
    /// Where seek points are kept: nowhere if JPEGs go to another decoder than our own, which alone makes use of them.
    pub fn seek_keeping(&self) -> SeekKeeping {
        if self.jpeg == JpegDecoder::Auto { self.seek } else { SeekKeeping::Off }
    }

    /// The limits in the decoder's form.
    pub fn limits(&self) -> Limits {
        Limits { pixels: self.pixel_limit, bytes: self.byte_limit.0, scans: self.scan_limit, time: self.time_limit }
    }
}
