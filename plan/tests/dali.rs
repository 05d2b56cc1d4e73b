//! Static batches against what DALI 2.4 itself returned (`dali_sharding.json`: 72 settings over 4 epochs).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panic and says why it was skipped")]

use std::path::PathBuf;

use forebay_plan::{Batching, LastBatchPolicy, Plan, StaticBatch};
use forebay_proto::v1::{LedgerSpec, StaticShard};

#[derive(serde::Deserialize)]
struct Case {
    n: u64,
    num_shards: u32,
    batch_size: u64,
    stick_to_shard: bool,
    pad_last_batch: bool,
    last_batch_policy: String,
    #[serde(default)]
    dali_warned: bool,
    #[serde(default)]
    shards: Vec<Shard>,
    error: Option<String>,
}

#[derive(serde::Deserialize)]
struct Shard {
    shard: u32,
    epochs: Vec<Vec<Vec<u64>>>,
}

/// The shared vectors, in `FOREBAY_TEST_VECTORS` or beside the workspace.
fn cases() -> Option<Vec<Case>> {
    let folder = std::env::var_os("FOREBAY_TEST_VECTORS")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors"), PathBuf::from);
    let path = folder.join("dali_sharding.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("the vectors are JSON")),
        Err(error) => {
            println!("skipped: no vectors of DALI at {}: {error}", path.display());
            None
        }
    }
}

impl Case {
    fn plan(&self, shard_id: u32) -> Plan {
        let shard = StaticShard { shard_id, num_shards: self.num_shards, stick_to_shard: self.stick_to_shard };
        let spec = LedgerSpec {
            fingerprint: vec![0; 32],
            records: self.n,
            permutation: 1,
            shard: Some(shard),
            ..LedgerSpec::default()
        };
        Plan::new(&spec).unwrap()
    }

    fn batching(&self) -> Batching {
        let policy = match self.last_batch_policy.as_str() {
            "fill" => LastBatchPolicy::Fill,
            "drop" => LastBatchPolicy::Drop,
            "partial" => LastBatchPolicy::Partial,
            other => panic!("a policy of another DALI: {other}"),
        };
        Batching { batch_size: self.batch_size, policy, pad_last_batch: self.pad_last_batch }
    }

    fn epoch(&self, shard_id: u32, epoch: u64) -> Vec<Vec<u64>> {
        let batches = self.batching().epoch(&self.plan(shard_id), epoch);
        (0..batches.batches)
            .map(|index| {
                (0..self.compared(batches.batch(index))).map(|place| batches.turn(index, place).record()).collect()
            })
            .collect()
    }

    /// Places of a batch that DALI shows too. Padded shards also show copies under "partial", as `PyTorch`'s sampler does.
    fn compared(&self, batch: StaticBatch) -> u64 {
        if self.pad_last_batch && self.last_batch_policy == "partial" { batch.valid } else { batch.shown }
    }

    fn name(&self) -> String {
        format!(
            "n {} num_shards {} batch_size {} stick {} pad {} {}",
            self.n, self.num_shards, self.batch_size, self.stick_to_shard, self.pad_last_batch, self.last_batch_policy
        )
    }
}

#[test]
fn rule_13_static_batches_are_those_of_dali() {
    let Some(cases) = cases() else { return };
    let mut compared = 0;
    for case in cases.iter().filter(|case| !case.dali_warned && case.error.is_none()) {
        assert_eq!(case.shards.len(), case.num_shards as usize);
        // Without padding DALI carries what it borrowed into its next epoch; only its first is a model (rule 13).
        let epochs = if case.pad_last_batch { 4 } else { 1 };
        for shard in &case.shards {
            for (epoch, theirs) in (0..).zip(&shard.epochs).take(epochs) {
                assert_eq!(
                    &case.epoch(shard.shard, epoch),
                    theirs,
                    "{} shard {} epoch {epoch}",
                    case.name(),
                    shard.shard
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "only {compared} epochs were compared");
}

#[test]
fn rule_13_what_dali_refuses_is_an_epoch_of_no_batches() {
    let Some(cases) = cases() else { return };
    let refused: Vec<_> = cases.iter().filter(|case| case.error.is_some()).collect();
    assert!(!refused.is_empty());
    for case in refused {
        for shard_id in 0..case.num_shards {
            assert_eq!(case.epoch(shard_id, 0), Vec::<Vec<u64>>::new(), "{}", case.name());
        }
    }
}
