//! A simulated cluster: daemons, two coordinators on one store, and all that may happen to them. One seed is one history.

mod trainers;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forebay_ledger::Ledgers;
use forebay_plan::Plan;
use forebay_plan::{Verdict, audit};
use forebay_proto::v1::{LedgerSpec, OpenRequest};
use forebay_proto::{RecordSum, Turn};

use super::daemon::{Shape, SimulatedDaemon};
use super::faults::{Fault, narrow_order};
use super::network::{Direction, Network, Trouble};
use super::observer::Observer;
use super::server::{Server, TIMES};
use super::setting::{NEXT_VERSION, Setting, Tale};
use super::trainer::SimulatedTrainer;
use super::wire::{Answer, Message};
use crate::suite::{CommitFailure, Invariant, Place, Random, SharedStore, Violation};

/// How long a coordinator waits at most until its next turn.
const TURN: u64 = 400;

enum Event {
    Tick(usize),
    Asked(usize, Message),
    Told(usize, Message, Answer),
    /// A turn of a coordinator: one for what has come, or one of those that come anyway.
    Turn(usize, bool),
    Strike,
    StartDaemon(usize),
    /// A trainer comes to a daemon.
    Comes(u64),
    StartServer(usize),
    IsSure,
    Calm,
}

/// See the module.
pub(super) struct World {
    random: Random,
    setting: Setting,
    shape: Shape,
    record: Box<dyn Fn(Place) -> u64>,
    clock: Arc<AtomicU64>,
    now: u64,
    /// By time, and then as they were put here.
    events: BTreeMap<(u64, u64), Event>,
    number: u64,
    network: Network,
    store: SharedStore,
    leader: usize,
    servers: Vec<Server>,
    stalled: [u64; 2],
    daemons: Vec<SimulatedDaemon>,
    /// By their numbers.
    trainers: BTreeMap<u64, SimulatedTrainer>,
    observer: Observer,
    read_in: Vec<Option<u64>>,
    is_calm: bool,
    tale: Tale,
}

impl World {
    pub(super) fn new(seed: u64, setting: Setting, fault: Fault) -> Self {
        let spec = LedgerSpec {
            fingerprint: vec![1; 32],
            records: setting.records,
            shuffle: true,
            seed: 7,
            permutation: 1,
            ..LedgerSpec::default()
        };
        let plan = Plan::new(&spec).expect("a spec");
        let open = OpenRequest {
            run: "run".to_owned(),
            stream: "train".to_owned(),
            spec: Some(spec),
            lease_size: setting.lease_size,
            epochs: setting.epochs,
            names_trainers: true,
            ledger_version: NEXT_VERSION,
            ..OpenRequest::default()
        };
        let order = |of: Plan| -> Box<dyn Fn(Place) -> u64> {
            if fault == Fault::NarrowBlocks {
                let narrow = narrow_order(of.spec().records);
                return Box::new(move |place| narrow(place.1));
            }
            Box::new(move |place| of.record(place.0, place.1))
        };
        let (record, own, of_killer) = (order(plan.clone()), order(plan.clone()), order(plan.clone()));
        let killer = move |epoch, position| Some(of_killer((epoch, position))).filter(|it| *it < setting.killers);
        let sum = move |epoch, positions: Range<u64>| -> RecordSum {
            positions.map(|position| Turn::first(own((epoch, position)))).collect()
        };
        let mut world = Self {
            random: Random::new(seed),
            setting,
            shape: Shape { open, portion: setting.portion, sum: Box::new(sum), killer: Box::new(killer) },
            record,
            clock: Arc::new(AtomicU64::new(1)),
            now: 1,
            events: BTreeMap::new(),
            number: 0,
            network: Network::new(setting.storm == 0 || setting.outlives()),
            store: SharedStore::default(),
            leader: 0,
            servers: vec![Server::new(0, fault, NEXT_VERSION), Server::new(1, fault, setting.version_of_second())],
            stalled: [0; 2],
            daemons: Vec::new(),
            trainers: BTreeMap::new(),
            observer: Observer::new(plan, setting.epochs),
            read_in: vec![None; 2],
            is_calm: setting.storm == 0,
            tale: Tale::default(),
        };
        world.store.replicas_read(setting.version_of_second());
        world.store.name_replicas(["http://first:1", "http://second:1"].map(str::to_owned));
        for server in 0..2 {
            world.start_server(server);
            world.after(TURN, Event::Turn(server, true));
        }
        (0..setting.workers).for_each(|worker| world.start_daemon(worker));
        if setting.storm > 0 {
            world.after(500, Event::Strike);
            world.after(setting.storm, Event::Calm);
        }
        world
    }

