//! Documents in etcd, for several coordinators. One of them leads and writes. If it fails, another takes over.
//!
//! A thread of its own speaks to etcd, so the leader's lease is kept alive whatever the ledgers' thread does.

mod election;
mod layout;
mod leadership;
mod members;
mod replicas;
mod transactions;
mod way;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc as answers;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use forebay_ledger::Change;
use tokio::sync::{Notify, mpsc};

use self::election::Election;
use self::layout::Layout;
use self::leadership::Leadership;
use self::members::Members;
use self::transactions::Transactions;
use super::{Store, StoreError};
use forebay_ledger_client::Address;
use forebay_ledger_client::CertificateFiles;
use forebay_ledger_client::SecretError;

/// Commands that share a commit at most. Each changes about three documents, and etcd takes 128 in a transaction.
const COMMANDS: usize = 32;

/// How etcd is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EtcdSettings {
    /// Its members; there is at least one.
    pub endpoints: Vec<Address>,
    /// The prefix of all keys. Coordinators with the same prefix take over from each other.
    pub prefix: String,
    /// The address at which daemons reach this coordinator.
    pub advertise: String,
    /// For `https`: the certificates of the authorities that may sign the members' certificates.
    pub authority: Option<PathBuf>,
    /// The certificate that this process shows to the members.
    pub certificate: Option<CertificateFiles>,
    /// A user of etcd, and the file with the password.
    pub user: Option<(String, PathBuf)>,
    /// The newest version of ledgers that this process reads: that of this build. Tests act as other builds by it.
    pub ledger_version: u32,
    /// How long a silent leader stays the leader, in whole seconds.
    pub lease: Duration,
    /// How long one call may take. Several must fit into two thirds of the lease.
    pub deadline: Duration,
}

/// See the module. Dropping it ends the leadership.
#[derive(Debug)]
pub struct EtcdStore {
    leadership: Arc<Leadership>,
    orders: mpsc::UnboundedSender<Order>,
    end: Arc<Notify>,
    thread: Option<JoinHandle<()>>,
}

/// Where documents go that were read.
type Found = answers::Sender<Result<Vec<(String, Vec<u8>)>, StoreError>>;

/// An order to the thread, and the channel for its answer.
enum Order {
    Load(String, Found),
    Commit(Vec<Change>, answers::Sender<Result<(), StoreError>>),
}

impl EtcdStore {
    /// Starts the thread, which tries to lead. etcd need not run yet: until it does, calls of the store return an error.
    ///
    /// # Errors
    /// A file of the settings cannot be used, or the system has no thread.
    pub fn open(settings: &EtcdSettings) -> Result<Self, StoreError> {
        let file = |error: SecretError| StoreError::new("Connecting to etcd", error);
        let layout = Layout::new(&settings.prefix);
        let (leadership, end) = (Arc::new(Leadership::new()), Arc::new(Notify::new()));
        let members = Members::new(settings).map_err(file)?;
        let members_of_election = Members::new(settings).map_err(file)?;
        let election = Election::new(settings, &layout, members_of_election, Arc::clone(&leadership));
        let transactions = Transactions::new(layout, members, Arc::clone(&leadership));
        let (orders, asked) = mpsc::unbounded_channel();
        let told = Arc::clone(&end);
        let system = |error: std::io::Error| StoreError::new("Starting the thread that speaks to etcd", error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(system)?;
        let thread = thread::Builder::new()
            .name("forebay-etcd".to_owned())
            .spawn(move || {
                runtime.block_on(async {
                    tokio::join!(election.run(&told), serve(transactions, asked));
                });
            })
            .map_err(system)?;
        Ok(Self { leadership, orders, end, thread: Some(thread) })
    }

    fn order<T>(&self, order: impl FnOnce(answers::Sender<Result<T, StoreError>>) -> Order) -> Result<T, StoreError> {
        let gone = || StoreError::new("Asking etcd", "the thread that speaks to it has ended").unknown();
        let (answer, answered) = answers::channel();
        self.orders.send(order(answer)).map_err(|_| gone())?;
        answered.recv().map_err(|_| gone())?
    }
}

/// Carries out orders one after the other, until the store is dropped.
async fn serve(mut transactions: Transactions, mut orders: mpsc::UnboundedReceiver<Order>) {
    while let Some(order) = orders.recv().await {
        // The store waits for the answer.
        match order {
            Order::Load(start, answer) => drop(answer.send(transactions.load(&start).await)),
            Order::Commit(changes, answer) => drop(answer.send(transactions.commit(&changes).await)),
        }
    }
}

impl Store for EtcdStore {
    fn term(&mut self) -> Result<u64, StoreError> {
        self.leadership.term()
    }

    fn commands_at_once(&self) -> usize {
        COMMANDS
    }

    fn load(&mut self, prefix: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        self.order(|answer| Order::Load(prefix.to_owned(), answer))
    }

    fn commit(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        self.order(|answer| Order::Commit(changes.to_vec(), answer))
    }

    fn read_by_replicas(&self) -> u32 {
        self.leadership.read_by_replicas()
    }

    fn stand_back(&mut self, why: &str) {
        if !self.leadership.steps_aside() {
            tracing::error!(why, "this coordinator cannot read the ledgers, and lets another one lead");
        }
        self.leadership.stand_back();
    }
}

impl Drop for EtcdStore {
    fn drop(&mut self) {
        let (closed, _) = mpsc::unbounded_channel();
        drop(std::mem::replace(&mut self.orders, closed));
        self.end.notify_one();
        if let Some(thread) = self.thread.take() {
            // Its panic has been told already.
            drop(thread.join());
        }
    }
}
