//! The hands of a trainer: the batches that it holds, behind the lock that `next()` and dropped views share, and the socket
//! for its receipts.

use std::collections::VecDeque;
use std::sync::Arc;

use forebay_ring::{MessageKind, Number, Offer, ResumedClaim, Sent, Socket, packet};
use parking_lot::Mutex;

use crate::error::Broken;
use crate::hold::{HoldTicket, Holds, Packets};
use crate::owner::Owner;
use crate::receipt::Receipt;

/// Shared by the session and everything that was handed out.
#[derive(Debug)]
pub(crate) struct Hands {
    owner: Owner,
    state: Mutex<HandsState>,
}

#[derive(Debug)]
struct HandsState {
    holds: Holds,
    line: Line,
    /// Packets that did not fit into the daemon's queue, or that wait for the next daemon, in order.
    waiting: VecDeque<Vec<u8>>,
}

/// Where packets go.
#[derive(Debug)]
enum Line {
    /// To this daemon.
    Open(Arc<Socket>),
    /// The daemon is lost. The next one gets the decisions that were made after the [hand-in](Hands::resumed_claims).
    Down,
    /// The session was closed: nowhere.
    Closed,
}

impl Hands {
    pub(crate) fn new(owner: Owner) -> Self {
        let state = HandsState { holds: Holds::default(), line: Line::Down, waiting: VecDeque::new() };
        Self { owner, state: Mutex::new(state) }
    }

    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    /// A daemon has been attached to: receipts go there from now on.
    pub(crate) fn connect(&self, socket: Arc<Socket>) {
        let mut state = self.state.lock();
        state.line = Line::Open(socket);
        state.flush();
    }

    /// The daemon is lost, with every receipt that it had not got.
    pub(crate) fn disconnect(&self) {
        let mut state = self.state.lock();
        state.line = Line::Down;
        state.holds.orphan();
    }

    /// The list of batches that this trainer reports to the next daemon as it attaches. Later changes are sent in packets
    /// once it is connected.
    pub(crate) fn resumed_claims(&self) -> Vec<ResumedClaim> {
        let mut state = self.state.lock();
        state.waiting.clear();
        state.holds.resumed_claims()
    }

    pub(crate) fn take(&self, offer: Offer, receipt: Receipt) -> HoldTicket {
        self.state.lock().holds.take(offer, receipt)
    }

    pub(crate) fn consume(&self, ticket: HoldTicket) -> Result<(), Broken> {
        self.owner.check()?;
        self.change(|holds| holds.consume(ticket));
        Ok(())
    }

    /// False if the batch was decided before.
    pub(crate) fn give_back(&self, ticket: HoldTicket) -> Result<bool, Broken> {
        self.owner.check()?;
        let mut found = false;
        self.change(|holds| {
            let (was_in_hand, packets) = holds.give_back(ticket);
            found = was_in_hand;
            packets
        });
        Ok(found)
    }

    /// The caller never got the batch. False if its offer cannot wait again.
    pub(crate) fn put_back(&self, ticket: HoldTicket) -> bool {
        let mut waits = false;
        self.change(|holds| {
            let (can_wait, packets) = holds.put_back(ticket);
            waits = can_wait;
            packets
        });
        waits
    }

    /// A batch that was put back is handed out again.
    pub(crate) fn take_again(&self, ticket: HoldTicket) {
        self.state.lock().holds.take_again(ticket);
    }

    /// The last view of a batch is gone. In a forked child nothing happens: the slot is still its parent's.
    pub(crate) fn unview(&self, ticket: HoldTicket) {
        if self.owner.is_here() {
            self.change(|holds| holds.unview(ticket));
        }
    }

    /// Reads the holds.
    pub(crate) fn with<T>(&self, read: impl FnOnce(&Holds) -> T) -> T {
        read(&self.state.lock().holds)
    }

    /// Changes the holds and sends what follows from it.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Holds) -> Packets) {
        let mut state = self.state.lock();
        let packets = change(&mut state.holds);
        state.waiting.extend(packets);
        state.flush();
    }

    /// Sends what had to wait. False if the daemon's queue has no room for all of it. Where there is no daemon, nothing waits
    /// for room: the next one gets it as it is connected.
    pub(crate) fn flush(&self) -> bool {
        let mut state = self.state.lock();
        state.flush();
        state.waiting.is_empty() || !matches!(state.line, Line::Open(_))
    }

    /// The session ends: batches that it holds, or that were never handed out, are returned. BYE says that no view is left.
    /// Without it, the daemon does not refill the slots until this process ends.
    pub(crate) fn leave(&self, unread: &[Offer]) {
        let mut state = self.state.lock();
        let mut packets = state.holds.leave(unread);
        if state.holds.viewed() == 0 {
            packets.push(packet(&Number { kind: MessageKind::Bye as u32, reserved: 0, value: 0 }, &[]));
        }
        state.waiting.extend(packets);
        state.flush();
        if let Line::Open(socket) = std::mem::replace(&mut state.line, Line::Closed) {
            // A forked child may keep the connection open, so tell the daemon that this trainer no longer reads it.
            socket.shut_down();
        }
    }
}

impl HandsState {
    /// A hang-up or an error of the socket is noticed when the session reads.
    fn flush(&mut self) {
        let socket = match &self.line {
            Line::Open(socket) => socket,
            Line::Down => return,
            Line::Closed => return self.waiting.clear(),
        };
        while let Some(packet) = self.waiting.front() {
            match socket.send(packet, &[]) {
                Ok(Sent::Done) => {
                    self.waiting.pop_front();
                }
                Ok(Sent::WouldBlock) => return,
                Ok(Sent::Closed) | Err(_) => {
                    self.waiting.clear();
                    return;
                }
            }
        }
    }
}
