//! The CUDA driver, opened at run time: the safe layer over [`result`] and [`sys`].

mod context;
mod mark;
mod memory;
mod module;
mod registered;
mod result;
mod shared;
mod stream;
pub(crate) mod sys;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

pub use context::Context;
pub(crate) use mark::Mark;
pub(crate) use memory::{DeviceMemory, PinnedMemory};
pub(crate) use module::Kernel;
pub use registered::Registered;
pub use result::{CudaError, ShareError};
pub use shared::{Shareable, SharedMemory, SharedPlace, Uuid};
pub use stream::Stream;

use crate::library::{Library, OpenError};
use sys::{DriverTable, Sharing};

/// The name that the driver's library has on every Linux machine; without the `.1` it may be a toolkit's stub.
const NAME: &str = "libcuda.so.1";

/// The driver. What it makes keeps it alive.
#[derive(Debug)]
pub struct Driver {
    table: DriverTable,
    /// Functions that an old driver may lack.
    sharing: Result<Sharing, OpenError>,
    path: PathBuf,
    version: i32,
}

/// A GPU, as the driver describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number, as `gpu:N` names it.
    pub ordinal: i32,
    /// Its name.
    pub name: String,
    /// Where it is plugged in.
    pub bus: String,
    /// Bytes of its memory.
    pub memory: usize,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Streaming multiprocessors.
    pub multiprocessors: i32,
    /// Whether it page-locks memory of the host that may only be read.
    pub locks_read_only: bool,
}

/// Why there is no driver.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DriverError {
    /// Its library cannot be used.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// It does not start, or there is no GPU.
    #[error("{0}")]
    Cuda(#[from] CudaError),
}

impl Driver {
    /// Opens and starts the driver: the file that `path` names, else the machine's.
    ///
    /// # Errors
    /// There is none, or it does not start.
    pub fn open(path: Option<&Path>) -> Result<Arc<Self>, DriverError> {
        let name = path.unwrap_or_else(|| Path::new(NAME));
        let library = Library::open(name)
            .map_err(|error| OpenError::NotFound { library: "the CUDA driver (libcuda.so.1)", tried: vec![error] })?;
        let table = DriverTable::load(&library)?;
        table.init()?;
        let version = table.driver_version()?;
        let sharing = Sharing::load(&library);
        Ok(Arc::new(Self { table, sharing, path: library.path().to_owned(), version }))
    }

    /// The highest CUDA version that it supports, as 13 and 0.
    pub fn version(&self) -> (i32, i32) {
        (self.version / 1000, self.version % 1000 / 10)
    }

    /// Where its library is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The GPUs that this process may use.
    ///
    /// # Errors
    /// The driver cannot be asked.
    pub fn devices(&self) -> Result<Vec<Device>, CudaError> {
        (0..self.table.device_count()?).map(|ordinal| self.device(ordinal)).collect()
    }

    /// What the GPU with this number has for memory that processes share.
    ///
    /// # Errors
    /// The driver is too old, or there is no such GPU.
    pub fn shareable(&self, ordinal: i32) -> Result<Shareable, ShareError> {
        Ok(shared::shareable(&self.table, self.sharing()?, ordinal)?)
    }

    fn sharing(&self) -> Result<&Sharing, ShareError> {
        self.sharing.as_ref().map_err(|error| error.clone().into())
    }

    fn device(&self, ordinal: i32) -> Result<Device, CudaError> {
        let device = self.table.device(ordinal)?;
        let attribute = |attribute| self.table.device_attribute(attribute, device);
        Ok(Device {
            ordinal,
            name: self.table.device_name(device)?,
            bus: self.table.device_bus(device)?,
            memory: self.table.device_memory(device)?,
            capability: (attribute(sys::CAPABILITY_MAJOR)?, attribute(sys::CAPABILITY_MINOR)?),
            multiprocessors: attribute(sys::MULTIPROCESSORS)?,
            // Drivers that do not know of the attribute have an error for it.
            locks_read_only: attribute(sys::LOCKS_READ_ONLY).is_ok_and(|has| has != 0),
        })
    }
}
