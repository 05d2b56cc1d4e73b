//! Where the libraries are looked for.

use std::path::PathBuf;

use crate::nvjpeg::NvjpegPlaces;

/// Where the libraries are looked for.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The driver's file; by default the machine's libcuda.so.1.
    pub driver: Option<PathBuf>,
    /// nvJPEG.
    pub nvjpeg: NvjpegPlaces,
}
