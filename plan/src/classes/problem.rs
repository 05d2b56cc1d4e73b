//! What is wrong with an order whose steps have one class each, or with its table.

use super::{CLASS_PERMUTATION, MAX_CLASSES, MAX_PLACES};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassProblem {
    /// Permutation and classes do not belong together.
    #[error(
        "The order has permutation version {version}, which does not go with {}. Version {CLASS_PERMUTATION}, and no other, needs \
         a digest of 32 bytes over the classes of all records, the places of the steps of each class, a rule for leftovers, and no \
         grains.",
        if *.classes { "classes" } else { "no classes" }
    )]
    Spec {
        /// Of the permutation.
        version: u32,
        /// The spec has classes.
        classes: bool,
    },
    /// A spec without the table that it is about.
    #[error("The order's steps have classes, but the table of the records' classes is missing.")]
    Missing,
    /// A table with another digest than the spec.
    #[error("The table of the records' classes is not the one that the order was made for.")]
    Other,
    /// Classes that the table does not have, or other records than the dataset's.
    #[error("The table of the records' classes is broken: each record of the dataset has one of its classes, or none.")]
    Broken,
    /// Too many classes, or a class with impossible steps.
    #[error(
        "Steps of classes need 1 to {MAX_CLASSES} classes, and each class 1 to {MAX_PLACES} places of a step. The order has {classes} \
         classes, with {least} to {most} places."
    )]
    Places {
        /// How many there are.
        classes: usize,
        /// Of the smallest step.
        least: u32,
        /// Of the largest step.
        most: u32,
    },
    /// Turns that the sources do not have.
    #[error(
        "The order's sources do not fit its classes: each has so many positions as its records with a class have turns."
    )]
    Sources,
    /// Groups of steps that no class can have.
    #[error(
        "{steps} steps of one class cannot follow each other: at most 65536 can, and only 1 with leftovers = \"repeat\", with which \
         whole steps of a group would have copies alone. Use other leftovers."
    )]
    Accumulate {
        /// As asked.
        steps: u32,
    },
    /// Lengths that steps cannot have in turn.
    #[error(
        "The order has {lengths} lengths and the places of {places}. Steps whose lengths take turns need places for each length, \
         leftovers = \"repeat\", and no accumulate."
    )]
    Lengths {
        /// How many there are.
        lengths: usize,
        /// For how many the places are known.
        places: usize,
    },
    /// Shards would have steps of different classes.
    #[error(
        "Steps of classes cannot be divided into static shards: each shard would have other steps. Set assignment = \"lockstep\", \
         which gives all ranks equal parts of the same steps."
    )]
    Shard,
    /// A step that ranks cannot share.
    #[error(
        "world_size {world_size} does not divide the places of each class's steps, which are {}. World sizes that fit: {}.",
        listed(.places),
        listed(.fitting)
    )]
    Ranks {
        /// As asked.
        world_size: u32,
        /// Of the classes, each number once.
        places: Vec<u64>,
        /// Numbers of ranks that divide all of them, those nearest to `world_size`.
        fitting: Vec<u64>,
    },
    /// A step of all ranks has other positions.
    #[error("global_batch is {global_batch}, but the largest step of a class has {places} places. Make it {places}.")]
    GlobalBatch {
        /// As asked.
        global_batch: u64,
        /// Of the largest step.
        places: u64,
    },
    /// An epoch would have no batch.
    #[error(
        "No class has a whole step of records, so an epoch has no batch. Use smaller steps, or other leftovers than \"drop\"."
    )]
    NoStep,
    /// More positions than are counted.
    #[error("An epoch of these classes has too many positions. Use steps of more equal size, or fewer repeats.")]
    TooLong,
}

/// Numbers with commas.
fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
