//! Bad records that a stream leaves out or replaces: the first is told, and the number of an epoch when it ends. It is pure.

use std::collections::{BTreeMap, HashSet};

use forebay_proto::Turn;

use crate::handover::BadPlace;

/// The bad records of epochs that are not over.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    by_epoch: BTreeMap<u64, HashSet<Turn>>,
    /// What was said of the first one.
    first: Option<String>,
    /// What their places show.
    place: BadPlace,
}

impl Skipped {
    /// A record of this epoch is bad, as `reason` says. Gives what is said of the first one. A batch of a later epoch that
    /// gives way is made again, so a turn may be told twice. It counts once.
    pub(super) fn bad(&mut self, epoch: u64, turn: Turn, reason: &str, place: BadPlace) -> Option<String> {
        self.by_epoch.entry(epoch).or_default().insert(turn);
        self.place = place;
        if self.first.is_some() {
            return None;
        }
        let done = match place {
            BadPlace::Next => "left out",
            BadPlace::Copy => "replaced by a copy of another, whose mask is False",
            BadPlace::CopyOrNext => {
                "replaced by a copy of another, whose mask is False, or left out if its batch has no good one"
            }
        };
        self.first = Some(format!(
            "a bad record is {done}: {reason}. More may follow: the end of each epoch says how many, and the quarantine lists \
             them"
        ));
        self.first.clone()
    }

    /// What was said of the first bad record. A trainer that attaches after it hears it too: a stream makes its first
    /// batches before its first trainer is there.
    pub(super) fn first(&self) -> Option<&str> {
        self.first.as_deref()
    }

    /// Epochs before this one are complete. Gives what is said of each that had bad records.
    pub(super) fn ended(&mut self, floor: u64) -> Vec<String> {
        let place = self.place;
        let later = self.by_epoch.split_off(&floor);
        let ended = std::mem::replace(&mut self.by_epoch, later);
        let told = ended.into_iter().map(|(epoch, turns)| {
            let count = turns.len();
            let records = if count == 1 { "1 bad record was".to_owned() } else { format!("{count} bad records were") };
            let done = match place {
                BadPlace::Next => "left out",
                BadPlace::Copy => "replaced",
                BadPlace::CopyOrNext => "replaced, or left out if their batch had no good one",
            };
            format!("epoch {epoch}: {records} {done}")
        });
        told.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_record_is_told_and_each_epoch_s_number_at_its_end() {
        let mut skipped = Skipped::default();
        assert_eq!(skipped.first(), None);
        let first = skipped.bad(0, Turn::first(7), "record 7 (b.jpg): it is empty", BadPlace::Next).unwrap();
        assert!(first.starts_with("a bad record is left out: record 7 (b.jpg): it is empty."), "{first}");
        // Records of the next epoch are made before this one is over.
        let others = [(0, Turn::first(9)), (1, Turn::first(7)), (0, Turn::new(9, 1)), (0, Turn::first(7))];
        assert!(others.iter().all(|(epoch, turn)| skipped.bad(*epoch, *turn, "another", BadPlace::Next).is_none()));
        assert!(skipped.ended(0).is_empty());
        assert_eq!(skipped.ended(1), ["epoch 0: 3 bad records were left out"]);
        assert_eq!(skipped.ended(2), ["epoch 1: 1 bad record was left out"]);
        assert!(skipped.ended(9).is_empty() && skipped.by_epoch.is_empty(), "nothing is kept of what is over");
        assert_eq!(skipped.bad(9, Turn::first(7), "another", BadPlace::Next), None);
        assert_eq!(skipped.first(), Some(&*first));
    }

    #[test]
    fn records_that_are_replaced_are_not_said_to_be_left_out() {
        let mut skipped = Skipped::default();
        let first = skipped.bad(3, Turn::first(1), "record 1 (a.png): it is cut short", BadPlace::Copy).unwrap();
        assert!(first.contains("is replaced by a copy of another") && first.contains("a.png"), "{first}");
        assert_eq!(skipped.bad(3, Turn::first(2), "another", BadPlace::Copy), None);
        assert_eq!(skipped.ended(4), ["epoch 3: 2 bad records were replaced"]);
        assert!(!first.contains("left out"), "{first}");
        // A batch that is made of records in turn may have none to copy.
        let mut either = Skipped::default();
        let first = either.bad(0, Turn::first(5), "record 5", BadPlace::CopyOrNext).unwrap();
        assert!(first.contains("is replaced") && first.contains("or left out if its batch has no good one"), "{first}");
        assert!(either.ended(1)[0].contains("1 bad record was replaced, or left out"));
    }
}
