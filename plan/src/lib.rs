//! Which record is at which position of an epoch, and what the audit makes of what was delivered.
//!
//! A [`Plan`] is a pure function of a dataset's order: seeded permutation, grains, mixtures, static shards, lockstep. It never
//! holds a list of records, so it costs the same for a hundred records and for six billion, unless steps have classes or records are
//! selected. [`audit()`] adds up what a ledger has
//! noted of each epoch, with what the plan expects. Nothing here does I/O, reads a clock or knows a worker.
#![forbid(unsafe_code)]

mod audit;
mod batches;
mod buckets;
mod classes;
mod grain_passes;
mod grains;
mod lockstep;
mod mixture;
mod part;
mod permutation;
mod plan;
mod recent;
mod segments;
mod selection;
mod spec;
pub mod summary;

pub use audit::{
    AccountedSums, EpochAudit, Expected, GroupAudit, GroupVerdict, RecoveryAudit, RunAudit, SourceAudit, Verdict,
    audit, audit_run, expected,
};
pub use batches::{Batching, EpochBatches, LastBatchPolicy, StaticBatch};
pub use buckets::{Bucket, BucketChoice, BucketRule, KohyaBuckets, NoBucket, NoBucketRule, NoStepPlaces, StepPlaces};
pub use classes::{
    CLASS_PERMUTATION, ClassLayout, ClassOrder, ClassPlan, ClassProblem, ClassShare, ClassSize, ClassTable, Leftovers,
    StepClass, TooManyRecords, step_positions,
};
pub use grains::{CHANGING_GRAIN_PERMUTATION, GRAIN_MIXTURE_PERMUTATION, GRAIN_PERMUTATION, GrainProblem, GrainTable};
pub use lockstep::{RankPositions, RankProblem, check_rank, world_sizes};
pub use mixture::EpochWeights;
pub use mixture::problem::MixtureProblem;
pub use mixture::shares::{CHANGING_MIXTURE_PERMUTATION, MIXTURE_PERMUTATION, shares};
pub use part::EpochPart;
pub use permutation::{MAX_EPOCH, Permutation};
pub use plan::{EpochOrder, OrderTable, Plan};
pub use segments::{SegmentEnd, Segments, ranks};
pub use selection::{SELECTED, SelectionProblem, SelectionTable, dataset_records};
pub use spec::{PERMUTATION, SpecError, differences, nameless, spec_hash};
pub use summary::summary_block;
