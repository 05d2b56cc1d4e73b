//! Rounds in which every decoder has its turn, and the figures from their times.

use std::time::{Duration, Instant};

use crate::Bare;
use crate::decoders::{Name, Work, Worker};
use crate::pictures::Picture;

/// Most threads that work at a time.
const MOST_THREADS: usize = 2;

/// What was measured: for each work, decoder and number of threads the time of each round.
pub(crate) struct Rounds(Vec<(Work, Name, usize, Vec<Duration>)>);

impl Rounds {
    pub(crate) fn measure(pictures: &[Picture], works: &[Work], rounds: usize) -> Result<Self, Bare> {
        let mut workers: Vec<(Name, [Worker; MOST_THREADS])> =
            Name::all().map(|name| (name, std::array::from_fn(|_| name.worker()))).collect();
        let mut times = Vec::new();
        for &work in works {
            for threads in 1..=MOST_THREADS {
                times.extend(Name::all().filter(|name| name.does(work)).map(|name| (work, name, threads, Vec::new())));
            }
        }
        for _ in 0..rounds {
            for (work, name, threads, times) in &mut times {
                let workers = workers.iter_mut().find(|(worker, _)| worker == name);
                let (_, workers) = workers.expect("there are workers of every name");
                times.push(turn(*work, &mut workers[..*threads], pictures)?);
            }
        }
        Ok(Self(times))
    }

    fn times(&self, work: Work, name: Name, threads: usize) -> &[Duration] {
        let found = self.0.iter().find(|(w, n, t, _)| (*w, *n, *t) == (work, name, threads));
        found.map_or(&[], |(_, _, _, times)| times)
    }

    /// Pictures in a second, of all threads together: the median of the rounds, and the best.
    #[expect(clippy::cast_precision_loss, reason = "some thousands of pictures")]
    pub(crate) fn rates(&self, work: Work, name: Name, threads: usize, pictures: usize) -> (f64, f64) {
        let done = (pictures * threads) as f64;
        let (median, best) = middle_and_least(self.times(work, name, threads).iter().map(Duration::as_secs_f64));
        (done / median, done / best)
    }

    /// How many times as fast as libjpeg-turbo: the median of the rounds, each by itself, and by the best of both.
    pub(crate) fn ratios(&self, work: Work, name: Name, threads: usize) -> (f64, f64) {
        let (turbo, own) = (self.times(work, Name::Turbo, threads), self.times(work, name, threads));
        let each = turbo.iter().zip(own).map(|(turbo, own)| turbo.as_secs_f64() / own.as_secs_f64());
        let best = |times: &[Duration]| middle_and_least(times.iter().map(Duration::as_secs_f64)).1;
        (middle_and_least(each).0, best(turbo) / best(own))
    }
}

/// The time until every worker has done all pictures, each in a thread of its own, and each beginning somewhere else.
fn turn(work: Work, workers: &mut [Worker], pictures: &[Picture]) -> Result<Duration, Bare> {
    let apart = pictures.len() / workers.len();
    let begun = Instant::now();
    let done = std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter_mut()
            .enumerate()
            .map(|(number, worker)| {
                let (before, after) = pictures.split_at(number * apart);
                scope.spawn(move || after.iter().chain(before).all(|picture| worker.work(work, picture).is_some()))
            })
            .collect();
        threads.into_iter().all(|thread| thread.join().unwrap_or(false))
    });
    let took = begun.elapsed();
    if done { Ok(took) } else { Err("a picture that had been decoded was not decoded again".into()) }
}

fn middle_and_least(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    (at(values.len() / 2), at(0))
}
