//! What became of every record of an epoch, and whether it adds up (semantics rule 24). Pure.

use std::cell::OnceCell;
use std::ops::Range;

use forebay_proto::{RecordSum, Turn, v1};

/// One epoch's records by what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochAudit {
    /// The epoch.
    pub epoch: u64,
    /// Acknowledged by trainers.
    pub delivered: u64,
    /// Left out by the last batch's policy.
    pub dropped: u64,
    /// Could not be read or decoded.
    pub quarantined: u64,
    /// Given up by `reset()`.
    pub abandoned: u64,
    /// In lockstep: below the step of a state that was loaded, without a receipt. The state says that they were delivered.
    pub by_state: u64,
    /// Records that may have been seen twice, by cause.
    pub repeats: v1::Repeats,
    /// Every record is accounted for.
    pub complete: bool,
    /// Whether count and checksum over all five are those of the dataset's records, each once, and no group of trainers saw
    /// other records. None while the epoch is not complete, and for static shards, ranks of lockstep and sources with weights,
    /// whose records only the ledger knows: `forebay audit` tells there.
    pub adds_up: Option<bool>,
}

impl EpochAudit {
    /// Adds up a ledger's tallies.
    pub(crate) fn of(reply: &v1::AuditReply) -> Vec<Self> {
        let floor = reply.progress.map_or(0, |progress| progress.floor);
        // It takes as long as the dataset has records: not before an epoch is there to be compared with it.
        let sum = OnceCell::new();
        let whole =
            || *sum.get_or_init(|| expected(reply.spec.as_ref()?, reply.classes.as_ref(), reply.selected.as_ref()));
        reply.epochs.iter().map(|tally| Self::of_epoch(tally, floor, whole)).collect()
    }

    fn of_epoch(tally: &v1::EpochTally, floor: u64, whole: impl Fn() -> Option<RecordSum>) -> Self {
        let parts = [tally.delivered, tally.dropped, tally.quarantined, tally.abandoned, tally.by_state].map(sum);
        let mut all = RecordSum::default();
        for part in parts {
            all += part;
        }
        let groups_agree = !tally.groups.iter().any(|group| group.differs_from(parts[0]));
        let [delivered, dropped, quarantined, abandoned, by_state] = parts.map(|part| part.count);
        let complete = tally.epoch < floor;
        Self {
            epoch: tally.epoch,
            delivered,
            dropped,
            quarantined,
            abandoned,
            by_state,
            repeats: tally.repeats.unwrap_or_default(),
            complete,
            adds_up: if complete { whole().map(|whole| whole == all && groups_agree) } else { None },
        }
    }
}

/// What each epoch of a ledger has, if all have the same. `classes` has the class of each record, if steps have classes. If records
/// are selected, `selected` has these, and the spec counts them alone.
fn expected(
    spec: &v1::LedgerSpec,
    classes: Option<&v1::ClassNumbers>,
    selected: Option<&v1::SelectedRecords>,
) -> Option<RecordSum> {
    let mut sum = RecordSum::default();
    let mut own = numbers(spec, selected)?;
    let mut add = |own: u64, times: u16| (0..times).for_each(|repeat| sum.add(Turn::new(own, repeat).key()));
    let Some(order) = &spec.classes else {
        for (records, times) in turns(spec)? {
            for _ in records {
                add(own.next()?, times);
            }
        }
        return Some(sum);
    };
    if spec.lockstep.is_some() {
        return None;
    }
    let mut start = 0_u64;
    let sources = spec.sources.iter().map(|source| source.records).zip(order.repeats.iter().copied());
    for (records, repeats) in sources.chain([(spec.records, 1)]) {
        let end = start.saturating_add(records).min(spec.records);
        for record in start..end {
            let own = own.next()?;
            if has_class(classes?, record) {
                add(own, u16::try_from(repeats).ok()?);
            }
        }
        start = end;
    }
    Some(sum)
}

