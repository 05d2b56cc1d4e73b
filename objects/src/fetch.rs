//! Reads a range of an object, in as many attempts as the retries allow. What has arrived is kept: the next attempt
//! asks for the rest of the same version.

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;
use std::time::{Duration, Instant};

use forebay_sources::Pulse;
use futures_util::StreamExt as _;
use tokio::time::{sleep, timeout};

use crate::backend::Backend;
use crate::fault::{Fault, FaultKind};
use crate::object::Pin;
use crate::pace::Pace;
use crate::permits::RequestPermits;
use crate::{Object, Retries};

/// What a read of bytes needs. Each of its attempts is a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetch<'a> {
    pub(crate) backend: &'a Backend,
    pub(crate) retries: &'a Retries,
    pub(crate) permits: &'a RequestPermits,
    /// Is beaten as long as enough bytes arrive, or others of this process have all permits.
    pub(crate) pulse: &'a Pulse,
}

impl Fetch<'_> {
    /// Appends the range's bytes to `buf`. After an error, `buf` has what had arrived.
    pub(crate) async fn read(self, object: &Object, range: Range<u64>, buf: &mut Vec<u8>) -> Result<(), Fault> {
        let length = range.end - range.start;
        let fits = usize::try_from(length).is_ok_and(|length| buf.try_reserve_exact(length).is_ok());
        if !fits {
            return Err(Fault::new(FaultKind::Resources, format!("there is no memory for {length} bytes")));
        }
        let (start, mut failures) = (buf.len(), 0);
        let mut pace = Pace::new(self.retries, Instant::now());
        loop {
            let had = buf.len();
            let arrived = (had - start) as u64;
            if arrived == length {
                return Ok(());
            }
            let waits = Instant::now();
            // A read takes its permit only after the wait between attempts, so while a store refuses requests, few permits
            // are in use.
            let permit = self.permits.take(self.retries.silence, self.pulse).await;
            let began = Instant::now();
            pace.waited(began - waits);
            pace.begin(began);
            let attempt = self.attempt(object, range.start + arrived..range.end, buf, &mut pace).await;
            let Err(fault) = attempt else {
                self.permits.answered();
                continue;
            };
            if fault.crowded {
                self.permits.refused(began);
            }
            drop(permit);
            if !matches!(object.pin(), Pin::Strong(_)) {
                // Nothing says that the rest would be of the same bytes: a weak `ETag` may stay when some of them change, and
                // a time counts seconds.
                buf.truncate(start);
            }
            failures = if buf.len() > had { 1 } else { failures + 1 };
            pause(self.retries, fault, failures, pace.still(Instant::now())).await?;
        }
    }

    async fn attempt(
        self,
        object: &Object,
        range: Range<u64>,
        buf: &mut Vec<u8>,
        pace: &mut Pace,
    ) -> Result<(), Fault> {
        let mut missing = range.end - range.start;
        let body = in_time(pace, "the store does not answer", self.backend.get(object, range)).await?;
        let (mut skip, mut bytes) = (body.skip, body.bytes);
        while missing > 0 {
            let next = in_time(pace, "the answer stops in its middle, or is too slow", async {
                bytes.next().await.transpose()
            });
            let Some(mut chunk) = next.await? else {
                return Err(Fault::new(FaultKind::Unavailable, format!("the answer ends {missing} bytes early")));
            };
            if pace.arrived(chunk.len() as u64, Instant::now()) {
                self.pulse.beat();
            }
            let before = usize::try_from(skip).map_or(chunk.len(), |skip| skip.min(chunk.len()));
            skip -= before as u64;
            let mut wanted = chunk.split_off(before);
            // What a server sends beyond the range is not read.
            wanted.truncate(usize::try_from(missing).unwrap_or(usize::MAX));
            buf.extend_from_slice(&wanted);
            missing -= wanted.len() as u64;
        }
        Ok(())
    }
}

/// Calls until the result is no passing fault, or the retries are used up.
pub(crate) async fn retried<T, F: Future<Output = Result<T, Fault>>>(
    retries: &Retries,
    call: impl Fn() -> F,
) -> Result<T, Fault> {
    let (began, mut failures) = (Instant::now(), 0);
    loop {
        let called = timeout(retries.attempt, call()).await;
        match called.unwrap_or_else(|_| Err(Fault::late("the store does not answer"))) {
            Ok(result) => return Ok(result),
            Err(fault) => {
                failures += 1;
                pause(retries, fault, failures, began.elapsed()).await?;
            }
        }
    }
}

/// Waits before the next attempt, or gives the fault back if there is none.
async fn pause(retries: &Retries, fault: Fault, failures: u32, still: Duration) -> Result<(), Fault> {
    let wait = if fault.passes() { retries.after(failures, still, draw()) } else { None };
    let wait = wait.and_then(|wait| retries.granted(wait, fault.wait, still));
    let Some(wait) = wait else { return Err(fault) };
    tracing::debug!(cause = fault.cause, failures, wait = wait.as_secs_f64(), "a request to a store is repeated");
    sleep(wait).await;
    Ok(())
}

/// Waits for the next part of an answer, as long as the pace allows.
async fn in_time<T>(pace: &Pace, what: &str, step: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let patience = pace.patience(Instant::now());
    timeout(patience, step).await.unwrap_or_else(|_| Err(Fault::late(what)))
}

/// A random number from 0 to 1. Each `RandomState` has other keys.
#[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
fn draw() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1_u64 << 53) as f64
}
