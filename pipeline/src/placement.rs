//! Where a stream's pixels are. This is decided from the request, the machine, and the GPUs that the trainer can use.
//! Pure.

use forebay_cuda::{ShareError, Shareable, Uuid};
use forebay_ring::text_code;
use thiserror::Error;

use crate::settings::Placement;

/// Where pixels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelPlace {
    /// In the ring's slots.
    Host,
    /// In memory of this GPU.
    Gpu {
        /// Its number in this process.
        ordinal: i32,
        /// Its name everywhere.
        uuid: Uuid,
    },
}

/// What a trainer says about itself, and what the kernel says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Its user.
    pub uid: u32,
    /// The GPUs whose memory it can map, the one that it uses first.
    pub gpus: Vec<Uuid>,
}

/// This machine's support for a ring in a GPU, as the daemon sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The daemon's user.
    pub uid: u32,
    /// Whether the driver's library exists.
    pub library: bool,
    /// Whether the driver starts.
    pub driver: Result<(), String>,
    /// Whether the driver's device file exists. Without it, a container has no GPU.
    pub device_file: bool,
    /// What each GPU supports, by its number, or why that is unknown.
    pub gpus: Vec<Result<Shareable, PlacementRefusal>>,
}

/// Why a trainer cannot have a stream's pixels in the requested place or way. It has the cause, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementRefusal {
    /// There is no driver, or it does not start.
    #[error(
        "the CUDA driver cannot be used ({cause}). Install NVIDIA's driver, or start the container with the GPU \
         (docker run --gpus all)"
    )]
    NoDriver {
        /// What the driver said.
        cause: String,
    },
    /// The driver's library exists, but its device does not.
    #[error(
        "the driver's library is there, but the device /dev/nvidiactl is not: this container was not given the GPU. Start \
         it with docker run --gpus all, or ask for nvidia.com/gpu in the pod's limits"
    )]
    NoDevice,
    /// The driver shows no GPU.
    #[error(
        "the driver shows no GPU to the daemon. Look at CUDA_VISIBLE_DEVICES, and at the GPUs that the container was given"
    )]
    NoGpu,
    /// The driver shows other GPUs.
    #[error("there is no GPU {asked}; the daemon sees {count}, numbered from 0. Look at CUDA_VISIBLE_DEVICES")]
    NoSuchGpu {
        /// The number asked for.
        asked: i32,
        /// How many GPUs there are.
        count: usize,
    },
    /// It is a part of a GPU.
    #[error(
        "GPU {ordinal} is a part of a GPU (MIG), whose memory other processes cannot map. Switch MIG off, or set \
         placement = \"host\""
    )]
    Part {
        /// Its number.
        ordinal: i32,
    },
    /// Other processes cannot use it beside the daemon.
    #[error(
        "the compute mode of GPU {ordinal} allows only one process, or none, but a ring needs two: the daemon and its \
         trainer. Run nvidia-smi -i {ordinal} -c DEFAULT, or set placement = \"host\""
    )]
    Alone {
        /// Its number.
        ordinal: i32,
    },
    /// The driver refuses, for a reason of its own.
    #[error("GPU {ordinal} cannot be used ({cause}). See what nvidia-smi says about it, or set placement = \"host\"")]
    Unusable {
        /// Its number.
        ordinal: i32,
        /// What the driver said.
        cause: String,
    },
    /// The driver lacks functions.
    #[error("the driver is too old to share a GPU's memory ({cause}). Install driver 470 or later")]
    OldDriver {
        /// What it lacks.
        cause: String,
    },
    /// The GPU, or its driver, cannot do it.
    #[error(
        "GPU {ordinal} cannot share memory: it lacks {lacks}. This needs a GPU and a driver with CUDA's virtual memory \
         management; set placement = \"host\""
    )]
    Lacks {
        /// Its number.
        ordinal: i32,
        /// What it lacks.
        lacks: &'static str,
    },
    /// The GPU's memory is full.
    #[error(
        "GPU {ordinal} has no memory for the ring ({cause}). Lower batch_size, credits or prefetch_queue_depth, or free memory on the GPU"
    )]
    Memory {
        /// Its number.
        ordinal: i32,
        /// What the driver said.
        cause: String,
    },
    /// Its trainers could write to it.
    #[error(
        "this stream's pixels are in memory of a GPU, and every process that maps it can write to it. Only trainers of the \
         daemon's own user ({daemon}) may attach, not of user {uid}. Set placement = \"host\" for streams with a unix_group"
    )]
    OtherUser {
        /// The trainer's user.
        uid: u32,
        /// The daemon's user.
        daemon: u32,
    },
    /// Its trainers could write to its ring.
    #[error(
        "trainers of this stream may page-lock its ring, and so can write to it. Only trainers of the daemon's own user \
         ({daemon}) may attach, not of user {uid}. Leave pin_memory out for streams with a unix_group"
    )]
    OtherUserPins {
        /// The trainer's user.
        uid: u32,
        /// The daemon's user.
        daemon: u32,
    },
    /// The trainer has no use for it.
    #[error(
        "the stream's pixels belong in memory of a GPU, but this trainer sees none: CUDA does not work in it, or it cannot \
         map such memory, or it has not said which GPUs it uses. Look at CUDA_VISIBLE_DEVICES and at the trainer's container, say so \
         (in Python: a placement for a Loader that is made before CUDA is used; in Rust: Options::gpus), or set placement = \
         \"host\" for the stream"
    )]
    TrainerWithoutGpu,
    /// The trainer cannot map it.
    #[error(
        "the stream's pixels belong in memory of GPU {ordinal} ({uuid}), but this trainer sees another GPU: {sees}. Give both \
         the same GPU with CUDA_VISIBLE_DEVICES, or set placement = \"host\""
    )]
    OtherGpu {
        /// The GPU's number in the daemon.
        ordinal: i32,
        /// Its name.
        uuid: Uuid,
        /// The GPUs that the trainer sees, in words.
        sees: String,
    },
}

