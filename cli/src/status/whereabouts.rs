//! What `forebay status --where` prints: the places of one record, and what has become of each.

use std::io::{self, Write};

use forebay_printable::printable;
use forebay_proto::v1::{LocateReply, RecordPlace, record_place::State};
use serde::Serialize;

use super::process::ProcessReport;
use crate::json::unless_empty;

/// The places of a record by ledger.
#[derive(Serialize)]
pub(super) struct WhereReport<'a> {
    record: u64,
    ledgers: Vec<LedgerPlaces<'a>>,
}

#[derive(Serialize)]
struct LedgerPlaces<'a> {
    name: &'a str,
    places: Vec<PlaceReport<'a>>,
}

#[derive(Serialize)]
struct PlaceReport<'a> {
    epoch: u64,
    position: u64,
    state: PlaceState,
    lease: Option<u64>,
    worker: Option<&'a str>,
    #[serde(flatten)]
    process: ProcessReport<'a>,
    reason: Option<&'a str>,
}

/// What has become of a place.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
enum PlaceState {
    Waiting,
    Leased,
    Returned,
    Quarantined,
    Delivered,
    Complete,
    Unknown,
}

impl<'a> WhereReport<'a> {
    pub(super) fn new(record: u64, found: &'a [(String, LocateReply)]) -> Self {
        let ledger = |(name, reply): &'a (String, LocateReply)| LedgerPlaces {
            name,
            places: reply.places.iter().map(PlaceReport::new).collect(),
        };
        Self { record, ledgers: found.iter().map(ledger).collect() }
    }

    pub(super) fn text(&self, out: &mut impl Write) -> io::Result<()> {
        let record = self.record;
        if self.ledgers.is_empty() {
            writeln!(out, "no ledger has record {record} in an epoch that goes on")?;
        }
        for LedgerPlaces { name, places } in &self.ledgers {
            writeln!(out, "record {record} in {}", printable(name))?;
            places.iter().try_for_each(|place| place.text(out))?;
        }
        Ok(())
    }
}

impl<'a> PlaceReport<'a> {
    fn new(place: &'a RecordPlace) -> Self {
        let state = match place.state() {
            State::Waiting => PlaceState::Waiting,
            State::Leased => PlaceState::Leased,
            State::Returned => PlaceState::Returned,
            State::Bad => PlaceState::Quarantined,
            State::Delivered => PlaceState::Delivered,
            State::Complete => PlaceState::Complete,
            State::Unspecified => PlaceState::Unknown,
        };
        Self {
            epoch: place.epoch,
            position: place.position,
            state,
            lease: (place.lease > 0).then_some(place.lease),
            worker: unless_empty(&place.worker),
            process: ProcessReport::new(place.process.as_ref()),
            reason: unless_empty(&place.reason),
        }
    }

    fn text(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "  epoch {}, position {}: ", self.epoch, self.position)?;
        let (lease, process) = (self.lease.unwrap_or_default(), self.process);
        let worker = printable(self.worker.unwrap_or_default());
        match self.state {
            PlaceState::Waiting => writeln!(out, "not leased yet"),
            PlaceState::Leased => writeln!(out, "not delivered yet, in lease {lease} of {worker}{process}"),
            PlaceState::Returned if self.worker.is_none() => writeln!(out, "not delivered yet, and with no worker"),
            PlaceState::Returned => {
                writeln!(out, "not delivered yet, and with no worker since {worker} lost lease {lease}")
            }
            PlaceState::Quarantined => {
                writeln!(out, "in quarantine: {}", printable(self.reason.unwrap_or_default()))
            }
            PlaceState::Delivered => writeln!(out, "delivered"),
            PlaceState::Complete => writeln!(out, "delivered, dropped or abandoned"),
            PlaceState::Unknown => writeln!(out, "in a state that this command does not know"),
        }
    }
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::WorkerProcess;
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_state_of_a_record_has_its_words() {
        let place = |state: State, position| RecordPlace { position, state: state.into(), ..Default::default() };
        let process = Some(WorkerProcess { host: "a".into(), pid: 42, boot: String::new() });
        let places = vec![
            place(State::Waiting, 1),
            RecordPlace { lease: 7, worker: "one".into(), process, ..place(State::Leased, 2) },
            RecordPlace { lease: 7, worker: "one".into(), ..place(State::Returned, 3) },
            place(State::Returned, 4),
            RecordPlace { reason: "no end marker".into(), ..place(State::Bad, 5) },
            place(State::Delivered, 6),
        ];
        let found = [("default/train/all".to_owned(), LocateReply { places })];
        let mut shown = Vec::new();
        WhereReport::new(9, &found).text(&mut shown).unwrap();
        assert_eq!(
            String::from_utf8(shown).unwrap(),
            "record 9 in default/train/all\n  \
               epoch 0, position 1: not leased yet\n  \
               epoch 0, position 2: not delivered yet, in lease 7 of one (process 42 on a)\n  \
               epoch 0, position 3: not delivered yet, and with no worker since one lost lease 7\n  \
               epoch 0, position 4: not delivered yet, and with no worker\n  \
               epoch 0, position 5: in quarantine: no end marker\n  \
               epoch 0, position 6: delivered\n"
        );
        let json = serde_json::to_value(WhereReport::new(9, &found)).unwrap();
        assert_eq!(json["ledgers"][0]["places"][1]["worker"], "one");
        assert_eq!(json["ledgers"][0]["places"][0]["lease"], Value::Null);
        assert_eq!(json["ledgers"][0]["places"][4]["state"], "quarantined");
        let mut shown = Vec::new();
        WhereReport::new(9, &[]).text(&mut shown).unwrap();
        assert_eq!(shown, b"no ledger has record 9 in an epoch that goes on\n");
    }
}
