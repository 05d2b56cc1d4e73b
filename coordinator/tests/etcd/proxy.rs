//! A proxy between a store and etcd that holds what is sent, or loses it, and hangs up on the store.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parking_lot::{Condvar, Mutex};

use crate::PATIENCE;

/// What becomes of bytes in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Open,
    /// They wait.
    Held,
    /// They are lost, and their connection with them, once so many bytes have passed.
    CutAfter(usize),
}

/// See the module. Its threads end with the test's process.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    gates: Arc<Gates>,
}

#[derive(Default)]
struct Gates {
    /// Of requests, and of replies.
    states: Mutex<[State; 2]>,
    changed: Condvar,
    lines: Mutex<Lines>,
}

#[derive(Default)]
struct Lines {
    all: Vec<Arc<Line>>,
    /// Whether new ones are closed at once.
    are_refused: bool,
}

/// A connection of a client, and the one to etcd that was made for it.
struct Line {
    client: TcpStream,
    server: TcpStream,
    /// The client hears no more. etcd hears what the client has said, and does not know.
    is_hung_up: AtomicBool,
}

#[derive(Clone, Copy)]
struct State {
    gate: Gate,
    /// How much waits.
    held: usize,
}

impl Default for State {
    fn default() -> Self {
        Self { gate: Gate::Open, held: 0 }
    }
}

impl Proxy {
    pub(crate) fn to(upstream: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let gates = Arc::<Gates>::default();
        let shared = Arc::clone(&gates);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", upstream))) else { continue };
                let mut lines = shared.lines.lock();
                if lines.are_refused {
                    continue;
                }
                let line = Arc::new(Line { client, server, is_hung_up: AtomicBool::new(false) });
                lines.all.push(Arc::clone(&line));
                for direction in [0, 1] {
                    let (line, gates) = (Arc::clone(&line), Arc::clone(&shared));
                    thread::spawn(move || pump(&line, direction, &gates));
                }
            }
        });
        Self { port, gates }
    }

    pub(crate) fn requests(&self, gate: Gate) {
        self.set(0, gate);
    }

    pub(crate) fn replies(&self, gate: Gate) {
        self.set(1, gate);
    }

    fn set(&self, direction: usize, gate: Gate) {
        self.gates.states.lock()[direction].gate = gate;
        self.gates.changed.notify_all();
    }

    /// Waits until requests are held.
    pub(crate) fn holds(&self) {
        let mut states = self.gates.states.lock();
        while states[0].held == 0 {
            let waited = self.gates.changed.wait_for(&mut states, PATIENCE);
            assert!(!waited.timed_out(), "nothing was sent");
        }
    }

    /// Closes the connections of all clients, and new ones at once. What was held still goes to etcd.
    pub(crate) fn hang_up(&self) {
        let mut lines = self.gates.lines.lock();
        lines.are_refused = true;
        for line in lines.all.drain(..) {
            line.is_hung_up.store(true, Ordering::SeqCst);
            let _closed = line.client.shutdown(Shutdown::Both);
        }
    }

    /// Everything passes again.
    pub(crate) fn open(&self) {
        self.gates.lines.lock().are_refused = false;
        self.requests(Gate::Open);
        self.replies(Gate::Open);
    }
}

fn pump(line: &Line, direction: usize, gates: &Gates) {
    let (mut from, mut to) = if direction == 0 { (&line.client, &line.server) } else { (&line.server, &line.client) };
    let is_hung_up = || line.is_hung_up.load(Ordering::SeqCst);
    let mut bytes = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !passes(gates, direction, count) || to.write_all(&bytes[..count]).is_err() && !is_hung_up() {
            break;
        }
    }
    if is_hung_up() {
        return;
    }
    // Whichever end it was, the other one hears of it.
    for stream in [from, to] {
        let _ended = stream.shutdown(Shutdown::Both);
    }
}

fn passes(gates: &Gates, direction: usize, count: usize) -> bool {
    let mut states = gates.states.lock();
    states[direction].held += count;
    gates.changed.notify_all();
    while states[direction].gate == Gate::Held {
        gates.changed.wait(&mut states);
    }
    states[direction].held -= count;
    if let Gate::CutAfter(left) = &mut states[direction].gate {
        let passes = *left >= count;
        *left = left.saturating_sub(count);
        return passes;
    }
    true
}
