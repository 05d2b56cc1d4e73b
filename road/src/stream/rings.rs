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

/// Where the rings of a stream stand.
#[derive(Debug)]
pub(super) struct Site {
    gpus: Arc<Gpus>,
    gpu: Option<Arc<GpuRings>>,
    /// The first ring's pixels in the GPU: that there is room for them is a part of the question.
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
    /// They live as long as the ring's thread; a retired ring keeps its own until then.
    shares: Mutex<Vec<Arc<RingMemoryShare>>>,
}

impl Site {
    /// Finds the place for a stream, whose pictures the GPU with the number `decodes` decodes.
    ///
    /// # Errors
    /// The place that is asked for cannot be had.
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

    /// The rings in a GPU, where the pixels stand there.
    pub(super) fn gpu(&self) -> Option<Arc<GpuRings>> {
        self.gpu.clone()
    }

    /// What the rings take beside their slots.
    pub(super) fn taken(&self) -> &RingCosts {
        &self.taken
    }

    /// Where the pixels are.
    pub(super) fn place(&self) -> PixelPlace {
        self.gpu.as_ref().map_or(PixelPlace::Host, |rings| rings.place())
    }

    /// Whether this trainer can read the pixels, and may, also where it locks their pages.
    ///
    /// # Errors
    /// It is another user's, and could write to them; or they are in a GPU, and it sees other GPUs.
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

    /// Where they stand.
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
        // What trainers copy from is the GPU's memory, where pixels stand there.
        let pinnable = *pin_memory && gpu.is_none();
        let near = copies.and_then(|gpu| gpus.node(gpu));
        let (share, region) = memory.ring(geometry.clone(), *incarnation, number, pinnable, near)?;
        let first = first.lock().take();
        let pixels = match (first, gpu) {
            (Some(first), _) => Some(first),
            (None, Some(rings)) => Some(rings.make(geometry, number)?),
            (None, None) => None,
        };
        // A trainer locks all slots at once. Those whose memory were not there would be its own, by the system's account, and
        // could not be had in huge pages any more.
        for slot in 0..if pinnable { geometry.slots() } else { 0 } {
            region.populate(slot)?;
        }
        // Only now is there a ring that it is the share of: of one that could not be made it goes back.
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
