//! What the daemons of a run have in common.

use super::nodes::Site;
use super::visits::Visits;
use super::{EPOCHS, RECORDS};
use crate::trainer::Puppet;

#[test]
fn rule_41_a_daemon_that_asks_for_other_epochs_is_told_so_and_the_first_one_goes_on() {
    let site = Site::start();
    let (home, _daemon) = site.node("one", RECORDS, EPOCHS);
    let other = site.home("two", RECORDS, "epochs = 3\nshuffle = true", "1h");
    let (_, said) = other.fails_to_start();
    assert!(said.contains("epochs = 2 on node \"one\", and node \"two\" asks for epochs = 3"), "{said}");
    let mut visits = Visits::default();
    visits.note("one", &Puppet::attach(&home).finish());
    visits.check_once(RECORDS, 2);
}
