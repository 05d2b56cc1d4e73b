//! Trainers: this process, and children that do what they are told.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crossbeam_channel::{self as channel, RecvTimeoutError};
use forebay_client::{AttachError, Batch, Next, Options, Patient, Session, State, Target};
use serde::{Deserialize, Serialize};

use crate::daemon::{Home, PATIENCE, lines};
use crate::part::{MARK, Order, Role, command};

/// What a trainer was told by `next()`, as it writes it down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Event {
    Batch(Seen),
    EpochEnd(u64),
    Done,
    /// An error, in words.
    Failed(String),
    /// The answer to an order that gives nothing.
    Well,
    State(Vec<u8>),
}

/// A batch that a trainer saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) epoch: u64,
    pub(crate) seq: u64,
    /// Records of the places that the user sees.
    pub(crate) records: Vec<i64>,
    /// The epoch's own among all places.
    pub(crate) own: Vec<u64>,
}

/// This process as a trainer of `train`.
pub(crate) struct Trainer {
    pub(crate) session: Session,
}

/// A child as a trainer of `train`. It is killed with the test.
pub(crate) struct Puppet {
    child: Child,
    orders: Option<ChildStdin>,
    told: channel::Receiver<String>,
}

impl Seen {
    pub(crate) fn of(batch: &Batch) -> Self {
        let places = batch.records().iter().zip(batch.mask());
        let own = places.filter(|(_, mask)| **mask != 0).map(|(record, _)| u64::try_from(*record).unwrap());
        Self {
            epoch: batch.epoch(),
            seq: batch.seq(),
            records: batch.records()[..batch.shown()].to_vec(),
            own: own.collect(),
        }
    }
}

impl Event {
    /// The batch that it must be.
    #[track_caller]
    pub(crate) fn batch(self) -> Seen {
        match self {
            Self::Batch(seen) => seen,
            other => panic!("{other:?} came in place of a batch"),
        }
    }
}

impl Trainer {
    pub(crate) fn attach(home: &Home) -> Self {
        Self::with(home, options()).unwrap()
    }

    /// This process as a trainer of another stream.
    pub(crate) fn attach_to(home: &Home, stream: &str) -> Self {
        Self { session: Session::attach(target(&home.socket(), stream, None), options(), &mut Patient).unwrap() }
    }

    pub(crate) fn with(home: &Home, options: Options) -> Result<Self, AttachError> {
        let session = Session::attach(target(&home.socket(), "train", None), options, &mut Patient)?;
        Ok(Self { session })
    }

    /// Acks what is in hand and takes what comes next.
    pub(crate) fn next(&mut self) -> Event {
        next(&mut self.session)
    }

    /// Everything up to the end of the epoch, or of the stream.
    #[track_caller]
    pub(crate) fn epoch(&mut self) -> Vec<Seen> {
        let mut all = Vec::new();
        loop {
            match self.next() {
                Event::Batch(seen) => all.push(seen),
                Event::EpochEnd(_) | Event::Done => return all,
                other => panic!("{other:?} came in the middle of an epoch"),
            }
        }
    }
}

impl Puppet {
    /// A trainer that may have as many batches in its hands as its stream gives.
    pub(crate) fn attach(home: &Home) -> Self {
        Self::play(home, 0, None)
    }

    /// A trainer that keeps the view of a batch until it has the next one.
    pub(crate) fn keeper(home: &Home) -> Self {
        Self::begin(&Role { socket: home.socket(), keeps: true, ..Role::default() })
    }

    /// A trainer that may have one.
    pub(crate) fn with_one_credit(home: &Home) -> Self {
        Self::play(home, 1, None)
    }

    /// The trainer of one shard.
    pub(crate) fn of_shard(home: &Home, id: u32, count: u32) -> Self {
        Self::play(home, 0, Some((id, count)))
    }

    /// A trainer of a group, or one that is a group by itself; a `late` one begins with the next epoch.
    pub(crate) fn of_group(home: &Home, group: Option<&str>, late: bool) -> Self {
        let group = group.map(str::to_owned);
        Self::begin(&Role { socket: home.socket(), credits: 2, group, late, ..Role::default() })
    }

    fn play(home: &Home, credits: u32, shard: Option<(u32, u32)>) -> Self {
        Self::begin(&Role { socket: home.socket(), credits, shard, ..Role::default() })
    }

    fn begin(role: &Role) -> Self {
        let puppet = Self::spawn(&mut command(&std::env::current_exe().unwrap(), role));
        assert_eq!(puppet.told(), Event::Well, "it has attached");
        puppet
    }

    /// Runs a trainer as another user, and gives what it was told in answer to its request.
    pub(crate) fn answer_to_user(home: &Home, program: &Path, uid: u32, gid: u32) -> Event {
        let role = Role { socket: home.socket(), credits: 2, ..Role::default() };
        Self::spawn(command(program, &role).uid(uid).gid(gid).current_dir("/")).told()
    }

