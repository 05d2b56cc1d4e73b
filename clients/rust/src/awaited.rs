//! A session for async code. A thread of its own waits for the daemon, so any runtime may await it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Waker};
use std::thread;

use parking_lot::Mutex;

use crate::error::{AttachError, NextError};
use crate::owner::Owner;
use crate::session::{Next, Session};
use crate::target::{Options, Target};
use crate::watch::{Notice, Watch};

/// A [`Session`] whose batches are awaited. It needs no runtime of a certain kind.
///
/// Its thread waits only while it is asked to, and ends with it. A batch is acknowledged by the next call of
/// [`next`](Self::next), as with [`Session::next`].
///
/// ```no_run
/// use forebay_client::{AsyncSession, Next, Options, Patient, Target};
///
/// async fn train() -> Result<(), Box<dyn std::error::Error>> {
///     let target = Target::Stream { socket: None, name: "train".to_owned(), settings: None };
///     let mut session = AsyncSession::attach(target, Options::default(), Patient).await?;
///     while let Next::Batch(batch) = session.next().await? {
///         println!("{} pictures, labels {:?}", batch.valid(), batch.labels());
///     }
///     session.close().await;
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct AsyncSession {
    owner: Owner,
    ending: EndsWhenDropped,
    tasks: Sender<Task>,
    /// The answer to a [`next`](Self::next) that was dropped before the answer came.
    asked: Option<Answer<Result<Next, NextError>>>,
    /// Comes when the session is closed.
    closed: Answer<()>,
}

/// Something that the thread does with its session.
struct Task(Box<SessionCall>);

type SessionCall = dyn FnOnce(&mut Session, &mut Ending) + Send;

/// Tells a thread that its results are no longer awaited.
#[derive(Debug, Default)]
struct EndsWhenDropped(Arc<AtomicBool>);

/// The caller's watch, until the [`AsyncSession`] ends.
struct Ending {
    has_ended: Arc<AtomicBool>,
    watch: Box<dyn Watch + Send>,
}

/// Comes from another thread.
#[derive(Debug)]
struct Answer<T>(Arc<Mutex<Slot<T>>>);

/// Sends an [`Answer`]. If it is dropped, the receiver learns that none comes.
struct Giver<T>(Arc<Mutex<Slot<T>>>);

#[derive(Debug)]
struct Slot<T> {
    value: Option<T>,
    /// Nothing comes any more.
    is_over: bool,
    waker: Option<Waker>,
}

impl AsyncSession {
    /// Attaches to a stream as [`Session::attach`] does. The thread asks `watch` while it waits, and tells it why it waits long.
    ///
    /// # Errors
    /// Those of [`Session::attach`], and [`AttachError::Thread`].
    pub async fn attach(
        target: Target,
        options: Options,
        watch: impl Watch + Send + 'static,
    ) -> Result<Self, AttachError> {
        // If this future is dropped, the thread attaches no longer.
        let ending = EndsWhenDropped::default();
        let mut watch = Ending { has_ended: Arc::clone(&ending.0), watch: Box::new(watch) };
        let (attached, answer) = Answer::new();
        let (tasks, queue) = channel::<Task>();
        let (open, closed) = Answer::new();
        let work = move || {
            let mut session = match Session::attach(target, options, &mut watch) {
                Ok(session) => session,
                Err(error) => return attached.give(Err(error)),
            };
            attached.give(Ok(()));
            for Task(task) in queue {
                task(&mut session, &mut watch);
            }
            drop(session);
            open.give(());
        };
        let started = thread::Builder::new().name("forebay-session".to_owned()).spawn(work);
        started.map_err(|source| AttachError::Thread { source })?;
        answer.await?;
        Ok(Self { owner: Owner::this_process(), ending, tasks, asked: None, closed })
    }

    /// Acknowledges the batch in hand, and gives the stream's next batch or end.
    ///
    /// It may be dropped before it is ready, by a `select!` for example. Nothing is lost: the next call continues the wait.
    ///
    /// # Errors
    /// Those of [`Session::next`].
    ///
    /// # Panics
    /// If the session's thread has panicked in a [`call`](Self::call) or in the watch.
    pub async fn next(&mut self) -> Result<Next, NextError> {
        // A forked child has no such thread.
        self.owner.check()?;
        let asked = self.asked.take().unwrap_or_else(|| self.ask(|session, watch| session.next(None, watch)));
        let next = self.asked.insert(asked).await;
        self.asked = None;
        next
    }

    /// Carries out a call of the session in its thread, such as [`Session::state`], and gives what it returns. A call of
    /// [`next`](Self::next) that is under way comes first. If this is dropped before it is ready, the call is still made.
    ///
    /// ```no_run
    /// # async fn example(session: &mut forebay_client::AsyncSession) -> Result<(), forebay_client::CallError> {
    /// let state = session.call(|session, watch| session.state(watch)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn call<T: Send + 'static>(
        &mut self,
        call: impl FnOnce(&mut Session, &mut dyn Watch) -> T + Send + 'static,
    ) -> T {
        self.ask(call).await
    }

    /// Returns all batches in hand unread, and is ready when the session is closed. A drop does the same without waiting.
    pub async fn close(self) {
        let Self { owner, ending, tasks, asked, closed } = self;
        drop((ending, tasks, asked));
        if owner.is_here() {
            closed.await;
        }
    }

    fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Session, &mut dyn Watch) -> T + Send + 'static,
    ) -> Answer<T> {
        let (ask, answer) = Answer::new();
        // If the thread is gone, the answer says so.
        self.tasks.send(Task(Box::new(move |session, watch| ask.give(call(session, watch))))).ok();
        answer
    }
}

impl Drop for EndsWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Watch for Ending {
    fn keep_waiting(&mut self) -> bool {
        !self.has_ended.load(Ordering::Relaxed) && self.watch.keep_waiting()
    }

    fn notice(&mut self, notice: &Notice) {
        self.watch.notice(notice);
    }
}

impl<T> Answer<T> {
    fn new() -> (Giver<T>, Self) {
        let slot = Arc::new(Mutex::new(Slot { value: None, is_over: false, waker: None }));
        (Giver(Arc::clone(&slot)), Self(slot))
    }
}

impl<T> Future for Answer<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut slot = self.0.lock();
        if let Some(value) = slot.value.take() {
            return Poll::Ready(value);
        }
        assert!(!slot.is_over, "the session's thread has panicked");
        slot.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<T> Giver<T> {
    fn give(self, value: T) {
        self.0.lock().value = Some(value);
        // The drop wakes the waiting task.
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        let mut slot = self.0.lock();
        slot.is_over = true;
        let waker = slot.waker.take();
        drop(slot);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}