    /// Lets everything happen until all epochs are over.
    pub(super) fn run(mut self) -> Result<Tale, Violation> {
        let until = self.setting.storm + self.setting.calm;
        // All coordinators read the next version by then.
        let is_upgraded = |world: &Self| world.observer.stored.head.version == NEXT_VERSION;
        while !(self.is_calm && self.observer.is_over() && self.everybody_knows() && is_upgraded(&self)) {
            let ((at, _), event) = self.events.pop_first().expect("coordinators have turns for ever");
            Invariant::Ends.check(at < until, || {
                format!("the epochs go on after {until} ms: {:?}; {:#?}", self.observer.stored.leases, self.daemons)
            })?;
            self.now = at;
            self.clock.store(at, Ordering::SeqCst);
            self.happens(event)?;
        }
        self.tale.repeated = self.observer.ends(&self.record)?;
        let killers = 0..self.setting.killers;
        let healthy = self.observer.stored.quarantine.iter().find(|(_, record)| !killers.contains(record));
        Invariant::NothingLost.check(healthy.is_none(), || format!("{healthy:?} is in quarantine, and is not bad"))?;
        self.check_audit()?;
        self.tale.millis = self.now;
        self.tale.commits = self.store.commits();
        Ok(self.tale)
    }

    fn everybody_knows(&self) -> bool {
        self.daemons.iter().all(|daemon| daemon.is_done || !daemon.is_up())
    }

    /// The ledger's own account, and that it names what was seen twice.
    fn check_audit(&mut self) -> Result<(), Violation> {
        let ledgers = Ledgers::load_up_to(NEXT_VERSION, &self.store.documents(), TIMES, 0);
        let mut ledgers = ledgers.map_err(|why| Violation { invariant: Invariant::Durable, what: why.to_string() })?;
        let reply = ledgers.get("run/train/all").expect("the ledger").audit(0);
        let epochs = audit(&reply, |_| ()).expect("a spec");
        for epoch in &epochs {
            Invariant::NothingLost.check(epoch.verdict == Verdict::AddsUp, || epoch.to_string())?;
        }
        let named: u64 = epochs.iter().map(|epoch| epoch.repeats.total()).sum();
        let seen = self.tale.repeated;
        self.tale.named = named;
        Invariant::RepeatsExplained.check(named >= seen, || format!("{seen} records came again, {named} are named"))
    }

    fn after(&mut self, millis: u64, event: Event) {
        self.number += 1;
        self.events.insert((self.now + millis, self.number), event);
    }

    fn happens(&mut self, event: Event) -> Result<(), Violation> {
        match event {
            Event::Tick(number) => return self.tick(number),
            Event::Asked(server, message) => {
                self.servers[server].hear(message);
                if !std::mem::replace(&mut self.servers[server].is_called, true) {
                    let wait = self.random.below(6);
                    self.after(wait, Event::Turn(server, false));
                }
            }
            Event::Told(number, message, answer) => {
                let stopped = self.daemons[number].stopped_until;
                if stopped > self.now {
                    self.after(stopped - self.now, Event::Told(number, message, answer));
                } else if self.daemons[number].is_up() {
                    self.daemons[number].hear(&message, answer, self.now)?;
                    if !self.daemons[number].is_up() {
                        self.tale.fenced += 1;
                        self.send_trainers_home(number);
                    }
                }
            }
            Event::Turn(server, is_regular) => {
                if is_regular {
                    self.after(TURN, Event::Turn(server, true));
                }
                if self.stalled[server] > self.now {
                    self.after(self.stalled[server] - self.now, Event::Turn(server, false));
                    return Ok(());
                }
                return self.turn(server);
            }
            Event::Strike => {
                if !self.is_calm {
                    self.strike();
                    let pause = 300 + self.random.below(3_000);
                    self.after(pause, Event::Strike);
                }
            }
            Event::StartDaemon(worker) => self.start_daemon(worker),
            Event::Comes(trainer) => self.comes(trainer),
            Event::StartServer(server) => self.start_server(server),
            Event::IsSure => self.store.make_unsure(false),
            Event::Calm => self.calm(),
        }
        Ok(())
    }

    fn tick(&mut self, number: usize) -> Result<(), Violation> {
        let daemon = &mut self.daemons[number];
        if !daemon.is_up() {
            return Ok(());
        }
        if daemon.stopped_until > self.now {
            let wait = daemon.stopped_until - self.now;
            self.after(wait, Event::Tick(number));
            return Ok(());
        }
        let effects = daemon.tick(number, self.now, &mut self.random, &self.shape);
        if let Some((trainer, lease, positions)) = effects.delivered {
            self.give(trainer, &lease, positions.clone());
            self.observer.delivers(&self.daemons[number], number, lease, positions)?;
        }
        if effects.ends {
            self.tale.ended += 1;
            self.end_daemon(number);
            return Ok(());
        }
        for (server, message) in effects.sent {
            for at in self.network.arrivals((number, server, Direction::Request), self.now, &mut self.random) {
                self.after(at - self.now, Event::Asked(server, message.clone()));
            }
        }
        let pause = 40 + self.random.below(200);
        self.after(pause, Event::Tick(number));
        Ok(())
    }

