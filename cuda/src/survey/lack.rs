//! What a machine lacks for decoding on a GPU: what that costs, and how to get it.

use super::{FoundGpu, NotToBeHad, Survey};
use crate::driver::{CudaError, DriverError};
use crate::lane::LaneError;
use crate::nvjpeg::NvjpegError;

/// Something that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// What.
    pub what: String,
    /// What does not work without it.
    pub cost: String,
    /// How to get it.
    pub remedy: &'static str,
}

const NO_GPU: &str = "no GPU is used: the CPU lane decodes every picture";
const SHOW: &str =
    "look at CUDA_VISIBLE_DEVICES, and at the devices that the container was given (docker run --gpus all)";
/// `CUDA_ERROR_NO_DEVICE`.
const NO_DEVICE: i32 = 100;
/// `CUDA_ERROR_SYSTEM_DRIVER_MISMATCH`.
const MISMATCH: i32 = 803;
/// `CUDA_ERROR_DEVICE_UNAVAILABLE`.
const UNAVAILABLE: i32 = 46;
/// `NVJPEG_STATUS_ARCH_MISMATCH`.
const NO_SUCH_HARDWARE: i32 = 7;

impl Survey {
    /// What is missing for decoding on a GPU, the first cause first.
    pub fn lacks(&self) -> Vec<Lack> {
        let mut lacks = Vec::new();
        let mut lack = |what: String, cost: &str, remedy| lacks.push(Lack { what, cost: cost.into(), remedy });
        match (&self.driver, &self.gpus) {
            (Err(error), _) => lack(error.to_string(), NO_GPU, remedy_of_driver(error)),
            (Ok(_), Err(error)) => {
                lack(format!("the driver does not tell of its GPUs: {error}"), NO_GPU, remedy_of_start(error));
            }
            (Ok(_), Ok(gpus)) if gpus.is_empty() => {
                lack("the driver shows no GPU to this process".into(), NO_GPU, SHOW);
            }
            (Ok(_), Ok(_)) => {}
        }
        if let Err(error) = &self.nvjpeg {
            lack(
                error.to_string(),
                "no lane decodes on the GPU",
                "pip install nvidia-nvjpeg-cu12, or name the file in decode.nvjpeg or FOREBAY_NVJPEG",
            );
        }
        if let (Ok(_), Some(Err(error))) = (&self.driver, &self.nvcuvid) {
            lack(
                error.clone(),
                "no hardware lane: nvJPEG reaches the NVJPG engines through this library",
                "it comes with the driver; in a container, add the capability: NVIDIA_DRIVER_CAPABILITIES=compute,utility,video",
            );
        }
        for gpu in self.gpus.iter().flatten() {
            lacks.extend(self.lacks_of(gpu));
        }
        lacks
    }

    fn lacks_of(&self, gpu: &FoundGpu) -> Vec<Lack> {
        let name = format!("GPU {} ({})", gpu.device.ordinal, gpu.device.name);
        let lack =
            |what: String, cost: &str, remedy| Lack { what: format!("{name} {what}"), cost: cost.into(), remedy };
        let mut lacks = Vec::new();
        if let Err(NotToBeHad::Context(error)) = &gpu.kernel {
            let what = format!("cannot be taken into use: {error}");
            return vec![lack(what, "no lane decodes on this GPU, and no ring can be in it", remedy_of_start(error))];
        }
        if let Err(error) = &gpu.kernel {
            let cost = "no lane decodes on this GPU: nothing cuts and resizes what nvJPEG decodes there";
            lacks.push(lack(
                format!("does not take our kernel: {error}"),
                cost,
                "install a driver of CUDA 12.4 (550) or later",
            ));
        }
        let missing: Vec<_> =
            gpu.decoders.iter().filter_map(|(lane, found)| Some((*lane, found.as_ref().err()?))).collect();
        let started = missing.iter().any(|(_, error)| !matches!(error, NotToBeHad::NoNvjpeg));
        if !started {
            return lacks;
        }
        if let (Some((_, error)), true) = (missing.first(), missing.len() == gpu.decoders.len()) {
            let what = format!("starts no decoder of nvJPEG: {error}");
            lacks.push(lack(what, "no lane decodes on this GPU", self.remedy_of_nvjpeg()));
            return lacks;
        }
        for (lane, error) in missing {
            let no_such_hardware =
                matches!(error, NotToBeHad::Start(LaneError::Nvjpeg(NvjpegError { status: NO_SUCH_HARDWARE, .. })));
            let remedy = match lane.uses_engines() {
                true if no_such_hardware => {
                    "A100, A30, H100, H200, B200 and Thor have NVJPG engines; others decode with lanes = [\"hybrid\", \"cpu\"]"
                }
                true => "see that libnvcuvid.so.1 is of the same driver as libcuda.so.1",
                false => self.remedy_of_nvjpeg(),
            };
            lacks.push(lack(format!("has no {lane} lane: {error}"), &format!("no {lane} lane on this GPU"), remedy));
        }
        lacks
    }

    fn remedy_of_nvjpeg(&self) -> &'static str {
        match (&self.driver, &self.nvjpeg) {
            (Ok(driver), Ok(nvjpeg)) if nvjpeg.version.0 > driver.cuda.0 => {
                "nvJPEG is of a later CUDA than the driver: update the driver, or install the nvJPEG of the driver's CUDA (pip \
                 install nvidia-nvjpeg-cu12) and name its file in decode.nvjpeg"
            }
            _ => {
                "see how much memory of the GPU is free (nvidia-smi); if it is not that, take another nvJPEG (pip install \
                 nvidia-nvjpeg-cu12) and name its file in decode.nvjpeg"
            }
        }
    }
}

/// The remedy if the driver cannot be used.
fn remedy_of_driver(error: &DriverError) -> &'static str {
    match error {
        DriverError::Open(_) => {
            "install NVIDIA's driver; in a container, start it with the GPU (docker run --gpus all)"
        }
        DriverError::Cuda(error) => remedy_of_start(error),
    }
}

/// The remedy if the driver, or a GPU, does not start.
fn remedy_of_start(error: &CudaError) -> &'static str {
    match error.code {
        NO_DEVICE => SHOW,
        MISMATCH => "the driver was updated under the running kernel: restart the machine, or load its modules again",
        UNAVAILABLE => {
            "another process has the GPU to itself, or no process may use it: nvidia-smi -c 0 resets its compute mode"
        }
        2 => "free memory of the GPU (nvidia-smi shows who has it)",
        _ => "see what nvidia-smi and the kernel's log (dmesg, NVRM: Xid) say; a restart of the machine may help",
    }
}
