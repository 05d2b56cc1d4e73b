//! The ledgers by name, and which of them a group of commands has touched: only these are examined at its commit.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::error::LedgerError;
use crate::ledger::Ledger;

/// See the module. A caller that gets a ledger to change it thereby touches it.
#[derive(Debug, Default)]
pub(super) struct Registry {
    by_name: BTreeMap<String, Ledger>,
    touched: Touched,
    /// When the next lease of each ledger expires.
    deadlines: Agenda,
    /// When time alone next changes something of each ledger.
    dues: Agenda,
}

/// Names of ledgers that were touched; some may be gone.
#[derive(Debug, Default)]
struct Touched {
    /// Since the last [`expire`](Registry::expire).
    since_expiry: BTreeSet<String>,
    /// Since the last [`take_touched`](Registry::take_touched).
    since_taken: BTreeSet<String>,
}

/// Names in the order of moments, in milliseconds. A name has one at most.
#[derive(Debug, Default)]
struct Agenda {
    moments: BTreeMap<String, u64>,
    order: BTreeSet<(u64, String)>,
}

impl Registry {
    /// These ledgers, all of them touched.
    pub(super) fn of(by_name: BTreeMap<String, Ledger>) -> Self {
        let mut registry = Self { by_name, ..Self::default() };
        registry.iter_mut().for_each(drop);
        registry
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub(super) fn get(&self, name: &str) -> Option<&Ledger> {
        self.by_name.get(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Ledger> {
        let ledger = self.by_name.get_mut(name)?;
        self.touched.add(name);
        Some(ledger)
    }

    /// As [`get_mut`](Self::get_mut).
    ///
    /// # Errors
    /// There is no ledger of this name.
    pub(super) fn find(&mut self, name: &str) -> Result<&mut Ledger, LedgerError> {
        self.get_mut(name).ok_or_else(|| {
            LedgerError::NotFound(format!(
                "There is no ledger {name:?}: it was never opened, or a new run was begun. The daemon of the \
                 stream opens it when it starts, or when it is told \"forebay run new\"."
            ))
        })
    }

    pub(super) fn insert(&mut self, name: &str, ledger: Ledger) {
        self.touched.add(name);
        self.by_name.insert(name.to_owned(), ledger);
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Ledger> {
        self.touched.add(name);
        self.by_name.remove(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Ledger)> {
        self.by_name.iter()
    }

    /// All of them, touched.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&String, &mut Ledger)> {
        let touched = &mut self.touched;
        self.by_name.iter_mut().inspect(|(name, _)| touched.add(name))
    }

    /// Those whose names begin so.
    pub(super) fn of_stream<'a>(&'a self, stream: &'a str) -> impl Iterator<Item = (&'a String, &'a Ledger)> {
        self.by_name.range(stream.to_owned()..).take_while(move |(name, _)| name.starts_with(stream))
    }

    /// The same for those who change them.
    pub(super) fn of_stream_mut<'a>(
        &'a mut self,
        stream: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a mut Ledger)> {
        let of_stream =
            self.by_name.range_mut(stream.to_owned()..).take_while(move |(name, _)| name.starts_with(stream));
        let touched = &mut self.touched;
        of_stream.inspect(|(name, _)| touched.add(name))
    }

    /// A ledger to read. It is not touched.
    pub(super) fn shown_one(&mut self, name: &str) -> Option<&mut Ledger> {
        self.by_name.get_mut(name)
    }

    /// Those behind this name, in the same way.
    pub(super) fn shown(&mut self, after: &str) -> impl Iterator<Item = (&String, &mut Ledger)> {
        self.by_name.range_mut::<str, _>((Bound::Excluded(after), Bound::Unbounded))
    }

    /// When the next lease of all ledgers expires.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.order.first().map(|(deadline, _)| *deadline)
    }

    /// Lets time take effect on ledgers that were touched, and on those with something due. The others stay as they are.
    pub(super) fn expire(&mut self, now: u64) {
        let due = self.dues.order.iter().take_while(|(due, _)| *due <= now).map(|(_, name)| name);
        due.for_each(|name| self.touched.add(name));
        for name in std::mem::take(&mut self.touched.since_expiry) {
            let ledger = self.by_name.get_mut(&name);
            let (deadline, due) = ledger.map_or((None, None), |ledger| {
                ledger.expire(now);
                (ledger.next_deadline(), ledger.next_due(now))
            });
            self.deadlines.set(&name, deadline);
            self.dues.set(&name, due);
        }
    }

    /// What was touched and is not gone, one by one.
    pub(super) fn for_touched(&mut self, mut act: impl FnMut(&str, &mut Ledger)) {
        for name in &self.touched.since_taken {
            if let Some(ledger) = self.by_name.get_mut(name) {
                act(name, ledger);
            }
        }
    }

    /// The names of those that were touched since the last call. Some of these ledgers may be gone.
    pub(super) fn take_touched(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.touched.since_taken)
    }
}

impl Touched {
    fn add(&mut self, name: &str) {
        for names in [&mut self.since_expiry, &mut self.since_taken] {
            if !names.contains(name) {
                names.insert(name.to_owned());
            }
        }
    }
}

