//! What the model requires of a published batch: which picture each place shows, and what its claims say.

use super::*;
use crate::settings::OnError;
use crate::sheet::Sheet;

impl World {
    pub(super) fn publish(&mut self, sheet: Sheet) {
        let size = self.setting.rules.batch_size;
        let last = self.last.insert(sheet.epoch, sheet.batch);
        assert!(last < Some(sheet.batch), "batches of an epoch are published in order");
        let of = |bare: u32| {
            let claims = sheet.claims.iter().filter(move |claim| claim.bare == bare);
            claims.flat_map(|claim| (claim.start..claim.end()).map(|at| (claim.lease, at)))
        };
        let mut claims = of(0);
        for place in 0..size {
            let pixels = self.pixels.get(&(sheet.batch, place)).copied();
            let at = place as usize;
            if at >= sheet.places.records.len() {
                assert_eq!(pixels, Some(Pixels::Black), "nobody's picture is left behind the last place");
                continue;
            }
            match pixels {
                Some(Pixels::Of(record)) => {
                    assert!(
                        sheet.places.records[at] == -1 || sheet.places.records[at] == i64::try_from(record).unwrap()
                    );
                    assert!(self.is_good(record));
                    assert_eq!(sheet.places.labels[at], label(record));
                    assert_eq!(sheet.places.origins[at], Some(origin(record)), "rule 45: of the picture that is shown");
                }
                Some(Pixels::Black) => {
                    assert_eq!(
                        (sheet.places.records[at], sheet.places.mask[at], sheet.places.origins[at]),
                        (-1, 0, None)
                    );
                    assert_eq!(sheet.places.labels[at], -1);
                }
                other => panic!("place {at} of batch {} shows {other:?}", sheet.batch),
            }
            if sheet.places.mask[at] == 1 {
                let (lease, offset) = claims.next().expect("a claim for every own place");
                let own = |position: &&Position| (position.lease, position.offset) == (lease, offset);
                let position = *self.given.iter().find(own).unwrap();
                assert_eq!(sheet.places.records[at], i64::try_from(position.record).unwrap());
                assert_eq!(position.epoch, sheet.epoch);
                self.settled(&position, ModelOutcome::Published);
            }
        }
        assert_eq!(claims.next(), None, "a copy carries no claim");
        let bare: HashSet<(u64, u64)> = of(1).collect();
        let bad: HashSet<(u64, u64)> = sheet.bad.iter().map(|bad| (bad.position.lease, bad.position.offset)).collect();
        for at in &bare {
            let position = *self.given.iter().find(|position| (position.lease, position.offset) == *at).unwrap();
            assert_eq!(bad.contains(at), position.index < self.records(), "a record is bad, or there is none");
            self.settled(&position, if bad.contains(at) { ModelOutcome::Nacked } else { ModelOutcome::Published });
        }
        assert!(bad.is_subset(&bare));
        assert_eq!(sheet.valid, sheet.places.mask.iter().map(|mask| u32::from(*mask)).sum::<u32>());
        assert!(sheet.shown <= size);
        if self.is_static() {
            self.places_never_shift(&sheet);
        }
        self.published.push(sheet);
    }

    fn places_never_shift(&self, sheet: &Sheet) {
        let (Form { own, copies, .. }, came) = &self.seats[&sheet.batch];
        let own = *own as usize;
        assert_eq!(sheet.places.records.len(), own + copies.len());
        assert_eq!(sheet.shown as usize, own + copies.len());
        for at in 0..own {
            let (record, mask) = (sheet.places.records[at], sheet.places.mask[at]);
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
                assert_eq!(record, replacement(sheet, own, at), "for {position:?}");
            }
        }
        for (at, &copy) in copies.iter().enumerate() {
            let (record, mask) = (sheet.places.records[own + at], sheet.places.mask[own + at]);
            assert_eq!(mask, 0);
            let copy = copy.record();
            let found = self.is_good(copy) && !self.setting.flaky;
            assert!(record == i64::try_from(copy).unwrap() || record == -1 && !found, "{record} for {copy}");
        }
    }
}

/// Rule 7: the nearest earlier good record of the batch, else the next one. The first copies of an epoch's last batch are good
/// ones as well, if their record can be read.
fn replacement(sheet: &Sheet, own: usize, at: usize) -> i64 {
    let good = |other: &usize| sheet.places.mask[*other] == 1 || *other >= own && sheet.places.records[*other] >= 0;
    let found = (0..at).rev().find(good).or_else(|| (at..sheet.places.records.len()).find(good));
    found.map_or(-1, |other| sheet.places.records[other])
}
