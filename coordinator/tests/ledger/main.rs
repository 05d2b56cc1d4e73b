//! The coordinator as its workers see it: rules of docs/ledger.md, random histories against a plain model, and a
//! store that fails at each commit.
#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod abandoned;
mod by_plan;
mod copies;
mod crash;
mod elastic;
mod epochs;
mod failures;
mod foreign;
mod grains;
mod groups;
mod histories;
mod late;
mod loads;
mod locate;
mod lockstep;
mod marks;
mod mixtures;
mod model;
mod moves;
mod names;
mod opening;
mod poison;
mod policies;
mod receipts;
mod recovery;
mod remote;
mod repeats;
mod resume;
mod scene;
mod segments;
mod shares;
mod stalls;
mod summaries;
mod suspects;
mod tails;
mod task_worker;
mod tasks;
mod trainers;
mod updates;
mod wire;
