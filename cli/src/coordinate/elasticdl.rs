//! Arguments of `forebay coordinate` about clients of `ElasticDL` and `DLRover`, which read the data themselves.

use std::net::SocketAddr;
use std::time::Duration;

use forebay_daemon::coordinate::{MasterSettings, Place};

use super::at_least_a_second;

#[derive(Debug, clap::Args)]
pub(super) struct ElasticdlArgs {
    /// The address and port at which clients with `elasticai_api` get their tasks, if their `DLROVER_MASTER_ADDR` is set to it.
    /// They speak without TLS and without a token, so everybody who reaches the address can take tasks and report them.
    #[arg(id = "elasticdl_listen", long = "elasticdl-listen", value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,
    /// Allow an address for --elasticdl-listen that other machines can reach. Only for a network that you trust.
    #[arg(id = "elasticdl_insecure", long = "elasticdl-insecure", requires = "elasticdl_listen")]
    insecure: bool,
    /// A task that its worker has not reported for this long goes to another worker. If tasks take long, it is three times as
    /// long as the slowest one took.
    #[arg(
        id = "elasticdl_task_timeout",
        long = "elasticdl-task-timeout",
        requires = "elasticdl_listen",
        value_name = "DURATION",
        default_value = "5m",
        value_parser = at_least_a_second
    )]
    task_timeout: Duration,
}

impl ElasticdlArgs {
    pub(super) fn settings(&self) -> MasterSettings {
        MasterSettings {
            listen: self.listen.iter().copied().map(Place::Network).collect(),
            is_open: self.insecure,
            task_timeout: self.task_timeout,
        }
    }
}
