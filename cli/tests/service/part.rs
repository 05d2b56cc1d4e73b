//! The part of a child that is a trainer: what it is told to do, and what it does.

use std::io::{BufRead as _, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::Command;

use forebay_client::{Join, Next, Options, Patient, Session, Shard, State};
use serde::{Deserialize, Serialize};

use crate::trainer::{Event, Seen, next_and_view, options, target};

/// What a child is told to do.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Order {
    /// One `next()`.
    Next,
    /// `next()` until the stream's end; every event is told.
    Run,
    State,
    Restore(Vec<u8>),
    /// As a restore, for one of several ranks: with a load id.
    Load(Vec<u8>, String),
    /// Consumes so many batches, closes, and lives on with views of them.
    Leave(u32),
    /// Gives everything back and detaches.
    Close,
}

/// How a child attaches.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Role {
    pub(crate) socket: PathBuf,
    pub(crate) credits: u32,
    pub(crate) shard: Option<(u32, u32)>,
    pub(crate) group: Option<String>,
    /// A group that it begins takes part from the next epoch on.
    pub(crate) late: bool,
    /// It keeps the view of a batch until it has the next one, as a `for` in Python does.
    pub(crate) keeps: bool,
}

const ROLE: &str = "FOREBAY_TEST_TRAINER";
/// Tells a child's answers from what the test harness writes.
pub(crate) const MARK: &str = "> ";

/// The command that runs a child, which is this test binary again.
pub(crate) fn command(program: &Path, role: &Role) -> Command {
    let mut command = Command::new(program);
    command.args(["--exact", "part::play", "--ignored", "--nocapture"]);
    command.env(ROLE, serde_json::to_string(role).unwrap());
    command
}

#[test]
#[ignore = "the part of a child"]
fn play() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let role: Role = serde_json::from_str(&role).unwrap();
    let tell = |event: &Event| {
        let mut out = stdout().lock();
        writeln!(out, "{MARK}{}", serde_json::to_string(event).unwrap()).unwrap();
        out.flush().unwrap();
    };
    let shard = role.shard.map(|(id, count)| Shard { id, count });
    let join = if role.late { Join::Epoch } else { Join::Next };
    let options = Options { credits: role.credits, shard, group: role.group, join, ..options() };
    let mut session = match Session::attach(target(&role.socket, "train", None), options, &mut Patient) {
        Ok(session) => session,
        Err(error) => return tell(&Event::Failed(error.to_string())),
    };
    tell(&Event::Well);
    let mut view = None;
    let mut step = |session: &mut Session| {
        let (event, batch) = next_and_view(session);
        view = batch.filter(|_| role.keeps);
        event
    };
    let mut orders = stdin().lock().lines();
    while let Some(line) = orders.next() {
        match serde_json::from_str(&line.unwrap()).unwrap() {
            Order::Next => tell(&step(&mut session)),
            Order::Run => loop {
                let event = step(&mut session);
                tell(&event);
                if matches!(event, Event::Done | Event::Failed(_)) {
                    break;
                }
            },
            Order::State => tell(&Event::State(session.state(&mut Patient).unwrap().to_bytes())),
            Order::Restore(bytes) => {
                session.restore(&State::from_bytes(&bytes).unwrap(), &mut Patient).unwrap();
                tell(&Event::Well);
            }
            Order::Load(bytes, id) => {
                session.load(&State::from_bytes(&bytes).unwrap(), &id, &mut Patient).unwrap();
                tell(&Event::Well);
            }
            Order::Leave(batches) => {
                let mut kept = Vec::new();
                for _ in 0..batches {
                    let Ok(Next::Batch(batch)) = session.next(None, &mut Patient) else { panic!("a batch") };
                    batch.ack().unwrap();
                    tell(&Event::Batch(Seen::of(&batch)));
                    kept.push(batch.keep());
                }
                session.close().unwrap();
                tell(&Event::Well);
                return drop((orders.next(), kept));
            }
            Order::Close => {
                session.close().unwrap();
                return tell(&Event::Well);
            }
        }
    }
}
