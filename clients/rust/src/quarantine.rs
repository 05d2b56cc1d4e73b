//! Records that are left out, each once. Pure.

use std::collections::HashMap;

use forebay_proto::v1::QuarantinedRecord;

/// A record that is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// Its number.
    pub record: u64,
    /// Its file.
    pub file: String,
    /// What was wrong with it when it was found last.
    pub reason: String,
    /// The epochs in which it was found.
    pub epochs: Vec<u64>,
}

impl Quarantined {
    /// Gathers the findings of all epochs, in their order, by record.
    pub(crate) fn gather(found: Vec<QuarantinedRecord>) -> Vec<Self> {
        let mut list: Vec<Self> = Vec::new();
        let mut places = HashMap::new();
        for QuarantinedRecord { record, file, reason, epoch, .. } in found {
            let place = *places.entry(record).or_insert(list.len());
            match list.get_mut(place) {
                Some(known) => {
                    known.reason = reason;
                    known.epochs.push(epoch);
                }
                None => list.push(Self { record, file, reason, epochs: vec![epoch] }),
            }
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(record: u64, epoch: u64, reason: &str) -> QuarantinedRecord {
        QuarantinedRecord {
            record,
            file: format!("{record}.jpg"),
            reason: reason.to_owned(),
            epoch,
            ..Default::default()
        }
    }

    #[test]
    fn a_record_that_is_bad_in_every_epoch_is_listed_once_with_its_epochs() {
        let list = Quarantined::gather(vec![found(7, 0, "cut"), found(9, 0, "empty"), found(7, 1, "gone")]);
        let rows: Vec<_> = list.iter().map(|bad| (bad.record, &*bad.file, &*bad.reason, &*bad.epochs)).collect();
        assert_eq!(rows, [(7, "7.jpg", "gone", &[0, 1][..]), (9, "9.jpg", "empty", &[0][..])]);
    }
}
