//! A proxy between a store and etcd that holds what is sent, or loses it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use parking_lot::{Condvar, Mutex};

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
}

#[derive(Clone, Copy)]
struct State(Gate);

impl Default for State {
    fn default() -> Self {
        Self(Gate::Open)
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
                let pairs = [(&client, &server), (&server, &client)];
                for (direction, (from, to)) in pairs.into_iter().enumerate() {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let gates = Arc::clone(&shared);
                    thread::spawn(move || pump(from, to, direction, &gates));
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
        self.gates.states.lock()[direction] = State(gate);
        self.gates.changed.notify_all();
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, direction: usize, gates: &Gates) {
    let mut bytes = [0; 16 << 10];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !passes(gates, direction, count) || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    // Whichever end it was, the other one hears of it.
    for stream in [from, to] {
        let _ended = stream.shutdown(Shutdown::Both);
    }
}

fn passes(gates: &Gates, direction: usize, count: usize) -> bool {
    let mut states = gates.states.lock();
    while states[direction].0 == Gate::Held {
        gates.changed.wait(&mut states);
    }
    if let Gate::CutAfter(left) = &mut states[direction].0 {
        let passes = *left >= count;
        *left = left.saturating_sub(count);
        return passes;
    }
    true
}
