//! Whether this process leads, and until when that is sure. Two tasks and the store itself use it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

use crate::store::StoreError;

/// A term of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lead {
    /// The revision in which the key was made that says who leads.
    pub term: u64,
    /// The lease that keeps the key.
    pub lease: i64,
    /// How long etcd keeps the lease without a renewal.
    pub ttl: Duration,
    /// Nanosecond of `CLOCK_BOOTTIME` until which nothing that was read is out of date.
    pub until: u64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Leadership {
    lead: Mutex<Result<Lead, Follows>>,
    /// The newest version of ledgers that all replicas read, as of the last look; 0 before the first.
    read_by_replicas: AtomicU32,
    /// When this process last found ledgers that it cannot read.
    stood_back: Mutex<Option<Instant>>,
}

/// How long a process that cannot read the ledgers does not try to lead.
const STEPS_ASIDE: Duration = Duration::from_secs(60);

/// Why it does not lead.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Follows {
    leader: Option<String>,
    why: String,
    /// It cannot be told who leads.
    fails: bool,
}

impl Leadership {
    pub(super) fn new() -> Self {
        let why = "etcd was not asked yet".to_owned();
        let lead = Mutex::new(Err(Follows { leader: None, why, fails: false }));
        Self { lead, read_by_replicas: AtomicU32::new(0), stood_back: Mutex::new(None) }
    }

    /// The newest version of ledgers that all replicas read; 0 while that is not known.
    pub(super) fn read_by_replicas(&self) -> u32 {
        self.read_by_replicas.load(Ordering::Relaxed)
    }

    /// The replicas were asked.
    pub(super) fn replicas_read(&self, version: u32) {
        self.read_by_replicas.store(version, Ordering::Relaxed);
    }

    /// This process cannot read the ledgers.
    pub(super) fn stand_back(&self) {
        *self.stood_back.lock() = Some(Instant::now());
    }

    /// Whether it lets others lead.
    pub(super) fn steps_aside(&self) -> bool {
        self.stood_back.lock().is_some_and(|since| since.elapsed() < STEPS_ASIDE)
    }

    /// The term, as long as it is sure that no other process leads.
    ///
    /// # Errors
    /// Leadership is uncertain, or another process leads ([`NotLeader`](crate::store::StoreFault::NotLeader)).
    pub(super) fn term(&self) -> Result<u64, StoreError> {
        self.term_at(boot_time())
    }

    fn term_at(&self, now: u64) -> Result<u64, StoreError> {
        let unsure = |why: &str| StoreError::new("Asking etcd who leads", why);
        match &*self.lead.lock() {
            Ok(lead) if now < lead.until => Ok(lead.term),
            Ok(_) => Err(unsure("etcd has not been heard for two thirds of the leader's lease")),
            Err(Follows { why, fails: true, .. }) => Err(unsure(why)),
            Err(Follows { leader, why, fails: false }) => Err(unsure(why).not_leader(leader.clone())),
        }
    }

    /// The lease to be kept alive, however late it is.
    pub(super) fn lead(&self) -> Option<Lead> {
        self.lead.lock().as_ref().ok().copied()
    }

    /// A term begins.
    pub(super) fn leads(&self, lead: Lead) {
        *self.lead.lock() = Ok(lead);
    }

    /// The lease of this term was renewed by what was sent at this nanosecond.
    pub(super) fn renewed(&self, term: u64, asked: u64) {
        if let Ok(lead) = &mut *self.lead.lock()
            && lead.term == term
        {
            lead.until = lead.until.max(sure_until(asked, lead.ttl));
        }
    }

    /// The term is over.
    pub(super) fn lost(&self, term: u64, why: &str) {
        let mut lead = self.lead.lock();
        if lead.as_ref().is_ok_and(|lead| lead.term == term) {
            *lead = Err(Follows { leader: None, why: why.to_owned(), fails: false });
        }
    }

    /// Another process leads, and its address may be known.
    pub(super) fn follows(&self, leader: Option<String>, why: String) {
        *self.lead.lock() = Err(Follows { leader, why, fails: false });
    }

    /// It does not lead, and etcd cannot be asked who does.
    pub(super) fn fails(&self, why: String) {
        *self.lead.lock() = Err(Follows { leader: None, why, fails: true });
    }
}

/// Two thirds of a lease that was asked for at this nanosecond.
pub(super) fn sure_until(asked: u64, ttl: Duration) -> u64 {
    asked.saturating_add(u64::try_from(ttl.as_nanos() / 3 * 2).unwrap_or(u64::MAX))
}

/// Nanoseconds on the clock that also counts while the machine is suspended.
pub(super) fn boot_time() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(now.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::StoreFault;

    const TTL: Duration = Duration::from_nanos(900);

    fn leads(from: u64) -> Leadership {
        let leadership = Leadership::new();
        leadership.leads(Lead { term: 7, lease: 1, ttl: TTL, until: sure_until(from, TTL) });
        leadership
    }

    #[test]
    fn a_leader_is_none_any_more_after_two_thirds_of_its_lease_and_is_one_again_when_it_is_renewed() {
        let leadership = leads(100);
        assert_eq!(leadership.term_at(699).unwrap(), 7);
        let late = leadership.term_at(700).unwrap_err();
        assert_eq!(*late.fault(), StoreFault::Failed, "nobody knows who leads");
        assert!(leadership.lead().is_some(), "the lease may still be there");
        leadership.renewed(7, 800);
        assert_eq!(leadership.term_at(1399).unwrap(), 7);
        leadership.renewed(7, 0);
        assert_eq!(leadership.term_at(1399).unwrap(), 7, "an answer that comes late shortens nothing");
        leadership.renewed(8, 9000);
        leadership.term_at(1400).unwrap_err();
    }

    #[test]
    fn what_is_heard_of_an_earlier_term_does_not_end_this_one() {
        let leadership = leads(0);
        leadership.lost(6, "late");
        assert_eq!(leadership.term_at(1).unwrap(), 7);
        leadership.lost(7, "its key is gone");
        assert!(leadership.term_at(1).unwrap_err().to_string().contains("its key is gone"));
        leadership.renewed(7, 5);
        leadership.term_at(1).unwrap_err();
        leadership.follows(Some("http://b:1".into()), "b leads".into());
        let known = StoreFault::NotLeader { leader: Some("http://b:1".into()) };
        assert_eq!(*leadership.term_at(1).unwrap_err().fault(), known);
    }

    #[test]
    fn an_etcd_that_cannot_be_asked_is_a_failure_and_one_that_was_not_asked_yet_is_none() {
        let leadership = Leadership::new();
        assert_eq!(*leadership.term_at(1).unwrap_err().fault(), StoreFault::NotLeader { leader: None });
        leadership.fails("connection refused".into());
        let error = leadership.term_at(1).unwrap_err();
        assert!(*error.fault() == StoreFault::Failed && error.to_string().contains("refused"), "{error}");
    }
}