/// The numbers in the dataset of the records that a spec counts, in their order. Nothing, if the selected ones are not known.
fn numbers<'a>(
    spec: &v1::LedgerSpec,
    selected: Option<&'a v1::SelectedRecords>,
) -> Option<Box<dyn Iterator<Item = u64> + 'a>> {
    if spec.selection.is_none() {
        return Some(Box::new(0..spec.records));
    }
    let of_byte = |(place, byte): (u64, &u8)| {
        let byte = *byte;
        (0..8).filter(move |bit| byte >> bit & 1 == 1).map(move |bit| place * 8 + bit)
    };
    Some(Box::new((0..).zip(&selected?.bits).flat_map(of_byte)))
}

/// Whether a record has a class. One of the numbers says that it has none.
fn has_class(classes: &v1::ClassNumbers, record: u64) -> bool {
    let len = if classes.classes > u8::MAX.into() { 2 } else { 1 };
    let number = usize::try_from(record).ok().and_then(|record| classes.numbers.chunks_exact(len).nth(record));
    number.is_some_and(|number| number.iter().any(|byte| *byte != u8::MAX))
}

/// The records of a source, and how often each epoch has every one of them.
type Turns = (Range<u64>, u16);

/// What each epoch of a ledger has, if that is each record of a source equally often.
fn turns(spec: &v1::LedgerSpec) -> Option<Vec<Turns>> {
    let mut first = 0_u64;
    let of_source = |source: &v1::SourceShare| {
        let end = first.checked_add(source.records)?;
        let records = std::mem::replace(&mut first, end)..end;
        let times = source.positions.checked_div(source.records)?;
        let equally = times * source.records == source.positions;
        Some((records, u16::try_from(times).ok().filter(|_| equally)?))
    };
    match &*spec.sources {
        _ if spec.shard.is_some() || spec.lockstep.is_some() => None,
        [] => Some(vec![(0..spec.records, 1)]),
        sources => sources.iter().map(of_source).collect(),
    }
}

