//! The coordinator over gRPC: a line for each rpc of `ledger.proto`.

use forebay_ledger_client::{Handle, UpdateFeed};
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckReply, AckRequest, AcquireReply, AcquireRequest, AttendReply, AttendRequest,
    AuditReply, AuditRequest, CompareDatasetReply, CompareDatasetRequest, DescribeReply, DescribeRequest,
    HeartbeatReply, HeartbeatRequest, ListLedgersReply, ListLedgersRequest, ListQuarantineReply, ListQuarantineRequest,
    LocateReply, LocateRequest, NackReply, NackRequest, NewRunReply, NewRunRequest, NewsRequest, NextTaskReply,
    NextTaskRequest, OpenReply, OpenRequest, ReclaimReply, ReclaimRequest, RegisterTasksReply, RegisterTasksRequest,
    ReportTaskReply, ReportTaskRequest, RestoreReply, RestoreRequest, RestoreTasksReply, RestoreTasksRequest,
    ReturnReply, ReturnRequest, SettleReply, SettleRequest, ShowTasksReply, ShowTasksRequest, TakeSnapshotReply,
    TakeSnapshotRequest, ledger_server,
};
use tonic::{Response, Status, async_trait};

use crate::client_identity::ClientIdentity;

/// The coordinator over gRPC. Wrap it in `forebay_proto::v1::ledger_server::LedgerServer`.
///
/// If a connection gives a [`ClientIdentity`] with a certificate, its requests may name only the workers that the certificate
/// names (semantics rule 25).
#[derive(Clone, Debug)]
pub struct LedgerService(pub Handle);

/// `rpc: Request => Reply` serves an rpc by what the handle answers.
macro_rules! serve {
    ($($rpc:ident: $Request:ty => $Reply:ty,)*) => {
        #[async_trait]
        impl ledger_server::Ledger for LedgerService {
            type NewsStream = UpdateFeed;

            async fn news(&self, request: tonic::Request<NewsRequest>) -> Result<Response<UpdateFeed>, Status> {
                let worker = request.get_ref().caller.as_ref().map(|caller| &*caller.worker);
                ClientIdentity::check_name(&request, worker)?;
                Ok(Response::new(self.0.updates(request.into_inner()).await?))
            }

            $(
                async fn $rpc(&self, request: tonic::Request<$Request>) -> Result<Response<$Reply>, Status> {
                    ClientIdentity::check(&request)?;
                    Ok(Response::new(self.0.call(request.into_inner()).await?))
                }
            )*
        }
    };
}

serve! {
    open: OpenRequest => OpenReply,
    new_run: NewRunRequest => NewRunReply,
    acquire: AcquireRequest => AcquireReply,
    ack: AckRequest => AckReply,
    nack: NackRequest => NackReply,
    r#return: ReturnRequest => ReturnReply,
    reclaim: ReclaimRequest => ReclaimReply,
    abandon: AbandonRequest => AbandonReply,
    restore: RestoreRequest => RestoreReply,
    attend: AttendRequest => AttendReply,
    describe: DescribeRequest => DescribeReply,
    settle: SettleRequest => SettleReply,
    register_tasks: RegisterTasksRequest => RegisterTasksReply,
    next_task: NextTaskRequest => NextTaskReply,
    report_task: ReportTaskRequest => ReportTaskReply,
    show_tasks: ShowTasksRequest => ShowTasksReply,
    restore_tasks: RestoreTasksRequest => RestoreTasksReply,
    compare_dataset: CompareDatasetRequest => CompareDatasetReply,
    heartbeat: HeartbeatRequest => HeartbeatReply,
    take_snapshot: TakeSnapshotRequest => TakeSnapshotReply,
    audit: AuditRequest => AuditReply,
    list_quarantine: ListQuarantineRequest => ListQuarantineReply,
    locate: LocateRequest => LocateReply,
    list_ledgers: ListLedgersRequest => ListLedgersReply,
}
