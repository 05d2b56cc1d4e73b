//! Takes the leadership if no other process has it. The leader has a key in etcd that is bound to a lease, and keeps the
//! lease alive.
//!
//! It polls the key. A watch is a stream of etcd's, which may end without notice.

use std::sync::Arc;
use std::time::Duration;

use forebay_proto::etcd::compare::TargetUnion;
use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::{KeyValue, PutRequest, TxnRequest};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::EtcdSettings;
use super::layout::Layout;
use super::leadership::{Lead, Leadership, boot_time, sure_until};
use super::members::{CallFault, Members};
use super::replicas::Replicas;
use super::transactions::{equal, operation};

/// Most time between two checks of the leader.
const LOOK: Duration = Duration::from_millis(500);
/// Longest address of a leader that is believed, in bytes.
const ADDRESS: usize = 300;

/// One candidate.
pub(super) struct Election {
    members: Members,
    leadership: Arc<Leadership>,
    /// The leader's key, and where this process is reached if it leads.
    key: String,
    advertise: String,
    ttl: Duration,
    replicas: Replicas,
}

impl Election {
    pub(super) fn new(settings: &EtcdSettings, layout: &Layout, members: Members, leadership: Arc<Leadership>) -> Self {
        let replicas = Replicas::new(layout.replicas(), &settings.advertise, settings.ledger_version);
        let (key, advertise) = (layout.leader(), settings.advertise.clone());
        Self { members, leadership, key, advertise, ttl: settings.lease, replicas }
    }

    /// Runs until `end` is notified. Then it gives up the leadership, so that another process may lead at once.
    pub(super) async fn run(mut self, end: &Notify) {
        tokio::select! {
            () = self.stand() => {}
            () = end.notified() => {}
        }
        if let Some(lead) = self.leadership.lead() {
            self.leadership.lost(lead.term, "this process ends");
            self.give_up(lead.lease).await;
        }
    }

    async fn stand(&mut self) {
        loop {
            match self.leadership.lead() {
                None => {
                    self.campaign().await;
                    if self.leadership.lead().is_none() {
                        sleep(LOOK.min(self.ttl / 10)).await;
                    }
                }
                Some(lead) if self.leadership.steps_aside() => {
                    self.leadership.lost(lead.term, "this process cannot read the ledgers");
                    self.give_up(lead.lease).await;
                }
                Some(lead) => {
                    sleep(lead.ttl / 3).await;
                    self.renew(lead).await;
                }
            }
        }
    }

    /// Keeps the lease alive. If etcd does not answer, it is asked again, as long as the lease may still exist.
    async fn renew(&mut self, lead: Lead) {
        // The loop also ends if the store's own calls find that the key is gone.
        while self.leadership.lead().is_some_and(|now| now.term == lead.term) {
            let asked = boot_time();
            match self.keep(lead).await {
                Ok(true) => return self.leadership.renewed(lead.term, asked),
                Ok(false) => self.leadership.lost(lead.term, "the leader's lease has expired, or its key is gone"),
                // Whatever the error is, the lease may still exist.
                Err(fault) => {
                    let why = fault.words();
                    tracing::warn!(why, "the leader's lease was not renewed; it is tried again");
                    sleep(LOOK.min(lead.ttl / 10)).await;
                }
            }
        }
    }

    /// Renews the lease, and checks that the key was not deleted. False if either is gone.
    async fn keep(&mut self, lead: Lead) -> Result<bool, CallFault> {
        if !self.members.call(async |way| way.keep_alive(lead.lease).await).await? {
            return Ok(false);
        }
        self.ask_replicas().await;
        let own = |found: &KeyValue| u64::try_from(found.create_revision) == Ok(lead.term);
        Ok(self.look().await?.is_some_and(|found| own(&found)))
    }

    /// What all replicas read. If that cannot be told now, what was told last holds.
    async fn ask_replicas(&mut self) {
        match self.replicas.read_by_all(&mut self.members).await {
            Ok(version) => self.leadership.replicas_read(version),
            Err(fault) => tracing::debug!(why = fault.words(), "the replicas are not known"),
        }
    }

    /// Says what this replica reads, looks up the leader, and tries to lead if there is none.
    async fn campaign(&mut self) {
        let looked = match self.replicas.announce(&mut self.members).await {
            Ok(()) => self.look().await,
            Err(fault) => Err(fault),
        };
        match looked {
            Err(fault) => self.leadership.fails(fault.words()),
            Ok(Some(found)) => self.follow(&found),
            Ok(None) if self.leadership.steps_aside() => {
                self.leadership.follows(None, "this process cannot read the ledgers".to_owned());
            }
            Ok(None) => {
                if let Err(fault) = self.try_to_lead().await {
                    self.leadership.fails(fault.words());
                }
            }
        }
    }

    async fn try_to_lead(&mut self) -> Result<(), CallFault> {
        let asked = boot_time();
        // etcd counts whole seconds.
        let seconds = i64::try_from(self.ttl.as_secs().max(1)).unwrap_or(i64::MAX);
        let grant = self.members.call(async |way| way.grant(seconds).await).await?;
        let ttl = Duration::from_secs(u64::try_from(grant.ttl).unwrap_or(1)).max(Duration::from_secs(1));
        let (lease, key, value) = (grant.id, self.key.clone().into_bytes(), self.advertise.clone().into_bytes());
        let put = TxnRequest {
            compare: vec![equal(key.clone(), TargetUnion::CreateRevision(0))],
            success: vec![operation(Request::RequestPut(PutRequest { key, value, lease }))],
            failure: Vec::new(),
        };
        let put = self.members.call(async |way| way.txn(put.clone()).await).await;
        let term = match put {
            Ok(reply) if reply.succeeded => reply.header.map(|header| header.revision),
            // It may have been made, and its answer was lost.
            _ => self.look().await?.filter(|found| found.lease == lease).map(|found| found.create_revision),
        };
        match term.and_then(|term| u64::try_from(term).ok()) {
            Some(term) => {
                self.ask_replicas().await;
                tracing::info!(term, "this process begins to lead");
                self.leadership.leads(Lead { term, lease, ttl, until: sure_until(asked, ttl) });
            }
            // Another one was quicker. The next look says who.
            None => self.give_up(lease).await,
        }
        Ok(())
    }

    async fn look(&mut self) -> Result<Option<KeyValue>, CallFault> {
        let key = self.key.clone().into_bytes();
        self.members.call(async |way| way.get(key.clone()).await).await
    }

    fn follow(&self, found: &KeyValue) {
        let address = String::from_utf8(found.value.clone()).ok().filter(|address| address.len() <= ADDRESS);
        let why = match &address {
            Some(address) => format!("the coordinator at {address} leads", address = address.escape_debug()),
            None => "another coordinator leads".to_owned(),
        };
        self.leadership.follows(address, why);
    }

    /// Revokes a lease, and with it the key. If that fails, it expires.
    async fn give_up(&mut self, lease: i64) {
        let revoke = self.members.call(async |way| way.revoke(lease).await);
        drop(timeout(Duration::from_secs(1), revoke).await);
    }
}
