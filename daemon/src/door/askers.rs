//! Connections that have not asked for a stream yet: so many of one user that, when another one comes, the one that has
//! said nothing for longest makes place. Nobody is kept out by the silence of others, nor by that of his own.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// Places of one user.
const PLACES: usize = 16;

/// The askers of all users.
#[derive(Debug, Default)]
pub(super) struct Askers(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    next: u64,
    by_user: HashMap<u32, VecDeque<(u64, oneshot::Sender<()>)>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    table: Arc<Mutex<Table>>,
    user: u32,
    number: u64,
    lost: oneshot::Receiver<()>,
}

impl Askers {
    /// Gives a connection of this user a place, if need be that of its oldest one.
    pub(super) fn enter(&self, user: u32) -> Place {
        let (keep, lost) = oneshot::channel();
        let mut table = self.0.lock();
        let number = table.next;
        table.next += 1;
        let own = table.by_user.entry(user).or_default();
        own.push_back((number, keep));
        if own.len() > PLACES {
            own.pop_front();
        }
        Place { table: Arc::clone(&self.0), user, number, lost }
    }
}

impl Place {
    /// Comes when the place went to a later one.
    pub(super) async fn lost(&mut self) {
        // Nothing is ever sent: the other end is dropped.
        let _dropped = (&mut self.lost).await;
    }
}

impl Drop for Place {
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

    #[test]
    fn the_oldest_silent_connection_of_a_user_makes_place_and_no_other_user_s() {
        let askers = Askers::default();
        let mut other = askers.enter(1);
        let mut own: Vec<Place> = (0..PLACES).map(|_| askers.enter(2)).collect();
        assert!(own.iter_mut().all(|place| place.lost().now_or_never().is_none()));
        own.push(askers.enter(2));
        let lost: Vec<bool> = own.iter_mut().map(|place| place.lost().now_or_never().is_some()).collect();
        assert_eq!(lost.iter().position(|lost| *lost), Some(0));
        assert_eq!(lost.iter().filter(|lost| **lost).count(), 1);
        assert!(other.lost().now_or_never().is_none());
        drop((own, other));
        assert!(askers.0.lock().by_user.is_empty(), "nothing is kept of who has asked");
    }
}
