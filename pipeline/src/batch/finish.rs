//! The last steps of a batch in the stage: a settled batch is mixed, if the stream mixes its pictures, its columns are written, and a
//! function in Python gets it, if the stream has one of batches.

use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_delivery::Handover;

use crate::batch::outlet::Outlet;
use crate::batch_metadata::{MixedLabels, SettledBatch};
use crate::decode::mixing::Mixer;
use crate::decode::steps::batch_call::{BatchCall, BatchCalls};
use crate::decode::suspect_order::SuspectOrder;
use crate::fill::FillMeter;
use crate::latest_batch::LatestBatch;
use crate::meter::Meter;
use crate::publish;
use crate::record::LeasePart;
use crate::targets::TargetWriter;
use crate::worked_batch::{BatchWork, Called, InOrder, WorkedBatch};

/// What finishes settled batches.
#[derive(Debug)]
pub(crate) struct Finish {
    /// What mixes the pictures of settled batches, if the stream does that.
    mixer: Option<Mixer>,
    /// What calls the function of batches, if the stream has one, and what its calls wait for.
    calls: Option<(Arc<dyn BatchCalls>, Arc<SuspectOrder>)>,
    /// Batches that are being mixed, and those that the function gets.
    mixing: InOrder,
    calling: InOrder,
    /// Batches of which the function has not made anything before the stream stops.
    withdrawn: Vec<SettledBatch>,
    /// Writes the columns that come from the dataset.
    targets: TargetWriter,
    /// Where the batch that was made last is noted, and how far records fill their batches.
    latest: Arc<LatestBatch>,
    fill: Arc<FillMeter>,
    /// Counts batches, and how long the stage waited for slots (writer) and for records (reader).
    pub meter: Arc<Meter>,
    sender: channel::Sender<WorkedBatch>,
    receiver: channel::Receiver<WorkedBatch>,
}

impl Finish {
    /// With no batch under way.
    pub(crate) fn new(targets: TargetWriter, meter: Arc<Meter>) -> Self {
        let (sender, receiver) = channel::unbounded();
        let (mixing, calling) = (InOrder::default(), InOrder::default());
        let (withdrawn, latest, fill) = (Vec::new(), Arc::default(), Arc::default());
        Self { mixer: None, calls: None, mixing, calling, withdrawn, targets, latest, fill, meter, sender, receiver }
    }

    /// The same, with the batch that was made last noted here, and counted how far records fill their batches.
    #[must_use]
    pub(crate) fn noted_in(self, latest: Arc<LatestBatch>, fill: Arc<FillMeter>) -> Self {
        Self { latest, fill, ..self }
    }

    /// The same for a stream that mixes its pictures, if there is what does that.
    #[must_use]
    pub(crate) fn with_mixer(self, mixer: Option<Mixer>) -> Self {
        Self { mixer, ..self }
    }

    /// The same for a stream with a function of batches, if there is what calls it. `order` says what a call waits for.
    #[must_use]
    pub(crate) fn with_calls(self, calls: Option<Arc<dyn BatchCalls>>, order: Arc<SuspectOrder>) -> Self {
        Self { calls: calls.map(|calls| (calls, order)), ..self }
    }

    /// Where batches come back that others work on.
    pub(super) fn worked(&self) -> channel::Receiver<WorkedBatch> {
        self.receiver.clone()
    }

    /// Whether others work on batches.
    pub(super) fn is_busy(&self) -> bool {
        !(self.mixing.is_idle() && self.calling.is_idle())
    }

    /// Hands a settled batch on, or has it worked on first.
    pub(super) fn begin(&mut self, batch: SettledBatch, outlet: &Outlet) {
        if let Some(mixer) = &self.mixer {
            self.mixing.sent(&batch);
            mixer.begin(batch, &self.sender);
        } else {
            self.write(batch, None, outlet);
        }
    }

    /// Takes a batch back that others have worked on, and hands on those whose turn it is by their numbers. False if one was lost:
    /// then the stream has failed. If the positions of that batch came back, they would be lost again.
    pub(super) fn hand_on(&mut self, done: WorkedBatch, outlet: &Outlet) -> bool {
        let mut is_well = true;
        match &done.work {
            BatchWork::Mixed(_) => self.mixing.keep(done),
            BatchWork::Called(_) => self.calling.keep(done),
        }
        while let Some(WorkedBatch { batch, work }) = self.mixing.next() {
            match work {
                BatchWork::Mixed(Err(panic)) => {
                    let reason = format!("Batch {} could not be mixed: {panic}.", batch.metadata.batch);
                    let lost = publish::publish(batch, None, &mut self.targets);
                    outlet.hand_over(Handover::Lost(lost, reason));
                    is_well = false;
                }
                BatchWork::Mixed(Ok(mixed)) => self.write(batch, Some(&mixed), outlet),
                BatchWork::Called(_) => unreachable!("it was kept elsewhere"),
            }
        }
        while let Some(WorkedBatch { batch, work }) = self.calling.next() {
            match work {
                BatchWork::Called(Called::Failed(reason)) => {
                    outlet.hand_over(Handover::Lost(publish::finished(batch), reason));
                    is_well = false;
                }
                // None behind one that is given back is handed on.
                BatchWork::Called(Called::Done) if self.withdrawn.is_empty() => self.publish(batch, outlet),
                _ => self.withdrawn.push(batch),
            }
        }
        is_well
    }

    /// Waits for the batches that others work on, and hands them on. Gives the positions of those of which nothing was made. Calls
    /// of functions that are not over are not waited for: they are withdrawn before.
    pub(super) fn close(&mut self, outlet: &Outlet) -> Vec<LeasePart> {
        while self.is_busy() {
            // There is a sender here, so that this is never disconnected.
            if let Ok(done) = self.receiver.recv() {
                self.hand_on(done, outlet);
            }
        }
        let (mut parts, withdrawn) = (Vec::new(), std::mem::take(&mut self.withdrawn));
        for batch in withdrawn {
            parts.extend(batch.parts());
            outlet.hand_over(Handover::Unused(batch.slot));
        }
        parts
    }

    /// Writes what is beside the pictures.
    fn write(&mut self, mut batch: SettledBatch, mixed: Option<&MixedLabels>, outlet: &Outlet) {
        publish::write(&mut batch, mixed, &mut self.targets);
        if let Some((calls, order)) = &self.calls {
            self.calling.sent(&batch);
            calls.call_batch(BatchCall { batch, order: Arc::clone(order), done: self.sender.clone() });
        } else {
            self.publish(batch, outlet);
        }
    }

    fn publish(&mut self, batch: SettledBatch, outlet: &Outlet) {
        self.meter.item();
        self.latest.note(&batch.metadata);
        if let Some(fill) = self.targets.fill(&batch.metadata) {
            self.fill.add(fill);
        }
        for bad in &batch.metadata.bad {
            outlet.tell_ring_of(bad);
        }
        outlet.hand_over(Handover::Ready(publish::finished(batch)));
    }
}
