//! A node whose ring is full of the next epoch, and to which positions of the current one come late.

use forebay_client::{Batch, Patient, Session};

use super::nodes::Site;
use super::visits::Visits;
use crate::daemon::Home;
use crate::trainer::{Event, Puppet, next_and_view, options, target};

/// Three leases. The first node has all of them, and two of the next epoch, before the second node comes.
const RECORDS: u64 = 48;
/// A ring of four slots.
const EPOCHS: &str = "epochs = 2\nshuffle = true\ntrainers = 1";
/// Slots that batches of the next epoch may take.
const LATER: u32 = 3;

/// A trainer that keeps the view of a batch until it has the next one, as a `for` in Python does.
struct Keeper {
    session: Session,
    view: Option<Batch>,
}

impl Keeper {
    fn attach(home: &Home) -> Self {
        let session = Session::attach(target(&home.socket(), "train", None), options(), &mut Patient).unwrap();
        Self { session, view: None }
    }

    #[track_caller]
    fn next(&mut self) -> Event {
        let (event, batch) = next_and_view(&mut self.session);
        self.view = batch.or_else(|| self.view.take());
        assert!(!matches!(event, Event::Failed(_)), "{event:?}");
        event
    }

    #[track_caller]
    fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            match self.next() {
                Event::Done => return events,
                event => events.push(event),
            }
        }
    }
}

/// Waits until a node's ring is full of the next epoch. On a slow machine, its trainer may have a batch of this epoch by then.
fn fill(home: &Home) {
    home.wait_for("batches are made", |status| status.slots_ready == LATER || status.slots_held > 0);
}

#[test]
fn rule_11_a_node_full_of_the_next_epoch_makes_what_another_one_gives_back() {
    let site = Site::start();
    let (first, _one) = site.node("one", RECORDS, EPOCHS);
    let mut slow = Puppet::attach(&first);
    let mut visits = Visits::default();
    visits.note("one", &[slow.next()]);
    first.wait_for("a lease is in the ring", |status| status.slots_ready + status.slots_held == LATER + 1);
    let (second, _two) = site.node("two", RECORDS, EPOCHS);
    let mut keeper = Keeper::attach(&second);
    fill(&second);
    // The first trainer is busy, so its node gives back what it has not taken.
    let late = [keeper.next(), keeper.next()];
    assert!(late.iter().all(|event| matches!(event, Event::Batch(seen) if seen.epoch == 0)), "{late:?}");
    slow.run();
    visits.note("two", &[&late[..], &keeper.rest()].concat());
    visits.note("one", &slow.rest());
    visits.check_once(RECORDS, 2);
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")), "{:?}", site.audit());
}

#[test]
fn rule_11_a_node_full_of_the_next_epoch_makes_what_a_dead_one_had() {
    let site = Site::start();
    let (first, one) = site.node("one", RECORDS, EPOCHS);
    let mut victim = Puppet::attach(&first);
    let mut visits = Visits::default();
    let lost = vec![victim.next()];
    first.wait_for("a lease is in the ring", |status| status.slots_ready + status.slots_held == LATER + 1);
    let (second, _two) = site.node("two", RECORDS, EPOCHS);
    let mut keeper = Keeper::attach(&second);
    fill(&second);
    one.kill();
    visits.note_lost("one", &[lost, victim.kill()].concat());
    visits.note("two", &keeper.rest());
    visits.check(RECORDS, 2);
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")), "{:?}", site.audit());
}

#[test]
fn rule_22_a_state_that_is_taken_when_later_batches_have_given_way_has_their_records_as_open() {
    let site = Site::start();
    let (first, _one) = site.node("one", RECORDS, EPOCHS);
    let mut slow = Puppet::attach(&first);
    slow.next().batch();
    first.wait_for("a lease is in the ring", |status| status.slots_ready + status.slots_held == LATER + 1);
    let (second, _two) = site.node("two", RECORDS, EPOCHS);
    let mut keeper = Keeper::attach(&second);
    fill(&second);
    // The other one's batches come here, and later batches give way to them.
    let mut visits = Visits::default();
    let late = [keeper.next(), keeper.next()];
    assert!(late.iter().all(|event| matches!(event, Event::Batch(seen) if seen.epoch == 0)), "{late:?}");
    let state = keeper.session.state(&mut Patient).unwrap();
    // What the slow trainer has in its hand comes again, and all that has given way.
    keeper.next();
    keeper.session.load(&state, "both", &mut Patient).unwrap();
    slow.load(&state, "both");
    slow.run();
    visits.note("two", &[&late[..], &keeper.rest()].concat());
    visits.note("one", &slow.rest());
    visits.check_once(RECORDS, 2);
    assert!(site.audit()[1..].iter().all(|epoch| epoch.contains("checksum equal")), "{:?}", site.audit());
}
