//! A ring of one slot in a fake GPU, for tests of code that writes to it or reads from it.

use std::sync::Arc;

use forebay_fake_gpu::Fake;
use forebay_ring::{Dtype, Geometry, Layout, Region, Shape};

use super::{GpuRing, GpuRings, Gpus, RingCosts};
use crate::placement::PixelPlace;
use crate::settings::Placement;

pub(crate) struct Scene {
    pub(crate) fake: Fake,
    pub(crate) rings: Arc<GpuRings>,
    pub(crate) region: Region,
    pub(crate) ring: Arc<GpuRing>,
}

impl Scene {
    /// Batches of so many pictures of `height` x 2 pixels.
    pub(crate) fn new(batch: u32, height: u32) -> Self {
        let fake = Fake::new();
        let gpus = Gpus::new(0, Some(fake.path()));
        let (place, _) = PixelPlace::decide(Placement::Gpu(0), &gpus.machine(), None).unwrap();
        let rings = gpus.rings(place, &Arc::new(RingCosts::default())).unwrap().unwrap();
        let shape = Shape { batch, height, width: 2, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let geometry = Geometry::try_new(shape, 1).unwrap();
        let ring = rings.make(&geometry, 0).unwrap();
        let region = Region::create(geometry, 1, 0).unwrap();
        region.populate(0).unwrap();
        Self { fake, rings, region, ring }
    }
}
