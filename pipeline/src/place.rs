//! The right to one place of a batch, and where its pixels are. They are in the slot, or in the ring's GPU memory if a
//! lane of that GPU made them.

use std::sync::Arc;

use forebay_cuda::lane::order::Target;
use forebay_cuda::{CudaError, SharedPlace};
use forebay_pixels::MOST_VIEWS;
use forebay_ring::PlaceMut;

use crate::gpu_ring::GpuRing;

/// Number of a batch and a place in it.
pub(crate) type At = (u64, u32);

/// The right to write one place.
#[derive(Debug)]
pub(crate) struct PlaceRight {
    slot: PlaceMut,
    /// The same place in a GPU's memory, if the ring's pixels are there.
    gpu: Option<(Arc<GpuRing>, SharedPlace)>,
    in_gpu: bool,
}

impl PlaceRight {
    /// A place of a slot of this ring. If the ring's pixels are in a GPU, `ring` has them.
    pub(crate) fn new(mut slot: PlaceMut, ring: Option<&Arc<GpuRing>>) -> Self {
        let len = slot.as_mut().len();
        let in_gpu = |ring: &Arc<GpuRing>| (Arc::clone(ring), ring.place(slot.slot(), slot.place(), len));
        let gpu = ring.map(in_gpu);
        Self { slot, gpu, in_gpu: false }
    }

    /// Where a lane of this GPU writes.
    pub(crate) fn target(&mut self, ordinal: i32) -> Target<'_> {
        let Self { slot, gpu, in_gpu } = self;
        let place = gpu.as_mut().filter(|(ring, _)| ring.ordinal() == ordinal);
        *in_gpu = place.is_some();
        place.map_or_else(|| Target::Host(slot.as_mut()), |(_, place)| Target::Gpu(place))
    }

    /// Bytes of its pixels.
    pub(crate) fn pixels_len(&self) -> usize {
        self.slot.pixels_len()
    }

    /// The number of the GPU whose memory has the ring's pixels.
    pub(crate) fn gpu(&self) -> Option<i32> {
        self.gpu.as_ref().map(|(ring, _)| ring.ordinal())
    }

    /// Whether its pixels are in the GPU, and not in the slot.
    pub(crate) fn in_gpu(&self) -> bool {
        self.in_gpu
    }

    /// Its pixels, wherever they are. Few places are read: only those that other places repeat.
    ///
    /// # Errors
    /// The pixels are in a GPU that works, and they cannot be read.
    pub(crate) fn pixels(&mut self) -> Result<&[u8], CudaError> {
        if let (true, Some((ring, place))) = (self.in_gpu, &self.gpu) {
            ring.read(place, self.slot.as_mut())?;
        }
        Ok(self.slot.as_mut())
    }

    /// Its mask or view in a column, which is always in the slot. The first byte is 1 if there is one, and otherwise 0.
    /// Its values follow.
    pub(crate) fn column(&mut self, column: usize) -> (&mut u8, &mut [u8]) {
        self.slot.column(column)
    }

    /// The slot's room for its pixels, which are there from now on, and for its views in these columns.
    pub(crate) fn with_views(&mut self, columns: &[usize]) -> (&mut [u8], [&mut [u8]; MOST_VIEWS]) {
        self.in_gpu = false;
        self.slot.with_columns(columns)
    }

    /// Takes the masks and views of another place.
    pub(crate) fn copy_columns(&mut self, from: &mut Self) {
        for &column in &*self.slot.place_columns() {
            let ((validity, numbers), (from_validity, from_numbers)) = (self.column(column), from.column(column));
            *validity = *from_validity;
            numbers.copy_from_slice(from_numbers);
        }
    }

    /// Marks its masks and views as missing, and sets their values to 0.
    pub(crate) fn clear_columns(&mut self) {
        for &column in &*self.slot.place_columns() {
            let (validity, numbers) = self.column(column);
            *validity = 0;
            numbers.fill(0);
        }
    }

    /// The right to the slot's part of it.
    pub(crate) fn into_slot(self) -> PlaceMut {
        self.slot
    }
}

impl AsMut<[u8]> for PlaceRight {
    /// The slot's room for its pixels, which are there from now on.
    fn as_mut(&mut self) -> &mut [u8] {
        self.in_gpu = false;
        self.slot.as_mut()
    }
}

#[cfg(test)]
mod tests {
    use forebay_fake_gpu::Knob;

    use super::*;
    use crate::gpu_ring::scene::Scene;

    #[test]
    fn a_place_in_a_gpu_that_is_well_is_read_at_the_second_try_or_not_at_all() {
        let Scene { fake, region, ring, .. } = Scene::new(1, 1);
        let slot = region.slot(0).unwrap().split().1.remove(0);
        let mut place = PlaceRight::new(slot, Some(&ring));
        place.as_mut().fill(9);
        assert_eq!(place.pixels(), Ok([9; 6].as_slice()), "they are in the slot");
        assert!(matches!(place.target(0), Target::Gpu(_)) && place.in_gpu());
        fake.set(Knob::FailReads, 1);
        assert_eq!(place.pixels(), Ok([0; 6].as_slice()), "nothing was made there yet");
        fake.set(Knob::FailReads, 2);
        assert!(place.pixels().unwrap_err().is_out_of_memory());
    }
}
