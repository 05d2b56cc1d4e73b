//! How the last batch of an epoch ends (semantics rules 12, 13 and 40), as pure arithmetic.
//!
//! Static and lockstep assignment know every batch of an epoch before it starts: [`Batching::epoch`] gives them, for static
//! shards equal to what DALI 2.4 returns. In dynamic assignment, a batch has the next records that arrive. There only the
//! end of an epoch follows the [`LastBatchPolicy`]. Where steps have classes, a batch is a step, or a rank's part of one.

use forebay_proto::Turn;

use crate::classes::StepClass;
use crate::part::EpochPart;
use crate::plan::{EpochOrder, Plan};

/// What becomes of records that do not fill a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastBatchPolicy {
    /// The batch is filled up with copies.
    Fill,
    /// The records are not delivered in this epoch; they count as dropped.
    Drop,
    /// The batch is shorter.
    #[default]
    Partial,
}

/// The settings that shape an epoch's batches where places are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batching {
    /// Places of a batch; 0 counts as 1. For a rank of lockstep, its part of a step.
    pub batch_size: u64,
    /// For the last batch.
    pub policy: LastBatchPolicy,
    /// Every shard has the same number of batches, the last record repeated. Ranks of lockstep always have.
    pub pad_last_batch: bool,
}

/// The batches of one epoch of a static shard, or of a rank.
#[derive(Clone, Debug)]
pub struct EpochBatches {
    /// How many batches the epoch has. An epoch without a record of its own has none.
    pub batches: u64,
    /// How many of the epoch's records are in batches; the others are dropped. They are the first ones.
    pub delivered: u64,
    batching: Batching,
    /// Positions of a batch that is not the last.
    size: u64,
    order: EpochOrder,
    part: Option<EpochPart>,
}

/// One batch of a static epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticBatch {
    /// First of the epoch's positions in this batch.
    pub start: u64,
    /// Number of the epoch's own records in it: `valid`.
    pub valid: u64,
    /// Number of the epoch's positions in it; the last of an epoch may have no record, and any behind `valid` of a step of a class.
    pub positions: u64,
    /// Places that the user sees. Places from `valid` on are copies.
    pub shown: u64,
}

impl Batching {
    fn size(&self) -> u64 {
        self.batch_size.max(1)
    }

    /// How many positions of each epoch of a part are in batches if every part has as many whole ones as the smallest. DALI
    /// drops the others.
    pub fn positions_in_whole_batches(&self, plan: &Plan) -> u64 {
        let parts = plan.part().map_or(1, |part| u64::from(part.count()));
        plan.positions() / parts.max(1) / self.size() * self.size()
    }

    /// The batches of an epoch of a shard's or a rank's plan.
    pub fn epoch(&self, plan: &Plan, epoch: u64) -> EpochBatches {
        let order = plan.epoch(epoch);
        let part = plan.part();
        if let (Some(size), Some(positions)) = (plan.positions_of_step(), plan.positions_in_steps()) {
            // What `leftovers` drops is behind all steps that are delivered.
            let delivered = order.records_in(&(0..positions));
            return EpochBatches { batches: positions / size, delivered, batching: *self, size, order, part };
        }
        let batches = match self.policy {
            _ if order.is_empty() => 0,
            LastBatchPolicy::Drop => self.positions_in_whole_batches(plan) / self.size(),
            _ if self.pad_last_batch || matches!(part, Some(EpochPart::Rank(_))) => order.len().div_ceil(self.size()),
            LastBatchPolicy::Fill | LastBatchPolicy::Partial => order.records().div_ceil(self.size()),
        };
        let delivered = order.records().min(batches.saturating_mul(self.size()));
        EpochBatches { batches, delivered, batching: *self, size: self.size(), order, part }
    }

    /// `len(loader)` in an epoch: exact for a static plan and for steps of classes, and for any other dynamic plan what the whole
    /// stream has at most.
    pub fn batches_per_epoch(&self, plan: &Plan, epoch: u64) -> u64 {
        match (plan.part(), self.policy) {
            _ if plan.classes().is_some() => self.epoch(plan, epoch).batches,
            (Some(_), _) => self.epoch(plan, epoch).batches,
            (None, LastBatchPolicy::Drop) => plan.positions() / self.size(),
            (None, LastBatchPolicy::Fill | LastBatchPolicy::Partial) => plan.positions().div_ceil(self.size()),
        }
    }
}

