//! What the model requires of a published batch: which picture each place shows, and what its claims say.

use super::*;
use crate::batch_metadata::BatchMetadata;
use crate::settings::OnError;

impl World {
    pub(super) fn publish(&mut self, metadata: BatchMetadata) {
        let size = self.setting.rules.batch_size;
        let last = self.last.insert(metadata.epoch, metadata.batch);
        assert!(last < Some(metadata.batch), "batches of an epoch are published in order");
        let of = |bare: u32| {
            let claims = metadata.claims.iter().filter(move |claim| claim.bare == bare);
            claims.flat_map(|claim| (claim.start..claim.end()).map(|at| (claim.lease, at)))
        };
        let mut claims = of(0);
        for place in 0..size {
            let pixels = self.pixels.get(&(metadata.batch, place)).copied();
            let at = place as usize;
            if at >= metadata.places.records.len() {
                assert_eq!(pixels, Some(Pixels::Black), "nobody's picture is left behind the last place");
                continue;
            }
            match pixels {
                Some(Pixels::Of(record)) => {
                    assert!(
                        metadata.places.records[at] == -1
                            || metadata.places.records[at] == i64::try_from(record).unwrap()
                    );
                    assert!(self.is_good(record));
                    assert_eq!(metadata.places.labels[at], label(record));
                    assert_eq!(
                        metadata.places.origins[at],
                        Some(origin(record)),
                        "rule 45: of the picture that is shown"
                    );
                }
                Some(Pixels::Black) => {
                    assert_eq!(
                        (metadata.places.records[at], metadata.places.mask[at], metadata.places.origins[at]),
                        (-1, 0, None)
                    );
                    assert_eq!(metadata.places.labels[at], -1);
                }
                other => panic!("place {at} of batch {} shows {other:?}", metadata.batch),
            }
            if metadata.places.mask[at] == 1 {
                let (lease, offset) = claims.next().expect("a claim for every own place");
                let own = |position: &&Position| (position.lease, position.offset) == (lease, offset);
                let position = *self.given.iter().find(own).unwrap();
                assert_eq!(metadata.places.records[at], i64::try_from(position.record).unwrap());
                assert_eq!(position.epoch, metadata.epoch);
                self.settled(&position, ModelOutcome::Published);
            }
        }
        assert_eq!(claims.next(), None, "a copy carries no claim");
        let bare: HashSet<(u64, u64)> = of(1).collect();
        let bad: HashSet<(u64, u64)> =
            metadata.bad.iter().map(|bad| (bad.position.lease, bad.position.offset)).collect();
        for at in &bare {
            let position = *self.given.iter().find(|position| (position.lease, position.offset) == *at).unwrap();
            assert_eq!(bad.contains(at), position.index < self.records(), "a record is bad, or there is none");
            self.settled(&position, if bad.contains(at) { ModelOutcome::Nacked } else { ModelOutcome::Published });
        }
        assert!(bad.is_subset(&bare));
        assert_eq!(metadata.valid, metadata.places.mask.iter().map(|mask| u32::from(*mask)).sum::<u32>());
        assert!(metadata.shown <= size);
        if self.is_static() {
            self.places_never_shift(&metadata);
        }
        self.published.push(metadata);
    }

    fn places_never_shift(&self, metadata: &BatchMetadata) {
        let (Form { own, copies, .. }, came) = &self.seats[&metadata.batch];
        let own = *own as usize;
        assert_eq!(metadata.places.records.len(), own + copies.len());
        assert_eq!(metadata.shown as usize, own + copies.len());
        for at in 0..own {
            let (record, mask) = (metadata.places.records[at], metadata.places.mask[at]);
            let place = |position: &&Position| position.index % u64::from(self.setting.rules.batch_size) == at as u64;
            let Some(position) = came.iter().filter(|position| position.index < self.records()).find(place) else {
                assert_eq!((record, mask), (-1, 0), "nothing moves up to place {at}");
                continue;
            };
            if self.is_good(position.record) {
                assert_eq!((record, mask), (i64::try_from(position.record).unwrap(), 1));
                continue;
            }
            assert_eq!(mask, 0);
            if self.setting.rules.on_error == OnError::Skip {
                assert_eq!(record, -1);
            } else {
                assert_eq!(record, replacement(metadata, own, at), "for {position:?}");
            }
        }
        for (at, &copy) in copies.iter().enumerate() {
            let (record, mask) = (metadata.places.records[own + at], metadata.places.mask[own + at]);
            assert_eq!(mask, 0);
            let copy = copy.record();
            let found = self.is_good(copy) && !self.setting.flaky;
            assert!(record == i64::try_from(copy).unwrap() || record == -1 && !found, "{record} for {copy}");
        }
    }
}

/// Rule 7: the nearest earlier good record of the batch, else the next one. The first copies of an epoch's last batch are good
/// ones as well, if their record can be read.
fn replacement(metadata: &BatchMetadata, own: usize, at: usize) -> i64 {
    let good =
        |other: &usize| metadata.places.mask[*other] == 1 || *other >= own && metadata.places.records[*other] >= 0;
    let found = (0..at).rev().find(good).or_else(|| (at..metadata.places.records.len()).find(good));
    found.map_or(-1, |other| metadata.places.records[other])
}
