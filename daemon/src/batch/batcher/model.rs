//! A plain model of what is around the batcher. [`World`] stands for the stage: it has the pixels (which record's
//! picture a place shows), and notes what became of every position. The seed chooses what happens next.

use std::collections::{HashMap, HashSet, VecDeque};

use super::*;

/// What a place shows; not in the map: what an earlier batch left there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixels {
    Of(u64),
    Black,
    /// In the decoder's hands.
    Torn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Published,
    Nacked,
    Dropped,
    Returned,
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) rules: Rules,
    /// Lengths of the leases of an epoch.
    pub(super) leases: Vec<u64>,
    pub(super) unreadable: HashSet<u64>,
    pub(super) undecodable: HashSet<u64>,
    /// Copies sometimes fail though their record is good.
    pub(super) flaky: bool,
    /// Leases that come back after the epoch was drained.
    pub(super) late: u64,
    /// Static: the batch that is not full ends so.
    pub(super) policy: Policy,
    /// Static: batches of copies.
    pub(super) extra: usize,
    /// Static, with the policy `Drop`: positions from here on are dropped.
    pub(super) delivered: u64,
    /// Stop after so many steps.
    pub(super) stop: Option<usize>,
    pub(super) seed: u64,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) setting: Setting,
    batcher: Batcher,
    dice: u64,
    pixels: HashMap<At, Pixels>,
    /// Pictures in decoding, with their record.
    jobs: Vec<(At, u64)>,
    /// Copies to be read.
    reads: Vec<(At, u64)>,
    fates: HashMap<(u64, u64), Fate>,
    given: Vec<Position>,
    /// Batch that takes the next records of an epoch.
    current: HashMap<u64, u64>,
    /// Static: the positions that a batch was begun for, in order, and the copies that follow.
    seats: HashMap<u64, (Vec<Position>, Vec<u64>)>,
    /// Last published batch of an epoch.
    last: HashMap<u64, u64>,
    pub(super) published: Vec<Sheet>,
    failed: bool,
}

pub(super) const EPOCHS: u64 = 2;

impl World {
    pub(super) fn new(setting: Setting) -> Self {
        Self {
            batcher: Batcher::new(setting.rules),
            dice: setting.seed | 1,
            setting,
            pixels: HashMap::new(),
            jobs: Vec::new(),
            reads: Vec::new(),
            fates: HashMap::new(),
            given: Vec::new(),
            current: HashMap::new(),
            seats: HashMap::new(),
            last: HashMap::new(),
            published: Vec::new(),
            failed: false,
        }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from((self.dice >> 20) % sides as u64).unwrap()
    }

    fn is_good(&self, record: u64) -> bool {
        !self.setting.unreadable.contains(&record) && !self.setting.undecodable.contains(&record)
    }

    fn is_static(&self) -> bool {
        self.setting.rules.dynamic.is_none()
    }

    /// Records of the epoch: those of its leases, then leases that come back. None: the epoch is drained.
    fn feeds(&self) -> VecDeque<(u64, Option<Position>)> {
        let mut feeds = VecDeque::new();
        let mut lease = 0;
        for epoch in 0..EPOCHS {
            let mut index = 0;
            let mut span = |feeds: &mut VecDeque<_>, epoch, start: u64, len: u64| {
                lease += 1;
                for offset in 0..len {
                    let (index, record) = (start + offset, start + offset);
                    let position = Position { epoch, lease, offset, lease_len: len, index, record };
                    feeds.push_back((epoch, Some(position)));
                }
            };
            for &len in &self.setting.leases {
                span(&mut feeds, epoch, index, len);
                index += len;
            }
            feeds.push_back((epoch, None));
            for back in 0..self.setting.late {
                span(&mut feeds, epoch, back, self.setting.leases[0].min(3));
                feeds.push_back((epoch, None));
            }
        }
        feeds
    }

    pub(super) fn run(&mut self) {
        let mut feeds = self.feeds();
        let mut step = 0;
        loop {
            self.perform();
            if self.failed || self.setting.stop == Some(step) {
                return self.close();
            }
            step += 1;
            // There is always a slot.
            while let Some(epoch) = self.batcher.extra_needs_slot() {
                let batch = self.batcher.begin_extra().unwrap();
                assert_eq!(self.batcher.epoch(batch).unwrap_or(epoch), epoch);
                self.seats.insert(batch, (Vec::new(), self.copies(self.setting.rules.batch_size)));
            }
            self.perform();
            let (feed, jobs, reads) = (usize::from(!feeds.is_empty()) * 3, self.jobs.len(), self.reads.len());
            if feed + jobs + reads == 0 {
                break;
            }
            let choice = self.roll(feed + jobs + reads);
            if choice < feed {
                match feeds.pop_front().unwrap() {
                    (_, Some(position)) => self.record(position),
                    (epoch, None) => self.end(epoch),
                }
            } else if choice < feed + jobs {
                let (at, record) = self.jobs.swap_remove(choice - feed);
                self.decoded(at, record);
            } else {
                let (at, record) = self.reads.swap_remove(choice - feed - jobs);
                self.fetched(at, record);
            }
        }
        for epoch in 0..EPOCHS {
            assert!(self.batcher.is_idle(epoch), "nothing is under way, yet epoch {epoch} has a batch in the making");
        }
        self.close();
    }

