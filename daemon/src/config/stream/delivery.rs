//! `mode` and `group_timeout`: which trainers get a batch.

use forebay_road::settings::{DeliverySettings, Mode, Sharding};

use crate::config::table::Table;
use crate::config::value::{choice, duration};

/// Reads both keys.
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
    DeliverySettings { mode, group_timeout }
}
