//! The shards of a reader, and the spans of their records that are read at once. Pure.

use forebay_sources::Grains;

/// Most records of a dataset, and most spans that they are read by.
const MOST_RECORDS: u64 = 1 << 32;
const MOST_GRAINS: u64 = 1 << 26;

/// All shards, in the reader's order.
#[derive(Debug)]
pub(super) struct ReaderShards {
    all: Vec<ReaderShard>,
    /// The first record of each shard in the dataset.
    firsts: Vec<u64>,
    /// The first record of each grain; empty where each record is one.
    grains: Vec<u64>,
    records: u64,
}

/// A shard as its reader knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReaderShard {
    pub name: String,
    /// The number of its first record in the shard's own numbering.
    pub start: u64,
    pub count: u64,
}

/// A span of records of one shard: a task of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskSpan<'a> {
    pub shard: &'a str,
    /// In the shard's own numbering.
    pub start: u64,
    pub end: u64,
    /// The first of its records in the dataset.
    pub record: u64,
}

impl TaskSpan<'_> {
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }
}

impl ReaderShards {
    /// Cuts shards into spans of `per_task` records.
    ///
    /// # Errors
    /// There are too many records, or their numbers are too large.
    pub(super) fn new(shards: Vec<ReaderShard>, per_task: u64) -> Result<Self, String> {
        let shards: Vec<ReaderShard> = shards.into_iter().filter(|shard| shard.count > 0).collect();
        let mut firsts = Vec::with_capacity(shards.len());
        let (mut records, mut spans) = (0_u64, 0_u64);
        for ReaderShard { name, start, count } in &shards {
            firsts.push(records);
            // Python's own numbers have no limit, and a task's are signed.
            let fits = start.checked_add(*count).is_some_and(|end| i64::try_from(end).is_ok());
            records = records.saturating_add(*count);
            spans = spans.saturating_add(count.div_ceil(per_task));
            if !fits || records > MOST_RECORDS {
                return Err(format!("has more than {MOST_RECORDS} records, up to the shard \"{name}\""));
            }
            if per_task > 1 && spans > MOST_GRAINS {
                return Err(format!("has more than {MOST_GRAINS} tasks; give a larger records_per_task"));
            }
        }
        let cut = |(shard, first): (&ReaderShard, &u64)| (*first..*first + shard.count).step_by(step(per_task));
        let grains = if per_task == 1 { Vec::new() } else { shards.iter().zip(&firsts).flat_map(cut).collect() };
        Ok(Self { all: shards, firsts, grains, records })
    }

    /// How many records there are.
    pub(super) fn records(&self) -> u64 {
        self.records
    }

    pub(super) fn grains(&self) -> Grains<'_> {
        if self.grains.is_empty() { Grains::Records } else { Grains::Starts(&self.grains) }
    }

    /// The shards as they were given, but for empty ones.
    pub(super) fn all(&self) -> &[ReaderShard] {
        &self.all
    }

    /// A record alone.
    ///
    /// # Panics
    /// There is no such record.
    pub(super) fn single(&self, record: u64) -> TaskSpan<'_> {
        assert!(record < self.records, "record {record} of {}", self.records);
        let place = self.firsts.partition_point(|&first| first <= record) - 1;
        let shard = &self.all[place];
        let start = shard.start + (record - self.firsts[place]);
        TaskSpan { shard: &shard.name, start, end: start + 1, record }
    }

    /// The grain that a record belongs to.
    ///
    /// # Panics
    /// There is no such record.
    pub(super) fn grain(&self, record: u64) -> (u64, TaskSpan<'_>) {
        let number = self.grains().of(record);
        if self.grains.is_empty() {
            return (number, self.single(record));
        }
        assert!(record < self.records, "record {record} of {}", self.records);
        let place = usize::try_from(number).expect("a list in memory is no longer than usize::MAX");
        let first = self.grains[place];
        let end = self.grains.get(place + 1).copied().unwrap_or(self.records);
        let span = self.single(first);
        (number, TaskSpan { end: span.start + (end - first), ..span })
    }
}

fn step(per_task: u64) -> usize {
    usize::try_from(per_task).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shard(name: &str, start: u64, count: u64) -> ReaderShard {
        ReaderShard { name: name.into(), start, count }
    }

    proptest! {
        #[test]
        fn rule_55_every_record_is_in_the_span_of_its_shard(
            counts in prop::collection::vec((0_u64..1 << 40, 0_u64..40), 1..8),
            per_task in 1_u64..12,
        ) {
            let given: Vec<ReaderShard> =
                counts.iter().enumerate().map(|(n, (start, count))| shard(&n.to_string(), *start, *count)).collect();
            let shards = ReaderShards::new(given.clone(), per_task).unwrap();
            let mut record = 0;
            for ReaderShard { name, start, count } in &given {
                for number in *start..start + count {
                    let single = shards.single(record);
                    prop_assert_eq!((single.shard, single.start, single.end), (name.as_str(), number, number + 1));
                    let (grain, span) = shards.grain(record);
                    prop_assert_eq!(grain, shards.grains().of(record));
                    prop_assert_eq!(span.shard, name);
                    prop_assert!(span.len() <= per_task && span.start <= number && number < span.end);
                    prop_assert_eq!(span.start - start, (number - start) / per_task * per_task);
                    prop_assert_eq!(span.record + (number - span.start), record);
                    record += 1;
                }
            }
            prop_assert_eq!(shards.records(), record);
        }
    }

    #[test]
    fn counts_are_not_believed() {
        for shards in [vec![shard("a", 0, u64::MAX)], vec![shard("a", u64::MAX, 1)], vec![shard("a", 0, 1 << 32); 2]] {
            assert!(ReaderShards::new(shards, 1 << 20).unwrap_err().contains("more than 4294967296 records"));
        }
        assert!(ReaderShards::new(vec![shard("a", 0, 1 << 32)], 2).unwrap_err().contains("records_per_task"));
        assert_eq!(ReaderShards::new(vec![shard("a", 0, 1 << 32)], 1).unwrap().records(), 1 << 32);
        assert_eq!(ReaderShards::new(vec![shard("a", 0, 0)], 1).unwrap().records(), 0);
    }
}
