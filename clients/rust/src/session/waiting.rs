//! Notices of a long wait: what the caller waits for, and whether the daemon answers.

use std::time::Duration;

use forebay_ring::{Call, MessageKind, Number, packet};

use super::Session;
use crate::link::Patience;
use crate::target::Target;
use crate::vigil::VigilStep;
use crate::watch::Notice;

impl Session {
    /// Tells the caller of its wait, if that is due.
    pub(super) fn tell_of_wait(&mut self, what: &'static str, patience: &mut Patience<'_>) {
        match self.vigil.look(patience.waited()) {
            None => {}
            Some(VigilStep::Ask) => self.ping(),
            Some(VigilStep::Tell { waited, answers }) => {
                let (pid, answers) = (self.daemon_pid(), Some(answers));
                patience.watch().notice(&Notice::Waiting { what, waited, pid, answers });
            }
        }
    }

    /// Tells the daemon how long its caller has waited, for the metrics of the stream.
    pub(super) fn tell_waited(&mut self, time: Option<Duration>) {
        if let Some(time) = time {
            let value = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.hands.change(|_| vec![packet(&Number { kind: MessageKind::Waited as u32, reserved: 0, value }, &[])]);
        }
    }

    /// A wait is over. If the caller has not got what it waited for, its next call continues the wait.
    pub(super) fn wait_is_over(&mut self, got: bool, patience: &Patience<'_>) {
        if got { self.vigil.ends() } else { self.vigil.pauses(patience.waited()) }
    }

    /// Sends a call without content. Every daemon answers it, and the answer is ignored.
    fn ping(&mut self) {
        self.calls += 1;
        let head = Call { kind: MessageKind::Call as u32, len: 0, id: self.calls };
        self.hands.change(|_| vec![packet(&head, &[])]);
    }

    fn daemon_pid(&self) -> Option<u32> {
        match &self.target {
            Target::Private { daemon, .. } => daemon.pid(),
            Target::Stream { .. } => Some(self.link.info.daemon_pid).filter(|pid| *pid > 0),
        }
    }
}
