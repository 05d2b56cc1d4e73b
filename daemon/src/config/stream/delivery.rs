//! `groups`, `group_timeout`, `slow` and `evict_after`: which trainers get a batch, and what happens to slow ones.

use std::time::Duration;

use forebay_pipeline::keys;
use forebay_pipeline::settings::{DeliverySettings, GroupPolicy, Home, Key, Sharding, Slow, duration};

use crate::config::table::Table;
use crate::config::value::choice;

/// The keys.
pub(super) const KEYS: &[Key] = keys! {
    /// Which trainers get a batch. "split": one of them. "each": one of each group, for several jobs that each need the whole
    /// dataset. Cannot be combined with shards or lockstep. See docs/trainers.md.
    groups: "str" = "\"split\"", home: Home::Config;
    /// With `groups = "each"`: how long batches are kept for a named group that has no trainer.
    group_timeout: "float | str" = "\"60s\"", home: Home::Config;
    /// With `groups = "each"`: what happens if a group of trainers makes the others wait. "block": they wait. "evict": the group
    /// is ended, and its trainers get an error. Set it to "evict" if one stuck job must not stop the others.
    slow: "str" = "\"block\"", home: Home::Config;
    /// With `slow = "evict"`: how long a group may make others wait without consuming a batch.
    evict_after: "float | str" = "\"60s\"", home: Home::Config;
};

/// How long a slow group may consume nothing, if the configuration does not say.
const EVICT_AFTER: Duration = Duration::from_secs(60);

/// Reads the keys.
pub(super) fn read(table: &mut Table<'_, '_>, sharding: Sharding) -> DeliverySettings {
    let default = DeliverySettings::default();
    let groups =
        table.take_or("groups", default.groups, choice(&[("split", GroupPolicy::Split), ("each", GroupPolicy::Each)]));
    if groups == GroupPolicy::Each && sharding != Sharding::Dynamic {
        table.mistake("groups", "is \"each\", but shards and ranks have one trainer each; leave it out.");
    }
    let group_timeout = table.take_or("group_timeout", default.group_timeout, duration);
    if groups == GroupPolicy::Split && group_timeout != default.group_timeout {
        table.mistake("group_timeout", "has an effect only with groups = \"each\"; leave it out, or give both.");
    }
    let evicts = table.take_or("slow", false, choice(&[("block", false), ("evict", true)]));
    if groups == GroupPolicy::Split && evicts {
        table.mistake("slow", "has an effect only with groups = \"each\"; leave it out, or give both.");
    }
    let after = table.take_or("evict_after", EVICT_AFTER, duration);
    if !evicts && after != EVICT_AFTER {
        table.mistake("evict_after", "has an effect only with slow = \"evict\"; leave it out, or give both.");
    }
    let slow = if evicts { Slow::Evict { after } } else { Slow::Block };
    DeliverySettings { groups, group_timeout, slow }
}
