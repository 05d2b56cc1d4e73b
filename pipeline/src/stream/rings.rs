//! Makes a stream's rings. First it decides where their pixels will be. Then each ring gets its memory there and on the
//! host.

use std::sync::Arc;

use forebay_delivery::StreamRing;
use forebay_ring::Geometry;
use parking_lot::Mutex;

use super::ring_memory::{RingMemory, RingMemoryShare};
use crate::gpu_ring::{GpuRing, GpuRings, Gpus, RingCosts, stream_ring};
use crate::placement::{Credentials, PixelPlace, PlacementRefusal};
use crate::settings::Placement;
use crate::stream::StreamError;

/// Where the rings of a stream are.
#[derive(Debug)]
pub(super) struct Site {
    gpus: Arc<Gpus>,
    gpu: Option<Arc<GpuRings>>,
    /// The first ring's pixels in the GPU. They decide the place too, because the GPU must have room for them.
    first: Mutex<Option<Arc<GpuRing>>>,
    /// The GPU that copies from the slots, or to them.
    copies: Option<i32>,
    taken: Arc<RingCosts>,
}

/// Makes the rings of a stream.
#[derive(Debug)]
pub(super) struct Rings {
    site: Arc<Site>,
    memory: Arc<RingMemory>,
    geometry: Geometry,
    incarnation: u64,
    /// Trainers may page-lock them.
    pin_memory: bool,
    /// The shares live as long as the ring's thread. A retired ring keeps its share until then.
    shares: Mutex<Vec<Arc<RingMemoryShare>>>,
}

impl Site {
    /// Finds the place for a stream. The GPU with the number `decodes` decodes its pictures.
    ///
    /// # Errors
    /// The requested place is not available.
    pub(super) fn find(
        gpus: Arc<Gpus>,
        wanted: Placement,
        trainer: Option<&Credentials>,
        decodes: Option<i32>,
        geometry: &Geometry,
    ) -> Result<Self, PlacementRefusal> {
        let taken = Arc::new(RingCosts::default());
        let own = Arc::clone(&taken);
        let site = |gpus, gpu, first, copies| Self { gpus, gpu, first: Mutex::new(first), copies, taken: own };
        if wanted == Placement::Host {
            return Ok(site(gpus, None, None, decodes));
        }
        let (place, second_best) = PixelPlace::decide(wanted, &gpus.machine(), trainer)?;
        let made = gpus
            .rings(place, &taken)
            .and_then(|rings| rings.map(|rings| rings.make(geometry, 0).map(|first| (rings, first))).transpose());
        let second_best = match made {
            Ok(Some((rings, first))) => {
                let ordinal = rings.ordinal();
                tracing::info!(gpu = ordinal, "the stream's pixels are in memory of a GPU");
                return Ok(site(gpus, Some(rings), Some(first), Some(ordinal)));
            }
            Ok(None) => second_best,
            Err(refusal) if wanted == Placement::Auto => Some(refusal),
            Err(refusal) => return Err(refusal),
        };
        if let Some(refusal) = second_best {
            tracing::info!("the stream's pixels are in memory of the host: {refusal}");
        }
        Ok(site(gpus, None, None, decodes))
    }

    /// The rings in a GPU, if the pixels are there.
    pub(super) fn gpu(&self) -> Option<Arc<GpuRings>> {
        self.gpu.clone()
    }

    /// What the rings take in addition to their slots.
    pub(super) fn taken(&self) -> &RingCosts {
        &self.taken
    }

    /// Where the pixels are.
    pub(super) fn place(&self) -> PixelPlace {
        self.gpu.as_ref().map_or(PixelPlace::Host, |rings| rings.place())
    }

    /// Whether this trainer can read the pixels and is allowed to, even if it locks their pages.
    ///
    /// # Errors
    /// The trainer is another user's and could write to them, or they are in a GPU and the trainer sees other GPUs.
    pub(super) fn open_to(&self, trainer: &Credentials, pins: bool) -> Result<(), PlacementRefusal> {
        let uid = self.gpus.uid();
        self.place().open_to(trainer, uid)?;
        if pins { trainer.may_pin(uid) } else { Ok(()) }
    }
}

impl Rings {
    pub(super) fn new(
        site: Arc<Site>,
        memory: Arc<RingMemory>,
        geometry: Geometry,
        incarnation: u64,
        pin_memory: bool,
    ) -> Self {
        Self { site, memory, geometry, incarnation, pin_memory, shares: Mutex::default() }
    }

    /// Where the rings are.
    pub(super) fn site(&self) -> Arc<Site> {
        Arc::clone(&self.site)
    }

    /// Makes ring number `number`.
    ///
    /// # Errors
    /// There is too little memory, of the host or of the GPU.
    pub(super) fn make(&self, number: u32) -> Result<StreamRing, StreamError> {
        let Self { site, memory, geometry, incarnation, pin_memory, shares } = self;
        let Site { gpus, gpu, first, copies, taken } = &**site;
        // If the pixels are in a GPU, trainers copy from its memory.
        let pinnable = *pin_memory && gpu.is_none();
        let near = copies.and_then(|gpu| gpus.node(gpu));
        let (share, region) = memory.ring(geometry.clone(), *incarnation, number, pinnable, near)?;
        let first = first.lock().take();
        let pixels = match (first, gpu) {
            (Some(first), _) => Some(first),
            (None, Some(rings)) => Some(rings.make(geometry, number)?),
            (None, None) => None,
        };
        // A trainer locks all slots at once. If a slot had no memory yet, the system would charge that memory to the
        // trainer, and could not give it in huge pages any more.
        for slot in 0..if pinnable { geometry.slots() } else { 0 } {
            region.populate(slot)?;
        }
        // The share is kept only now that its ring exists. If a ring cannot be made, its share is returned.
        shares.lock().push(share);
        let locks = copies.and_then(|gpu| {
            let refused =
                |error: &PlacementRefusal| tracing::warn!(%error, "the ring is not page-locked: copies take longer");
            gpus.locks(gpu, taken).inspect_err(refused).ok()
        });
        Ok(stream_ring(region, pixels, locks))
    }
}

#[cfg(test)]
mod tests {
    use forebay_ring::{Dtype, Layout, Shape};

    use super::*;
    use crate::byte_size::ByteSize;
    use crate::settings::RingSettings;

    #[test]
    fn rule_31_the_memory_for_slots_that_trainers_lock_is_taken_by_the_daemon_before_they_have_it() {
        let shape = Shape { batch: 1, height: 8, width: 8, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let geometry = Geometry::try_new(shape, 3).unwrap();
        for (pin_memory, left) in [(false, 3), (true, 0)] {
            let gpus = Arc::new(Gpus::new(0, None));
            let site = Site::find(gpus, Placement::Host, None, None, &geometry).unwrap();
            let limit = RingSettings { memory: Some(ByteSize(1 << 30)), ..RingSettings::default() };
            let memory = Arc::new(RingMemory::new(limit, Arc::default()));
            let ring = Rings::new(Arc::new(site), memory, geometry.clone(), 1, pin_memory).make(0).unwrap();
            assert_eq!(ring.region.unpopulated().bytes(), left * geometry.stride() as u64);
        }
    }
}