impl EpochBatches {
    /// The batch that a position is in, if it is in one: its number is below `batches`.
    pub const fn index_of(&self, position: u64) -> u64 {
        position / self.size
    }

    /// The class of batch `index`, and the turns that its step has on all ranks. Nothing if steps have no classes.
    pub fn class(&self, index: u64) -> Option<StepClass> {
        self.order.step_class(index)
    }

    /// Batch `index`, counted from the epoch's start; below `batches`.
    pub fn batch(&self, index: u64) -> StaticBatch {
        let size = self.size;
        let first = index.saturating_mul(size);
        if let Some(shown) = self.order.places_of_step(index) {
            let valid = self.order.records_in(&(first..first.saturating_add(size)));
            return StaticBatch { start: first, valid, positions: size, shown };
        }
        let positions = size.min(self.order.len().saturating_sub(first));
        let start = first.min(self.order.records());
        let valid = size.min(self.order.records() - start);
        let shown = match self.batching.policy {
            // Parts that train together have as many steps of one shape.
            LastBatchPolicy::Partial if self.is_padded() => positions,
            LastBatchPolicy::Partial => valid,
            LastBatchPolicy::Fill | LastBatchPolicy::Drop => size,
        };
        StaticBatch { start, valid, positions, shown }
    }

    /// Whether a batch also shows places for positions without a record.
    fn is_padded(&self) -> bool {
        match self.part {
            Some(EpochPart::Rank(_)) => true,
            Some(EpochPart::Shard(_)) => self.batching.pad_last_batch,
            None => false,
        }
    }

