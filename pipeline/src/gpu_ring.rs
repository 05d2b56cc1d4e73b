//! Rings whose pixels are in memory of a GPU: the machine's support for them, their memory, and page-locked slots.

#[cfg(test)]
pub(crate) mod scene;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use forebay_cuda::{
    Context, CudaError, Driver, DriverError, Registered, ShareError, SharedMemory, SharedPlace, Stream, Uuid,
};
use forebay_delivery::StreamRing;
use forebay_ring::{Geometry, Pixels, Region, RegionError};
use parking_lot::Mutex;

use crate::cores;
use crate::last_resort::broken;
use crate::placement::{Machine, PixelPlace, PlacementRefusal};
use crate::settings::Placement;

/// The GPUs that rings of this process use. The driver is opened when a stream first needs a GPU.
#[derive(Debug)]
pub struct Gpus {
    uid: u32,
    driver_file: Option<PathBuf>,
    driver: OnceLock<Result<Arc<Driver>, DriverError>>,
}

/// Memory that the rings of one stream use in addition to their slots, in bytes.
#[derive(Debug, Default)]
pub struct RingCosts {
    /// Of the slots, page-locked.
    pub page_locked: AtomicU64,
    /// Of the GPU.
    pub gpu: AtomicU64,
    /// Pixels that were copied from slots to the GPU so far; all others were made there.
    pub copied: AtomicU64,
}

/// The rings of one stream in a GPU, by number, for the threads that write to them.
#[derive(Debug)]
pub struct GpuRings {
    context: Arc<Context>,
    ordinal: i32,
    uuid: Uuid,
    rings: Mutex<BTreeMap<u32, Weak<GpuRing>>>,
    taken: Arc<RingCosts>,
}

/// The pixels of one ring.
#[derive(Debug)]
pub struct GpuRing {
    memory: Arc<SharedMemory>,
    ordinal: i32,
    uuid: Uuid,
    stride: usize,
    /// The queue by which places are read back; few are.
    reads: Mutex<Stream>,
    taken: Arc<RingCosts>,
}

/// Page-locked slots of a ring that a GPU copies from or to.
#[derive(Debug)]
pub struct Locks {
    taken: Arc<RingCosts>,
    context: Arc<Context>,
    slots: Mutex<Vec<Registered>>,
}

