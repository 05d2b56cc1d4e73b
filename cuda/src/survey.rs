//! What this machine has for decoding on a GPU, what each missing thing costs, and how to get it.

use std::path::{Path, PathBuf};

use crate::driver::{Context, Device, Driver};
use crate::library::Library;
use crate::nvjpeg::{Account, Backend, Handle, Nvjpeg, NvjpegPlaces};

/// The driver's video library, which nvJPEG opens for the NVJPG engines.
const NVCUVID: &str = "libnvcuvid.so.1";

/// Memory of the GPU that the look at a backend may take.
const TRIAL: usize = 256 << 20;

/// Where the libraries are looked for.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The driver's file; by default the machine's libcuda.so.1.
    pub driver: Option<PathBuf>,
    /// nvJPEG.
    pub nvjpeg: NvjpegPlaces,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The driver.
    pub driver: Result<FoundDriver, String>,
    /// nvJPEG's file and version.
    pub nvjpeg: Result<(PathBuf, String), String>,
    /// The driver's video library.
    pub nvcuvid: Result<PathBuf, String>,
    /// The GPUs.
    pub gpus: Vec<FoundGpu>,
}

/// The driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDriver {
    /// Its library.
    pub path: PathBuf,
    /// The highest CUDA version that it supports.
    pub cuda: (i32, i32),
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGpu {
    /// What the driver says of it.
    pub device: Device,
    /// Its NVJPG engines and cores of each, or why it decodes none.
    pub hardware: Result<(u32, u32), String>,
    /// Whether the decoder that does all on the multiprocessors starts, or why not.
    pub gpu_huffman: Result<(), String>,
    /// Whether the hybrid decoder starts, or why not.
    pub hybrid: Result<(), String>,
}

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What.
    pub what: String,
    /// What is not to be had without it.
    pub cost: &'static str,
    /// How to get it.
    pub remedy: &'static str,
}

/// Looks at the machine. Without a driver nothing of CUDA is started.
pub fn survey(places: &Places) -> Survey {
    let nvjpeg = Nvjpeg::open(&places.nvjpeg);
    let driver = Driver::open(places.driver.as_deref());
    let devices = match &driver {
        Ok(driver) => driver.devices().map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let mut gpus = Vec::new();
    if let (Ok(driver), Ok(devices)) = (&driver, devices) {
        for device in devices {
            let start = |backend| -> Result<_, String> {
                let nvjpeg = nvjpeg.as_ref().map_err(ToString::to_string)?;
                let context = Context::new(driver, device.ordinal).map_err(|error| error.to_string())?;
                let account = Account::new(&context, TRIAL);
                Handle::new(nvjpeg, &context, &account, backend).map_err(|error| error.to_string())
            };
            let engines = |handle: std::sync::Arc<Handle>| handle.engines().map_err(|error| error.to_string());
            let hardware = start(Backend::Hardware).and_then(engines);
            let hybrid = start(Backend::Hybrid).map(drop);
            let gpu_huffman = start(Backend::GpuHybrid).map(drop);
            gpus.push(FoundGpu { device, hardware, gpu_huffman, hybrid });
        }
    }
    let nvcuvid = match places.driver {
        // A driver elsewhere, as in tests, has its video library with it.
        Some(_) => Err("not looked for beside a driver that is named".into()),
        None => Library::open(Path::new(NVCUVID)).map(|library| library.path().to_owned()),
    };
    Survey {
        driver: driver
            .map(|driver| FoundDriver { path: driver.path().to_owned(), cuda: driver.version() })
            .map_err(|error| error.to_string()),
        nvjpeg: nvjpeg
            .map(|nvjpeg| {
                let (major, minor, patch) = nvjpeg.version();
                (nvjpeg.path().to_owned(), format!("{major}.{minor}.{patch}"))
            })
            .map_err(|error| error.to_string()),
        nvcuvid,
        gpus,
    }
}

impl Survey {
    /// What is missing for decoding on a GPU, the first cause first.
    pub fn lacks(&self) -> Vec<Lack> {
        let mut lacks = Vec::new();
        let mut lack = |what: &str, cost, remedy| lacks.push(Lack { what: what.into(), cost, remedy });
        if let Err(error) = &self.driver {
            lack(
                error,
                "no GPU is used: the CPU lane decodes every picture",
                "install NVIDIA's driver; in a container, start it with the GPU (docker run --gpus all)",
            );
        } else if self.gpus.is_empty() {
            lack(
                "the driver shows no GPU to this process",
                "the CPU lane decodes every picture",
                "look at CUDA_VISIBLE_DEVICES, and at the devices that the container was given",
            );
        }
        if let Err(error) = &self.nvjpeg {
            lack(
                error,
                "no lane decodes on the GPU",
                "pip install nvidia-nvjpeg-cu12, or name the file in decode.nvjpeg or FOREBAY_NVJPEG",
            );
        }
        if let (Ok(_), Err(error)) = (&self.driver, &self.nvcuvid) {
            lack(
                error,
                "no hardware lane: nvJPEG reaches the NVJPG engines through this library",
                "it comes with the driver; in a container, add the capability: NVIDIA_DRIVER_CAPABILITIES=compute,utility,video",
            );
        }
        for gpu in &self.gpus {
            if let (Err(error), Ok(_)) = (&gpu.hardware, &self.nvjpeg) {
                lack(
                    &format!("GPU {} ({}) decodes no JPEG in hardware: {error}", gpu.device.ordinal, gpu.device.name),
                    "no hardware lane on this GPU",
                    "A100, A30, H100, H200, B200 and Thor have NVJPG engines; others decode with lanes = [\"hybrid\", \"cpu\"]",
                );
            }
        }
        lacks
    }
}
