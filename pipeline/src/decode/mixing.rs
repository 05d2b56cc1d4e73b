//! Mixing of settled batches by threads of the pool (semantics rule 50).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_pixels::{Draw, Mixing, PlaceForm};

use super::panic::panic_text;
use crate::batch_metadata::{BatchMetadata, MixedLabels, SettledBatch};
use crate::decode::Pool;
use crate::decode::budget::Budget;
use crate::decode::cpu::SMALL;
use crate::worked_batch::{BatchWork, WorkedBatch};

/// How the batches of a stream are mixed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MixSettings {
    /// What is drawn for each place.
    pub mixing: Mixing,
    /// All places follow the draws of the first one.
    pub per_batch: bool,
    /// Seed of the draws.
    pub seed: u64,
    /// What the bytes of a place are.
    pub form: PlaceForm,
}

/// A stream's way to have its batches mixed.
#[derive(Debug)]
pub(crate) struct Mixer {
    pool: Arc<Pool>,
    settings: Arc<MixSettings>,
}

/// A batch on its way to a thread of the pool.
#[derive(Debug)]
pub(super) struct MixJob {
    settings: Arc<MixSettings>,
    batch: SettledBatch,
    done: channel::Sender<WorkedBatch>,
}

impl Mixer {
    /// Batches are mixed by this pool.
    pub(crate) fn new(pool: Arc<Pool>, settings: MixSettings) -> Self {
        Self { pool, settings: Arc::new(settings) }
    }

    /// Sends a batch on its way, to come back there.
    pub(crate) fn begin(&self, batch: SettledBatch, done: &channel::Sender<WorkedBatch>) {
        self.pool.mix(MixJob { settings: Arc::clone(&self.settings), batch, done: done.clone() });
    }
}

impl MixJob {
    /// Mixes the batch and sends it back. `spare` is for work, and its memory is used again. A large one is taken from the
    /// budget, and given back.
    pub(super) fn run(self, spare: &mut Vec<u8>, memory: &Budget) {
        let Self { settings, mut batch, done } = self;
        let form = batch.slot.size().map_or(settings.form, |size| {
            let (height, width) = size.sides();
            PlaceForm { height: height.into(), width: width.into(), ..settings.form }
        });
        let len = form.output.bytes(form.width, form.height);
        let is_large = len as u64 > SMALL;
        let share = is_large.then(|| memory.take(len as u64));
        let mix = || settings.mix(&batch.metadata, batch.slot.images_mut(), (form, len), spare);
        let outcome = catch_unwind(AssertUnwindSafe(mix)).map_err(|panic| panic_text(panic.as_ref()).to_owned());
        if is_large {
            *spare = Vec::new();
        }
        drop(share);
        // The batch thread outlives its batches, but for a daemon that ends at once.
        let _gone = done.send(WorkedBatch { batch, work: BatchWork::Mixed(outcome) });
    }
}