    fn record(&mut self, position: Position) {
        self.given.push(position);
        if self.is_static() && self.setting.policy == Policy::Drop && position.index >= self.setting.delivered {
            self.batcher.drop_position(position);
            return;
        }
        let readable = !self.setting.unreadable.contains(&position.record);
        if (readable || self.batcher.keeps_places()) && self.batcher.needs_slot(position.epoch) {
            let batch = self.batcher.begin(position.epoch);
            self.current.insert(position.epoch, batch);
        }
        if self.is_static() {
            self.seats.entry(self.current[&position.epoch]).or_default().0.push(position);
        }
        if readable {
            let at = self.batcher.place(position, label(position.record));
            self.decode(at, position.record);
        } else {
            let (file, reason) = ("file".into(), "unreadable".into());
            self.batcher.unreadable(BadRecord { position, file, reason }, label(position.record));
        }
    }

    fn end(&mut self, epoch: u64) {
        if !self.is_static() {
            return self.batcher.end(epoch, Ending::default());
        }
        let (size, own) = (self.setting.rules.batch_size, self.batcher.taken(epoch));
        let copies = self.copies(size - own);
        if let Some(batch) = self.current.remove(&epoch).filter(|_| own > 0 && self.setting.policy == Policy::Fill) {
            self.seats.entry(batch).or_default().1.clone_from(&copies);
        }
        let tail = match self.setting.policy {
            Policy::Fill => Tail { copies, ends: Ends::Shown(size) },
            Policy::Partial => Tail { copies: vec![], ends: Ends::Shown(own) },
            Policy::Drop => Tail { copies: vec![], ends: Ends::Dropped },
        };
        let extra = Tail { copies: self.copies(size), ends: Ends::Shown(size) };
        self.batcher.end(epoch, Ending { open: Some(tail), extra: vec![extra; self.setting.extra] });
    }

    fn copies(&self, count: u32) -> Vec<u64> {
        (0..u64::from(count)).map(|copy| copy / 2 % self.setting.leases[0]).collect()
    }

    fn decode(&mut self, at: At, record: u64) {
        assert!(at.1 < self.setting.rules.batch_size);
        assert_ne!(self.pixels.insert(at, Pixels::Torn), Some(Pixels::Torn), "two writers at {at:?}");
        self.jobs.push((at, record));
    }

    fn decoded(&mut self, at: At, record: u64) {
        assert_eq!(self.batcher.record(at), Some(record));
        let fails = !self.is_good(record) || self.fails_now(at);
        self.pixels.insert(at, Pixels::Of(record));
        if fails {
            self.pixels.remove(&at);
        }
        let outcome = if fails { Err(("file".into(), "undecodable".into())) } else { Ok(()) };
        self.batcher.outcome(at, outcome);
    }

    fn fetched(&mut self, at: At, record: u64) {
        if self.setting.unreadable.contains(&record) {
            self.batcher.outcome(at, Err(("file".into(), "unreadable".into())));
        } else {
            self.batcher.copying(at, record, label(record));
            self.decode(at, record);
        }
    }

    fn fails_now(&mut self, at: At) -> bool {
        let copy = self.batcher.drafts[&at.0].place(at.1).own.is_none();
        self.setting.flaky && copy && self.roll(3) == 0
    }

    fn perform(&mut self) {
        while let Some(action) = self.batcher.action() {
            match action {
                Action::Fetch { at, epoch, record } | Action::Probe { at, epoch, index: record } => {
                    assert_eq!(self.batcher.epoch(at.0), Some(epoch));
                    self.reads.push((at, record));
                }
                Action::Copy { from, to } => {
                    let source = self.pixels.get(&from).copied();
                    assert!(matches!(source, Some(Pixels::Of(record)) if self.is_good(record)), "{from:?}: {source:?}");
                    assert_ne!(self.pixels.insert(to, source.unwrap()), Some(Pixels::Torn));
                }
                Action::Clear { at } => {
                    assert_ne!(self.pixels.insert(at, Pixels::Black), Some(Pixels::Torn));
                }
                Action::Publish(sheet) => self.publish(sheet),
                Action::Discard { batch } => {
                    for place in 0..self.setting.rules.batch_size {
                        assert_ne!(self.pixels.get(&(batch, place)), Some(&Pixels::Torn));
                    }
                }
                Action::Dropped(positions) => {
                    assert!(!positions.is_empty());
                    for position in &positions {
                        self.settled(position, Fate::Dropped);
                    }
                }
                Action::Nack(bad) => self.settled(&bad.position, Fate::Nacked),
                Action::Fail(_) => assert!(!std::mem::replace(&mut self.failed, true), "told once"),
            }
        }
    }

