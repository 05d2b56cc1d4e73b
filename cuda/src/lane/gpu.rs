//! A GPU in use: its context, the account of its memory, nvJPEG's handles and the kernel.

use std::sync::{Arc, OnceLock};

use thiserror::Error;

use crate::compose::ComposeKernel;
use crate::compose::beside::Site;
use crate::driver::{Context, CudaError, Device, Driver, DriverError};
use crate::error::LaneError;
use crate::nvjpeg::{Account, Backend, Handle, Nvjpeg, NvjpegOpenError};
use crate::places::Places;

/// A GPU in use.
#[derive(Debug)]
pub struct Gpu {
    ordinal: i32,
    bus: String,
    context: Arc<Context>,
    account: Arc<Account>,
    nvjpeg: Arc<Nvjpeg>,
    /// By backend, made when the first lane asks for it: each takes memory of the GPU.
    handles: [OnceLock<Result<Arc<Handle>, LaneError>>; 3],
    kernel: OnceLock<Result<ComposeKernel, CudaError>>,
}

/// Why no GPU can be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GpuError {
    /// No driver.
    #[error("{0}")]
    Driver(#[from] DriverError),
    /// No nvJPEG.
    #[error("{0}")]
    Nvjpeg(#[from] NvjpegOpenError),
    /// The GPU cannot be taken into use.
    #[error("GPU {ordinal}: {error}")]
    Context {
        /// Its number.
        ordinal: i32,
        /// What the driver said.
        error: CudaError,
    },
}

impl Gpu {
    /// Takes all GPUs that this process may use into use, each with `limit` bytes of memory for decoding. One that cannot be used
    /// is an error in its place, and the others go on.
    ///
    /// # Errors
    /// There is no driver, or no nvJPEG.
    pub fn open_all(places: &Places, limit: usize) -> Result<Vec<Result<Self, GpuError>>, GpuError> {
        let driver = Driver::open(places.driver.as_deref())?;
        let nvjpeg = Nvjpeg::open(&places.nvjpeg)?;
        let devices = driver.devices().map_err(DriverError::from)?;
        Ok(devices.into_iter().map(|device| Self::open(&driver, &nvjpeg, device, limit)).collect())
    }

    fn open(driver: &Arc<Driver>, nvjpeg: &Arc<Nvjpeg>, device: Device, limit: usize) -> Result<Self, GpuError> {
        let Device { ordinal, bus, .. } = device;
        let context = Context::new(driver, ordinal).map_err(|error| GpuError::Context { ordinal, error })?;
        let account = Account::new(&context, limit);
        Ok(Self {
            ordinal,
            bus,
            context,
            account,
            nvjpeg: Arc::clone(nvjpeg),
            handles: Default::default(),
            kernel: OnceLock::new(),
        })
    }

    /// Its number, as `gpu:N` names it.
    pub fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// Where it is plugged in, as the driver writes it: `0000:3B:00.0`.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// The account of its memory.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Page-locked memory of the host that its lanes have, in bytes, with nvJPEG's.
    pub fn page_locked(&self) -> usize {
        self.context.page_locked()
    }

    /// Its NVJPG engines, and cores of each.
    ///
    /// # Errors
    /// It has none.
    pub fn engines(&self) -> Result<(u32, u32), LaneError> {
        self.handle(Backend::Hardware)?.engines()
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// The kernel that composes pictures, loaded when the first worker asks for it.
    pub(crate) fn kernel(&self) -> Result<&ComposeKernel, LaneError> {
        let kernel = self.kernel.get_or_init(|| ComposeKernel::load(&self.context));
        kernel.as_ref().map_err(|error| LaneError::Kernel(error.clone()))
    }

    /// Where the kernel is launched.
    pub(crate) fn site(&self) -> Result<Site<'_>, LaneError> {
        Ok(Site { context: &self.context, account: &self.account, kernel: self.kernel()? })
    }

    pub(super) fn handle(&self, backend: Backend) -> Result<&Arc<Handle>, LaneError> {
        let handle = self.handles[backend as usize]
            .get_or_init(|| Handle::new(&self.nvjpeg, &self.context, &self.account, backend));
        handle.as_ref().map_err(Clone::clone)
    }
}
