//! `mode`, `group_timeout`, `slow` and `evict_after`: which trainers get a batch, and what happens to slow ones.

use std::time::Duration;

use forebay_road::settings::{DeliverySettings, Mode, Sharding, Slow};

use crate::config::table::Table;
use crate::config::value::{choice, duration};

/// How long a slow group may consume nothing, if the configuration does not say.
const EVICT_AFTER: Duration = Duration::from_secs(60);

/// Reads the keys.
pub(super) fn read(table: &mut Table<'_, '_>, sharding: Sharding) -> DeliverySettings {
    let default = DeliverySettings::default();
    let mode = table.take_or("mode", default.mode, choice(&[("split", Mode::Split), ("each", Mode::Each)]));
    if mode == Mode::Each && sharding != Sharding::Dynamic {
        table.mistake("mode", "is \"each\", but shards and ranks have one trainer each; leave it out.");
    }
    let group_timeout = table.take_or("group_timeout", default.group_timeout, duration);
    if mode == Mode::Split && group_timeout != default.group_timeout {
        table.mistake("group_timeout", "has an effect only with mode = \"each\"; leave it out, or give both.");
    }
    let evicts = table.take_or("slow", false, choice(&[("block", false), ("evict", true)]));
    if mode == Mode::Split && evicts {
        table.mistake("slow", "has an effect only with mode = \"each\"; leave it out, or give both.");
    }
    let after = table.take_or("evict_after", EVICT_AFTER, duration);
    if !evicts && after != EVICT_AFTER {
        table.mistake("evict_after", "has an effect only with slow = \"evict\"; leave it out, or give both.");
    }
    let slow = if evicts { Slow::Evict { after } } else { Slow::Block };
    DeliverySettings { mode, group_timeout, slow }
}
