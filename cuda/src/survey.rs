//! What this machine has for decoding on a GPU.

mod lack;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

pub use crate::places::Places;
pub use lack::Lack;

use crate::compose::ComposeKernel;
use crate::driver::{Context, CudaError, Device, Driver, DriverError};
use crate::lane::{LaneError, LaneKind};
use crate::library::Library;
use crate::nvjpeg::{Account, Backend, Handle, Nvjpeg, NvjpegOpenError};

/// The driver's video library, which nvJPEG opens for the NVJPG engines.
const NVCUVID: &str = "libnvcuvid.so.1";

/// Memory of the GPU that the test of a backend may take.
const TRIAL: usize = 256 << 20;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The driver.
    pub driver: Result<FoundDriver, DriverError>,
    /// nvJPEG.
    pub nvjpeg: Result<FoundNvjpeg, NvjpegOpenError>,
    /// The driver's video library. `None` if it was not looked for, since the driver was named and brings its own.
    pub nvcuvid: Option<Result<PathBuf, String>>,
    /// The GPUs, or why the driver, if there is one, cannot list them.
    pub gpus: Result<Vec<FoundGpu>, CudaError>,
}

/// The driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDriver {
    /// Its library.
    pub path: PathBuf,
    /// The highest CUDA version that it supports.
    pub cuda: (i32, i32),
}

/// nvJPEG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundNvjpeg {
    /// Its library.
    pub path: PathBuf,
    /// Major, minor and patch number; the first is that of the CUDA that it is made for.
    pub version: (i32, i32, i32),
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGpu {
    /// What the driver says of it.
    pub device: Device,
    /// Its NVJPG engines and cores of each, or why it has none.
    pub engines: Result<(u32, u32), NotToBeHad>,
    /// Of each decoder of nvJPEG, the first kind of lane that it is for, and whether it starts, or why not.
    pub decoders: Vec<(LaneKind, Result<(), NotToBeHad>)>,
    /// Whether the driver takes the kernel that composes what was decoded, without which there is no lane, or why not.
    pub kernel: Result<(), NotToBeHad>,
}

/// Why a GPU has not something.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotToBeHad {
    /// The GPU cannot be taken into use.
    #[error("the GPU cannot be taken into use: {0}")]
    Context(CudaError),
    /// There is no nvJPEG.
    #[error("there is no nvJPEG")]
    NoNvjpeg,
    /// It does not start.
    #[error("{0}")]
    Start(LaneError),
}

/// Takes every GPU into use that can be, until what is returned is dropped. nvJPEG keeps what it has started in a GPU's context, and
/// the driver destroys a context that has no user. A program that starts lanes more than once needs this between them.
pub fn hold(places: &Places) -> Vec<Arc<Context>> {
    let Ok(driver) = Driver::open(places.driver.as_deref()) else { return Vec::new() };
    let devices = driver.devices().into_iter().flatten();
    devices.filter_map(|device| Context::new(&driver, device.ordinal).ok()).collect()
}

/// Looks at the machine. Without a driver nothing of CUDA is started.
pub fn survey(places: &Places) -> Survey {
    let nvjpeg = Nvjpeg::open(&places.nvjpeg);
    let driver = Driver::open(places.driver.as_deref());
    let devices = driver.as_ref().map_or(Ok(Vec::new()), |driver| driver.devices());
    let gpus = devices.map(|devices| {
        let found = |device| driver.as_ref().ok().map(|driver| FoundGpu::find(driver, nvjpeg.as_ref().ok(), device));
        devices.into_iter().filter_map(found).collect()
    });
    let of_machine = || Library::open(Path::new(NVCUVID)).map(|library| library.path().to_owned());
    let nvcuvid = places.driver.is_none().then(of_machine);
    Survey {
        driver: driver.map(|driver| FoundDriver { path: driver.path().to_owned(), cuda: driver.version() }),
        nvjpeg: nvjpeg.map(|nvjpeg| FoundNvjpeg { path: nvjpeg.path().to_owned(), version: nvjpeg.version() }),
        nvcuvid,
        gpus,
    }
}

impl FoundGpu {
    fn find(driver: &Arc<Driver>, nvjpeg: Option<&Arc<Nvjpeg>>, device: Device) -> Self {
        let context = Context::new(driver, device.ordinal).map_err(NotToBeHad::Context);
        let start = |backend| {
            let context = context.as_ref().map_err(Clone::clone)?;
            let nvjpeg = nvjpeg.ok_or(NotToBeHad::NoNvjpeg)?;
            Handle::new(nvjpeg, context, &Account::new(context, TRIAL), backend).map_err(NotToBeHad::Start)
        };
        let load = |context: &Arc<Context>| ComposeKernel::load(context).map_err(LaneError::Kernel);
        let engines = |handle: Arc<Handle>| handle.engines().map_err(NotToBeHad::Start);
        let engines = start(Backend::Hardware).and_then(engines);
        let found = |kind: LaneKind, backend| match backend {
            Backend::Hardware => (kind, engines.clone().map(drop)),
            other => (kind, start(other).map(drop)),
        };
        let decoders = LaneKind::GPU.into_iter().filter_map(|kind| Some(found(kind, kind.own_backend()?)));
        Self {
            decoders: decoders.collect(),
            engines,
            kernel: context
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|context| load(context).map(drop).map_err(NotToBeHad::Start)),
            device,
        }
    }
}