    fn settled(&mut self, position: &Position, fate: Fate) {
        let before = self.fates.insert((position.lease, position.offset), fate);
        assert_eq!(before, None, "{position:?} is {fate:?}, and was settled before");
    }

    fn publish(&mut self, sheet: Sheet) {
        let size = self.setting.rules.batch_size;
        let last = self.last.insert(sheet.epoch, sheet.batch);
        assert!(last < Some(sheet.batch), "batches of an epoch are published in order");
        let mut claims = sheet.claims.iter().flat_map(|claim| (0..claim.len).map(|at| (claim.lease, claim.start + at)));
        for place in 0..size {
            let pixels = self.pixels.get(&(sheet.batch, place)).copied();
            let at = place as usize;
            if at >= sheet.records.len() {
                assert_eq!(pixels, Some(Pixels::Black), "nobody's picture is left behind the last place");
                continue;
            }
            match pixels {
                Some(Pixels::Of(record)) => {
                    assert!(sheet.records[at] == -1 || sheet.records[at] == i64::try_from(record).unwrap());
                    assert!(self.is_good(record));
                    assert_eq!(sheet.labels[at], label(record));
                }
                Some(Pixels::Black) => assert_eq!((sheet.records[at], sheet.mask[at]), (-1, 0)),
                other => panic!("place {at} of batch {} shows {other:?}", sheet.batch),
            }
            if sheet.mask[at] == 1 {
                let (lease, offset) = claims.next().expect("a claim for every own place");
                let own = |position: &&Position| (position.lease, position.offset) == (lease, offset);
                let position = *self.given.iter().find(own).unwrap();
                assert_eq!(sheet.records[at], i64::try_from(position.record).unwrap());
                assert_eq!(position.epoch, sheet.epoch);
                self.settled(&position, Fate::Published);
            }
        }
        assert_eq!(claims.next(), None, "a copy carries no claim");
        drop(claims);
        assert_eq!(sheet.valid, sheet.mask.iter().map(|mask| u32::from(*mask)).sum::<u32>());
        assert!(sheet.shown <= size);
        if self.is_static() {
            self.places_never_shift(&sheet);
        }
        self.published.push(sheet);
    }

    fn places_never_shift(&self, sheet: &Sheet) {
        let (own, copies) = &self.seats[&sheet.batch];
        assert_eq!(sheet.records.len(), own.len() + copies.len());
        for (at, position) in own.iter().enumerate() {
            let (record, mask) = (sheet.records[at], sheet.mask[at]);
            if self.is_good(position.record) {
                assert_eq!((record, mask), (i64::try_from(position.record).unwrap(), 1));
                continue;
            }
            assert_eq!(mask, 0);
            let stand_in = self.stand_in(position).and_then(|record| i64::try_from(record).ok()).unwrap_or(-1);
            if self.setting.rules.on_error == OnError::Skip {
                assert_eq!(record, -1);
            } else if !self.setting.flaky {
                assert_eq!(record, stand_in, "for {position:?}");
            }
        }
        for (at, &copy) in copies.iter().enumerate() {
            let (record, mask) = (sheet.records[own.len() + at], sheet.mask[own.len() + at]);
            assert_eq!(mask, 0);
            let found = self.is_good(copy) && !self.setting.flaky;
            assert!(record == i64::try_from(copy).unwrap() || record == -1 && !found, "{record} for {copy}");
        }
    }

    /// Rule 7: the nearest earlier good record of the lease, else the next one.
    fn stand_in(&self, position: &Position) -> Option<u64> {
        let first = position.record - position.offset;
        let good = |record: &u64| self.is_good(*record);
        (first..position.record).rev().find(good).or_else(|| (position.record..first + position.lease_len).find(good))
    }

    fn close(&mut self) {
        for position in self.batcher.close() {
            self.settled(&position, Fate::Returned);
        }
        for position in &self.given {
            assert!(self.fates.contains_key(&(position.lease, position.offset)), "{position:?} is lost");
        }
        assert_eq!(self.fates.len(), self.given.len());
    }
}

fn label(record: u64) -> i64 {
    i64::try_from(record).unwrap() * 10
}
