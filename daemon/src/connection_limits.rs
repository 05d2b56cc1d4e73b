//! Limits the connections of a socket, for each user and in total. A connection above a limit replaces the oldest one: of
//! the same user, or of the user with the most connections. So no user is locked out by other users' connections or by their
//! own. The replaced connection must be closed before the next one is accepted, so that the limits are never exceeded.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The connections of a socket.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimits {
    of_user: usize,
    in_all: usize,
    table: Arc<Mutex<ConnectionTable>>,
    /// One more than may be there: the next one, for which another makes place.
    room: Arc<Semaphore>,
}

/// Room for one more connection.
#[derive(Debug)]
pub(crate) struct Room {
    limits: ConnectionLimits,
    permit: OwnedSemaphorePermit,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    by_user: HashMap<u32, VecDeque<(u64, oneshot::Sender<()>)>>,
}

/// A connection's place, until this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPlace {
    table: Arc<Mutex<ConnectionTable>>,
    user: u32,
    number: u64,
    lost: oneshot::Receiver<()>,
    _room: OwnedSemaphorePermit,
}

impl ConnectionLimits {
    /// The most connections of one user, and in total.
    pub(crate) fn new(of_user: usize, in_all: usize) -> Self {
        let in_all = in_all.max(1);
        Self { of_user: of_user.max(1), in_all, table: Arc::default(), room: Arc::new(Semaphore::new(in_all + 1)) }
    }

    /// Waits until there is room for one more.
    pub(crate) async fn room(&self) -> Room {
        let permit = Arc::clone(&self.room).acquire_owned().await;
        Room { limits: self.clone(), permit: permit.expect("it is never closed") }
    }
}

impl Room {
    /// Gives a connection of this user a place, if need be that of another one.
    pub(crate) fn enter(self, user: u32) -> ConnectionPlace {
        let Self { limits: ConnectionLimits { of_user, in_all, table: shared, .. }, permit } = self;
        let (keep, lost) = oneshot::channel();
        let mut table = shared.lock();
        let number = table.next;
        table.next += 1;
        let own = table.by_user.entry(user).or_default();
        own.push_back((number, keep));
        if own.len() > of_user {
            own.pop_front();
        }
        if table.by_user.values().map(VecDeque::len).sum::<usize>() > in_all
            && let Some(most) = table.by_user.values_mut().max_by_key(|of_one| of_one.len())
        {
            most.pop_front();
        }
        drop(table);
        ConnectionPlace { table: shared, user, number, lost, _room: permit }
    }
}

impl ConnectionPlace {
    /// Comes when the place went to a later one.
    pub(crate) async fn lost(&mut self) {
        std::future::poll_fn(|context| self.poll_lost(context)).await;
    }

    /// Ready when the place went to a later one.
    pub(crate) fn poll_lost(&mut self, context: &mut Context<'_>) -> Poll<()> {
        // Nothing is ever sent: the other end is dropped.
        Future::poll(std::pin::Pin::new(&mut self.lost), context).map(drop)
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        if let Some(own) = table.by_user.get_mut(&self.user) {
            own.retain(|(number, _)| *number != self.number);
            if own.is_empty() {
                table.by_user.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn enter(limits: &ConnectionLimits, user: u32) -> ConnectionPlace {
        limits.room().now_or_never().expect("there is room").enter(user)
    }

    fn lost(visits: &mut [ConnectionPlace]) -> Vec<usize> {
        let lost = visits.iter_mut().enumerate().filter_map(|(index, place)| {
            // One that is lost stays so, but may be asked once.
            place.lost().now_or_never().map(|()| index)
        });
        lost.collect()
    }

    #[test]
    fn the_oldest_connection_of_a_user_makes_place_and_no_other_user_s() {
        let limits = ConnectionLimits::new(16, 100);
        let mut other = enter(&limits, 1);
        let mut own: Vec<ConnectionPlace> = (0..16).map(|_| enter(&limits, 2)).collect();
        assert_eq!(lost(&mut own), [0; 0]);
        own.push(enter(&limits, 2));
        assert_eq!(lost(&mut own), [0]);
        own.remove(0);
        assert!(other.lost().now_or_never().is_none());
        drop((own, other));
        assert!(limits.table.lock().by_user.is_empty());
    }

    #[test]
    fn in_all_the_user_with_the_most_connections_makes_place() {
        let limits = ConnectionLimits::new(4, 6);
        let mut many: Vec<ConnectionPlace> = (0..4).map(|_| enter(&limits, 1)).collect();
        let mut few: Vec<ConnectionPlace> = (2..5).map(|user| enter(&limits, user)).collect();
        assert_eq!((lost(&mut many), lost(&mut few)), (vec![0], vec![]));
        assert!(limits.room().now_or_never().is_none(), "the one that is to make place is still there");
        many.remove(0);
        few.push(enter(&limits, 5));
        assert_eq!((lost(&mut many), lost(&mut few)), (vec![0], vec![]));
        drop(many);
        let mut again: Vec<ConnectionPlace> = (0..2).map(|_| enter(&limits, 1)).collect();
        assert_eq!((lost(&mut again), lost(&mut few)), (vec![], vec![]), "places that are given back are free");
    }
}
