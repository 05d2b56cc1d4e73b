//! Answers the calls of `ElasticDL`'s clients to their master, from the ledgers of a coordinator. It makes no decisions
//! itself: the tasks of the coordinator do.
//!
//! Such a client takes an answer without a task as the end of the data. So a call for a task is held until there is one, or
//! until none will come.

use std::io;
use std::time::Duration;

use forebay_ledger::task_ledger;
use forebay_ledger_client::{CallError, Handle};
use forebay_proto::elasticdl::master_server::{Master, MasterServer};
use forebay_proto::elasticdl::{
    GetDatasetEpochRequest, GetDatasetEpochResponse, GetDatasetTaskRequest, GetShardCheckpointRequest, GetTaskRequest,
    Nothing, ReportDatasetShardParamsRequest, ReportDatasetTaskResultRequest, ReportShardCheckpointResponse,
    ReportTaskResultRequest, ResetDatasetRequest, Shard, ShardCheckpoint, Task, TaskType,
};
use forebay_proto::v1::next_task_reply::Answer;
use forebay_proto::v1::register_tasks_request::Remainder;
use forebay_proto::v1::report_task_reply::Outcome;
use forebay_proto::v1::{
    Caller, NextTaskReply, NextTaskRequest, RegisterTasksRequest, ReportTaskRequest, RestoreTasksRequest,
    ShowTasksReply, ShowTasksRequest,
};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, async_trait};

use super::accept;
use super::place::{Place, PlaceError};
use crate::connection::SIGN_OF_LIFE;

/// Where clients of `ElasticDL` are served, and how long they may take.
#[derive(Clone, Debug)]
pub struct MasterSettings {
    /// Nowhere, by default.
    pub listen: Vec<Place>,
    /// Other machines may reach these places.
    pub is_open: bool,
    /// A task that is not reported for this long goes to another worker.
    pub task_timeout: Duration,
}

/// A server that runs.
#[derive(Debug)]
pub(super) struct RunningMaster {
    end: oneshot::Sender<()>,
    served: JoinHandle<Result<(), tonic::transport::Error>>,
    _doors: JoinSet<()>,
}

#[derive(Clone, Debug)]
struct ElasticdlMaster(Handle);

/// How often a call that waits tells the coordinator that its worker still waits. Well below the time that counts there.
const RENEWED: Duration = Duration::from_secs(2);
/// The datasets of clients that name none, by what their tasks are for.
const TRAINING: &str = "_EDL_DEFAULT_TRAINING_DATA";
const EVALUATION: &str = "_EDL_DEFAULT_EVALUATION_DATA";
/// The type of workers whose client does not say theirs.
const WORKER: &str = "worker";

impl MasterSettings {
    /// Whether its places may be listened on.
    ///
    /// # Errors
    /// Other machines reach one of them, and that is not wanted.
    pub(super) fn check(&self) -> Result<(), PlaceError> {
        let reached = |place: &&Place| !self.is_open && place.check(false).is_err();
        self.listen.iter().find(reached).map_or(Ok(()), |place| Err(PlaceError::Unproved(place.clone())))
    }
}

/// Serves the clients of `ElasticDL`, if the settings say so.
///
/// # Errors
/// One of the places cannot be used.
pub(super) async fn serve(settings: &MasterSettings, handle: Handle) -> Result<Option<RunningMaster>, PlaceError> {
    if settings.listen.is_empty() {
        return Ok(None);
    }
    let (connections, doors) = accept::listen(&settings.listen, None).await?;
    let (end, ended) = oneshot::channel::<()>();
    let served = Server::builder()
        .http2_keepalive_interval(Some(SIGN_OF_LIFE))
        .http2_keepalive_timeout(Some(SIGN_OF_LIFE))
        .tcp_nodelay(true)
        .add_service(MasterServer::new(ElasticdlMaster(handle)))
        .serve_with_incoming_shutdown(ReceiverStream::new(connections), async {
            // It is told to end, or its owner is gone.
            ended.await.ok();
        });
    Ok(Some(RunningMaster { end, served: tokio::spawn(served), _doors: doors }))
}

impl RunningMaster {
    /// Answers the calls under way for at most this long. Those that wait for a task have been told to come again.
    pub(super) async fn end(self, within: Duration) {
        self.end.send(()).ok();
        // What is left is cut off, as by a crash.
        tokio::time::timeout(within, self.served).await.ok();
    }
}

impl ElasticdlMaster {
    /// Holds the call until there is a task for the worker, or none will come.
    async fn task(&self, dataset: &str, worker: String) -> Result<NextTaskReply, Status> {
        let caller = Caller { ledger: task_ledger(dataset), worker, ..Caller::default() };
        let mut stirs = self.0.task_stirs();
        loop {
            stirs.borrow_and_update();
            let reply = self.ask(caller.clone()).await?;
            if reply.answer() != Answer::Wait {
                return Ok(reply);
            }
            tokio::select! {
                stirred = stirs.changed() => {
                    stirred.map_err(|_| Status::unavailable("The coordinator ends. Ask again."))?;
                }
                () = tokio::time::sleep(RENEWED) => {}
            }
        }
    }

