//! A trainer of the torture test in Rust. It takes batches from a session or an awaited one, holds each until it has the next
//! one, and drops calls that are awaited. `clients/python/tests/torture` runs it:
//! `trainer SOCKET STREAM JOURNAL STOP SEED GROUP`.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use forebay_client::{
    AsyncSession, AttachError, Batch, Broken, Next, NextError, Notice, Options, Session, Target, Watch,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{sleep, timeout};

use journal::Journal;

mod journal;
mod payload;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Waits until the process is told to end.
#[derive(Clone, Debug)]
struct UntilTold(Arc<AtomicBool>);

/// The session, in one of the forms that users have.
enum Attached {
    Blocking(Box<Session>),
    Awaited(AsyncSession),
}

struct Trainer {
    target: Target,
    options: Options,
    told: UntilTold,
    chance: Chance,
    journal: Journal,
    session: Option<Attached>,
    /// The batch before. Its memory stays as it is.
    held: Option<Batch>,
}

/// Random numbers: `splitmix64`.
struct Chance(u64);

impl Watch for UntilTold {
    fn keep_waiting(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }

    fn notice(&mut self, _: &Notice) {}
}

impl Chance {
    /// A number below this one, which is small.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn duration(&mut self, milliseconds: u64) -> Duration {
        Duration::from_micros(self.below(1000 * milliseconds))
    }
}

impl Attached {
    async fn new(
        is_awaited: bool,
        target: Target,
        options: Options,
        mut watch: UntilTold,
    ) -> Result<Self, AttachError> {
        if is_awaited {
            return AsyncSession::attach(target, options, watch).await.map(Self::Awaited);
        }
        Session::attach(target, options, &mut watch).map(Box::new).map(Self::Blocking)
    }

    async fn next(&mut self, patience: Option<Duration>, watch: &mut UntilTold) -> Result<Next, NextError> {
        match (self, patience) {
            (Self::Blocking(session), patience) => session.next(patience, watch),
            (Self::Awaited(session), None) => session.next().await,
            // The call is dropped after that time. The next one goes on with it.
            (Self::Awaited(session), Some(patience)) => {
                timeout(patience, session.next()).await.unwrap_or(Err(NextError::Timeout { waited: patience }))
            }
        }
    }
}

impl Trainer {
    /// Consumes epochs until it is told to stop, by a signal or by a file.
    async fn run(mut self, stop: &Path) -> Outcome<()> {
        self.journal.note("began")?;
        self.journal.begin_to_wait();
        self.attach().await?;
        while self.told.keep_waiting() {
            if self.step().await? && stop.exists() {
                break;
            }
        }
        self.journal.eat()?;
        if let Some(batch) = self.held.take() {
            // The journal has it as consumed.
            batch.ack()?;
        }
        match self.session.take() {
            Some(Attached::Blocking(session)) => session.close()?,
            Some(Attached::Awaited(session)) => session.close().await,
            None => {}
        }
        Ok(self.journal.note("left")?)
    }

    /// Makes a session, as soon as there is a daemon.
    async fn attach(&mut self) -> Outcome<()> {
        self.session = None;
        let is_awaited = self.chance.below(2) == 1;
        while self.told.keep_waiting() {
            let (target, options) = (self.target.clone(), self.options.clone());
            if let Ok(session) = Attached::new(is_awaited, target, options, self.told.clone()).await {
                self.session = Some(session);
                return Ok(self.journal.note_time("attached")?);
            }
            sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Takes one batch. True at the end of an epoch.
    async fn step(&mut self) -> Outcome<bool> {
        let Some(session) = &mut self.session else { return Ok(false) };
        let patience = [Some(Duration::ZERO), Some(self.chance.duration(50)), None];
        let patience = patience[usize::try_from(self.chance.below(3))?];
        self.journal.begin_to_wait();
        let next = session.next(patience, &mut self.told).await;
        match next {
            Ok(Next::Batch(batch)) => {
                self.journal.eat()?;
                self.consume(batch).await?;
            }
            Ok(Next::EpochEnd(_) | Next::Done) => {
                self.journal.eat()?;
                self.drop_the_one_before()?;
                return Ok(true);
            }
            Err(NextError::Missed { epoch, records, .. }) => {
                self.journal.eat()?;
                self.journal.note(format_args!("missed {epoch} {records}"))?;
            }
            Err(NextError::Timeout { .. }) => {
                self.journal.note("late")?;
                sleep(Duration::from_millis(1)).await;
            }
            Err(NextError::Broken(Broken::Interrupted)) => self.journal.note("interrupted")?,
            Err(outage @ NextError::Outage { .. }) => {
                self.journal.note(format_args!("outage {outage}"))?;
                self.attach().await?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(false)
    }

    async fn consume(&mut self, batch: Batch) -> Outcome<()> {
        self.drop_the_one_before()?;
        self.journal.note_origin(&batch)?;
        if self.chance.below(20) == 0 {
            self.journal.note_records("rejected", &batch, false)?;
            return Ok(batch.reject()?);
        }
        self.journal.note_records("got", &batch, false)?;
        self.look(&batch)?;
        sleep(self.chance.duration(10)).await;
        self.look(&batch)?;
        self.held = Some(batch);
        Ok(())
    }

    fn drop_the_one_before(&mut self) -> Outcome<()> {
        match self.held.take() {
            Some(batch) => self.look(&batch),
            None => Ok(()),
        }
    }

    /// Compares the pixels with the records. A batch keeps both as long as it is held.
    fn look(&mut self, batch: &Batch) -> Outcome<()> {
        let mut places = batch.images().chunks(payload::LENGTH).zip(batch.records()).take(batch.shown());
        if places.all(|(pixels, record)| payload::is_of(pixels, *record)) {
            return Ok(());
        }
        Ok(self.journal.note_records("wrong", batch, true)?)
    }
}

#[tokio::main(worker_threads = 1)]
async fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [socket, stream, journal, stop, seed, group] = &*words else {
        return Err("usage: trainer SOCKET STREAM JOURNAL STOP SEED GROUP".into());
    };
    let told = UntilTold(Arc::default());
    let (has_ended, mut asked) = (told.clone(), signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        asked.recv().await;
        has_ended.0.store(true, Ordering::Relaxed);
    });
    let trainer = Trainer {
        target: Target::Stream { socket: Some(PathBuf::from(socket)), name: stream.clone(), settings: None },
        options: Options { group: Some(group.clone()).filter(|group| !group.is_empty()), ..Options::default() },
        told,
        chance: Chance(seed.parse()?),
        journal: Journal::open(journal)?,
        session: None,
        held: None,
    };
    trainer.run(Path::new(stop)).await
}
