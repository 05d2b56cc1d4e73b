//! The threads of a decoder: some read records, others make their pictures. Memory is taken before a record is read, and given back
//! when its answer was sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forebay_pipeline::remote::made_answer;
use forebay_pipeline::{PictureThread, RemotePictures, RemoteThreads, threads};
use forebay_proto::Turn;
use forebay_proto::v1::DecoderAnswer;
use forebay_proto::v1::decoder_answer::Outcome;
use forebay_sources::Source;
use parking_lot::{Condvar, Mutex};
use tokio::sync::mpsc;

use super::fair_queue::FairQueue;

/// Threads that read.
const READERS: usize = 16;

/// What the threads and the connections share.
#[derive(Debug)]
pub(super) struct WorkerPool {
    waiting: Mutex<FairQueue<RecordJob>>,
    /// A record waits.
    work: Condvar,
    read: crossbeam_channel::Sender<(RecordJob, Vec<u8>)>,
    memory: u64,
    used: AtomicU64,
    threads: usize,
    /// Pictures that were made, and records that were not.
    pub made: AtomicU64,
    pub failed: AtomicU64,
}

/// What a connection makes pictures of.
#[derive(Debug)]
pub(super) struct OpenedStream {
    pub source: Arc<dyn Source>,
    pub pictures: RemotePictures,
    /// A record with more bytes is not read.
    pub byte_limit: u64,
}

/// A record that is to be made.
#[derive(Debug)]
pub(super) struct RecordJob {
    pub connection: u64,
    pub id: u64,
    pub epoch: u64,
    pub turn: Turn,
    pub stream: Arc<OpenedStream>,
    pub share: MemoryShare,
    pub answers: mpsc::UnboundedSender<SentAnswer>,
}

/// An answer on its way, with its pixels and its memory.
#[derive(Debug)]
pub(super) struct SentAnswer {
    pub answer: DecoderAnswer,
    pub body: Vec<u8>,
    pub share: Option<MemoryShare>,
}

/// Memory of a record and its answer. Dropping it gives it back.
#[derive(Debug)]
pub(super) struct MemoryShare {
    pool: Arc<WorkerPool>,
    bytes: u64,
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.pool.used.fetch_sub(self.bytes, Ordering::SeqCst);
    }
}

/// Why a record gets no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMemory {
    /// There is none now.
    Busy,
    /// There will never be enough.
    TooLarge,
}

impl WorkerPool {
    /// Starts so many threads that make pictures, and others that read. They end with the process.
    ///
    /// # Errors
    /// The system has no more threads.
    pub(super) fn start(threads: usize, memory: u64) -> std::io::Result<Arc<Self>> {
        // What is read waits for its turn in the fair queue, so that no daemon's records are behind all of another's.
        let (read, taken) = crossbeam_channel::bounded::<(RecordJob, Vec<u8>)>(threads);
        let pool = Arc::new(Self {
            waiting: Mutex::new(FairQueue::new()),
            work: Condvar::new(),
            read,
            memory,
            used: AtomicU64::default(),
            threads,
            made: AtomicU64::default(),
            failed: AtomicU64::default(),
        });
        let shared = RemoteThreads::new(memory);
        for number in 0..threads {
            let (pool, taken, mut thread) = (Arc::clone(&pool), taken.clone(), shared.thread());
            threads::start(&format!("{}{number}", forebay_pipeline::DECODE_THREAD), move || {
                for (job, content) in taken {
                    pool.make(&mut thread, job, &content);
                }
            })?;
        }
        for number in 0..READERS {
            let pool = Arc::clone(&pool);
            threads::start(&format!("forebay-read-{number}"), move || {
                loop {
                    pool.read_next();
                }
            })?;
        }
        Ok(pool)
    }

    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// Takes memory for a record. One record of each connection always has some (`is_only`), unless it is larger than all of it.
    ///
    /// # Errors
    /// There is not enough.
    pub(super) fn share(self: &Arc<Self>, bytes: u64, is_only: bool) -> Result<MemoryShare, NoMemory> {
        if bytes > self.memory {
            return Err(NoMemory::TooLarge);
        }
        let used = self.used.fetch_add(bytes, Ordering::SeqCst);
        let share = MemoryShare { pool: Arc::clone(self), bytes };
        // Dropping the share gives it back.
        if used.saturating_add(bytes) > self.memory && !is_only { Err(NoMemory::Busy) } else { Ok(share) }
    }

    /// Queues a record.
    pub(super) fn push(&self, job: RecordJob) {
        self.waiting.lock().push(job.connection, job);
        self.work.notify_one();
    }

    /// Forgets records of a connection that were not begun, and says how many: they get no answer.
    pub(super) fn cancel(&self, connection: u64, is_out: impl Fn(u64) -> bool) -> usize {
        let out = self.waiting.lock().take(connection, |job| is_out(job.id));
        out.len()
    }

    fn read_next(&self) {
        let job = {
            let mut waiting = self.waiting.lock();
            loop {
                match waiting.pop() {
                    Some(job) => break job,
                    None => self.work.wait(&mut waiting),
                }
            }
        };
        if job.answers.is_closed() {
            return;
        }
        let mut content = Vec::new();
        let OpenedStream { source, byte_limit, .. } = &*job.stream;
        match source.read(job.turn.record(), (*byte_limit).min(self.memory), &mut content) {
            // The threads that make pictures live as long as the process.
            Ok(()) => drop(self.read.send((job, content))),
            Err(error) => {
                let words = format!("{}: {error}", error.locator);
                self.failed.fetch_add(1, Ordering::Relaxed);
                job.end(Outcome::Unread, words);
            }
        }
    }

    fn make(&self, thread: &mut PictureThread, job: RecordJob, content: &[u8]) {
        if job.answers.is_closed() {
            return;
        }
        match thread.make(&job.stream.pictures, content, (job.epoch, job.turn)) {
            Ok((body, origin)) => {
                self.made.fetch_add(1, Ordering::Relaxed);
                let RecordJob { id, share, answers, .. } = job;
                let answer = made_answer(id, &origin, &body);
                // A connection that has ended takes nothing.
                let _gone = answers.send(SentAnswer { answer, body, share: Some(share) });
            }
            Err(words) => {
                self.failed.fetch_add(1, Ordering::Relaxed);
                job.end(Outcome::Bad, words);
            }
        }
    }
}

impl RecordJob {
    /// Answers without a picture.
    fn end(self, outcome: Outcome, words: String) {
        let Self { id, share, answers, .. } = self;
        let _gone =
            answers.send(SentAnswer { answer: without(id, outcome, words), body: Vec::new(), share: Some(share) });
    }
}

/// An answer without a picture.
pub(super) fn without(id: u64, outcome: Outcome, words: String) -> DecoderAnswer {
    DecoderAnswer { id, outcome: outcome.into(), words, ..DecoderAnswer::default() }
}