    /// Asks for a task once. If the client is gone before the answer, the task is given back.
    async fn ask(&self, caller: Caller) -> Result<NextTaskReply, Status> {
        let (told, answer) = oneshot::channel();
        let handle = self.0.clone();
        // It continues if this call is dropped.
        tokio::spawn(async move {
            let asked = handle.call(NextTaskRequest { caller: Some(caller.clone()) }).await;
            if let Err(Ok(NextTaskReply { task: Some(task), .. })) = told.send(asked) {
                let unheard =
                    ReportTaskRequest { caller: Some(caller), task: task.id, unheard: true, ..Default::default() };
                // If this is lost, the task has its time.
                handle.call(unheard).await.ok();
            }
        });
        let gone = |_| Status::unavailable("The coordinator ends. Ask again.");
        Ok(answer.await.map_err(gone)??)
    }

    async fn report(&self, dataset: &str, task: i32, error: String) -> Result<Outcome, CallError> {
        let caller = Some(Caller { ledger: task_ledger(dataset), ..Caller::default() });
        let report = ReportTaskRequest { caller, task, error, ..ReportTaskRequest::default() };
        match self.0.call(report).await {
            Ok(reply) => Ok(reply.outcome()),
            // Its run was forgotten meanwhile.
            Err(CallError::NotFound(why)) => {
                tracing::info!(dataset, task, why, "a task was reported late");
                Ok(Outcome::Late)
            }
            Err(error) => Err(error),
        }
    }

    /// The state of a dataset; empty while no worker has registered it.
    async fn show(&self, dataset: &str) -> Result<ShowTasksReply, CallError> {
        match self.0.call(ShowTasksRequest { dataset: named(dataset).to_owned() }).await {
            Err(CallError::NotFound(_)) => Ok(ShowTasksReply::default()),
            shown => shown,
        }
    }
}

#[async_trait]
impl Master for ElasticdlMaster {
    async fn report_dataset_shard_params(
        &self,
        request: Request<ReportDatasetShardParamsRequest>,
    ) -> Result<Response<Nothing>, Status> {
        let params = request.into_inner();
        let dataset = named(&params.dataset_name);
        let registered = match registration(&params) {
            Ok(request) => self.0.call(request).await.map(|_| ()),
            Err(refused) => Err(refused),
        };
        // Such a client repeats what is refused, and says nothing for long.
        registered.inspect_err(|error| tracing::warn!(dataset, %error, "a dataset was not registered"))?;
        Ok(Response::new(Nothing {}))
    }

    async fn get_dataset_task(&self, request: Request<GetDatasetTaskRequest>) -> Result<Response<Task>, Status> {
        let GetDatasetTaskRequest { worker_id, dataset_name, worker_type } = request.into_inner();
        let kind = if worker_type.is_empty() { WORKER } else { &worker_type };
        let reply = self.task(named(&dataset_name), format!("{kind}-{worker_id}")).await?;
        Ok(Response::new(task(reply)))
    }

    async fn get_task(&self, request: Request<GetTaskRequest>) -> Result<Response<Task>, Status> {
        let request = request.into_inner();
        let by_kind = if request.task_type() == TaskType::Evaluation { EVALUATION } else { TRAINING };
        let dataset = if request.dataset_name.is_empty() { by_kind } else { &request.dataset_name };
        let reply = self.task(dataset, format!("{WORKER}-{}", request.worker_id)).await?;
        Ok(Response::new(task(reply)))
    }

    async fn report_dataset_task_result(
        &self,
        request: Request<ReportDatasetTaskResultRequest>,
    ) -> Result<Response<Nothing>, Status> {
        let ReportDatasetTaskResultRequest { task_id, err_message, dataset_name } = request.into_inner();
        self.report(named(&dataset_name), task_id, err_message).await?;
        Ok(Response::new(Nothing {}))
    }

    async fn report_task_result(&self, request: Request<ReportTaskResultRequest>) -> Result<Response<Nothing>, Status> {
        let ReportTaskResultRequest { task_id, err_message, dataset_name } = request.into_inner();
        let one = [dataset_name.as_str()];
        for dataset in if dataset_name.is_empty() { &[TRAINING, EVALUATION][..] } else { &one } {
            if self.report(dataset, task_id, err_message.clone()).await? != Outcome::Late {
                break;
            }
        }
        Ok(Response::new(Nothing {}))
    }