    /// The turn of the record at a place of a batch; `place` must be below `shown`. Places below `valid` have the batch's
    /// own records, the others copies. A copy is not acknowledged, and its mask is False.
    ///
    /// With `pad_last_batch`, the epoch's last record is repeated. Without it, the batch continues with the records that
    /// follow in the epoch's order. It wraps at the dataset's end, or inside the shard if `stick_to_shard` is set. A rank of
    /// lockstep repeats its last record, or the epoch's if it has none. Where steps have classes, a copy repeats the nearest earlier
    /// record of the rank's part of the step, or else the step's first.
    pub fn turn(&self, index: u64, place: u64) -> Turn {
        let position = index.saturating_mul(self.size).saturating_add(place);
        let own = self.order.records();
        if position < own || self.order.places_of_step(index).is_some() {
            self.order.turn(position)
        } else if self.batching.pad_last_batch {
            self.order.turn(own.saturating_sub(1))
        } else if matches!(self.part, Some(EpochPart::Shard(shard)) if shard.stick_to_shard) {
            self.order.turn(position % own.max(1))
        } else {
            self.order.turn(position)
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{LedgerSpec, LockstepRank, StaticShard};

    use super::*;

    fn plan(records: u64, shard_id: u32, num_shards: u32, stick_to_shard: bool) -> Plan {
        let shard = Some(StaticShard { shard_id, num_shards, stick_to_shard });
        let spec = LedgerSpec { fingerprint: vec![0; 32], records, permutation: 1, shard, ..LedgerSpec::default() };
        Plan::new(&spec).unwrap()
    }

    fn shown(plan: &Plan, batching: Batching, epoch: u64) -> Vec<Vec<u64>> {
        let batches = batching.epoch(plan, epoch);
        assert_eq!(batches.batches, batching.batches_per_epoch(plan, epoch));
        (0..batches.batches)
            .map(|index| (0..batches.batch(index).shown).map(|place| batches.turn(index, place).record()).collect())
            .collect()
    }

    fn batching(batch_size: u64, policy: LastBatchPolicy, pad_last_batch: bool) -> Batching {
        Batching { batch_size, policy, pad_last_batch }
    }

    #[test]
    fn rule_13_a_stream_without_shards_counts_the_batches_that_are_delivered() {
        let spec = LedgerSpec { fingerprint: vec![0; 32], records: 11, permutation: 1, ..LedgerSpec::default() };
        let whole = Plan::new(&spec).unwrap();
        let counted = |policy| batching(4, policy, false).batches_per_epoch(&whole, 0);
        assert_eq!([LastBatchPolicy::Fill, LastBatchPolicy::Partial, LastBatchPolicy::Drop].map(counted), [3, 3, 2]);
    }

    #[test]
    fn rule_13_padding_repeats_the_last_record_and_makes_all_shards_equal() {
        let pad = batching(2, LastBatchPolicy::Fill, true);
        assert_eq!(shown(&plan(11, 0, 3, false), pad, 0), [[0, 1], [2, 2]]);
        assert_eq!(shown(&plan(11, 1, 3, false), pad, 0), [[3, 4], [5, 6]]);
        assert_eq!(shown(&plan(11, 0, 3, false), pad, 1), [[3, 4], [5, 6]]);
        let partial = batching(2, LastBatchPolicy::Partial, true);
        assert_eq!(shown(&plan(11, 0, 3, false), partial, 0), [[0, 1], [2, 2]]);
        // The other shard has three batches, so this one has three: the third shows copies alone.
        assert_eq!(shown(&plan(9, 0, 2, false), partial, 0), [vec![0, 1], vec![2, 3], vec![3]]);
        let last = partial.epoch(&plan(9, 0, 2, false), 0).batch(2);
        assert_eq!(last, StaticBatch { start: 4, valid: 0, positions: 1, shown: 1 });
        assert_eq!(shown(&plan(9, 0, 2, false), pad, 0), [[0, 1], [2, 3], [3, 3]]);
    }

    /// The sizes of a rank's batches in `PyTorch`, with a `BatchSampler` over a `DistributedSampler`. All ranks have the same: the
    /// sampler gives each of them `ceil(records / ranks)` pictures, and repeats some. `drop_last` is that of the batches.
    fn distributed_sampler(records: u64, ranks: u64, batch_size: u64, drop_last: bool) -> Vec<u64> {
        let pictures = records.div_ceil(ranks);
        let whole = std::iter::repeat_n(batch_size, usize::try_from(pictures / batch_size).unwrap());
        let rest = (!drop_last).then_some(pictures % batch_size).filter(|rest| *rest > 0);
        whole.chain(rest).collect()
    }

    #[test]
    fn rule_13_padded_shards_have_the_batches_of_a_distributed_sampler_and_none_is_empty() {
        for (records, ranks, size) in
            (1..=60).flat_map(|records| (1..=8).flat_map(move |ranks| (1..=9).map(move |size| (records, ranks, size))))
        {
            for (policy, stick) in [LastBatchPolicy::Partial, LastBatchPolicy::Fill, LastBatchPolicy::Drop]
                .into_iter()
                .flat_map(|policy| [(policy, true), (policy, false)])
            {
                let epoch = 3;
                let mut own = Vec::new();
                // A shard that sticks and has never a record is refused.
                for rank in (0..ranks).filter(|_| records >= ranks || !stick) {
                    let plan = plan(records, u32::try_from(rank).unwrap(), u32::try_from(ranks).unwrap(), stick);
                    let batches = batching(size, policy, true).epoch(&plan, epoch);
                    let of = |index| (0..batches.batch(index).shown).map(move |place| (index, place));
                    let sizes: Vec<u64> = (0..batches.batches).map(|index| batches.batch(index).shown).collect();
                    let case = format!("{records} records, rank {rank} of {ranks}, batches of {size}, {policy:?}");
                    let expected = match policy {
                        // Only then a shard may have no record.
                        _ if batches.order.records() == 0 => Vec::new(),
                        LastBatchPolicy::Partial => distributed_sampler(records, ranks, size, false),
                        LastBatchPolicy::Fill => vec![size; distributed_sampler(records, ranks, size, false).len()],
                        // Without a copy: as many batches as the smallest shard fills.
                        LastBatchPolicy::Drop => distributed_sampler(records - records % ranks, ranks, size, true),
                    };
                    assert_eq!(sizes, expected, "{case}");
                    assert!(batches.order.records() > 0 || records < ranks, "{case}");
                    for (index, place) in (0..batches.batches).flat_map(of) {
                        let StaticBatch { start, valid, .. } = batches.batch(index);
                        let record = batches.turn(index, place).record();
                        if place < valid {
                            assert_eq!(record, batches.order.record(start + place), "{case}");
                            own.push(record);
                        } else {
                            assert_eq!(record, batches.order.record(batches.order.records() - 1), "{case}");
                        }
                    }
                }
                own.sort_unstable();
                if policy == LastBatchPolicy::Drop {
                    assert!(own.is_sorted_by(|a, b| a < b), "no record is read twice");
                } else {
                    let all = if records >= ranks || !stick { records } else { 0 };
                    assert_eq!(own, (0..all).collect::<Vec<_>>(), "each record is one rank's own, once");
                }
            }
        }
    }

    #[test]
    fn rule_13_filling_continues_in_dataset_order_and_wraps() {
        let fill = batching(4, LastBatchPolicy::Fill, false);
        assert_eq!(shown(&plan(10, 1, 3, false), fill, 0), [[3, 4, 5, 6]]);
        assert_eq!(shown(&plan(10, 2, 3, false), batching(3, LastBatchPolicy::Fill, false), 0), [[6, 7, 8], [9, 0, 1]]);
        // A shard that sticks wraps inside itself, as DALI's does.
        assert_eq!(shown(&plan(10, 1, 3, true), fill, 0), [[3, 4, 5, 3]]);
        assert_eq!(
            shown(&plan(9, 0, 2, true), batching(16, LastBatchPolicy::Fill, false), 0),
            [[0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]]
        );
    }

    #[test]
    fn rule_13_dropping_leaves_every_shard_as_many_batches_as_the_smallest() {
        for pad in [false, true] {
            let batches = batching(2, LastBatchPolicy::Drop, pad).epoch(&plan(11, 1, 3, false), 0);
            assert_eq!((batches.batches, batches.delivered), (1, 2));
        }
        // DALI refuses these: no shard fills one batch. Here the epoch has no batch and all is dropped.
        let batches = batching(16, LastBatchPolicy::Drop, true).epoch(&plan(9, 0, 2, false), 0);
        assert_eq!((batches.batches, batches.delivered), (0, 0));
    }

    #[test]
    fn rule_13_an_empty_shard_has_an_epoch_of_no_batches() {
        for policy in [LastBatchPolicy::Fill, LastBatchPolicy::Drop, LastBatchPolicy::Partial] {
            for pad in [false, true] {
                assert_eq!(batching(4, policy, pad).epoch(&plan(2, 0, 5, false), 0).batches, 0);
            }
        }
    }
    /// What each rank of a run in steps of 8 is shown, by batch.
    fn ranks(records: u64, world_size: u32, policy: LastBatchPolicy) -> Vec<Vec<Vec<u64>>> {
        let of = |rank| {
            let lockstep = Some(LockstepRank { global_batch: 8, rank, world_size });
            let spec = LedgerSpec { lockstep, ..plan(records, 0, 1, false).spec().clone() };
            let plan = Plan::new(&LedgerSpec { shard: None, ..spec }).unwrap();
            shown(&plan, batching(8 / u64::from(world_size), policy, false), 3)
        };
        (0..world_size).map(of).collect()
    }

    #[test]
    fn rule_40_ranks_have_as_many_steps_of_one_shape_and_copies_repeat_their_last_record() {
        let partial = ranks(21, 2, LastBatchPolicy::Partial);
        assert_eq!(partial[0], [vec![0, 1, 2, 3], vec![8, 9, 10, 11], vec![16, 17, 17]]);
        assert_eq!(partial[1], [vec![4, 5, 6, 7], vec![12, 13, 14, 15], vec![18, 19, 20]]);
        let fill = ranks(21, 2, LastBatchPolicy::Fill);
        assert_eq!([&fill[0][2], &fill[1][2]], [&[16, 17, 17, 17], &[18, 19, 20, 20]]);
        let drop = ranks(21, 2, LastBatchPolicy::Drop);
        assert_eq!(drop.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
        // More ranks than the last step has records: a rank without one repeats what it had last.
        let few = ranks(9, 4, LastBatchPolicy::Partial);
        assert_eq!(few.iter().map(|rank| rank[1].clone()).collect::<Vec<_>>(), [[1], [3], [5], [8]]);
        // An epoch of fewer records than ranks: a rank without any shows the epoch's last.
        let least = ranks(3, 4, LastBatchPolicy::Fill);
        assert_eq!(least.concat(), [[2, 2], [0, 0], [1, 1], [2, 2]]);
    }

    #[test]
    fn rule_40_a_batch_answers_for_its_ranks_positions() {
        let lockstep = Some(LockstepRank { global_batch: 8, rank: 0, world_size: 2 });
        let spec = LedgerSpec { lockstep, shard: None, ..plan(21, 0, 1, false).spec().clone() };
        let batches = batching(4, LastBatchPolicy::Partial, false).epoch(&Plan::new(&spec).unwrap(), 0);
        assert_eq!(batches.batch(2), StaticBatch { start: 8, valid: 2, positions: 3, shown: 3 });
        let dropping = batching(4, LastBatchPolicy::Drop, false).epoch(&Plan::new(&spec).unwrap(), 0);
        assert_eq!((dropping.batches, dropping.delivered), (2, 8));
    }
}