    /// The same, with these supplementary groups.
    pub(crate) fn answer_to_groups(home: &Home, program: &Path, user: u32, groups: &[u32]) -> Event {
        let role = Role { socket: home.socket(), credits: 2, ..Role::default() };
        let trainer = command(program, &role);
        let groups = groups.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mut begun = Command::new("setpriv");
        begun.args([format!("--reuid={user}"), format!("--regid={user}"), format!("--groups={groups}")]).arg("--");
        begun.arg(trainer.get_program()).args(trainer.get_args()).current_dir("/");
        begun.envs(trainer.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self::spawn(&mut begun).told()
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a child");
        let told = lines(child.stdout.take().unwrap());
        let orders = child.stdin.take();
        Self { child, orders, told }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// One `next()`, with its answer.
    pub(crate) fn next(&mut self) -> Event {
        self.ask();
        self.told()
    }

    /// One `next()`, which may have to wait: the answer is read later.
    pub(crate) fn ask(&mut self) {
        self.order(&Order::Next);
    }

    /// `next()` until the stream's end: the events are read later.
    pub(crate) fn run(&mut self) {
        self.order(&Order::Run);
    }

    /// Runs to the stream's end, with all events.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        self.run();
        self.rest()
    }

    /// Reads on until the stream's end.
    pub(crate) fn rest(&self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            match self.told() {
                Event::Done => return events,
                event @ Event::Failed(_) => panic!("{event:?}"),
                event => events.push(event),
            }
        }
    }

    pub(crate) fn state(&mut self) -> State {
        self.order(&Order::State);
        match self.told() {
            Event::State(bytes) => State::from_bytes(&bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn restore(&mut self, state: &State) {
        self.order(&Order::Restore(state.to_bytes()));
        assert_eq!(self.told(), Event::Well);
    }

    /// Restores a state together with other ranks.
    pub(crate) fn load(&mut self, state: &State, id: &str) {
        self.order(&Order::Load(state.to_bytes(), id.to_owned()));
        assert_eq!(self.told(), Event::Well);
    }

    /// Consumes so many batches and closes, but keeps views of them until it is killed.
    pub(crate) fn leave(&mut self, batches: u32) -> Vec<Seen> {
        self.order(&Order::Leave(batches));
        let seen = (0..batches).map(|_| self.told().batch()).collect();
        assert_eq!(self.told(), Event::Well);
        seen
    }

    pub(crate) fn close(mut self) {
        self.order(&Order::Close);
        assert_eq!(self.told(), Event::Well);
        drop(self.orders.take());
        self.child.wait().unwrap();
    }

    /// Ends it as a crash would. What it wrote down before stays readable.
    pub(crate) fn kill(&mut self) -> Vec<Event> {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.told.iter().filter_map(|line| event(&line)).collect()
    }

    /// The next thing that it was told.
    pub(crate) fn told(&self) -> Event {
        loop {
            match self.told.recv_timeout(PATIENCE) {
                Ok(line) => {
                    if let Some(event) = event(&line) {
                        return event;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => panic!("the trainer has ended"),
                Err(RecvTimeoutError::Timeout) => panic!("the trainer is told nothing"),
            }
        }
    }

    /// What it was told until now and was not read yet.
    pub(crate) fn heard(&self) -> Vec<Event> {
        self.told.try_iter().filter_map(|line| event(&line)).collect()
    }

    /// Whether it still waits.
    pub(crate) fn waits(&self) -> bool {
        self.told.is_empty()
    }

    fn order(&mut self, order: &Order) {
        let line = serde_json::to_string(order).unwrap();
        writeln!(self.orders.as_mut().unwrap(), "{line}").expect("the trainer runs");
    }
}

impl Drop for Puppet {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Takes batches up to the one that another trainer had, and that one. Others may pass it: it waits until the ledger has
/// noted it.
pub(crate) fn until(trainer: &mut Trainer, had: &Seen) -> Vec<Seen> {
    let mut taken = vec![trainer.next().batch()];
    while taken.last().is_some_and(|last| last.records != had.records) {
        taken.push(trainer.next().batch());
    }
    taken
}

/// The records of all batches, sorted.
pub(crate) fn records<'a>(batches: impl IntoIterator<Item = &'a Seen>) -> Vec<u64> {
    let mut all: Vec<u64> = batches.into_iter().flat_map(|seen| seen.own.iter().copied()).collect();
    all.sort_unstable();
    all
}

/// The batches among events.
pub(crate) fn batches(events: &[Event]) -> Vec<Seen> {
    let batch = |event: &Event| if let Event::Batch(seen) = event { Some(seen.clone()) } else { None };
    events.iter().filter_map(batch).collect()
}

/// UUIDs that the fake gives its GPUs: trainers see the first.
pub(crate) const GPUS: [[u8; 16]; 2] = [[160; 16], [161; 16]];

pub(crate) fn options() -> Options {
    Options { gpus: vec![GPUS[0]], attach_timeout: PATIENCE, reconnect_timeout: PATIENCE, ..Options::default() }
}

pub(crate) fn target(socket: &Path, name: &str, settings: Option<&str>) -> Target {
    Target::Stream { socket: Some(socket.to_owned()), name: name.to_owned(), settings: settings.map(str::to_owned) }
}

pub(crate) fn next(session: &mut Session) -> Event {
    // The batch stays in hand, un-acked, when its views go.
    next_and_view(session).0
}

/// As [`next`], with the batch that has the views.
pub(crate) fn next_and_view(session: &mut Session) -> (Event, Option<Batch>) {
    match session.next(Some(PATIENCE), &mut Patient) {
        Ok(Next::Batch(batch)) => (Event::Batch(Seen::of(&batch)), Some(batch)),
        Ok(Next::EpochEnd(epoch)) => (Event::EpochEnd(epoch), None),
        Ok(Next::Done) => (Event::Done, None),
        Err(error) => (Event::Failed(error.to_string()), None),
    }
}

fn event(line: &str) -> Option<Event> {
    // The harness writes its own words without a line break before a child's first.
    let (_, json) = line.split_once(MARK)?;
    Some(serde_json::from_str(json).expect("an event"))
}
