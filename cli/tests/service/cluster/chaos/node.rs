//! A node in trouble: a daemon behind proxies, and its trainer, which takes a batch now and then.

use std::fs;
use std::time::{Duration, Instant};

use forebay_client::State;
use forebay_coordinator::suite::Random;
use rustix::process::Signal;

use super::BAD;
use super::proxy::{Gate, Proxy};
use crate::daemon::{Daemon, Home};
use crate::trainer::{Event, Puppet};

/// Most milliseconds between two batches of a trainer.
const PAUSE: u64 = 300;

/// See the module.
pub(super) struct TroubledNode {
    pub(super) name: String,
    pictures: u64,
    proxies: Vec<Proxy>,
    home: Home,
    daemon: Option<Daemon>,
    trainer: Option<Puppet>,
    /// Its trainers keep the view of a batch until they have the next one.
    keeps: bool,
    /// When the trainer asks for its next batch. Nothing while it waits for one.
    asks_at: Option<Instant>,
    /// What trainers were told that are gone, and the one that is here.
    pub(super) told: Vec<Event>,
    pub(super) is_done: bool,
    /// Whether anything has happened to it, beyond what happened to the coordinators.
    is_troubled: bool,
}

impl TroubledNode {
    pub(super) fn start(name: &str, pictures: u64, settings: &str, ports: &[u16]) -> Self {
        Self::begin(name, pictures, settings, ports, false)
    }

    /// One whose trainers keep the view of a batch until they have the next one.
    pub(super) fn start_keeper(name: &str, pictures: u64, settings: &str, ports: &[u16]) -> Self {
        Self::begin(name, pictures, settings, ports, true)
    }

    fn begin(name: &str, pictures: u64, settings: &str, ports: &[u16], keeps: bool) -> Self {
        let proxies: Vec<Proxy> = ports.iter().map(|port| Proxy::to(*port)).collect();
        let home = home(name, pictures, settings, &proxies);
        let daemon = Some(home.start());
        let trainer = Some(puppet(&home, keeps));
        let asks_at = Some(Instant::now());
        let name = name.to_owned();
        let (told, is_done, is_troubled) = (Vec::new(), false, false);
        Self { name, pictures, proxies, home, daemon, trainer, keeps, asks_at, told, is_done, is_troubled }
    }

    /// How many records of an epoch its trainers have seen.
    pub(super) fn seen_of(&self, epoch: u64) -> u64 {
        let of_event = |event: &Event| match event {
            Event::Batch(seen) if seen.epoch == epoch => seen.own.len() as u64,
            _ => 0,
        };
        self.told.iter().map(of_event).sum()
    }

    /// The state of its trainer, which has not asked for a batch yet.
    pub(super) fn state(&mut self) -> State {
        self.trainer.as_mut().expect("it is there").state()
    }

    /// Its trainer asks for nothing more, once it was answered.
    pub(super) fn rests(&mut self) {
        if self.asks_at.is_none() {
            let event = self.trainer.as_ref().expect("it is there").told();
            assert!(matches!(event, Event::Batch(_)), "the trainer of {}: {event:?}", self.name);
            self.told.push(event);
        }
        self.asks_at = Some(Instant::now());
    }

    /// Its trainer loads a state. What it was told before does not count.
    pub(super) fn load(&mut self, state: &State, id: &str) {
        self.trainer.as_mut().expect("it is there").load(state, id);
        self.told.clear();
        self.asks_at = Some(Instant::now());
    }

    /// The trainer hears what it is told, and asks if it is time for that.
    pub(super) fn turn(&mut self, random: &mut Random) {
        let Some(trainer) = &mut self.trainer else { return };
        for event in trainer.heard() {
            self.is_done |= event == Event::Done;
            assert!(!matches!(event, Event::Failed(_)), "the trainer of {}: {event:?}", self.name);
            self.asks_at = Some(Instant::now() + Duration::from_millis(random.below(PAUSE)));
            self.told.push(event);
        }
        if !self.is_done && self.asks_at.is_some_and(|at| at <= Instant::now()) {
            trainer.ask();
            self.asks_at = None;
        }
    }

    pub(super) fn kill(&mut self) {
        self.is_troubled = true;
        self.daemon.take().expect("it runs").kill();
    }

    pub(super) fn signal(&mut self, signal: Signal) {
        self.is_troubled = true;
        self.daemon.as_ref().expect("it runs").signal(signal);
    }

    pub(super) fn restart(&mut self) {
        self.daemon = Some(self.home.start());
    }

    pub(super) fn kill_trainer(&mut self) {
        self.is_troubled = true;
        let mut trainer = self.trainer.take().expect("it is there");
        self.told.extend(trainer.kill());
    }

    pub(super) fn attach(&mut self) {
        self.trainer = Some(puppet(&self.home, self.keeps));
        (self.asks_at, self.is_done) = (Some(Instant::now()), false);
    }

    /// Another daemon with this name is started while this one runs. The trainer of this one is told so, and attaches to the
    /// other one.
    pub(super) fn start_twice(&mut self, settings: &str) {
        let other = home(&self.name, self.pictures, settings, &self.proxies);
        let daemon = other.start();
        let trainer = self.trainer.as_mut().expect("it is there");
        if !self.is_done {
            if self.asks_at.is_some() {
                trainer.ask();
            }
            loop {
                match trainer.told() {
                    Event::Failed(why) => {
                        assert!(why.contains("node in [coordinator]"), "{why}");
                        break;
                    }
                    Event::Done => break,
                    event => self.told.push(event),
                }
                trainer.ask();
            }
        }
        self.kill_trainer();
        self.kill();
        (self.home, self.daemon) = (other, Some(daemon));
        self.attach();
    }

    /// Whether nothing has happened to it, and no lease has expired because the machine was busy. Its daemon ends.
    pub(super) fn is_spared(&mut self) -> bool {
        let said = self.daemon.as_mut().expect("it runs").last_words();
        !self.is_troubled && !said.contains("this daemon has their leases no longer")
    }

    /// The coordinators are out of reach for what the node says, or for what it is told, or for both.
    pub(super) fn cut(&mut self, random: &mut Random) {
        self.is_troubled = true;
        let kind = random.below(4);
        for proxy in &self.proxies {
            match kind {
                0 => proxy.requests(Gate::Held),
                1 => proxy.replies(Gate::Held),
                2 => proxy.replies(Gate::CutAfter(0)),
                _ => proxy.hang_up(),
            }
        }
    }

    pub(super) fn join(&self) {
        self.proxies.iter().for_each(Proxy::open);
    }
}

fn puppet(home: &Home, keeps: bool) -> Puppet {
    if keeps { Puppet::keeper(home) } else { Puppet::attach(home) }
}

fn home(name: &str, pictures: u64, settings: &str, proxies: &[Proxy]) -> Home {
    let home = Home::with_pictures(pictures);
    fs::write(home.picture(BAD), "this is no picture").unwrap();
    let endpoints: Vec<String> = proxies.iter().map(|proxy| format!("http://127.0.0.1:{}", proxy.port)).collect();
    let text = format!(
        "[prefetch]\nbudget = \"4kb\"\n[control]\ndir = \"{}\"\n[coordinator]\nendpoint = \"{}\"\nnode = \"{name}\"\n{}",
        home.path("sockets").display(),
        endpoints.join(","),
        home.train(settings)
    );
    fs::write(home.path("forebay.toml"), text).unwrap();
    home
}
