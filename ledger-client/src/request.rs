//! What a coordinator can be asked: each message of `ledger.proto` that has a reply.

use forebay_ledger::{LedgerError, Ledgers};
use forebay_proto::v1::ledger_client::LedgerClient;
use prost::Message;
use tonic::transport::Channel;
use tonic::{Response, Status};

/// A request to any of the coordinator's procedures: the messages of `ledger.proto` are, and `procedures.rs` lists them.
pub trait Request: Message + Clone + Sync + 'static {
    /// What it gives.
    type Reply: Send + 'static;
    #[doc(hidden)]
    fn apply(self, ledgers: &mut Ledgers, now: u64) -> Result<Self::Reply, LedgerError>;
    #[doc(hidden)]
    fn send(
        request: tonic::Request<Self>,
        client: LedgerClient<Channel>,
    ) -> impl Future<Output = Result<Response<Self::Reply>, Status>> + Send;
    /// The worker in whose name it speaks, if it does.
    #[doc(hidden)]
    fn worker(&self) -> Option<&str>;
}
