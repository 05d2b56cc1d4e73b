//! The coordinator over gRPC: each procedure is the handle's method of the same name.

use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckReply, AckRequest, AcquireReply, AcquireRequest, AuditReply, AuditRequest,
    HeartbeatReply, HeartbeatRequest, ListQuarantineReply, ListQuarantineRequest, NackReply, NackRequest, NewRunReply,
    NewRunRequest, OpenReply, OpenRequest, ReclaimReply, ReclaimRequest, RestoreReply, RestoreRequest, ReturnReply,
    ReturnRequest, TakeSnapshotReply, TakeSnapshotRequest, ledger_server::Ledger,
};
use tonic::{Request, Response, Status, async_trait};

use crate::coordinator::Handle;

/// Serves a [`Handle`]; wrap it in `forebay_proto::v1::ledger_server::LedgerServer`.
#[derive(Clone, Debug)]
pub struct LedgerService(pub Handle);

macro_rules! serve {
    ($($name:ident: $request:ident => $reply:ident,)*) => {
        #[async_trait]
        impl Ledger for LedgerService {
            $(
                async fn $name(&self, request: Request<$request>) -> Result<Response<$reply>, Status> {
                    Ok(Response::new(self.0.call(request.into_inner()).await?))
                }
            )*
        }
    };
}

serve! {
    open: OpenRequest => OpenReply,
    acquire: AcquireRequest => AcquireReply,
    ack: AckRequest => AckReply,
    nack: NackRequest => NackReply,
    r#return: ReturnRequest => ReturnReply,
    reclaim: ReclaimRequest => ReclaimReply,
    abandon: AbandonRequest => AbandonReply,
    heartbeat: HeartbeatRequest => HeartbeatReply,
    take_snapshot: TakeSnapshotRequest => TakeSnapshotReply,
    restore: RestoreRequest => RestoreReply,
    audit: AuditRequest => AuditReply,
    list_quarantine: ListQuarantineRequest => ListQuarantineReply,
    new_run: NewRunRequest => NewRunReply,
}
