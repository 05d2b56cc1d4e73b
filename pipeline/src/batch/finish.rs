//! The last steps of a batch in the stage: a settled batch is mixed, if the stream mixes its pictures, and its columns are written.

use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_delivery::Handover;

use crate::batch::outlet::Outlet;
use crate::batch_metadata::{MixedLabels, SettledBatch};
use crate::decode::mixing::{MixedBatch, Mixer};
use crate::meter::Meter;
use crate::publish::publish;
use crate::targets::TargetWriter;

/// What finishes settled batches.
#[derive(Debug)]
pub(crate) struct Finish {
    /// What mixes the pictures of settled batches, if the stream does that.
    pub mixer: Option<Mixer>,
    /// Writes the columns that come from the dataset.
    pub targets: TargetWriter,
    /// Counts batches, and how long the stage waited for slots (writer) and for records (reader).
    pub meter: Arc<Meter>,
}

impl Finish {
    /// Where mixed batches come back.
    pub(super) fn mixed(&self) -> channel::Receiver<MixedBatch> {
        self.mixer.as_ref().map_or_else(channel::never, |mixer| mixer.done().clone())
    }

    /// Whether batches are being mixed.
    pub(super) fn is_mixing(&self) -> bool {
        self.mixer.as_ref().is_some_and(|mixer| !mixer.is_idle())
    }

    /// Hands a settled batch on, or has its pictures mixed first.
    pub(super) fn begin(&mut self, batch: SettledBatch, outlet: &Outlet) {
        match &mut self.mixer {
            Some(mixer) => mixer.begin(batch),
            None => self.publish(batch, None, outlet),
        }
    }

    /// Takes a mixed batch, and hands on those whose turn it is by their numbers. False if one could not be mixed: then the
    /// stream has failed. If the positions of that batch came back, they would be mixed in vain again.
    pub(super) fn hand_on(&mut self, done: MixedBatch, outlet: &Outlet) -> bool {
        let mut is_well = true;
        let Some(mixer) = &mut self.mixer else { return is_well };
        mixer.keep(done);
        while let Some(MixedBatch { batch, outcome }) = self.mixer.as_mut().and_then(Mixer::next) {
            match outcome {
                Ok(mixed) => self.publish(batch, Some(&mixed), outlet),
                Err(panic) => {
                    let reason = format!("Batch {} could not be mixed: {panic}.", batch.metadata.batch);
                    let ready = publish(batch, None, &mut self.targets);
                    is_well = false;
                    outlet.hand_over(Handover::Lost(ready, reason));
                }
            }
        }
        is_well
    }

    /// Waits for the batches that are being mixed, and hands them on.
    pub(super) fn close(&mut self, outlet: &Outlet) {
        while let Some(done) = self.mixer.as_ref().filter(|mixer| !mixer.is_idle()).map(|it| it.done().recv()) {
            // The mixer has a sender itself, so that this is never disconnected.
            if let Ok(done) = done {
                self.hand_on(done, outlet);
            }
        }
    }

    fn publish(&mut self, batch: SettledBatch, mixed: Option<&MixedLabels>, outlet: &Outlet) {
        self.meter.item();
        for bad in &batch.metadata.bad {
            outlet.tell_ring_of(bad);
        }
        outlet.hand_over(Handover::Ready(publish(batch, mixed, &mut self.targets)));
    }
}