impl PlacementRefusal {
    /// The refusal for a GPU whose memory cannot be shared, or that cannot be asked.
    pub fn by(error: &ShareError, ordinal: i32) -> Self {
        let cause = error.to_string();
        match error {
            ShareError::Old(_) => Self::OldDriver { cause },
            ShareError::Cuda(error) if error.is_out_of_memory() => Self::Memory { ordinal, cause },
            ShareError::Cuda(_) => Self::Unusable { ordinal, cause },
        }
    }

    /// The error code for a refused trainer's program.
    pub fn code(&self) -> u32 {
        match self {
            Self::OtherUser { .. } | Self::OtherUserPins { .. } => text_code::PERMISSION,
            Self::Memory { .. } => text_code::MEMORY,
            _ => text_code::SETTINGS,
        }
    }

    /// The setting that it is about.
    pub fn key(&self) -> &'static str {
        if matches!(self, Self::OtherUserPins { .. }) { "pin_memory" } else { "placement" }
    }
}

impl Credentials {
    /// Whether this trainer may have a ring that it can write to.
    ///
    /// # Errors
    /// The trainer is another user's.
    pub fn may_pin(&self, daemon: u32) -> Result<(), PlacementRefusal> {
        if self.uid == daemon { Ok(()) } else { Err(PlacementRefusal::OtherUserPins { uid: self.uid, daemon }) }
    }
}

impl PixelPlace {
    /// Decides for a stream that a trainer opens, or that is opened before there is a trainer. If the host is only the
    /// second choice, the result says why.
    ///
    /// # Errors
    /// The requested GPU is not available to the machine or to this trainer.
    pub fn decide(
        wanted: Placement,
        machine: &Machine,
        trainer: Option<&Credentials>,
    ) -> Result<(Self, Option<PlacementRefusal>), PlacementRefusal> {
        match wanted {
            Placement::Host => Ok((Self::Host, None)),
            Placement::Gpu(ordinal) => {
                let place = machine.gpu(ordinal)?;
                trainer.map_or(Ok(()), |trainer| place.open_to(trainer, machine.uid))?;
                Ok((place, None))
            }
            Placement::Auto => Ok(match machine.best_for(trainer) {
                Ok(place) => (place, None),
                Err(refusal) => (Self::Host, Some(refusal)),
            }),
        }
    }

