//! Everything that may be asked of a coordinator: an entry each, with what it gives and what it does.
//!
//! Requests and replies are the messages of `ledger.proto`, and an entry has the name of its rpc there. It makes the
//! message a [`Request`], which every [`Handle`](crate::Handle) takes.

use forebay_ledger::{LedgerError, Ledgers};
use forebay_proto::v1::{
    AbandonReply, AbandonRequest, AckReply, AckRequest, AcquireReply, AcquireRequest, AttendReply, AttendRequest,
    AuditReply, AuditRequest, Caller, CompareDatasetReply, CompareDatasetRequest, DescribeReply, DescribeRequest,
    HeartbeatReply, HeartbeatRequest, ListLedgersReply, ListLedgersRequest, ListQuarantineReply, ListQuarantineRequest,
    LocateReply, LocateRequest, NackReply, NackRequest, NewRunReply, NewRunRequest, NextTaskReply, NextTaskRequest,
    OpenReply, OpenRequest, ReclaimReply, ReclaimRequest, RegisterTasksReply, RegisterTasksRequest, ReportTaskReply,
    ReportTaskRequest, RestoreReply, RestoreRequest, RestoreTasksReply, RestoreTasksRequest, ReturnReply,
    ReturnRequest, SettleReply, SettleRequest, ShowTasksReply, ShowTasksRequest, TakeSnapshotReply,
    TakeSnapshotRequest, ledger_client::LedgerClient,
};
use tonic::{Response, Status, transport::Channel};

use crate::request::Request;

/// `fn name(ledgers, request: Request, now) -> Reply { what it does }` is a function of the set of ledgers, the message
/// and the time in milliseconds, which gives a `Result<Reply, LedgerError>`. What is behind `by` is the worker that the
/// request speaks for, as an `Option` of its name.
macro_rules! procedures {
    ($(fn $name:ident($ledgers:ident, $request:ident: $Request:ty, $now:ident) -> $Reply:ty, by $worker:expr; $body:block)*) => {
        $(
            impl Request for $Request {
                type Reply = $Reply;

                fn apply(self, $ledgers: &mut Ledgers, $now: u64) -> Result<$Reply, LedgerError> {
                    let $request = self;
                    $body
                }

                async fn send(
                    request: tonic::Request<Self>,
                    mut client: LedgerClient<Channel>,
                ) -> Result<Response<$Reply>, Status> {
                    client.$name(request).await
                }

                fn worker(&self) -> Option<&str> {
                    let $request = self;
                    $worker
                }
            }
        )*
    };
}