/// A slot that is not page-locked.
#[derive(Debug, thiserror::Error)]
enum LockError {
    /// The ring has no such slot.
    #[error(transparent)]
    Slot(#[from] RegionError),
    /// The driver refuses, or cannot do it.
    #[error(transparent)]
    Driver(#[from] ShareError),
}

/// The device file of a driver that is installed.
const DEVICE_FILE: &str = "/dev/nvidiactl";
/// The distance from one slot's pixels to the next one's is a multiple of this, as in the host.
const PIECE: usize = 2 << 20;

impl Gpus {
    /// Uses the driver in this file, or else the machine's.
    pub fn new(uid: u32, driver_file: Option<PathBuf>) -> Self {
        Self { uid, driver_file, driver: OnceLock::new() }
    }

    /// The daemon's user.
    pub fn uid(&self) -> u32 {
        self.uid
    }

    /// Whether a ring's pixels can be in the GPU with this number.
    ///
    /// # Errors
    /// The reason why they cannot.
    pub fn can_hold(&self, ordinal: i32) -> Result<(), PlacementRefusal> {
        PixelPlace::decide(Placement::Gpu(ordinal), &self.machine(), None).map(drop)
    }

    /// What the machine has.
    pub fn machine(&self) -> Machine {
        let library = !matches!(self.driver(), Err(DriverError::Open(_)));
        let devices = self.driver().map_err(|error| error.to_string());
        let devices = devices.and_then(|driver| {
            let count = driver.devices().map_err(|error| error.to_string())?.len();
            let ask = |ordinal| driver.shareable(ordinal).map_err(|error| PlacementRefusal::by(&error, ordinal));
            Ok((0..).take(count).map(ask).collect())
        });
        let (driver, gpus) = match devices {
            Ok(gpus) => (Ok(()), gpus),
            Err(cause) => (Err(cause), Vec::new()),
        };
        Machine { uid: self.uid, library, driver, device_file: Path::new(DEVICE_FILE).exists(), gpus }
    }

    /// The NUMA node of the GPU with this number, if it is known.
    pub(crate) fn node(&self, ordinal: i32) -> Option<u32> {
        let devices = self.driver().ok()?.devices().ok()?;
        cores::node_of(&devices.get(usize::try_from(ordinal).ok()?)?.bus)
    }

    /// The rings of a stream whose pixels are at this place. None for the host.
    ///
    /// # Errors
    /// The GPU cannot be used.
    pub fn rings(&self, place: PixelPlace, taken: &Arc<RingCosts>) -> Result<Option<Arc<GpuRings>>, PlacementRefusal> {
        let PixelPlace::Gpu { ordinal, uuid } = place else { return Ok(None) };
        let context = self.context(ordinal)?;
        let taken = Arc::clone(taken);
        Ok(Some(Arc::new(GpuRings { context, ordinal, uuid, rings: Mutex::default(), taken })))
    }

    /// Page-locks slots of a ring for the GPU with this number.
    ///
    /// # Errors
    /// The GPU cannot be used.
    pub fn locks(&self, ordinal: i32, taken: &Arc<RingCosts>) -> Result<Arc<Locks>, PlacementRefusal> {
        let context = self.context(ordinal)?;
        Ok(Arc::new(Locks { taken: Arc::clone(taken), context, slots: Mutex::default() }))
    }

    fn context(&self, ordinal: i32) -> Result<Arc<Context>, PlacementRefusal> {
        let driver = self.driver().map_err(|error| PlacementRefusal::NoDriver { cause: error.to_string() })?;
        Context::new(driver, ordinal).map_err(|error| PlacementRefusal::by(&error.into(), ordinal))
    }

    fn driver(&self) -> Result<&Arc<Driver>, DriverError> {
        self.driver.get_or_init(|| Driver::open(self.driver_file.as_deref())).as_ref().map_err(Clone::clone)
    }
}

/// Copies, and tries once more after an error: a GPU that works may have lacked something for a moment. A broken GPU ends
/// the process.
fn twice(mut copy: impl FnMut() -> Result<(), CudaError>) -> Result<(), CudaError> {
    for last in [false, true] {
        match copy() {
            Err(error) if error.is_fault() => broken(&error),
            Err(error) if last => return Err(error),
            Err(error) => tracing::warn!(%error, "a copy failed on the GPU, and is retried"),
            Ok(()) => break,
        }
    }
    Ok(())
}

impl GpuRings {
    /// Takes memory for the pixels of ring number `ring`.
    ///
    /// # Errors
    /// The GPU has too little memory, or refuses to allocate it.
    pub fn make(&self, geometry: &Geometry, ring: u32) -> Result<Arc<GpuRing>, PlacementRefusal> {
        let ordinal = self.ordinal;
        let stride = geometry.images(0).len().next_multiple_of(PIECE);
        let len = stride.checked_mul(geometry.slots() as usize);
        let len = len.ok_or_else(|| PlacementRefusal::Memory { ordinal, cause: "more than any machine has".into() })?;
        let memory =
            SharedMemory::new(&self.context, len).map_err(|error| match PlacementRefusal::by(&error, ordinal) {
                PlacementRefusal::Memory { ordinal, cause } => {
                    PlacementRefusal::Memory { ordinal, cause: format!("{cause}, for {len} bytes") }
                }
                other => other,
            })?;
        let reads = self.stream().map_err(|error| PlacementRefusal::by(&error.into(), ordinal))?;
        self.taken.gpu.fetch_add(memory.len() as u64, Ordering::Relaxed);
        let made = Arc::new(GpuRing {
            memory: Arc::new(memory),
            ordinal,
            uuid: self.uuid,
            stride,
            reads: Mutex::new(reads),
            taken: Arc::clone(&self.taken),
        });
        let mut rings = self.rings.lock();
        rings.retain(|_, ring| ring.strong_count() > 0);
        rings.insert(ring, Arc::downgrade(&made));
        Ok(made)
    }

    /// The pixels of ring number `ring`, while the ring is there.
    pub fn get(&self, ring: u32) -> Option<Arc<GpuRing>> {
        self.rings.lock().get(&ring).and_then(Weak::upgrade)
    }

    /// A queue of copies.
    ///
    /// # Errors
    /// The driver cannot make it.
    pub fn stream(&self) -> Result<Stream, CudaError> {
        Stream::new(&self.context)
    }

    /// The GPU's number.
    pub fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// Where their pixels are.
    pub fn place(&self) -> PixelPlace {
        PixelPlace::Gpu { ordinal: self.ordinal, uuid: self.uuid }
    }
}

impl GpuRing {
    /// The GPU's number.
    pub fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// Where it is, for trainers.
    fn pixels(&self) -> Pixels {
        Pixels::in_gpu(self.uuid.0, self.stride as u64, self.memory.len() as u64)
    }

    /// A place of a batch. Each place has `len` bytes.
    pub fn place(&self, slot: u32, place: u32, len: usize) -> SharedPlace {
        SharedPlace::new(&self.memory, slot as usize * self.stride + place as usize * len, len)
    }

    /// Copies those places of a slot that are not in the GPU yet, and waits until every process can see them.
    ///
    /// # Errors
    /// The GPU works, but cannot copy.
    pub fn complete(&self, stream: &mut Stream, slot: u32, images: &[u8], there: &[bool]) -> Result<(), CudaError> {
        let len = images.len() / there.len().max(1);
        let (mut at, mut pieces) = (0, Vec::new());
        for run in there.chunk_by(|one, next| one == next) {
            let bytes = at..at + run.len() * len;
            at = bytes.end;
            if !run[0] {
                pieces.push((&images[bytes.clone()], slot as usize * self.stride + bytes.start));
            }
        }
        if pieces.is_empty() {
            return Ok(());
        }
        twice(|| stream.write(&pieces, &self.memory))?;
        let copied = pieces.iter().map(|(bytes, _)| bytes.len() as u64).sum();
        self.taken.copied.fetch_add(copied, Ordering::Relaxed);
        Ok(())
    }

    /// Copies a place's pixels to the host.
    ///
    /// # Errors
    /// The GPU works, but cannot copy.
    pub fn read(&self, place: &SharedPlace, to: &mut [u8]) -> Result<(), CudaError> {
        twice(|| self.reads.lock().read_place(place, to))
    }
}

impl AsFd for GpuRing {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.fd().as_fd()
    }
}

/// A ring whose pixels are in a GPU's memory or in its slots. With `locks`, a slot is page-locked as soon as it has its
/// memory.
pub(crate) fn stream_ring(region: Region, gpu: Option<Arc<GpuRing>>, locks: Option<Arc<Locks>>) -> StreamRing {
    let ring = StreamRing::new(region);
    let ring = match gpu {
        Some(gpu) => ring.with_pixels_in(gpu.pixels(), gpu),
        None => ring,
    };
    match locks {
        Some(locks) => ring.locked_by(Arc::new(move |region, slot| locks.lock(region, slot))),
        None => ring,
    }
}

impl Locks {
    /// Locks the pages of a slot that has its memory.
    fn lock(&self, region: &Region, slot: u32) {
        if let Err(error) = self.add(region, slot) {
            tracing::warn!(%error, slot, "the slot is not page-locked: copies between it and the GPU take longer");
        }
    }

    fn add(&self, region: &Region, slot: u32) -> Result<(), LockError> {
        let memory = region.locate(slot)?;
        let locked = Registered::new(&self.context, memory.cast(), memory.len(), region.clone())?;
        self.taken.page_locked.fetch_add(locked.len() as u64, Ordering::Relaxed);
        self.slots.lock().push(locked);
        Ok(())
    }
}

impl Drop for GpuRing {
    fn drop(&mut self) {
        // Its trainers are told now. They unmap it when they take their next batch.
        self.taken.gpu.fetch_sub(self.memory.len() as u64, Ordering::Relaxed);
    }
}

impl Drop for Locks {
    fn drop(&mut self) {
        let bytes: usize = self.slots.lock().iter().map(Registered::len).sum();
        self.taken.page_locked.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}
