//! How many descriptors this process may have, and how they are divided. Connections that may be silent or hostile get
//! small shares. The rest is reserved for trainers, rings and files.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::connection_limits::ConnectionLimits;

/// What each kind of connection may take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Connections to the trainers' socket that have not asked for a stream yet.
    askers: usize,
    /// Trainers that wait for their stream to be open.
    waiting: usize,
    /// Connections to the control socket.
    control: usize,
    /// Connections for metrics.
    metrics: usize,
}

/// Raises the number of descriptors that this process may have to the most that its user may give it.
pub(crate) fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::warn!(%error, "the limit of open files cannot be raised");
    }
}

impl Shares {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self::of(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// An asker takes three descriptors, one that waits up to seven. All of them together get less than half.
    fn of(limit: usize) -> Self {
        let part = |of: usize, least: usize, most: usize| (limit / of).clamp(least, most);
        Self {
            askers: part(32, 4, 256),
            waiting: part(40, 4, 1024),
            control: part(16, 4, 64),
            metrics: part(64, 2, 16),
        }
    }

    pub(crate) fn askers(self) -> ConnectionLimits {
        ConnectionLimits::new(self.askers.min(16), self.askers)
    }

    pub(crate) fn waiting(self) -> ConnectionLimits {
        ConnectionLimits::new(self.waiting.min(256), self.waiting)
    }

    pub(crate) fn control(self) -> ConnectionLimits {
        ConnectionLimits::new(self.control.min(16), self.control)
    }

    /// Connections of daemons to a coordinator, which has descriptors for nothing else: half of them.
    pub(crate) fn daemons() -> ConnectionLimits {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let all = usize::try_from(limit / 2).unwrap_or(usize::MAX).clamp(8, 1 << 17);
        // A machine may have many private daemons, and many machines may be behind one address.
        ConnectionLimits::new((all / 2).max(4), all)
    }

    /// Connections of viewers to the process that serves the page, which has descriptors for little else: half of them.
    pub(crate) fn viewers() -> ConnectionLimits {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let all = usize::try_from(limit / 2).unwrap_or(usize::MAX).clamp(8, 256);
        ConnectionLimits::new(all, all)
    }

    pub(crate) fn metrics(self) -> ConnectionLimits {
        ConnectionLimits::new(self.metrics, self.metrics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_may_be_silent_take_less_than_half_of_the_descriptors() {
        for limit in [128, 256, 1024, 4096, 1 << 20] {
            let Shares { askers, waiting, control, metrics } = Shares::of(limit);
            assert!(askers * 3 + waiting * 7 + control + metrics < limit / 2, "{limit}: {:?}", Shares::of(limit));
        }
        let many = Shares { askers: 256, waiting: 1024, control: 64, metrics: 16 };
        assert_eq!(Shares::of(usize::MAX), many);
    }
}
