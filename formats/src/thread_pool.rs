//! A few threads work on a list. Their results are taken in the list's order. No more results wait than there are
//! threads.

use std::collections::BTreeMap;
use std::thread;

use parking_lot::{Condvar, Mutex};

/// What the threads share.
struct ThreadPool<T, E> {
    state: Mutex<ThreadPoolState<T, E>>,
    /// A result was added, or taken.
    changed: Condvar,
}

struct ThreadPoolState<T, E> {
    /// The next part to work on, and the next one to take.
    next: usize,
    taken: usize,
    done: BTreeMap<usize, Result<T, E>>,
    /// The caller takes no more results, or a thread has died.
    over: bool,
}

/// Ends the work, if a thread dies while it has a part.
struct Shift<'a, T, E> {
    thread_pool: &'a ThreadPool<T, E>,
    armed: bool,
}

/// How many threads look into the files of a dataset: one for each core up to a limit, or more for a store, where they
/// mostly wait.
pub(crate) fn threads_for(is_remote: bool) -> usize {
    const REMOTE: usize = 32;
    const LOCAL: usize = 8;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if is_remote { REMOTE } else { cores.min(LOCAL) }
}

/// Calls `job` with 0, 1, 2 and so on, below `count`, on at most `threads` threads. Calls `take` with the results, in
/// order and on the caller's thread. If the system has no room for threads, the caller does the work.
///
/// # Errors
/// The first error in the order of the list. Results after it are not taken.
pub(crate) fn in_order<T: Send, E: Send>(
    count: usize,
    threads: usize,
    job: impl Fn(usize) -> Result<T, E> + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.min(count);
    if threads < 2 {
        return (0..count).try_for_each(|part| take(part, job(part)?));
    }
    let state = ThreadPoolState { next: 0, taken: 0, done: BTreeMap::new(), over: false };
    let thread_pool = ThreadPool { state: Mutex::new(state), changed: Condvar::new() };
    let work = || {
        while let Some(part) = thread_pool.next(count, threads) {
            let mut shift = Shift { thread_pool: &thread_pool, armed: true };
            let done = job(part);
            shift.armed = false;
            thread_pool.add(part, done);
        }
    };
    thread::scope(|scope| {
        let start = |_| thread::Builder::new().name("forebay-scan".into()).spawn_scoped(scope, work).ok();
        let helpers = (0..threads).map_while(start).count();
        // However this ends, the threads end too.
        let _over = Shift { thread_pool: &thread_pool, armed: true };
        if helpers == 0 {
            return (0..count).try_for_each(|part| take(part, job(part)?));
        }
        for part in 0..count {
            let Some(done) = thread_pool.wait(part) else { break };
            take(part, done?)?;
        }
        Ok(())
    })
}

impl<T, E> ThreadPool<T, E> {
    /// The next part, once there is room for its result.
    fn next(&self, count: usize, ahead: usize) -> Option<usize> {
        let mut state = self.state.lock();
        while !state.over && state.next < count && state.next >= state.taken + ahead {
            self.changed.wait(&mut state);
        }
        if state.over || state.next >= count {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn add(&self, part: usize, done: Result<T, E>) {
        self.state.lock().done.insert(part, done);
        self.changed.notify_all();
    }

    /// The result of a part. Nothing if a thread has died: its panic continues when the threads are joined.
    fn wait(&self, part: usize) -> Option<Result<T, E>> {
        let mut state = self.state.lock();
        loop {
            if let Some(done) = state.done.remove(&part) {
                state.taken = part + 1;
                self.changed.notify_all();
                return Some(done);
            }
            if state.over {
                return None;
            }
            self.changed.wait(&mut state);
        }
    }
}

impl<T, E> Drop for Shift<'_, T, E> {
    fn drop(&mut self) {
        if self.armed {
            self.thread_pool.state.lock().over = true;
            self.thread_pool.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_are_taken_in_order_and_few_wait() {
        let (begun, mut taken) = (AtomicUsize::new(0), Vec::new());
        let job = |part: usize| {
            begun.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(part * 2)
        };
        in_order(1000, 4, job, |part, double| {
            // Those that were taken, and one for each thread.
            assert!(begun.load(Ordering::SeqCst) <= taken.len() + 5);
            taken.push((part, double));
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, (0..1000).map(|part| (part, part * 2)).collect::<Vec<_>>());
    }

    #[test]
    fn parts_are_worked_on_at_the_same_time() {
        let all = Barrier::new(4);
        let met = |_| {
            all.wait();
            Ok::<_, ()>(())
        };
        in_order(4, 4, met, |_, ()| Ok(())).unwrap();
    }

    #[test]
    fn the_first_error_in_the_list_s_order_is_told_and_nothing_behind_it_is_taken() {
        for threads in [1, 3] {
            let mut taken = 0;
            let job = |part: usize| if part % 10 == 7 { Err(part) } else { Ok(()) };
            let error = in_order(100, threads, job, |_, ()| {
                taken += 1;
                Ok(())
            });
            assert_eq!((error, taken), (Err(7), 7));
            assert_eq!(in_order(5, threads, Ok, |part, _: usize| if part == 3 { Err(3) } else { Ok(()) }), Err(3));
            in_order(0, threads, |_| Err(0), |_, ()| Ok(())).unwrap();
        }
    }

    #[test]
    fn a_panic_of_a_thread_ends_the_work() {
        let died = std::panic::catch_unwind(|| {
            in_order(10, 2, |part| if part == 5 { panic!("a test") } else { Ok::<_, ()>(()) }, |_, ()| Ok(()))
        });
        died.unwrap_err();
    }
}
