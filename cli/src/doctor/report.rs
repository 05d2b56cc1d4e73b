//! What a machine has for decoding on a GPU, as `doctor` prints it.

use std::fmt::Display;
use std::path::Path;

use forebay_cuda::lane::LaneKind;
use forebay_cuda::survey::{FoundGpu, Lack, Survey};
use forebay_pipeline::Gpus;
use forebay_pixels::Format;
use serde::{Serialize, Serializer};

use crate::json;

/// The machine.
#[derive(Debug, Serialize)]
pub(super) struct DoctorReport<'a> {
    pub(super) formats: Vec<ReadFormat>,
    pub(super) driver: Option<FoundDriver<'a>>,
    pub(super) nvjpeg: Option<FoundNvjpeg<'a>>,
    pub(super) nvcuvid: Option<FoundFile<'a>>,
    /// The driver's file was given, and brings its own nvcuvid.
    #[serde(skip)]
    pub(super) nvcuvid_is_given: bool,
    pub(super) gpus: Vec<SurveyedGpu<'a>>,
    pub(super) missing: Vec<MissingPart>,
}

/// A format of pictures, and what decodes it on the CPU.
#[derive(Debug, Serialize)]
pub(super) struct ReadFormat {
    pub(super) name: &'static str,
    pub(super) decoder: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(super) struct FoundDriver<'a> {
    #[serde(serialize_with = "json::path")]
    pub(super) path: &'a Path,
    pub(super) cuda: String,
}

#[derive(Debug, Serialize)]
pub(super) struct FoundNvjpeg<'a> {
    #[serde(serialize_with = "json::path")]
    pub(super) path: &'a Path,
    pub(super) version: String,
}

#[derive(Debug, Serialize)]
pub(super) struct FoundFile<'a> {
    #[serde(serialize_with = "json::path")]
    pub(super) path: &'a Path,
}

#[derive(Debug, Serialize)]
pub(super) struct SurveyedGpu<'a> {
    pub(super) gpu: i32,
    pub(super) name: &'a str,
    pub(super) bus: &'a str,
    #[serde(rename = "memory_bytes")]
    pub(super) memory: usize,
    #[serde(rename = "compute_capability")]
    pub(super) capability: String,
    pub(super) multiprocessors: i32,
    #[serde(rename = "nvjpg")]
    pub(super) engines: Option<NvjpgEngines>,
    /// Of each decoder, the first kind of lane that it is for.
    #[serde(serialize_with = "by_kind")]
    pub(super) lanes: Vec<(LaneKind, Availability)>,
    pub(super) kernel: Availability,
    /// Whether pixels of rings can be in its memory.
    pub(super) placement: Availability,
    #[serde(rename = "locks_read_only_memory")]
    pub(super) locks_read_only: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct NvjpgEngines {
    pub(super) engines: u32,
    pub(super) cores: u32,
}

/// Whether something is available, and why not.
#[derive(Debug, Serialize)]
pub(super) struct Availability {
    available: bool,
    pub(super) reason: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct MissingPart {
    pub(super) what: String,
    pub(super) cost: String,
    pub(super) remedy: &'static str,
}

impl<'a> DoctorReport<'a> {
    pub(super) fn new(survey: &'a Survey, rings: &Gpus) -> Self {
        let (driver, nvjpeg) = (survey.driver.as_ref().ok(), survey.nvjpeg.as_ref().ok());
        let nvcuvid = survey.nvcuvid.as_ref().and_then(|found| found.as_ref().ok());
        let missing = |Lack { what, cost, remedy }: Lack| MissingPart { what, cost, remedy };
        Self {
            formats: ReadFormat::all(),
            driver: driver.map(|found| FoundDriver { path: &found.path, cuda: version([found.cuda.0, found.cuda.1]) }),
            nvjpeg: nvjpeg.map(|found| {
                let (major, minor, patch) = found.version;
                FoundNvjpeg { path: &found.path, version: version([major, minor, patch]) }
            }),
            nvcuvid: nvcuvid.map(|path| FoundFile { path }),
            nvcuvid_is_given: survey.nvcuvid.is_none(),
            gpus: survey.gpus.iter().flatten().map(|found| SurveyedGpu::new(found, rings)).collect(),
            missing: survey.lacks().into_iter().map(missing).collect(),
        }
    }

    /// Whether a GPU decodes by its engines.
    pub(super) fn has_engines(&self) -> bool {
        self.gpus.iter().any(|gpu| gpu.engines.is_some() && gpu.kernel.reason.is_none())
    }
}

impl ReadFormat {
    fn all() -> Vec<Self> {
        let read = Format::ALL.map(|format| Self { name: format.name(), decoder: Some(format.decoder()) });
        read.into_iter().chain(Format::NONE_FOR.map(|name| Self { name, decoder: None })).collect()
    }
}

impl<'a> SurveyedGpu<'a> {
    fn new(FoundGpu { device, engines, decoders, kernel }: &'a FoundGpu, rings: &Gpus) -> Self {
        let (major, minor) = device.capability;
        Self {
            gpu: device.ordinal,
            name: &device.name,
            bus: &device.bus,
            memory: device.memory,
            capability: version([major, minor]),
            multiprocessors: device.multiprocessors,
            engines: engines.as_ref().ok().map(|&(engines, cores)| NvjpgEngines { engines, cores }),
            lanes: decoders.iter().map(|(kind, found)| (*kind, Availability::of(found))).collect(),
            kernel: Availability::of(kernel),
            placement: Availability::of(&rings.can_hold(device.ordinal)),
            locks_read_only: device.locks_read_only,
        }
    }
}

impl Availability {
    fn of<T, E: Display>(outcome: &Result<T, E>) -> Self {
        Self { available: outcome.is_ok(), reason: outcome.as_ref().err().map(ToString::to_string) }
    }
}

fn by_kind<S: Serializer>(lanes: &[(LaneKind, Availability)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(lanes.iter().map(|(kind, found)| (kind.to_string(), found)))
}

fn version<const PARTS: usize>(parts: [i32; PARTS]) -> String {
    parts.map(|part| part.to_string()).join(".")
}
