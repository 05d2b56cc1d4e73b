//! A stream's handle on its ring: the inbox of the ring's thread, the free slots, and where the pixels are.

use std::sync::Arc;

use crossbeam_channel as channel;
use forebay_proto::v1::Progress;
use forebay_ring::SlotMut;
use tokio::sync::oneshot;

use super::rings::Site;
use crate::consumers::{Counters, Inbox, Note, Outbox, RingStatus, inbox};
use crate::gpu_ring::{GpuRings, RingCosts};
use crate::handover::Vacancies;
use crate::placement::{Credentials, PixelPlace, PlacementRefusal};

/// The handle; clones are of the same ring.
#[derive(Clone, Debug)]
pub(super) struct RingHandle {
    outbox: Outbox,
    free: channel::Receiver<SlotMut>,
    gave_way: channel::Receiver<u64>,
    site: Arc<Site>,
    counters: Arc<Counters>,
}

/// What the ring's thread has of it.
#[derive(Debug)]
pub(super) struct RingEnds {
    /// The reading end of what it is told.
    pub(super) inbox: Inbox,
    /// Where free slots go.
    pub(super) vacancies: Vacancies,
}

impl RingHandle {
    /// The handle on a ring whose thread is still to be started.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub(super) fn new(site: Arc<Site>) -> std::io::Result<(Self, RingEnds)> {
        let (outbox, inbox) = inbox()?;
        let ((free, freed), (gave_way, given)) = (channel::unbounded(), channel::unbounded());
        let handle = Self { outbox, free: freed, gave_way: given, site, counters: Arc::default() };
        Ok((handle, RingEnds { inbox, vacancies: Vacancies { free, gave_way } }))
    }

    /// Leaves a note for the ring's thread.
    pub(super) fn post(&self, note: Note) {
        self.outbox.post(note);
    }

    /// The way to the ring's thread.
    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Rights to slots that may be filled.
    pub(super) fn free(&self) -> channel::Receiver<SlotMut> {
        self.free.clone()
    }

    /// Numbers of batches that have given way to one of an earlier epoch, before their slots.
    pub(super) fn gave_way(&self) -> channel::Receiver<u64> {
        self.gave_way.clone()
    }

    /// What the ring's thread counts.
    pub(super) fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Its rings in a GPU, where its pixels stand there.
    pub(super) fn gpu(&self) -> Option<Arc<GpuRings>> {
        self.site.gpu()
    }

    /// What its rings take beside their slots.
    pub(super) fn taken(&self) -> &RingCosts {
        self.site.taken()
    }

    /// Where its pixels stand.
    pub(super) fn place(&self) -> PixelPlace {
        self.site.gpu().map_or(PixelPlace::Host, |rings| rings.place())
    }

    /// Whether this trainer can read its pixels, and may, also where it locks their pages.
    pub(super) fn open_to(&self, trainer: &Credentials, pins: bool) -> Result<(), PlacementRefusal> {
        let uid = self.site.uid();
        self.place().open_to(trainer, uid)?;
        if pins { trainer.may_pin(uid) } else { Ok(()) }
    }

    /// How it is; nothing once its thread has ended.
    pub(super) async fn status(&self) -> Option<RingStatus> {
        let (reply, status) = oneshot::channel();
        self.post(Note::Status(reply));
        status.await.ok()
    }

    /// Drops what nobody holds, and goes on where the ledger stands. `fenced` after the end of every lease.
    pub(super) async fn drop_ready(&self, progress: Progress, fenced: bool) {
        self.ask(|done| Note::DropReady { progress, fenced, done }).await;
    }

    /// Offers nothing any more, and drops what nobody holds.
    pub(super) async fn drain(&self) {
        self.ask(Note::Drain).await;
    }

    /// Ends its thread. What trainers held is on its way back then.
    pub(super) async fn close(&self) {
        self.ask(Note::Close).await;
    }

    /// Leaves a note that the ring's thread answers.
    async fn ask(&self, note: impl FnOnce(oneshot::Sender<()>) -> Note) {
        let (done, answered) = oneshot::channel();
        self.post(note(done));
        // Answered, or the ring's thread has ended, and the stream with it.
        let _answered = answered.await;
    }
}
