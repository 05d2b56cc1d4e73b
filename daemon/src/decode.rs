//! Decoding: the trait of a lane, and the pool of threads that all streams share.
//!
//! Whole pictures are the unit of work. Jobs never wait for anything but a large picture's memory, and their number is
//! bounded by the places of the open slots, so the queue needs no bound of its own (semantics rule 28).

pub mod budget;
pub mod cpu;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use crossbeam_channel as channel;
use forebay_pixels::{Draw, Fault, Recipe};
use forebay_ring::PlaceMut;

use crate::batch::batcher::At;
use crate::cache::Cache;
use crate::cores;
use crate::prefetch::Buffer;
use crate::queue::{Meter, SLICE};
use crate::record::Input;
use crate::thread_class;

/// One picture to decode: what, how, and where to.
#[derive(Debug)]
pub struct Picture<'a> {
    /// The file's bytes, or what a cache has of them.
    pub input: Input<'a>,
    /// Where the decoded picture is to be kept for other epochs.
    pub cache: Option<&'a Cache>,
    /// What becomes of the picture.
    pub recipe: &'a Recipe,
    /// What its random choices follow.
    pub draw: Draw,
    /// The place's bytes; all of them are written where decoding succeeds.
    pub out: &'a mut [u8],
}

/// One way to decode, as one thread uses it.
///
/// The contract: the pixels are a pure function of the picture's bytes, recipe and draw, and of the form in which a
/// cache keeps pictures, whatever was decoded before and whatever the cache holds;
/// a bad picture is a [`Fault`] and harms no later one; nothing outside `out` is written. Decoders are made once per
/// thread and keep their state and memory. `suite/decoder.rs` checks it: one line per implementation.
pub trait Decoder: Send {
    /// Decodes one picture into its place.
    ///
    /// # Errors
    /// The picture's fault; `out` may hold anything then.
    fn decode(&mut self, picture: Picture<'_>) -> Result<(), Fault>;
}

/// How the names of decode threads begin. Their panics are caught; those of other threads end the process.
pub const DECODE_THREAD: &str = "forebay-decode-";

/// Makes a decoder for one thread.
pub type MakeDecoder = Arc<dyn Fn() -> Box<dyn Decoder> + Send + Sync>;

/// A picture on its way into a slot.
#[derive(Debug)]
pub struct Job {
    /// Batch and place.
    pub at: At,
    /// The record's content.
    pub content: Buffer,
    /// Where the decoded picture is to be kept.
    pub cache: Option<Arc<Cache>>,
    /// The right to write the place.
    pub place: PlaceMut,
    /// What becomes of the picture.
    pub recipe: Arc<Recipe>,
    /// What its random choices follow.
    pub draw: Draw,
    /// Where the outcome goes.
    pub done: channel::Sender<Done>,
}

/// What became of a picture; the right to its place comes back.
#[derive(Debug)]
pub struct Done {
    /// Batch and place.
    pub at: At,
    /// The right to write the place.
    pub place: PlaceMut,
    /// The fault in words.
    pub outcome: Result<(), String>,
}

/// The threads. Dropping the pool lets them end after the jobs that are queued.
#[derive(Debug)]
pub struct Pool {
    jobs: channel::Sender<Job>,
    meter: Arc<Meter>,
    threads: usize,
}

impl Pool {
    /// Starts the threads, each with a decoder of its own, and where they are pinned with a core of its own.
    pub fn start(threads: usize, pin: bool, make: &MakeDecoder) -> std::io::Result<Self> {
        let (jobs, queue) = channel::unbounded::<Job>();
        let meter = Arc::new(Meter::new("decode"));
        for number in 0..threads.max(1) {
            let (queue, make, meter) = (queue.clone(), Arc::clone(make), Arc::clone(&meter));
            thread::Builder::new().name(format!("{DECODE_THREAD}{number}")).spawn(move || {
                thread_class::background();
                if pin {
                    cores::pin(number);
                }
                work(&queue, &make, &meter);
            })?;
        }
        Ok(Self { jobs, meter, threads: threads.max(1) })
    }

    /// Queues a picture.
    pub fn decode(&self, job: Job) {
        self.meter.item();
        // The threads outlive every sender: they end only when the pool, which holds this one, is gone.
        let _gone = self.jobs.send(job);
    }

    /// How long the threads waited for pictures.
    pub fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// How many threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

fn work(queue: &channel::Receiver<Job>, make: &MakeDecoder, meter: &Meter) {
    let mut decoder = make();
    loop {
        let waited = Instant::now();
        let job = queue.recv_timeout(SLICE);
        meter.reader_waited(waited.elapsed());
        let job = match job {
            Ok(job) => job,
            Err(channel::RecvTimeoutError::Timeout) => continue,
            Err(channel::RecvTimeoutError::Disconnected) => return,
        };
        let Job { at, content, cache, mut place, recipe, draw, done } = job;
        let (input, cache) = (content.input(), cache.as_deref());
        let picture = Picture { input, cache, recipe: &recipe, draw, out: place.as_mut() };
        // A place whose outcome never came would hold its batch, and the epoch, for ever: a decoder's panic is an
        // outcome too. The decoder is made anew, so no broken state is used again.
        let outcome = match catch_unwind(AssertUnwindSafe(|| decoder.decode(picture))) {
            Ok(outcome) => outcome.map_err(|fault| fault.to_string()),
            Err(panic) => {
                decoder = make();
                Err(format!("The decoder failed on it: {}.", panic_text(panic.as_ref())))
            }
        };
        drop(content);
        // The batch thread may have ended meanwhile; then the right to the place ends here.
        let _gone = done.send(Done { at, place, outcome });
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use forebay_pixels::Limits;

    use super::*;
    use crate::cores::tests::allowed;
    use crate::decode::budget::Budget;
    use crate::decode::cpu::CpuLane;

    #[test]
    fn rule_4_a_pool_has_the_threads_asked_for_and_pinned_ones_have_a_core_each() {
        let all = allowed();
        for pin in [false, true] {
            let (tell, told) = channel::unbounded();
            let lane = CpuLane::maker(Limits::default(), Arc::new(Budget::new(1)));
            // Decoders are made by the threads that use them.
            let make: MakeDecoder = Arc::new(move || {
                tell.send(allowed()).unwrap();
                lane()
            });
            let pool = Pool::start(all.len() + 1, pin, &make).unwrap();
            let mut cores: Vec<Vec<usize>> = (0..pool.threads()).map(|_| told.recv().unwrap()).collect();
            cores.sort();
            let one_each = all.iter().chain(&all[..1]).map(|core| vec![*core]);
            let mut expected = if pin { one_each.collect() } else { vec![all.clone(); all.len() + 1] };
            expected.sort();
            assert_eq!(cores, expected, "pin = {pin}");
        }
    }
}
