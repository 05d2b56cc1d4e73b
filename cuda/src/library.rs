//! A shared library opened at run time, and tables of its functions, so that one binary runs with and without a GPU.
#![allow(unsafe_code, reason = "opens shared libraries and takes functions from them")]

use std::path::{Path, PathBuf};

use thiserror::Error;

/// An open library. It is never closed: CUDA's libraries leave threads and exit handlers behind.
#[derive(Debug)]
pub(crate) struct Library {
    library: &'static libloading::Library,
    path: PathBuf,
}

/// Why a library cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// None of the places has it.
    #[error("{library} was not found; tried {}", tried.join(", "))]
    NotFound {
        /// What was looked for.
        library: &'static str,
        /// The names and paths that were tried, with what the loader said.
        tried: Vec<String>,
    },
    /// It is another library of that name, or too old.
    #[error("{} has no function {symbol}: it is too old, or another library of that name", path.display())]
    Symbol {
        /// The library's file.
        path: PathBuf,
        /// The function.
        symbol: &'static str,
    },
}

impl Library {
    /// Opens a file, or a bare name by the loader's own search.
    ///
    /// # Errors
    /// What the loader said.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the libraries that are named here are CUDA's or a test's; what runs as they are loaded asks nothing of us.
        let library = unsafe { libloading::Library::new(path) }.map_err(|error| reason(&error))?;
        Ok(Self { library: Box::leak(Box::new(library)), path: loaded_from(path) })
    }

    /// The file that the loader found.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A function by its name.
    ///
    /// # Safety
    /// `F` is a function pointer of the type that the library declares for this name.
    pub(crate) unsafe fn symbol<F: Copy>(&self, symbol: &'static str) -> Result<F, OpenError> {
        // SAFETY: the caller vouches for the type.
        let found = unsafe { self.library.get::<F>(symbol.as_bytes()) };
        found.map(|found| *found).map_err(|_| OpenError::Symbol { path: self.path.clone(), symbol })
    }
}

/// What the loader said; libloading keeps that apart from what was tried.
fn reason(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// The file behind a name: the one that this process has mapped under it.
fn loaded_from(path: &Path) -> PathBuf {
    let maps = || std::fs::read_to_string("/proc/self/maps").ok();
    let name = path.file_name().and_then(|name| name.to_str());
    let bare = path.components().count() == 1;
    bare.then(maps)
        .flatten()
        .and_then(|maps| {
            let mapped = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..]).to_owned()));
            mapped.into_iter().find(|mapped| {
                mapped.file_name().and_then(|name| name.to_str()).zip(name).is_some_and(|(a, b)| a.starts_with(b))
            })
        })
        .unwrap_or_else(|| path.to_owned())
}

/// Declares a table of a library's functions, and how it is filled.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($field:ident = $symbol:literal: fn($($argument:ty),* $(,)?) -> $result:ty;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name {
            $(pub(crate) $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl $name {
            /// Takes every function, or names the first that is not there.
            pub(crate) fn load(library: &$crate::library::Library) -> Result<Self, $crate::library::OpenError> {
                Ok(Self {
                    // SAFETY: the types are those of the library's header, unchanged over the versions that are let in.
                    $($field: unsafe { library.symbol($symbol)? },)*
                })
            }
        }
    };
}
pub(crate) use table;
