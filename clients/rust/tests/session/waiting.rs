//! A wait that takes long: the caller is told what for, and whether the daemon answers.

use std::time::Duration;

use forebay_client::{Broken, NextError, Notice, Options, Patient, Session, Watch};

use crate::daemon::Plan;
use crate::{World, batch, next};

/// Waits for a batch that does not come, until the caller is told that the daemon answers, or does not.
struct UntilTold {
    answers: bool,
    told: Option<Notice>,
}

impl Watch for UntilTold {
    fn keep_waiting(&mut self) -> bool {
        self.told.is_none()
    }

    fn notice(&mut self, notice: &Notice) {
        if matches!(notice, Notice::Waiting { answers, .. } if *answers == Some(self.answers)) {
            self.told = Some(notice.clone());
        }
    }
}

#[test]
fn rule_11_a_trainer_that_waits_is_told_what_for_and_whether_the_daemon_answers() {
    for answers in [true, false] {
        let world = World::new();
        // Both batches are in hand of another trainer.
        let _daemon = world.start(Plan { answers, ..Plan::new(8, 4, 1) });
        let mut other = world.attach();
        let _held = batch(next(&mut other));
        let _held = batch(next(&mut other)).keep();
        let options = Options { told_after: Duration::from_millis(20), ..Options::default() };
        let mut session = Session::attach(world.target(), options, &mut Patient).unwrap();
        let mut watch = UntilTold { answers, told: None };
        let waited = session.next(None, &mut watch);
        assert!(matches!(waited, Err(NextError::Broken(Broken::Interrupted))), "{waited:?}");
        let told = watch.told.unwrap().to_string();
        let sign = if answers { "answers" } else { "does not answer" };
        let says = format!("; the daemon (process 4711) {sign}");
        assert!(told.starts_with("waiting for a batch for ") && told.contains(&says), "{told}");
    }
}
