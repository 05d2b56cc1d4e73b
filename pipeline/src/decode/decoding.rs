//! One stream's access to the decode pool: what all of its pictures have in common, and the channel that returns their
//! outcomes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_channel as channel;
use forebay_pixels::Draw;

use crate::decode::Pool;
use crate::decode::job::DecodeJob;
use crate::decode::job::stepping::Stepping;
use crate::decode::job::stream_pictures::StreamPictures;
use crate::decode::outcomes::{Done, Outcomes};
use crate::decode::suspect_order::SuspectOrder;
use crate::place::{At, PlaceRight};
use crate::prefetch::Buffer;
use crate::record::EpochTurn;

/// A stream's handle to the pool. Per picture, its user gives only where the bytes are, where the pixels go, and which
/// record it is.
#[derive(Debug)]
pub(crate) struct Decoding {
    pool: Arc<Pool>,
    /// How the pictures of each class are made. Without classes, there is one.
    pictures: Vec<Arc<StreamPictures>>,
    /// Seed of the random choices.
    seed: u64,
    /// How suspects are made.
    suspects: Arc<SuspectOrder>,
    outcomes: Outcomes,
    /// Pictures that were sent to the pool.
    sent: Arc<AtomicU64>,
}

impl Decoding {
    /// A handle to this pool, with these pictures of each class, and these random choices. No picture is under way yet.
    pub(crate) fn new(pool: Arc<Pool>, pictures: Vec<StreamPictures>, seed: u64, suspects: Arc<SuspectOrder>) -> Self {
        let pictures = pictures.into_iter().map(Arc::new).collect();
        let (outcomes, sent) = (Outcomes::default(), Arc::default());
        Self { pool, pictures, seed, suspects, outcomes, sent }
    }

    /// The same handle, but it counts its pictures here, in addition to earlier ones.
    #[must_use]
    pub(crate) fn counted_in(self, sent: Arc<AtomicU64>) -> Self {
        Self { sent, ..self }
    }

    /// Queues a record's content for decoding into this place of a batch of this class. What a decoder on another machine has made
    /// is copied there. The result is among the outcomes later, with the right to
    /// the place.
    pub(crate) fn decode(
        &self,
        (at, class): (At, usize),
        place: PlaceRight,
        content: Buffer,
        of: EpochTurn,
        suspect: bool,
    ) {
        let (EpochTurn { epoch, turn }, pictures) = (of, &self.pictures[class]);
        self.sent.fetch_add(1, Ordering::Relaxed);
        if let Some(made) = content.made() {
            let mut place = place;
            made.write(&mut place, &pictures.views.columns);
            let outcome = Ok(made.origin);
            drop(content);
            let done = Done { at, place, outcome, partners: None, returned: None };
            return self.outcomes.expect(at.0).report(done);
        }
        self.pool.decode(DecodeJob {
            at,
            content,
            place,
            pictures: Arc::clone(pictures),
            record: turn.record(),
            draw: Draw { seed: self.seed, epoch, record: turn.key() },
            origin: None,
            is_made: false,
            suspect: suspect.then(|| Arc::clone(&self.suspects)),
            stepping: pictures.steps.as_ref().map(|_| Stepping::new(Arc::clone(&self.suspects), turn.repeat())),
            reporter: self.outcomes.expect(at.0),
        });
    }

    /// Since when a suspect waits for the machine, and why, if one does.
    pub(crate) fn suspect_wait(&self) -> Option<(Instant, String)> {
        self.pool.mind_suspects();
        self.suspects.wait()
    }

    /// Stops waiting for the outcomes of suspects.
    pub(crate) fn withdraw_suspects(&self) {
        self.suspects.withdraw();
    }

    /// Gets a token when outcomes are worth a look, as [`Outcomes::changed`] says.
    pub(crate) fn changed(&self) -> &channel::Receiver<()> {
        self.outcomes.changed()
    }

    /// Moves all available outcomes into `into`, which is empty.
    pub(crate) fn take(&self, into: &mut Vec<Done>) {
        self.outcomes.take(into);
    }
}
