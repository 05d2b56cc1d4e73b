//! What a simulation is of, and what has happened in it.

use forebay_proto::LEDGER_VERSION;

/// The version of ledgers that a later build reads and writes.
pub(super) const NEXT_VERSION: u32 = LEDGER_VERSION + 1;

/// What a simulation is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) records: u64,
    pub(super) epochs: u64,
    pub(super) workers: usize,
    pub(super) lease_size: u64,
    /// Most positions that a trainer gets at once.
    pub(super) portion: u64,
    /// How long faults happen, in milliseconds, and how long all may take after that.
    pub(super) storm: u64,
    pub(super) calm: u64,
    /// Nothing happens but that daemons are killed, and their trainers come back at once.
    pub(super) only_kills: bool,
    /// The first so many records end each daemon that makes them outside of a child process.
    pub(super) killers: u64,
    /// A daemon that such a record ends starts again only after its leases have expired.
    pub(super) is_late: bool,
    /// The second coordinator is of the build before, until nothing happens any more.
    pub(super) is_upgraded: bool,
}

impl Setting {
    /// The newest version of ledgers that the second coordinator reads at first.
    pub(super) fn version_of_second(&self) -> u32 {
        if self.is_upgraded { LEDGER_VERSION } else { NEXT_VERSION }
    }

    /// Trainers are back at the next daemon before the leases of the last one expire: nothing is lost, and it starts soon.
    pub(super) fn outlives(&self) -> bool {
        self.only_kills && !self.is_late
    }
}

/// What has happened in a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tale {
    pub(super) millis: u64,
    pub(super) messages: u64,
    pub(super) commits: u64,
    /// Records that were seen more than once.
    pub(super) repeated: u64,
    /// Records that the audit says may have been.
    pub(super) named: u64,
    /// Daemons that were killed.
    pub(super) killed: u64,
    /// Daemons that a record has ended.
    pub(super) ended: u64,
    /// Processes that another one with their name has replaced.
    pub(super) fenced: u64,
    pub(super) elections: u64,
    pub(super) failed_commits: u64,
}
