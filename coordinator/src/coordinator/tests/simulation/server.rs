//! A simulated process with a coordinator: it answers what has come in turns, and may be killed.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use forebay_ledger::Times;

use super::faults::{Fault, SpoiledStore};
use super::wire::{Answer, Message};
use crate::coordinator::Keeper;
use crate::coordinator::tests::keeper;
use crate::suite::SharedStore;

/// How long things last in a simulation.
pub(super) const TIMES: Times = Times { lease_ttl: 6_000, grace: 800, task: 6_000 };

/// See the module.
pub(super) struct Server {
    number: usize,
    fault: Fault,
    /// The newest version of ledgers that it reads.
    pub(super) ledger_version: u32,
    keeper: Option<Keeper<SpoiledStore>>,
    /// What has come, and waits for the next turn.
    inbox: Vec<Message>,
    /// A turn is to come for what is in the inbox.
    pub(super) is_called: bool,
}

impl Server {
    pub(super) fn new(number: usize, fault: Fault, ledger_version: u32) -> Self {
        Self { number, fault, ledger_version, keeper: None, inbox: Vec::new(), is_called: false }
    }

    pub(super) fn is_up(&self) -> bool {
        self.keeper.is_some()
    }

    pub(super) fn start(&mut self, store: &SharedStore, now: &Arc<AtomicU64>) {
        let store = SpoiledStore::new(store.replica(self.number), self.fault);
        self.keeper = Some(keeper(store, now, TIMES, self.ledger_version));
    }

    pub(super) fn kill(&mut self) {
        self.keeper = None;
        self.inbox.clear();
    }

    pub(super) fn hear(&mut self, mut message: Message) {
        if self.is_up() {
            self.fault.mishear(&mut message.ask);
            self.inbox.push(message);
        }
    }

    /// Answers what has come.
    pub(super) fn turn(&mut self) -> Vec<(Message, Answer)> {
        let Some(keeper) = &mut self.keeper else { return Vec::new() };
        let group = std::mem::take(&mut self.inbox);
        let (calls, answers): (Vec<_>, Vec<_>) = group.iter().map(|message| message.ask.clone().call()).unzip();
        keeper.answer(calls);
        if std::mem::take(&mut keeper.store.is_spoiled) {
            keeper.ledgers = None;
        }
        group.into_iter().zip(answers).map(|(message, answer)| (message, answer())).collect()
    }

    /// The term in which it has read the ledgers that it has in memory.
    pub(super) fn read_in(&self) -> Option<u64> {
        let keeper = self.keeper.as_ref()?;
        keeper.term.filter(|_| keeper.ledgers.is_some())
    }
}
