//! Returns outcomes from decode threads to a stream's batch thread. The batch thread is woken once per batch, not once
//! per picture.
//!
//! A wake-up costs both sides a system call, and costs a core a thread switch. The batch thread can do nothing with a
//! good picture while other pictures of its batch are still being decoded. So outcomes wait here until the last one is
//! present. A fault is reported at once, because another record may have to be read in its place.

use std::collections::HashMap;
use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_pixels::Origin;
use parking_lot::Mutex;

use crate::mosaic::Partners;
use crate::place::{At, PlaceRight};
use crate::reason::Reason;
use crate::returned::Returned;

/// What pictures of tests were made of, as far as it matters.
#[cfg(test)]
pub(crate) const ORIGIN: Origin = Origin {
    stored: (2, 1),
    orientation: forebay_pixels::Orientation::AsStored,
    turned: forebay_pixels::Orientation::AsStored,
    size: (2, 1),
};

/// The result of a picture's decoding, with the right to its place.
#[derive(Debug)]
pub(crate) struct Done {
    /// Batch and place.
    pub at: At,
    /// The right to write the place.
    pub place: PlaceRight,
    /// What it was made of, or what is wrong with it.
    pub outcome: Result<Origin, Reason>,
    /// The pictures beside it in a mosaic, if it is in one.
    pub partners: Option<Box<Partners>>,
    /// What functions in Python have returned beside it.
    pub returned: Option<Box<Returned>>,
}

/// The batch thread's end.
#[derive(Debug)]
pub(crate) struct Outcomes {
    shared: Arc<OutcomesShared>,
    changed: channel::Receiver<()>,
}

/// A decode thread's end.
#[derive(Debug)]
pub(crate) struct Reporter(Arc<OutcomesShared>);

#[derive(Debug)]
struct OutcomesShared {
    state: Mutex<OutcomesState>,
    /// One token is enough: the batch thread takes all outcomes when it gets one.
    changed: channel::Sender<()>,
}

#[derive(Debug, Default)]
struct OutcomesState {
    done: Vec<Done>,
    /// Pictures in decoding, by batch.
    out: HashMap<u64, u32>,
}

impl Default for Outcomes {
    fn default() -> Self {
        let (sender, changed) = channel::bounded(1);
        Self { shared: Arc::new(OutcomesShared { state: Mutex::default(), changed: sender }), changed }
    }
}

impl Outcomes {
    /// Counts another picture of this batch as in decoding. Its outcome goes to the returned reporter.
    pub(crate) fn expect(&self, batch: u64) -> Reporter {
        *self.shared.state.lock().out.entry(batch).or_default() += 1;
        Reporter(Arc::clone(&self.shared))
    }

    /// Gets a token when a batch has no picture in decoding any more, and at every fault.
    pub(crate) fn changed(&self) -> &channel::Receiver<()> {
        &self.changed
    }

    /// Takes all reported outcomes in order, even those that no token announced. `into` is empty, and its memory is used
    /// again.
    pub(crate) fn take(&self, into: &mut Vec<Done>) {
        debug_assert!(into.is_empty(), "what was taken before is dealt with");
        std::mem::swap(&mut self.shared.state.lock().done, into);
    }
}

impl Reporter {
    /// Reports the outcome of the picture for which this was made.
    pub(crate) fn report(self, done: Done) {
        let (batch, fault) = (done.at.0, done.outcome.is_err());
        let mut state = self.0.state.lock();
        state.done.push(done);
        let last = match state.out.get_mut(&batch) {
            Some(out) if *out > 1 => {
                *out -= 1;
                false
            }
            _ => {
                state.out.remove(&batch);
                true
            }
        };
        drop(state);
        if last || fault {
            // A full channel already holds the token that wakes the batch thread; it may have ended, too.
            let _token = self.0.changed.try_send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_pixels::Fault;
    use forebay_ring::{Dtype, Geometry, Layout, Region, Shape};

    use super::*;
    use crate::place::PlaceRight;

    fn places() -> Vec<PlaceRight> {
        let shape = Shape { batch: 4, height: 1, width: 2, channels: 3, dtype: Dtype::U8, layout: Layout::Nhwc };
        let region = Region::create(Geometry::try_new(shape, 1).unwrap(), 1, 0).unwrap();
        let places = region.slot(0).unwrap().split().1;
        places.into_iter().map(|place| PlaceRight::new(place, None)).collect()
    }

    fn taken(outcomes: &Outcomes) -> Vec<(u64, u32)> {
        let mut done = Vec::new();
        outcomes.take(&mut done);
        done.iter().map(|done| done.at).collect()
    }

    #[test]
    fn the_batch_thread_is_woken_when_the_last_picture_of_a_batch_is_decoded_and_by_every_fault() {
        let outcomes = Outcomes::default();
        let pictures = [(7, 0), (7, 1), (8, 0), (7, 2)];
        let reporters = pictures.map(|(batch, _)| outcomes.expect(batch));
        let mut told = Vec::new();
        for (((at, reporter), place), fault) in
            pictures.into_iter().zip(reporters).zip(places()).zip([false, true, false, false])
        {
            let outcome = if fault { Err(Fault::Truncated.into()) } else { Ok(ORIGIN) };
            reporter.report(Done { at, place, outcome, partners: None, returned: None });
            told.push(outcomes.changed().try_recv().is_ok());
        }
        assert_eq!(told, [false, true, true, true], "not by the first of three good ones");
        assert_eq!(taken(&outcomes), pictures);
        assert_eq!(taken(&outcomes), []);
    }

    #[test]
    fn a_batch_that_continues_after_a_pause_is_told_again() {
        let outcomes = Outcomes::default();
        for (place, right) in (0..).zip(places()) {
            outcomes.expect(1).report(Done {
                at: (1, place),
                place: right,
                outcome: Ok(ORIGIN),
                partners: None,
                returned: None,
            });
            assert!(outcomes.changed().try_recv().is_ok(), "nothing of it was in decoding any more");
        }
        assert_eq!(taken(&outcomes), [(1, 0), (1, 1), (1, 2), (1, 3)]);
    }
}
