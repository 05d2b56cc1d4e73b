//! nvJPEG, opened at run time: the safe layer over [`result`] and [`sys`].

mod account;
mod allowance;
mod batch;
mod find;
mod handle;
mod locked;
mod result;
mod single;
mod sys;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

pub use account::Account;
pub(crate) use account::{AccountedMemory, Counted};
pub(crate) use batch::BatchState;
pub use find::NvjpegPlaces;
pub use handle::{Backend, Handle};
pub(crate) use single::SingleState;

pub use crate::error::NvjpegError;
use crate::library::{Library, OpenError};
use sys::NvjpegTable;

/// The oldest version that is taken: those before lose memory of the GPU with every picture (pytorch/vision#4378).
const OLDEST: (i32, i32) = (11, 6);

/// The library. What it makes keeps it alive.
#[derive(Debug)]
pub struct Nvjpeg {
    table: NvjpegTable,
    path: PathBuf,
    version: (i32, i32, i32),
}

/// Why there is no nvJPEG.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NvjpegOpenError {
    /// No file of that name can be used.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// It does not say its version.
    #[error("{} does not say its version: {error}", path.display())]
    Version {
        /// The library's file.
        path: PathBuf,
        /// What it said.
        error: NvjpegError,
    },
    /// It is too old.
    #[error(
        "{} is nvJPEG {}.{}; {}.{} is the oldest that can be used, since those before lose memory with every picture",
        path.display(), version.0, version.1, OLDEST.0, OLDEST.1
    )]
    TooOld {
        /// The library's file.
        path: PathBuf,
        /// Its major and minor number.
        version: (i32, i32),
    },
}

impl Nvjpeg {
    /// Opens the first usable library of the candidates. None of them needs a GPU for that.
    ///
    /// # Errors
    /// None is there, or what the first that is there lacks.
    pub fn open(places: &NvjpegPlaces) -> Result<Arc<Self>, NvjpegOpenError> {
        let mut tried = Vec::new();
        let mut unusable = None;
        for file in places.candidates() {
            match Library::open(&file) {
                Ok(library) => match Self::of(&library) {
                    Ok(nvjpeg) => return Ok(Arc::new(nvjpeg)),
                    Err(error) => unusable = unusable.or(Some(error)),
                },
                Err(error) => tried.push(error),
            }
        }
        Err(unusable.unwrap_or_else(|| OpenError::NotFound { library: "nvJPEG", tried }.into()))
    }

    fn of(library: &Library) -> Result<Self, NvjpegOpenError> {
        let table = NvjpegTable::load(library)?;
        let path = library.path().to_owned();
        let version = table.version().map_err(|error| NvjpegOpenError::Version { path: path.clone(), error })?;
        if (version.0, version.1) < OLDEST {
            return Err(NvjpegOpenError::TooOld { path, version: (version.0, version.1) });
        }
        Ok(Self { table, path, version })
    }

    /// Major, minor and patch number.
    pub fn version(&self) -> (i32, i32, i32) {
        self.version
    }

    /// Where its library is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