    fn turn(&mut self, server: usize) -> Result<(), Violation> {
        self.servers[server].is_called = false;
        let before = self.store.commits();
        let answered = self.servers[server].turn();
        self.tale.messages += answered.len() as u64;
        let read_in = self.servers[server].read_in();
        if self.read_in[server] != read_in {
            self.read_in[server] = read_in;
            self.observer.begins_again();
        }
        if self.store.commits() > before || !answered.is_empty() {
            self.observer.turned(&answered, &self.store.documents(), &self.daemons)?;
            let (written, second) = (self.observer.stored.head.version, self.servers[1].ledger_version);
            Invariant::Durable
                .check(written <= second, || format!("version {written}; a replica reads up to {second}"))?;
        }
        // A coordinator may be killed between a commit and its replies.
        if !self.is_calm && !answered.is_empty() && self.random.once_in(400) {
            self.kill_server(server);
            return Ok(());
        }
        for (message, answer) in answered {
            let link = (message.from, server, Direction::Reply);
            for at in self.network.arrivals(link, self.now, &mut self.random) {
                self.after(at - self.now, Event::Told(message.from, message.clone(), answer.clone()));
            }
        }
        Ok(())
    }

    fn start_daemon(&mut self, worker: usize) {
        self.fill_up_trainers(worker);
        let number = self.daemons.len();
        self.daemons.push(SimulatedDaemon::new(worker, 1 + number as u64));
        self.after(1, Event::Tick(number));
    }

    /// A daemon ends as in a crash, and starts again after a while.
    fn end_daemon(&mut self, number: usize) {
        self.daemons[number].end();
        self.send_trainers_home(number);
        let most = if self.setting.outlives() { TIMES.lease_ttl / 4 } else { 5_000 };
        let least = if self.setting.is_late { TIMES.lease_ttl + TURN } else { 100 };
        let wait = least + self.random.below(most);
        self.after(wait, Event::StartDaemon(self.daemons[number].worker));
    }

    fn start_server(&mut self, server: usize) {
        if !self.servers[server].is_up() {
            self.servers[server].start(&self.store, &self.clock);
        }
    }

    fn kill_server(&mut self, server: usize) {
        self.servers[server].kill();
        self.read_in[server] = None;
        self.observer.begins_again();
        let wait = 200 + self.random.below(4_000);
        self.after(wait, Event::StartServer(server));
    }

    /// Something happens to somebody.
    fn strike(&mut self) {
        let until = self.now + 500 + self.random.below(12_000);
        let kinds = if self.setting.only_kills { 3..4 } else { 0..10 };
        let number = usize::try_from(self.random.below(self.daemons.len() as u64)).expect("an index");
        let server = usize::from(self.random.once_in(2));
        match kinds.start + self.random.below(kinds.end - kinds.start) {
            kind @ 0..=2 => {
                let trouble = if kind == 2 { Trouble::Held } else { Trouble::Lost };
                let choices: [&[Direction]; 3] =
                    [&[Direction::Request], &[Direction::Reply], &[Direction::Request, Direction::Reply]];
                let directions = *self.random.choose(&choices);
                let both = self.random.once_in(2);
                for direction in directions {
                    for server in (0..2).filter(|other| both || *other == server) {
                        self.network.trouble((number, server, *direction), trouble, until);
                    }
                }
            }
            3 => {
                if self.daemons[number].is_up() {
                    self.tale.killed += 1;
                    self.end_daemon(number);
                }
            }
            4 => self.daemons[number].stopped_until = until,
            // It is started while it runs.
            5 if self.daemons[number].is_up() => self.start_daemon(self.daemons[number].worker),
            5 | 6 => self.kill_server(server),
            7 => {
                self.leader = 1 - self.leader;
                self.store.elect(self.leader);
                self.tale.elections += 1;
            }
            8 => {
                let failures = [
                    CommitFailure::Failed,
                    CommitFailure::Before,
                    CommitFailure::After,
                    CommitFailure::Late,
                    CommitFailure::Deposed,
                ];
                let failure = *self.random.choose(&failures);
                self.store.fail_at(1 + self.random.below(3), failure);
                self.tale.failed_commits += 1;
            }
            _ => {
                if self.random.once_in(2) {
                    self.stalled[server] = until;
                } else {
                    self.store.make_unsure(true);
                    let wait = 200 + self.random.below(3_000);
                    self.after(wait, Event::IsSure);
                }
            }
        }
    }

    /// Nothing happens to anybody any more, and everybody is there.
    fn calm(&mut self) {
        self.is_calm = true;
        self.network.heal();
        self.stalled = [0; 2];
        if self.setting.is_upgraded {
            self.kill_server(1);
            self.servers[1].ledger_version = NEXT_VERSION;
            self.store.replicas_read(NEXT_VERSION);
        }
        self.daemons.iter_mut().for_each(|daemon| daemon.stopped_until = 0);
        (0..2).for_each(|server| self.start_server(server));
        for worker in 0..self.setting.workers {
            if !self.daemons.iter().any(|daemon| daemon.worker == worker && daemon.is_up()) {
                self.start_daemon(worker);
            }
        }
    }
}
