//! Which version of ledgers each replica reads. Each says so under a key of its own, and says it again while it runs. So a
//! version is written only when all replicas read it, also one that is stopped for a while.

use std::time::{Duration, Instant};

use forebay_proto::etcd::request_op::Request;
use forebay_proto::etcd::{PutRequest, RangeRequest, TxnRequest};

use super::members::{CallFault, Members};
use super::transactions::{behind, operation};

/// For how long a replica counts that says nothing.
const REMEMBERED: Duration = Duration::from_secs(3600);
/// How often it says it again.
const AGAIN: Duration = Duration::from_secs(600);

/// See the module.
pub(super) struct Replicas {
    /// What the keys of all begin with.
    start: String,
    own: String,
    /// The newest version that this replica reads.
    version: u32,
    /// The lease of its key, and when that was renewed.
    lease: Option<(i64, Instant)>,
}

impl Replicas {
    /// `advertise` tells this replica from others, also after it was started again.
    pub(super) fn new(start: String, advertise: &str, version: u32) -> Self {
        Self { own: format!("{start}{advertise}"), start, version, lease: None }
    }

    /// Says what this replica reads, unless it did so not long ago. A replica must not lead before.
    ///
    /// # Errors
    /// etcd does not answer.
    pub(super) async fn announce(&mut self, members: &mut Members) -> Result<(), CallFault> {
        let now = Instant::now();
        if let Some((lease, renewed)) = self.lease {
            if now.duration_since(renewed) < AGAIN {
                return Ok(());
            }
            if members.call(async |way| way.keep_alive(lease).await).await? {
                self.lease = Some((lease, now));
                return Ok(());
            }
        }
        let seconds = i64::try_from(REMEMBERED.as_secs()).unwrap_or(i64::MAX);
        let lease = members.call(async |way| way.grant(seconds).await).await?.id;
        let (key, value) = (self.own.clone().into_bytes(), self.version.to_string().into_bytes());
        let success = vec![operation(Request::RequestPut(PutRequest { key, value, lease }))];
        let put = TxnRequest { success, ..TxnRequest::default() };
        members.call(async |way| way.txn(put.clone()).await).await?;
        self.lease = Some((lease, now));
        Ok(())
    }

    /// The newest version that all replicas read. What cannot be understood reads nothing new.
    ///
    /// # Errors
    /// etcd does not answer.
    pub(super) async fn read_by_all(&mut self, members: &mut Members) -> Result<u32, CallFault> {
        self.announce(members).await?;
        let (key, range_end) = (self.start.clone().into_bytes(), behind(&self.start));
        let request = RangeRequest { key, range_end, ..RangeRequest::default() };
        let found = members.call(async |way| way.range(request.clone()).await).await?.kvs;
        let said = found.iter().map(|found| str::from_utf8(&found.value).ok().and_then(|text| text.parse().ok()));
        Ok(said.map(Option::unwrap_or_default).fold(self.version, u32::min))
    }
}