    async fn reset_dataset(&self, request: Request<ResetDatasetRequest>) -> Result<Response<Nothing>, Status> {
        let dataset = named(&request.get_ref().dataset_name).to_owned();
        match self.0.call(RestoreTasksRequest { dataset, ..RestoreTasksRequest::default() }).await {
            // There is nothing to reset.
            Ok(_) | Err(CallError::NotFound(_)) => Ok(Response::new(Nothing {})),
            Err(error) => Err(error.into()),
        }
    }

    async fn get_dataset_epoch(
        &self,
        request: Request<GetDatasetEpochRequest>,
    ) -> Result<Response<GetDatasetEpochResponse>, Status> {
        let shown = self.show(&request.get_ref().dataset_name).await?;
        let epoch = i32::try_from(shown.epoch).unwrap_or(i32::MAX);
        Ok(Response::new(GetDatasetEpochResponse { epoch }))
    }

    async fn get_shard_checkpoint(
        &self,
        request: Request<GetShardCheckpointRequest>,
    ) -> Result<Response<ShardCheckpoint>, Status> {
        let shown = self.show(&request.get_ref().dataset_name).await?;
        Ok(Response::new(ShardCheckpoint { content: shown.checkpoint }))
    }

    async fn report_shard_checkpoint(
        &self,
        request: Request<ShardCheckpoint>,
    ) -> Result<Response<ReportShardCheckpointResponse>, Status> {
        let checkpoint = request.into_inner().content;
        let content: serde_json::Value = serde_json::from_str(&checkpoint).unwrap_or_default();
        let dataset = named(content["dataset_name"].as_str().unwrap_or_default()).to_owned();
        let restored = if checkpoint.is_empty() {
            Err(CallError::Invalid("The checkpoint is empty.".to_owned()))
        } else {
            let request =
                RestoreTasksRequest { dataset: dataset.clone(), checkpoint, ..RestoreTasksRequest::default() };
            self.0.call(request).await
        };
        match restored {
            Err(error @ (CallError::Unavailable(_) | CallError::NotLeader { .. })) => Err(error.into()),
            restored => {
                let success = restored.is_ok();
                if let Err(error) = restored {
                    tracing::warn!(dataset, %error, "a checkpoint was refused");
                }
                Ok(Response::new(ReportShardCheckpointResponse { success }))
            }
        }
    }

    async fn report_training_loop_status(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }

    async fn report_used_resource(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }

    async fn report_model_metric(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }

    async fn report_global_step(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }

    async fn report_autotune_status(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }

    async fn report_prestop(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }

    async fn update_critical_worker(&self, _request: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        Ok(Response::new(Nothing {}))
    }
}

/// The dataset of a client that may have named none.
fn named(dataset: &str) -> &str {
    if dataset.is_empty() { TRAINING } else { dataset }
}

/// A client's words about a dataset in the coordinator's.
fn registration(params: &ReportDatasetShardParamsRequest) -> Result<RegisterTasksRequest, CallError> {
    let number = |what: &str, number: i64| {
        u64::try_from(number).map_err(|_| CallError::Invalid(format!("{what} is {number}; it must not be negative.")))
    };
    let records = number("dataset_size", params.dataset_size)?;
    if records == 0 {
        return Err(CallError::Invalid("dataset_size is 0; a dataset has at least one record.".to_owned()));
    }
    let remainder = match params.remainder.as_str() {
        "" => Remainder::Keep,
        "fill" => Remainder::Fill,
        "drop" => Remainder::Drop,
        other => {
            let text = format!("remainder is {other:?}; it must be \"fill\", \"drop\" or nothing.");
            return Err(CallError::Invalid(text));
        }
    };
    Ok(RegisterTasksRequest {
        dataset: named(&params.dataset_name).to_owned(),
        records,
        batch_size: number("batch_size", params.batch_size.into())?,
        epochs: number("num_epochs", params.num_epochs.into())?,
        batches_per_shard: number("num_minibatches_per_shard", params.num_minibatches_per_shard.into())?,
        shuffle: params.shuffle,
        shuffle_shards: params.shuffle_shards,
        remainder: remainder.into(),
        kind: params.task_type,
        origin: forebay_pipeline::incarnation::fresh()
            .map_err(|error: io::Error| CallError::Unavailable(error.to_string()))?,
        ..RegisterTasksRequest::default()
    })
}

/// A task as clients know it. At the end, its kind is another one than theirs.
fn task(reply: NextTaskReply) -> Task {
    let signed = |number| i64::try_from(number).unwrap_or(i64::MAX);
    let Some(task) = reply.task else {
        let kind = if reply.kind == TaskType::None as i32 { TaskType::Wait } else { TaskType::None };
        return Task { task_id: 0, shard: Some(Shard::default()), r#type: kind.into() };
    };
    Task {
        task_id: task.id,
        shard: Some(Shard {
            name: task.dataset,
            start: signed(task.start),
            end: signed(task.end),
            indices: task.records.into_iter().map(signed).collect(),
        }),
        r#type: task.kind,
    }
}

#[cfg(test)]
mod tests;