procedures! {
    // About the set of ledgers.

    fn open(ledgers, request: OpenRequest, now) -> OpenReply, by Some(&request.worker); {
        ledgers.open(&request, now)
    }

    fn new_run(ledgers, request: NewRunRequest, _now) -> NewRunReply, by no_worker(request); {
        ledgers.new_run(&request)
    }

    // Commands of a worker, which change a ledger once. Replies are stored under the command's number: it stays as it is.
    // Those with the numbers 1, 6 and 7 are in `ledgers/lockstep.rs`, because they are about all ranks of a run.

    fn acquire(ledgers, request: AcquireRequest, now) -> AcquireReply, by speaker(request.caller.as_ref()); {
        ledgers.acquire(&request, now)
    }

    fn ack(ledgers, request: AckRequest, now) -> AckReply, by speaker(request.caller.as_ref()); {
        ledgers.command(2, request.caller.as_ref(), now, |ledger, worker| Ok(ledger.ack(worker, &request)))
    }

    fn nack(ledgers, request: NackRequest, now) -> NackReply, by speaker(request.caller.as_ref()); {
        ledgers.command(3, request.caller.as_ref(), now, |ledger, worker| Ok(ledger.nack(worker, &request.records)))
    }

    fn r#return(ledgers, request: ReturnRequest, now) -> ReturnReply, by speaker(request.caller.as_ref()); {
        ledgers.command(4, request.caller.as_ref(), now, |ledger, worker| {
            Ok(ledger.give_back(worker, &request.items, now))
        })
    }

    fn reclaim(ledgers, request: ReclaimRequest, now) -> ReclaimReply, by speaker(request.caller.as_ref()); {
        ledgers.command(5, request.caller.as_ref(), now, |ledger, worker| Ok(ledger.reclaim(worker, &request, now)))
    }

    fn abandon(ledgers, request: AbandonRequest, now) -> AbandonReply, by speaker(request.caller.as_ref()); {
        ledgers.abandon(&request, now)
    }

    fn restore(ledgers, request: RestoreRequest, now) -> RestoreReply, by speaker(request.caller.as_ref()); {
        ledgers.restore(&request, now)
    }

    fn attend(ledgers, request: AttendRequest, now) -> AttendReply, by speaker(request.caller.as_ref()); {
        ledgers.command(8, request.caller.as_ref(), now, |ledger, worker| ledger.attend(worker, &request))
    }

    fn describe(ledgers, request: DescribeRequest, now) -> DescribeReply, by speaker(request.caller.as_ref()); {
        ledgers.command(9, request.caller.as_ref(), now, |ledger, _| ledger.describe(request.summary.clone()))
    }

    fn settle(ledgers, request: SettleRequest, now) -> SettleReply, by speaker(request.caller.as_ref()); {
        ledgers.command(10, request.caller.as_ref(), now, |ledger, worker| ledger.settle_epoch(worker, &request))
    }

    // About tasks. A task's two commands have the numbers 11 and 12.

    fn register_tasks(ledgers, request: RegisterTasksRequest, now) -> RegisterTasksReply, by named(&request.worker); {
        ledgers.register_tasks(&request, now)
    }

    fn next_task(ledgers, request: NextTaskRequest, now) -> NextTaskReply, by speaker(request.caller.as_ref()); {
        ledgers.next_task(&request, now)
    }

    fn report_task(ledgers, request: ReportTaskRequest, now) -> ReportTaskReply, by speaker(request.caller.as_ref()); {
        ledgers.report_task(&request, now)
    }

    fn show_tasks(ledgers, request: ShowTasksRequest, _now) -> ShowTasksReply, by no_worker(request); {
        ledgers.show_tasks(&request)
    }

    fn restore_tasks(ledgers, request: RestoreTasksRequest, _now) -> RestoreTasksReply, by no_worker(request); {
        ledgers.restore_tasks(&request)
    }

    // What changes nothing that is stored, but for the marks of states in lockstep. Each may be repeated.

    fn compare_dataset(ledgers, request: CompareDatasetRequest, _now) -> CompareDatasetReply, by no_worker(request); {
        ledgers.compare_dataset(&request)
    }

    fn heartbeat(ledgers, request: HeartbeatRequest, now) -> HeartbeatReply, by speaker(request.caller.as_ref()); {
        ledgers.heartbeat(&request, now)
    }

    fn take_snapshot(ledgers, request: TakeSnapshotRequest, _now) -> TakeSnapshotReply, by no_worker(request); {
        ledgers.take_snapshot(&request)
    }

    fn audit(ledgers, request: AuditRequest, _now) -> AuditReply, by no_worker(request); {
        ledgers.audit(&request)
    }

    fn list_quarantine(ledgers, request: ListQuarantineRequest, _now) -> ListQuarantineReply, by no_worker(request); {
        Ok(ledgers.get(&request.ledger)?.list_quarantine(request.after))
    }

    fn locate(ledgers, request: LocateRequest, _now) -> LocateReply, by no_worker(request); {
        ledgers.get(&request.ledger)?.places_of(request.record)
    }

    fn list_ledgers(ledgers, request: ListLedgersRequest, now) -> ListLedgersReply, by no_worker(request); {
        Ok(ledgers.list(&request, now))
    }
}

/// The worker of a caller.
fn speaker(caller: Option<&Caller>) -> Option<&str> {
    caller.map(|caller| &*caller.worker)
}

/// A worker that a request need not have.
fn named(worker: &str) -> Option<&str> {
    (!worker.is_empty()).then_some(worker)
}

/// For requests that speak for no worker.
fn no_worker<R>(_request: &R) -> Option<&str> {
    None
}