impl Agenda {
    fn set(&mut self, name: &str, moment: Option<u64>) {
        if self.moments.get(name).copied() == moment {
            return;
        }
        if let Some(before) = self.moments.remove(name) {
            self.order.remove(&(before, name.to_owned()));
        }
        if let Some(moment) = moment {
            self.moments.insert(name.to_owned(), moment);
            self.order.insert((moment, name.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{AcquireRequest, Caller, HeartbeatRequest, LedgerSpec, OpenRequest};
    use proptest::prelude::*;

    use super::*;
    use crate::ledger::Times;
    use forebay_plan::Plan;

    /// What a worker of a ledger does.
    #[derive(Clone, Copy, Debug)]
    enum Act {
        Open,
        Acquire,
        Beat { waits: bool },
        Nothing,
    }

    fn ledger() -> Ledger {
        let spec = LedgerSpec { fingerprint: vec![0; 32], records: 60, permutation: 1, ..LedgerSpec::default() };
        let times = Times { lease_ttl: 1000, grace: 100, task: 1000 };
        Ledger::new(Plan::new(&spec).unwrap(), 10, 0, b"", times)
    }

    fn act(ledger: &mut Ledger, worker: &str, act: Act, sequence: u64, now: u64) {
        let worker = worker.to_owned();
        let caller = || Some(Caller { worker: worker.clone(), incarnation: 1, sequence, ..Caller::default() });
        match act {
            Act::Open => {
                ledger.register(&OpenRequest { worker, incarnation: 1, ..OpenRequest::default() }, now);
            }
            Act::Acquire => {
                let one = AcquireRequest { leases: 1, ..AcquireRequest::default() };
                // One that has not opened the ledger is refused.
                drop(ledger.once(caller().as_ref(), 1, now, |ledger, worker| Ok(ledger.acquire(worker, &one, now))));
            }
            Act::Beat { waits } => {
                let leases = ledger.leases().map(|(_, lease)| lease.id).filter(|id| id % 2 == 0).collect();
                drop(ledger.heartbeat(&HeartbeatRequest { caller: caller(), leases, waits }, now));
            }
            Act::Nothing => {}
        }
    }

    fn acts() -> impl Strategy<Value = (usize, usize, Act, u64)> {
        let act = prop_oneof![
            Just(Act::Open),
            Just(Act::Acquire),
            any::<bool>().prop_map(|waits| Act::Beat { waits }),
            Just(Act::Nothing)
        ];
        let later = prop_oneof![3 => 0..700_u64, 2 => Just(0), 1 => Just(4_000_000_u64)];
        (0..3_usize, 0..2_usize, act, later)
    }

    proptest! {
        #[test]
        fn ledgers_that_nobody_touches_change_when_their_time_comes_and_not_before(
            steps in proptest::collection::vec(acts(), 0..60),
        ) {
            let names = ["a", "b", "c"];
            let mut each: BTreeMap<String, Ledger> = names.iter().map(|name| ((*name).to_owned(), ledger())).collect();
            for ledger in each.values_mut() {
                ledger.take_changes("", &mut Vec::new());
            }
            let (mut registry, mut now) = (Registry::of(each.clone()), 0);
            registry.expire(now);
            registry.take_touched();
            for (sequence, (which, worker, doing, later)) in (1..).zip(steps) {
                now += later;
                let worker = format!("w{worker}");
                act(registry.get_mut(names[which]).unwrap(), &worker, doing, sequence, now);
                act(each.get_mut(names[which]).unwrap(), &worker, doing, sequence, now);
                registry.expire(now);
                for ledger in each.values_mut() {
                    ledger.expire(now);
                }
                let touched = registry.take_touched();
                for (name, ledger) in &mut each {
                    let (mut changes, mut others) = (Vec::new(), Vec::new());
                    ledger.take_changes("", &mut changes);
                    let same = registry.shown_one(name).unwrap();
                    prop_assert_eq!(same.latest_update(), ledger.latest_update());
                    same.take_changes("", &mut others);
                    prop_assert_eq!(&changes, &others);
                    // What has changed is committed and told, and what nothing happens to is not even looked at.
                    let has_changed = !changes.is_empty();
                    prop_assert!(!has_changed || touched.contains(name), "{} is not touched", name);
                    prop_assert!(has_changed || later > 0 || *name == names[which] || !touched.contains(name), "{} is", name);
                }
                prop_assert_eq!(registry.next_deadline(), each.values().filter_map(Ledger::next_deadline).min());
            }
        }
    }

    #[test]
    fn a_ledger_that_is_gone_is_named_once_and_is_never_due() {
        let mut registry = Registry::of(BTreeMap::from([("a".to_owned(), ledger())]));
        act(registry.get_mut("a").unwrap(), "w", Act::Open, 1, 5);
        act(registry.get_mut("a").unwrap(), "w", Act::Acquire, 2, 5);
        registry.expire(5);
        assert_eq!(registry.next_deadline(), Some(1005));
        assert!(registry.remove("a").is_some() && registry.get_mut("a").is_none());
        registry.expire(6);
        assert_eq!((registry.take_touched().len(), registry.take_touched().len()), (1, 0));
        assert_eq!(registry.next_deadline(), None);
        registry.expire(2000);
        assert!(registry.take_touched().is_empty());
    }
}
