//! How long the caller waits, and who is told: the caller by notices, the daemon for its metrics.

use std::time::Duration;

use forebay_ring::{MessageKind, Number, packet};

use super::calls::Calls;
use super::connection::Connection;
use crate::hands::Hands;
use crate::link::Patience;
use crate::vigil::{Vigil, VigilStep};
use crate::waits::Waits;
use crate::watch::Notice;

/// The wait that the caller is in, which several calls may share.
#[derive(Debug)]
pub(super) struct CallerWait {
    vigil: Vigil,
    waits: Waits,
}

impl CallerWait {
    /// The caller is first told what it waits for after `told_after`.
    pub(super) fn new(told_after: Duration) -> Self {
        Self { vigil: Vigil::new(told_after), waits: Waits::default() }
    }

    /// Something has come from the daemon.
    pub(super) fn hears(&mut self) {
        self.vigil.hears();
    }

    /// Gives the caller what the daemon has said about why no batches come.
    pub(super) fn pass_on(&mut self, notice: &Notice, patience: &mut Patience<'_>) {
        self.vigil.hears_why();
        patience.watch().notice(notice);
    }

    /// If that is due, asks the daemon whether it answers, or tells the caller that it waits for `what`.
    pub(super) fn tell(
        &mut self,
        what: &'static str,
        connection: &Connection,
        calls: &mut Calls,
        hands: &Hands,
        patience: &mut Patience<'_>,
    ) {
        match self.vigil.look(patience.waited()) {
            None => {}
            Some(VigilStep::Ask) => hands.change(|_| vec![calls.ping()]),
            Some(VigilStep::Tell { waited, answers }) => {
                let (pid, answers) = (connection.daemon_pid(), Some(answers));
                patience.watch().notice(&Notice::Waiting { what, waited, pid, answers });
            }
        }
    }

    /// The call that waits for a batch has waited this long. Tells the daemon what it does not know of yet, if it is much.
    pub(super) fn report(&mut self, in_call: Duration, hands: &Hands) {
        report(self.waits.waited(in_call), hands);
    }

    /// The call that waited for a batch is over, after this wait.
    pub(super) fn report_end(&mut self, in_call: Duration, hands: &Hands) {
        report(self.waits.ends(in_call), hands);
    }

    /// A call is over. If the caller has not got what it waited for, its next call continues the wait.
    pub(super) fn is_over(&mut self, got: bool, waited: Duration) {
        if got { self.vigil.ends() } else { self.vigil.pauses(waited) }
    }
}

fn report(time: Option<Duration>, hands: &Hands) {
    if let Some(time) = time {
        let value = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        hands.change(|_| vec![packet(&Number { kind: MessageKind::Waited as u32, reserved: 0, value }, &[])]);
    }
}
