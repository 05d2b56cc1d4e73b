//! A client between heartbeats and outages: what the ring's thread hears of its leases, in which order, and what its end
//! does not wait for.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, Store, StoreError, monotonic_clock};
use forebay_ledger::Change;
use forebay_plan::PERMUTATION;
use forebay_proto::v1::{Lease, LedgerSpec};

use super::*;
use crate::consumers::{Inbox, InboxMessage, inbox};

const TTL: Duration = Duration::from_millis(500);

/// A store in memory that can be written or not.
#[derive(Clone, Default)]
struct Disk {
    kept: MemoryStore,
    is_full: Arc<AtomicBool>,
}

impl Store for Disk {
    fn term(&mut self) -> Result<u64, StoreError> {
        self.kept.term()
    }

    fn commands_at_once(&self) -> usize {
        self.kept.commands_at_once()
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.kept.load(prefix)
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        if self.is_full.load(Ordering::SeqCst) {
            return Err(StoreError::new("the disk", "full"));
        }
        self.kept.commit(changes)
    }
}

/// A coordinator whose clock and disk are the test's.
struct Site {
    handle: Handle,
    now: Arc<AtomicU64>,
    is_full: Arc<AtomicBool>,
}

impl Site {
    fn new() -> Self {
        let (disk, now) = (Disk::default(), Arc::new(AtomicU64::new(0)));
        let (is_full, time) = (Arc::clone(&disk.is_full), Arc::clone(&now));
        let clock = Arc::new(move || time.load(Ordering::SeqCst));
        let settings = CoordinatorSettings { lease_ttl: TTL, ..CoordinatorSettings::default() };
        Self { handle: Coordinator::start(disk, clock, settings).unwrap(), now, is_full }
    }

    /// A worker as one of several daemons has it, or as the only one has it.
    async fn worker(&self, name: &str, has_others: bool) -> (Arc<LedgerClient>, Inbox) {
        let spec =
            LedgerSpec { fingerprint: vec![7; 32], records: 20, permutation: PERMUTATION, ..LedgerSpec::default() };
        let (run, stream, worker) = ("run".into(), "stream".into(), name.into());
        let request = OpenRequest { run, stream, worker, spec: Some(spec), lease_size: 10, ..OpenRequest::default() };
        let request = OpenRequest { incarnation: 1, epochs: 1, ..request };
        let (outbox, inbox) = inbox().unwrap();
        let (client, ..) = LedgerClient::open(self.handle.clone(), request, has_others, outbox).await.unwrap();
        (Arc::new(client), inbox)
    }

    fn fill_the_disk(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::SeqCst);
    }
}

/// What the ring's thread was told of leases until now.
fn said(inbox: &Inbox) -> Vec<LedgerEvent> {
    let word = |note| if let InboxMessage::Ledger(word) = note { Some(word) } else { None };
    inbox.messages().unwrap().into_iter().filter_map(word).collect()
}

async fn lease(worker: &LedgerClient) -> Lease {
    worker.acquire(1, 0).await.unwrap().leases[0]
}

/// Asks for a lease in a task, which finds the disk full.
async fn ask_in_an_outage(
    site: &Site,
    worker: &Arc<LedgerClient>,
) -> tokio::task::JoinHandle<Result<AcquireReply, CallError>> {
    site.fill_the_disk(true);
    let asks = Arc::clone(worker);
    let asked = tokio::spawn(async move { asks.acquire(1, 0).await });
    worker.outage().wait_for(Option::is_some).await.unwrap();
    asked
}

#[tokio::test]
async fn rule_19_a_lost_lease_is_told_before_the_deadline_that_the_same_heartbeat_brings() {
    let site = Site::new();
    let (paused, words) = site.worker("paused", true).await;
    let (other, _) = site.worker("other", true).await;
    let lost = lease(&paused).await;
    assert!(matches!(said(&words)[..], [LedgerEvent::Deadline(_)]));
    site.now.fetch_add(2 * 500, Ordering::SeqCst);
    other.heartbeat().await.unwrap();
    paused.heartbeat().await.unwrap();
    let told = said(&words);
    let [LedgerEvent::Lost(leases), LedgerEvent::Deadline(_)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(leases, &[lost.id]);
    paused.heartbeat().await.unwrap();
    assert!(matches!(said(&words)[..], [LedgerEvent::Deadline(_)]), "it is told once");
}

#[tokio::test]
async fn rule_34_a_lease_is_not_used_before_a_heartbeat_has_named_it_if_one_was_sent_without_it() {
    let site = Site::new();
    let (worker, words) = site.worker("one", true).await;
    let asked = ask_in_an_outage(&site, &worker).await;
    // This is answered: it changes nothing on the disk.
    worker.heartbeat().await.unwrap();
    assert_eq!(said(&words).len(), 2);
    site.fill_the_disk(false);
    let granted = asked.await.unwrap().unwrap();
    assert_eq!(granted.leases.len(), 1);
    assert!(matches!(said(&words)[..], [LedgerEvent::Deadline(_)]), "a further one was sent");
    // It was named: with heartbeats it stays for as long as they come.
    for _ in 0..4 {
        site.now.fetch_add(300, Ordering::SeqCst);
        worker.heartbeat().await.unwrap();
    }
    assert!(said(&words).iter().all(|word| matches!(word, LedgerEvent::Deadline(_))));
}

#[tokio::test]
async fn rule_34_the_end_of_a_stream_does_not_wait_for_an_outage() {
    let site = Site::new();
    let (worker, _words) = site.worker("one", true).await;
    let asked = ask_in_an_outage(&site, &worker).await;
    worker.end();
    let given_up = asked.await.unwrap().unwrap_err();
    assert!(matches!(given_up, CallError::Unavailable(_)), "{given_up:?}");
    assert!(worker.give_back(Vec::new()).await.is_ok(), "what the coordinator can answer is still answered");
}

#[tokio::test]
async fn rule_21_the_only_daemon_of_a_ledger_continues_telling_it_while_the_stream_ends() {
    let site = Site::new();
    let (worker, _words) = site.worker("local", false).await;
    let asked = ask_in_an_outage(&site, &worker).await;
    worker.end();
    site.fill_the_disk(false);
    assert_eq!(asked.await.unwrap().unwrap().leases.len(), 1);
}

#[tokio::test]
async fn rule_19_the_only_daemon_of_a_ledger_has_no_deadline() {
    let handle = Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap();
    let site = Site { handle, now: Arc::default(), is_full: Arc::default() };
    let (worker, words) = site.worker("local", false).await;
    worker.heartbeat().await.unwrap();
    assert_eq!(said(&words), [LedgerEvent::Deadline(u64::MAX)]);
}