impl MixSettings {
    /// Mixes the pictures of a batch where they are, each of this form and `len` bytes. Each place with a record of its own is mixed with the
    /// one before it, and the first with the last. From the last place back, the other picture is always still as it was;
    /// only the last one has to be kept for the first.
    fn mix(
        &self,
        metadata: &BatchMetadata,
        images: &mut [u8],
        (form, len): (PlaceForm, usize),
        spare: &mut Vec<u8>,
    ) -> MixedLabels {
        let mut mixed =
            MixedLabels { labels: metadata.places.labels.clone(), weights: vec![1.0; metadata.places.labels.len()] };
        let own: Vec<usize> =
            (0..metadata.places.mask.len()).filter(|&place| metadata.places.mask[place] == 1).collect();
        let [first, .., last] = own[..] else { return mixed };
        let mut mix = |place: usize, other: usize, picture: &mut [u8], other_picture: &[u8]| {
            let turn = metadata.places.turn(if self.per_batch { first } else { place });
            let record = turn.expect("a place of its own has a record").key();
            let draws = Draw { seed: self.seed, epoch: metadata.epoch, record }.mixing();
            let mixture = self.mixing.draw(draws, form.height, form.width);
            mixture.carry_out(form, picture, other_picture);
            mixed.labels[place] = metadata.places.labels[other];
            mixed.weights[place] = mixture.weight();
        };
        spare.clear();
        spare.extend_from_slice(&images[last * len..][..len]);
        for pair in own.windows(2).rev() {
            let (before, from) = images.split_at_mut(pair[1] * len);
            mix(pair[1], pair[0], &mut from[..len], &before[pair[0] * len..][..len]);
        }
        mix(first, last, &mut images[first * len..][..len], spare.as_slice());
        mixed
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use forebay_pixels::{Limits, MixUp, Output};
    use forebay_ring::{Dtype, Geometry, Layout, Region, Shape};

    use super::*;
    use crate::batch_metadata::MetadataPlaces;
    use crate::decode::{GpuLanes, MakeDecode};
    use crate::worked_batch::InOrder;

    const LEN: usize = 24;

    fn metadata(batch: u64, mask: &[u8]) -> BatchMetadata {
        let places = i64::try_from(mask.len()).unwrap();
        BatchMetadata {
            batch,
            epoch: 3,
            shown: 4,
            valid: 4,
            places: MetadataPlaces {
                labels: (10..10 + places).collect(),
                records: (20..20 + places).collect(),
                repeats: vec![0; mask.len()],
                mask: mask.to_vec(),
                origins: vec![None; mask.len()],
            },
            partners: BTreeMap::new(),
            returned: BTreeMap::new(),
            step: None,
            claims: Vec::new(),
            bad: Vec::new(),
        }
    }

    fn settings(per_batch: bool) -> MixSettings {
        let form = PlaceForm { output: Output::default(), height: 2, width: 4 };
        MixSettings { mixing: Mixing::MixUp(MixUp { alpha: 2.0 }), per_batch, seed: 9, form }
    }

    fn outcome(done: &WorkedBatch) -> &Result<MixedLabels, String> {
        match &done.work {
            BatchWork::Mixed(outcome) => outcome,
            BatchWork::Called(called) => panic!("{called:?}"),
        }
    }

    fn pixels(places: u8) -> Vec<u8> {
        (0..places).flat_map(|place| (0..24_u8).map(move |at| place.wrapping_mul(83) ^ at.wrapping_mul(29))).collect()
    }

    #[test]
    fn rule_50_both_pictures_are_those_that_were_decoded_wherever_they_stand() {
        for (mask, pairs) in [
            (&[1, 1, 1, 1][..], &[(0, 3), (1, 0), (2, 1), (3, 2)][..]),
            (&[0, 1, 0, 1, 1], &[(1, 4), (3, 1), (4, 3)]),
            (&[1, 1], &[(0, 1), (1, 0)]),
            (&[0, 1], &[]),
            (&[0, 0], &[]),
            (&[], &[]),
        ] {
            for per_batch in [false, true] {
                let (settings, metadata) = (settings(per_batch), metadata(0, mask));
                let whole = pixels(5);
                let (mut expected, mut images) = (whole.clone(), whole.clone());
                let mixed = settings.mix(&metadata, &mut images, (settings.form, LEN), &mut vec![7; 3]);
                let mut labels = metadata.places.labels.clone();
                for &(place, other) in pairs {
                    let drawn = if per_batch { pairs[0].0 } else { place };
                    let record = 20 + drawn as u64;
                    let draws = Draw { seed: 9, epoch: 3, record }.mixing();
                    let mixture = settings.mixing.draw(draws, 2, 4);
                    let own = &mut expected[place * LEN..][..LEN];
                    mixture.carry_out(settings.form, own, &whole[other * LEN..][..LEN]);
                    labels[place] = metadata.places.labels[other];
                    assert_eq!(mixed.weights[place].to_bits(), mixture.weight().to_bits());
                }
                assert!(images == expected, "{mask:?}, per batch: {per_batch}");
                assert_eq!(mixed.labels, labels);
                let others = (0..mask.len()).filter(|place| pairs.iter().all(|(own, _)| own != place));
                assert!(others.map(|place| mixed.weights[place]).all(|weight| weight.to_bits() == 1_f32.to_bits()));
            }
        }
    }

    #[test]
    fn rule_31_a_large_picture_that_is_kept_for_a_mixture_has_memory_of_the_budget_and_gives_it_back() {
        let budget = Arc::new(Budget::new(1 << 30));
        let mut spare = Vec::new();
        for (width, is_large) in [(4, false), (1 << 20, true)] {
            let shape = Shape { batch: 2, height: 2, width, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
            let region = Region::create(Geometry::try_new(shape, 1).unwrap(), 1, 0).unwrap();
            let form = PlaceForm { output: Output::default(), height: 2, width };
            let settings = Arc::new(MixSettings { form, ..settings(false) });
            let (done, mixed) = channel::unbounded();
            let batch =
                SettledBatch { metadata: metadata(0, &[1, 1]), slot: region.slot(0).unwrap(), in_gpu: vec![false; 2] };
            let job = MixJob { settings, batch, done };
            let held = budget.take(1 << 30);
            std::thread::scope(|scope| {
                let runs = scope.spawn(|| job.run(&mut spare, &budget));
                while is_large && budget.waiting() == 0 {
                    std::thread::yield_now();
                }
                assert!(!is_large || mixed.is_empty(), "it has no memory yet");
                drop(held);
                runs.join().unwrap();
            });
            assert!(outcome(&mixed.recv().unwrap()).is_ok());
            assert_eq!((spare.capacity() == 0, budget.used()), (is_large, 0));
        }
    }

    #[test]
    fn rule_50_batches_are_handed_on_in_their_order_and_a_panic_is_told() {
        let shape = Shape { batch: 2, height: 2, width: 4, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, 3).unwrap(), 1, 0).unwrap();
        let make: MakeDecode = Arc::new(|| Box::new(|_| unreachable!("no picture comes")));
        let bounds = (Limits::default(), &Arc::new(Budget::new(1)));
        let pool = Pool::start(1, None, &make, bounds, GpuLanes::default()).unwrap();
        let (mixer, mut order) = (Mixer::new(Arc::new(pool), settings(false)), InOrder::default());
        let (sender, receiver) = channel::unbounded();
        for number in 0..3 {
            let slot = region.slot(number).unwrap();
            let mut metadata = metadata(number.into(), &[1, 1]);
            if number == 1 {
                metadata.places.records[0] = -1;
            }
            let batch = SettledBatch { metadata, slot, in_gpu: vec![false; 2] };
            order.sent(&batch);
            mixer.begin(batch, &sender);
        }
        let mut done: Vec<WorkedBatch> = receiver.iter().take(3).collect();
        done.sort_by_key(|done| done.batch.metadata.batch);
        assert!(order.next().is_none() && !order.is_idle());
        while let Some(last) = done.pop() {
            let is_first = last.batch.metadata.batch == 0;
            order.keep(last);
            assert_eq!(is_first, order.next().is_some());
        }
        let rest: Vec<_> = std::iter::from_fn(|| order.next()).collect();
        assert_eq!(rest.iter().map(|rest| rest.batch.metadata.batch).collect::<Vec<_>>(), [1, 2]);
        let panicked = outcome(&rest[0]).as_ref().unwrap_err();
        assert!(panicked.contains("has a record"), "{panicked}");
        assert!(outcome(&rest[1]).is_ok() && order.is_idle());
    }
}
