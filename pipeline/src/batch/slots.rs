//! The stage's slots: those that are free, and those in which batches are made. For the latter, it tracks which rights
//! to write are here, and which are lent to decode threads.

use std::collections::HashMap;
use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_cuda::CudaError;
use forebay_plan::StepClass;
use forebay_ring::{PictureSize, SlotFrame, SlotMut};

use crate::gpu_ring::GpuRings;
use crate::place::{At, PlaceRight};
use crate::watch::Watched;

/// The slots.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Where free slots come from.
    free: channel::Receiver<SlotMut>,
    /// Numbers of batches that have given way in the ring. Each is told before its slot comes.
    gave_way: channel::Receiver<u64>,
    /// Those that came and are not used yet.
    spare: Vec<SlotMut>,
    /// By the number of their batch.
    open: HashMap<u64, OpenSlot>,
    lent: usize,
    /// The stream's rings in a GPU, where its pixels are there.
    gpu: Option<Arc<GpuRings>>,
    /// Of the thread that has them, where rings are in a GPU.
    watched: Option<Watched>,
}

/// A slot in its parts; a place that is lent is missing.
#[derive(Debug)]
struct OpenSlot {
    frame: SlotFrame,
    places: Vec<Option<PlaceRight>>,
    /// What the step of its class has, if steps have classes.
    step: Option<StepClass>,
}

/// A batch of a step whose pictures have not the size of the ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SizedStep {
    /// What its places have room for.
    pub room: PlaceRooms,
    /// What the step of its class has on all ranks.
    pub step: StepClass,
}

/// What the places of a batch have room for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlaceRooms {
    /// So many places for pictures of this size.
    Sized { size: PictureSize, places: u32 },
    /// Places for so many bytes each.
    Lengths(Vec<usize>),
}

impl Slots {
    /// None yet: they come by `free`, each behind the number of a batch that `gave_way` for it, if one did. Pixels may be in
    /// rings in a GPU, and what is read from there is watched.
    pub(crate) fn new(
        (free, gave_way): (channel::Receiver<SlotMut>, channel::Receiver<u64>),
        gpu: Option<Arc<GpuRings>>,
        watched: Option<Watched>,
    ) -> Self {
        Self { free, gave_way, spare: Vec::new(), open: HashMap::new(), lent: 0, gpu, watched }
    }