fn sum(tally: Option<v1::Tally>) -> RecordSum {
    let tally = tally.unwrap_or_default();
    RecordSum::from_halves(tally.count, tally.sum_high, tally.sum_low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(records: impl IntoIterator<Item = u64>) -> v1::Tally {
        let sum: RecordSum = records.into_iter().collect();
        let (sum_high, sum_low) = sum.halves();
        v1::Tally { count: sum.count, sum_high, sum_low }
    }

    fn reply(delivered: impl IntoIterator<Item = u64>, floor: u64) -> v1::AuditReply {
        v1::AuditReply {
            spec: Some(v1::LedgerSpec { records: 10, ..Default::default() }),
            epochs: vec![v1::EpochTally {
                delivered: Some(tally(delivered)),
                quarantined: Some(tally([9])),
                ..Default::default()
            }],
            progress: Some(v1::Progress { floor, ..Default::default() }),
            ..Default::default()
        }
    }

    #[test]
    fn rule_24_each_record_once_adds_up() {
        let audit = EpochAudit::of(&reply(0..9, 1));
        assert_eq!((audit[0].delivered, audit[0].quarantined, audit[0].adds_up), (9, 1, Some(true)));
    }

    #[test]
    fn rule_24_one_record_twice_in_place_of_another_does_not_add_up() {
        assert_eq!(EpochAudit::of(&reply([0, 1, 2, 3, 4, 5, 6, 7, 7], 1))[0].adds_up, Some(false));
    }

    #[test]
    fn rule_44_a_group_that_saw_other_records_does_not_add_up() {
        let mut reply = reply(0..9, 1);
        reply.epochs[0].groups = vec![v1::GroupTally { consumed: Some(tally([0, 1, 2])), ..Default::default() }];
        assert_eq!(EpochAudit::of(&reply)[0].adds_up, Some(true), "it has not consumed all");
        reply.epochs[0].groups[0].consumed = Some(tally([0, 1, 2, 3, 4, 5, 6, 7, 7]));
        assert_eq!(EpochAudit::of(&reply)[0].adds_up, Some(false));
    }

    #[test]
    fn rule_62_records_without_a_class_are_in_no_epoch() {
        for (classes, numbers) in [(2, vec![0, 255, 1, 255]), (300, vec![255, 0, 255, 255, 0, 255, 255, 255])] {
            let order = v1::ClassOrder { repeats: vec![2], ..Default::default() };
            let sources = vec![v1::SourceShare { records: 4, positions: 4, ..Default::default() }];
            let spec = v1::LedgerSpec { records: 4, sources, classes: Some(order), ..Default::default() };
            let of = |delivered: &[Turn], classes: Option<v1::ClassNumbers>| {
                let sum: RecordSum = delivered.iter().copied().collect();
                let (sum_high, sum_low) = sum.halves();
                let delivered = Some(v1::Tally { count: sum.count, sum_high, sum_low });
                let epochs = vec![v1::EpochTally { delivered, ..Default::default() }];
                EpochAudit::of(&v1::AuditReply { spec: Some(spec.clone()), epochs, classes, ..reply(0..0, 1) })[0]
                    .adds_up
            };
            let table = Some(v1::ClassNumbers { classes, numbers });
            let turns = [Turn::new(0, 0), Turn::new(0, 1), Turn::new(2, 0), Turn::new(2, 1)];
            assert_eq!(of(&turns, table.clone()), Some(true), "{classes} classes");
            assert_eq!(of(&turns[1..], table), Some(false));
            assert_eq!(of(&turns, None), None, "it is unknown which records have one");
        }
    }

    #[test]
    fn rule_57_each_turn_of_a_repeated_record_counts_and_shares_by_weight_are_not_judged() {
        let of = |sources: &[(u64, u64)], delivered: Vec<Turn>| {
            let share =
                |&(records, positions): &(u64, u64)| v1::SourceShare { records, positions, ..Default::default() };
            let spec =
                v1::LedgerSpec { records: 3, sources: sources.iter().map(share).collect(), ..Default::default() };
            let sum: RecordSum = delivered.into_iter().collect();
            let (sum_high, sum_low) = sum.halves();
            let delivered = Some(v1::Tally { count: sum.count, sum_high, sum_low });
            let epochs = vec![v1::EpochTally { delivered, ..Default::default() }];
            EpochAudit::of(&v1::AuditReply { spec: Some(spec), epochs, ..reply(0..0, 1) })[0].adds_up
        };
        let turns = |turns: &[(u64, u16)]| turns.iter().map(|&(record, repeat)| Turn::new(record, repeat)).collect();
        let whole: Vec<Turn> = turns(&[(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)]);
        assert_eq!(of(&[(1, 1), (2, 4)], whole.clone()), Some(true));
        assert_eq!(of(&[(1, 1), (2, 4)], turns(&[(0, 0), (1, 0), (1, 0), (2, 0), (2, 1)])), Some(false));
        assert_eq!(of(&[(1, 2), (2, 3)], whole), None);
    }

    #[test]
    fn rule_66_selected_records_are_expected_under_their_own_numbers() {
        let selected = Some(v1::SelectedRecords { bits: vec![0b1000_0010, 0b11] });
        let of = |delivered: &[u64], selected: Option<v1::SelectedRecords>| {
            let selection = Some(v1::RecordSelection { digest: vec![0; 32], records: 10 });
            let spec = Some(v1::LedgerSpec { records: 4, selection, ..Default::default() });
            let epochs =
                vec![v1::EpochTally { delivered: Some(tally(delivered.iter().copied())), ..Default::default() }];
            EpochAudit::of(&v1::AuditReply { spec, epochs, selected, ..reply(0..0, 1) })[0].adds_up
        };
        assert_eq!(of(&[1, 7, 8, 9], selected.clone()), Some(true));
        assert_eq!(of(&[0, 1, 2, 3], selected.clone()), Some(false), "these are places among the selected ones");
        assert_eq!(of(&[1, 7, 8], selected), Some(false));
        assert_eq!(of(&[1, 7, 8, 9], None), None, "it is unknown which records are selected");
    }

    #[test]
    fn an_epoch_that_continues_is_not_judged() {
        assert_eq!(EpochAudit::of(&reply(0..3, 0))[0].adds_up, None);
    }

    #[test]
    fn records_are_not_added_up_while_there_is_nothing_to_compare_the_sum_with() {
        let spec = Some(v1::LedgerSpec { records: 1 << 40, ..Default::default() });
        let audit = EpochAudit::of(&v1::AuditReply { spec, ..reply(0..3, 0) });
        assert_eq!((audit[0].delivered, audit[0].adds_up), (3, None));
    }
}
