//! Ledgers of orders whose steps have classes (semantics rule 62): a step is leased, returned and delivered as a whole.
#![allow(clippy::unwrap_used, reason = "a test that cannot set its scene has failed")]

mod history;
mod lockstep;
mod refusals;
mod scene;