    /// Batches that have given way in the ring since the last call.
    pub(crate) fn gave_way(&self) -> impl Iterator<Item = u64> + '_ {
        self.gave_way.try_iter()
    }

    /// Where free slots come from.
    pub(crate) fn free(&self) -> &channel::Receiver<SlotMut> {
        &self.free
    }

    /// Keeps a free slot for a later batch.
    pub(crate) fn keep(&mut self, slot: SlotMut) {
        self.spare.push(slot);
    }

    /// How many free slots there are for further batches.
    pub(crate) fn spare(&self) -> usize {
        self.spare.len()
    }

    /// Takes a free slot, if there is one, to make a batch in it.
    pub(crate) fn open(&mut self, batch: u64, sized: Option<SizedStep>) {
        let Some(mut slot) = self.spare.pop() else { return };
        match sized.as_ref().map(|sized| &sized.room) {
            Some(PlaceRooms::Sized { size, places }) => {
                slot.set_size(*size, *places).expect("a ring has room for the steps of each class");
            }
            Some(PlaceRooms::Lengths(lengths)) => {
                slot.set_lengths(lengths).expect("a ring has room for the largest pictures");
            }
            None => {}
        }
        let ring = self.gpu.as_ref().and_then(|rings| rings.get(slot.ring()));
        let (frame, places) = slot.split();
        let places = places.into_iter().map(|place| Some(PlaceRight::new(place, ring.as_ref()))).collect();
        self.open.insert(batch, OpenSlot { frame, places, step: sized.map(|sized| sized.step) });
    }

    /// What the step of a batch's class has, if steps have classes.
    pub(crate) fn step(&self, batch: u64) -> Option<StepClass> {
        self.open.get(&batch)?.step
    }

    /// Lends the right to one place; none if it is lent already.
    pub(crate) fn lend(&mut self, at: At) -> Option<PlaceRight> {
        let place = self.home(at)?.take()?;
        self.lent += 1;
        Some(place)
    }

    /// Takes a lent right back.
    pub(crate) fn back(&mut self, at: At, place: PlaceRight) {
        self.lent -= 1;
        // A batch's slot is closed when all of its places are home, so the home is there.
        if let Some(home) = self.home(at) {
            *home = Some(place);
        }
    }

    /// Rights that are lent.
    pub(crate) fn lent(&self) -> usize {
        self.lent
    }

    /// Copies a picture with its masks and views from one place to another; both are home.
    ///
    /// # Errors
    /// It is in a GPU that is well, and cannot be read.
    pub(crate) fn copy(&mut self, from: At, to: At) -> Result<(), CudaError> {
        let Some(mut source) = self.lend(from) else { return Ok(()) };
        let pixels = match &self.watched {
            Some(watched) => watched.during(|| source.pixels()),
            None => source.pixels(),
        };
        let copied = pixels.map(|pixels| {
            if let Some(Some(target)) = self.home(to) {
                target.as_mut().copy_from_slice(pixels);
            }
        });
        if let Some(Some(target)) = self.home(to) {
            target.copy_columns(&mut source);
        }
        self.back(from, source);
        copied
    }

    /// Makes a place black, without masks and views.
    pub(crate) fn clear(&mut self, at: At) {
        if let Some(Some(place)) = self.home(at) {
            place.as_mut().fill(0);
            place.clear_columns();
        }
    }

    /// Gives the whole right back, if every part of it is home, and for each place whether its pixels are in a GPU.
    pub(crate) fn close(&mut self, batch: u64) -> Option<(SlotMut, Vec<bool>)> {
        let OpenSlot { frame, places, step: _ } = self.open.remove(&batch)?;
        let in_gpu = places.iter().flatten().map(PlaceRight::in_gpu).collect();
        let home = places.into_iter().flatten().map(PlaceRight::into_slot).collect();
        let slot = frame.join(home).inspect_err(|error| tracing::error!(%error, "a slot was closed too early")).ok()?;
        Some((slot, in_gpu))
    }

    /// Whether every right to write in the batch's slot is here.
    pub(crate) fn is_home(&self, batch: u64) -> bool {
        self.open.get(&batch).is_some_and(|slot| slot.places.iter().all(Option::is_some))
    }

    /// Keeps the slot of a batch, which is not made after all, for another one.
    pub(crate) fn discard(&mut self, batch: u64) {
        let slot = self.close(batch).map(|(slot, _)| slot);
        self.spare.extend(slot);
    }

    /// Gives every slot back.
    pub(crate) fn close_all(mut self) -> Vec<SlotMut> {
        let batches: Vec<u64> = self.open.keys().copied().collect();
        let open: Vec<_> = batches.into_iter().filter_map(|batch| self.close(batch)).map(|(slot, _)| slot).collect();
        open.into_iter().chain(self.spare).collect()
    }

    fn home(&mut self, (batch, place): At) -> Option<&mut Option<PlaceRight>> {
        self.open.get_mut(&batch)?.places.get_mut(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use forebay_cuda::lane::order::Target;
    use forebay_fake_gpu::{Count, Knob};

    use super::*;
    use crate::gpu_ring::scene::Scene;
    use crate::watch::{LateThread, Watch};

    #[test]
    fn a_copy_of_a_place_in_a_gpu_that_does_not_come_back_is_noticed() {
        let Scene { fake, rings, region, ring: _ring } = Scene::new(2, 1);
        let watch = Arc::new(Watch::new(1));
        let from = (channel::bounded(0).1, channel::bounded(0).1);
        let mut slots = Slots::new(from, Some(rings), Some(watch.add("forebay-batch")));
        slots.keep(region.slot(0).unwrap());
        slots.open(7, None);
        let mut lent = slots.lend((7, 0)).unwrap();
        assert!(matches!(lent.target(0), Target::Gpu(_)));
        slots.back((7, 0), lent);

        fake.set(Knob::HoldCopies, 1);
        let copy = std::thread::spawn(move || slots.copy((7, 0), (7, 1)));
        while fake.count(Count::Held) == 0 {
            std::thread::yield_now();
        }
        assert_eq!((watch.look(), watch.look()), (None, Some(LateThread { thread: "forebay-batch".into(), looks: 1 })));
        fake.set(Knob::HoldCopies, 0);
        assert_eq!(copy.join().unwrap(), Ok(()));
        assert_eq!(watch.look(), None);
    }
}