    /// Whether this trainer can read pixels at this place and is allowed to.
    ///
    /// # Errors
    /// The trainer is another user's, or sees other GPUs.
    pub fn open_to(&self, trainer: &Credentials, daemon: u32) -> Result<(), PlacementRefusal> {
        let Self::Gpu { ordinal, uuid } = *self else { return Ok(()) };
        if trainer.uid != daemon {
            return Err(PlacementRefusal::OtherUser { uid: trainer.uid, daemon });
        }
        if trainer.gpus.is_empty() {
            return Err(PlacementRefusal::TrainerWithoutGpu);
        }
        if trainer.gpus.contains(&uuid) {
            return Ok(());
        }
        let sees: Vec<String> = trainer.gpus.iter().map(Uuid::to_string).collect();
        Err(PlacementRefusal::OtherGpu { ordinal, uuid, sees: sees.join(", ") })
    }
}

impl Machine {
    /// The GPU with this number, if its memory can be shared.
    fn gpu(&self, ordinal: i32) -> Result<PixelPlace, PlacementRefusal> {
        self.any()?;
        let found = usize::try_from(ordinal).ok().and_then(|number| self.gpus.get(number));
        match found.ok_or(PlacementRefusal::NoSuchGpu { asked: ordinal, count: self.gpus.len() })? {
            Err(refusal) => Err(refusal.clone()),
            Ok(gpu) if gpu.part => Err(PlacementRefusal::Part { ordinal }),
            Ok(gpu) if gpu.alone => Err(PlacementRefusal::Alone { ordinal }),
            Ok(gpu) if !gpu.virtual_memory => {
                Err(PlacementRefusal::Lacks { ordinal, lacks: "virtual memory management" })
            }
            Ok(gpu) if !gpu.descriptors => {
                Err(PlacementRefusal::Lacks { ordinal, lacks: "file descriptors for its memory" })
            }
            Ok(gpu) => Ok(PixelPlace::Gpu { ordinal, uuid: gpu.uuid }),
        }
    }

    /// Whether there is any GPU at all.
    fn any(&self) -> Result<(), PlacementRefusal> {
        match &self.driver {
            _ if self.gpus.is_empty() && self.library && !self.device_file => Err(PlacementRefusal::NoDevice),
            Err(cause) => Err(PlacementRefusal::NoDriver { cause: cause.clone() }),
            Ok(()) if self.gpus.is_empty() => Err(PlacementRefusal::NoGpu),
            Ok(()) => Ok(()),
        }
    }

    /// The GPU that suits a trainer best: of those that it sees, the first in its own order whose memory can be shared.
    fn best_for(&self, trainer: Option<&Credentials>) -> Result<PixelPlace, PlacementRefusal> {
        self.any()?;
        let trainer = trainer.ok_or(PlacementRefusal::TrainerWithoutGpu)?;
        let places: Vec<_> = (0..).zip(&self.gpus).map(|(ordinal, _)| self.gpu(ordinal)).collect();
        let usable = || places.iter().filter_map(|place| place.as_ref().ok());
        let named =
            |uuid: &Uuid| usable().find(|place| matches!(place, PixelPlace::Gpu { uuid: own, .. } if own == uuid));
        let best = trainer.gpus.iter().find_map(named).or_else(|| usable().next());
        match (best, places.first()) {
            (Some(place), _) => place.open_to(trainer, self.uid).map(|()| *place),
            (None, Some(Err(refusal))) => Err(refusal.clone()),
            (None, _) => Err(PlacementRefusal::NoGpu),
        }
    }
}

#[cfg(test)]
#[path = "placement/tests.rs"]
mod tests;
