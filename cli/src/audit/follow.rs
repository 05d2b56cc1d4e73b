//! `forebay audit --follow`: tells each epoch when it is complete, until all are.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use forebay_printable::printable;
use forebay_proto::v1::AuditReply;

use super::report::LedgerAuditReport;
use super::{AuditAnswer, Audited};
use crate::failure::Failure;

/// What was reported of each ledger: the epochs below this one.
#[derive(Debug, Default)]
struct ToldEpochs(BTreeMap<String, u64>);

impl ToldEpochs {
    /// Keeps only the tallies of complete epochs that were not reported yet, and notes them. An epoch that is read again
    /// after a state was loaded is reported again.
    fn take_new(&mut self, ledger: &str, reply: &mut AuditReply) {
        // An account that has ended, because other ranks go on, is complete up to there.
        let floor = reply.ends.map_or_else(|| reply.progress.unwrap_or_default().floor, |ends| ends.epoch + 1);
        let told = self.0.entry(ledger.to_owned()).or_default();
        let from = (*told).min(floor);
        reply.epochs.retain(|tally| (from..floor).contains(&tally.epoch));
        *told = floor;
    }
}

/// A time in which no coordinator answers.
#[derive(Debug, Default)]
struct Outage {
    continues: bool,
}

impl Outage {
    /// The answer, or nothing while there is none. Says on `out` when an outage begins and when it is over.
    fn unless_one<T>(&mut self, answer: Result<T, Failure>, out: &mut impl Write) -> Result<Option<T>, Failure> {
        match answer {
            Err(Failure::Unavailable(why)) => {
                if !std::mem::replace(&mut self.continues, true) {
                    writeln!(out, "forebay: {} The audit waits for the coordinator.", printable(&why).lines())?;
                }
                Ok(None)
            }
            Err(failure) => Err(failure),
            Ok(answer) => {
                if std::mem::take(&mut self.continues) {
                    writeln!(out, "forebay: The coordinator answers again.")?;
                }
                Ok(Some(answer))
            }
        }
    }
}

/// Every epoch of the ledger is complete, and none will follow.
fn is_done(reply: &AuditReply) -> bool {
    let has_ended = reply.ends.is_some();
    has_ended || reply.total_epochs > 0 && reply.progress.unwrap_or_default().floor >= reply.total_epochs
}

/// Asks again every `every`. If the first question fails, the address may be wrong, so this is an error. Later, an outage is
/// reported once and waited out.
pub(super) fn follow(
    ask: impl Fn() -> Result<Vec<(String, AuditReply)>, Failure>,
    every: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    let (mut told, mut answer, mut outage) = (ToldEpochs::default(), AuditAnswer::default(), Outage::default());
    let mut first = Some(ask()?);
    loop {
        let Some(mut ledgers) = outage.unless_one(first.take().map_or_else(&ask, Ok), &mut io::stderr())? else {
            thread::park_timeout(every);
            continue;
        };
        for (ledger, reply) in &mut ledgers {
            told.take_new(ledger, reply);
        }
        for ledger in ledgers.iter().filter(|(_, reply)| !reply.epochs.is_empty()) {
            let audited = Audited::new(ledger)?;
            audited.epochs.iter().for_each(|epoch| answer.add(epoch));
            tell(&mut io::stdout().lock(), &LedgerAuditReport::new(&audited), as_json)?;
        }
        if !ledgers.is_empty() && ledgers.iter().all(|(_, reply)| is_done(reply)) {
            return answer.end();
        }
        // Nothing unparks this thread: it only waits between two questions.
        thread::park_timeout(every);
    }
}

/// A line for each epoch, each of its sources and each of its groups, or an object in a line for all of them.
fn tell(out: &mut impl Write, report: &LedgerAuditReport<'_>, as_json: bool) -> io::Result<()> {
    if as_json {
        serde_json::to_writer(&mut *out, report)?;
        writeln!(out)?;
    } else {
        report.follow_text(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use forebay_proto::v1::{EpochTally, Progress};

    use super::*;

    fn reply(epochs: u64, floor: u64) -> AuditReply {
        let epochs = (0..epochs).map(|epoch| EpochTally { epoch, ..EpochTally::default() });
        let progress = Some(Progress { floor, ..Progress::default() });
        AuditReply { epochs: epochs.collect(), progress, total_epochs: 4, ..AuditReply::default() }
    }

    #[test]
    fn an_outage_is_told_once_and_waited_for_and_another_failure_is_none() {
        let (mut outage, mut out) = (Outage::default(), Vec::new());
        let away = || Err(Failure::Unavailable("It is away.".to_owned()));
        let mut hear = |answer| outage.unless_one(answer, &mut out).ok();
        assert_eq!(
            [hear(Ok(1)), hear(away()), hear(away()), hear(Ok(2)), hear(Ok(3))].map(Option::flatten),
            [Some(1), None, None, Some(2), Some(3)]
        );
        assert_eq!(hear(Err(Failure::Failed("It has no such stream.".to_owned()))), None);
        let said = String::from_utf8(out).unwrap();
        assert_eq!(
            said,
            "forebay: It is away. The audit waits for the coordinator.\nforebay: The coordinator answers again.\n"
        );
    }

    #[test]
    fn each_epoch_is_told_once_it_is_complete_and_again_if_a_state_took_the_run_back() {
        let mut told = ToldEpochs::default();
        let mut new = |epochs, floor| {
            let mut reply = reply(epochs, floor);
            told.take_new("a", &mut reply);
            reply.epochs.iter().map(|tally| tally.epoch).collect::<Vec<_>>()
        };
        assert_eq!(new(1, 0), [0; 0]);
        assert_eq!(new(3, 2), [0, 1]);
        assert_eq!(new(3, 2), [0; 0]);
        assert_eq!(new(2, 1), [0; 0]);
        assert_eq!(new(4, 4), [1, 2, 3]);
        assert!(is_done(&reply(4, 4)) && !is_done(&reply(4, 3)));
        assert!(!is_done(&AuditReply { total_epochs: 0, ..reply(4, 4) }), "a run without an end is never done");
    }
}
