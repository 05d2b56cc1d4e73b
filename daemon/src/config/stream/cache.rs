//! `cache`: what of a dataset is kept in memory for further epochs.

use forebay_pixels::Form;

use super::super::quantity::ByteSize;
use super::super::table::Table;
use super::super::value::{choice, size, whole};
use crate::cache::Keep;

/// The table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// What is kept of a record.
    pub kind: Kind,
    /// The most that the cache may take.
    pub memory: ByteSize,
    /// Longest side of a kept picture; only of decoded ones.
    pub max_side: Option<u32>,
}

/// What is kept of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The file's bytes.
    Encoded,
    /// The decoded picture.
    Decoded,
}

impl Cache {
    /// What the cache of a stream keeps whose pictures have this background.
    pub fn keep(&self, background: [u8; 3]) -> Keep {
        match self.kind {
            Kind::Encoded => Keep::Encoded,
            Kind::Decoded => Keep::Decoded(Form { background, max_side: self.max_side, ..Form::default() }),
        }
    }
}

/// Nothing if there is no such table, or a mistake in it.
pub(super) fn read(table: &mut Table<'_, '_>) -> Option<Cache> {
    let wanted = table.values().get("cache").is_some_and(serde_json::Value::is_object);
    table.section("cache", |table| {
        let kind = table.take("keep", choice(&[("decoded", Kind::Decoded), ("encoded", Kind::Encoded)]));
        let memory = table.take("memory", size);
        let max_side = table.take("max_side", whole(1..=65_535));
        if wanted && kind.is_none() && !table.has("keep") {
            table.mistake("keep", "is missing; give \"decoded\" or \"encoded\".");
        }
        if wanted && memory.is_none() && !table.has("memory") {
            table.mistake("memory", "is missing; give the most that the cache may take, such as \"20gb\".");
        }
        if kind == Some(Kind::Encoded) && table.has("max_side") {
            table.mistake("max_side", "has a meaning only with keep = \"decoded\"; leave it out.");
        }
        Some(Cache { kind: kind?, memory: memory?, max_side })
    })
}
