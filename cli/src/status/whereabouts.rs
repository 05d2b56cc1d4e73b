//! What `forebay status --where` prints: the places of one record, and what has become of each.

use std::io::{self, Write};

use forebay_printable::printable;
use forebay_proto::v1::{LocateReply, RecordPlace, record_place::State};
use serde_json::{Value, json};

/// The places of the record by ledger.
pub(super) fn text(out: &mut impl Write, record: u64, found: &[(String, LocateReply)]) -> io::Result<()> {
    if found.is_empty() {
        writeln!(out, "no ledger has record {record} in an epoch that goes on")?;
    }
    for (ledger, LocateReply { places }) in found {
        writeln!(out, "record {record} in {}", printable(ledger))?;
        for place in places {
            write!(out, "  epoch {}, position {}: ", place.epoch, place.position)?;
            let worker = printable(&place.worker);
            let process = place.process.as_ref().map_or_else(String::new, |process| {
                format!(" (process {} on {})", process.pid, printable(&process.host))
            });
            match place.state() {
                State::Waiting => writeln!(out, "not leased yet")?,
                State::Leased => writeln!(out, "not delivered yet, in lease {} of {worker}{process}", place.lease)?,
                State::Returned if place.worker.is_empty() => writeln!(out, "not delivered yet, and with no worker")?,
                State::Returned => {
                    writeln!(out, "not delivered yet, and with no worker since {worker} lost lease {}", place.lease)?;
                }
                State::Bad => writeln!(out, "in quarantine: {}", printable(&place.reason))?,
                State::Delivered => writeln!(out, "delivered")?,
                State::Complete => writeln!(out, "delivered, dropped or abandoned")?,
                State::Unspecified => writeln!(out, "in a state that this command does not know")?,
            }
        }
    }
    Ok(())
}

/// docs/operating.md has the fields: they keep their names and meanings, and new ones may be added.
pub(super) fn json(record: u64, found: &[(String, LocateReply)]) -> Value {
    let place = |place: &RecordPlace| {
        let state = match place.state() {
            State::Waiting => "waiting",
            State::Leased => "leased",
            State::Returned => "returned",
            State::Bad => "quarantined",
            State::Delivered => "delivered",
            State::Complete => "complete",
            State::Unspecified => "unknown",
        };
        json!({
            "epoch": place.epoch,
            "position": place.position,
            "state": state,
            "lease": (place.lease > 0).then_some(place.lease),
            "worker": (!place.worker.is_empty()).then_some(&place.worker),
            "host": place.process.as_ref().map(|process| &process.host),
            "pid": place.process.as_ref().map(|process| process.pid),
            "reason": (!place.reason.is_empty()).then_some(&place.reason),
        })
    };
    let ledger = |(name, reply): &(String, LocateReply)| {
        let places: Value = reply.places.iter().map(place).collect();
        json!({ "name": name, "places": places })
    };
    json!({ "record": record, "ledgers": found.iter().map(ledger).collect::<Value>() })
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::WorkerProcess;

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
        text(&mut shown, 9, &found).unwrap();
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
        let json = json(9, &found);
        assert_eq!(json["ledgers"][0]["places"][1]["worker"], "one");
        assert_eq!(json["ledgers"][0]["places"][0]["lease"], Value::Null);
        assert_eq!(json["ledgers"][0]["places"][4]["state"], "quarantined");
        let mut shown = Vec::new();
        text(&mut shown, 9, &[]).unwrap();
        assert_eq!(shown, b"no ledger has record 9 in an epoch that goes on\n");
    }
}
