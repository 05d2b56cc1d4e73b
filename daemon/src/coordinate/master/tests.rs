//! What clients of `ElasticDL` are answered: their words in those of the coordinator, calls that are held, and what counts late.

use std::sync::Arc;

use forebay_coordinator::{Coordinator, CoordinatorSettings, MemoryStore, monotonic_clock};
use forebay_proto::v1::{ListLedgersRequest, NewRunRequest};
use proptest::prelude::*;

use super::*;

/// Serves clients without a socket: a test calls what gRPC would.
fn master() -> ElasticdlMaster {
    ElasticdlMaster(Coordinator::start(MemoryStore::new(), monotonic_clock(), CoordinatorSettings::default()).unwrap())
}

/// Twelve records in shards of four.
fn params(dataset: &str) -> ReportDatasetShardParamsRequest {
    ReportDatasetShardParamsRequest {
        batch_size: 4,
        num_epochs: 1,
        dataset_size: 12,
        num_minibatches_per_shard: 1,
        dataset_name: dataset.to_owned(),
        task_type: TaskType::Training.into(),
        ..ReportDatasetShardParamsRequest::default()
    }
}

async fn register(master: &ElasticdlMaster, params: ReportDatasetShardParamsRequest) {
    master.report_dataset_shard_params(Request::new(params)).await.unwrap();
}

/// A task of the dataset "mnist".
async fn ask(master: &ElasticdlMaster, worker_type: &str, worker_id: i32) -> Task {
    let request =
        GetDatasetTaskRequest { worker_id, dataset_name: "mnist".to_owned(), worker_type: worker_type.to_owned() };
    master.get_dataset_task(Request::new(request)).await.unwrap().into_inner()
}

async fn report(master: &ElasticdlMaster, task: &Task, error: &str) {
    let request = ReportDatasetTaskResultRequest {
        task_id: task.task_id,
        err_message: error.to_owned(),
        dataset_name: "mnist".to_owned(),
    };
    master.report_dataset_task_result(Request::new(request)).await.unwrap();
}

fn span(task: &Task) -> (i64, i64) {
    let shard = task.shard.clone().unwrap();
    (shard.start, shard.end)
}

/// The workers that the coordinator knows, and the reports that came late.
async fn known(master: &ElasticdlMaster) -> (Vec<String>, u64) {
    let ledgers = master.0.call(ListLedgersRequest::default()).await.unwrap().ledgers;
    let late = ledgers.iter().map(|ledger| ledger.late_reports).sum();
    (ledgers.into_iter().flat_map(|ledger| ledger.workers).map(|worker| worker.name).collect(), late)
}

/// Lets a worker ask in the background, until the coordinator knows that it waits.
async fn waits(master: &Arc<ElasticdlMaster>, worker_id: i32) -> JoinHandle<Task> {
    let own = Arc::clone(master);
    let asked = tokio::spawn(async move { ask(&own, "worker", worker_id).await });
    let name = format!("worker-{worker_id}");
    while !known(master).await.0.contains(&name) {
        tokio::task::yield_now().await;
    }
    assert!(!asked.is_finished(), "its call is held");
    asked
}

#[tokio::test]
async fn a_task_has_the_type_of_its_dataset_and_the_end_of_the_data_has_another_one() {
    for (kind, end) in [
        (TaskType::Training, TaskType::None),
        (TaskType::Evaluation, TaskType::None),
        // A client takes its own type for a task, so the end must have another one.
        (TaskType::None, TaskType::Wait),
    ] {
        let master = master();
        register(&master, ReportDatasetShardParamsRequest { task_type: kind.into(), ..params("mnist") }).await;
        let mut ids = Vec::new();
        for start in [0, 4, 8] {
            let task = ask(&master, "worker", 0).await;
            assert_eq!((task.r#type(), span(&task)), (kind, (start, start + 4)));
            assert_eq!(task.shard.clone().unwrap().name, "mnist");
            report(&master, &task, "").await;
            ids.push(task.task_id);
        }
        assert!(ids.is_sorted_by(|a, b| a < b) && ids[0] > 0, "{ids:?}");
        let last = ask(&master, "worker", 0).await;
        assert_eq!((last.r#type(), last.task_id, span(&last)), (end, 0, (0, 0)));
    }
}

#[tokio::test]
async fn workers_of_one_number_and_other_types_are_others() {
    let master = master();
    register(&master, params("mnist")).await;
    ask(&master, "chief", 0).await;
    ask(&master, "", 0).await;
    ask(&master, "evaluator", 0).await;
    assert_eq!(known(&master).await.0, ["chief-0", "evaluator-0", "worker-0"]);
}

#[tokio::test]
async fn a_call_is_held_until_a_shard_comes_back() {
    let master = Arc::new(master());
    register(&master, ReportDatasetShardParamsRequest { dataset_size: 4, ..params("mnist") }).await;
    let first = ask(&master, "worker", 0).await;
    let waiting = waits(&master, 1).await;
    report(&master, &first, "the disk is gone").await;
    let again = waiting.await.unwrap();
    assert_eq!(span(&again), span(&first));
    assert!(again.task_id > first.task_id, "an id is never used twice");
    // The worker that was too slow is answered, and counted.
    report(&master, &first, "").await;
    assert_eq!(known(&master).await.1, 1);
    report(&master, &again, "").await;
    assert_eq!(ask(&master, "worker", 0).await.r#type(), TaskType::None);
}

#[tokio::test]
async fn the_end_is_told_when_each_worker_with_open_tasks_waits_itself() {
    let master = Arc::new(master());
    register(&master, ReportDatasetShardParamsRequest { dataset_size: 8, ..params("mnist") }).await;
    let tasks = [ask(&master, "worker", 0).await, ask(&master, "worker", 1).await];
    // Their replies may have been lost: each task is given once more before the end is told.
    for (worker, task) in (0..).zip(&tasks) {
        assert_eq!(ask(&master, "worker", worker).await, *task);
    }
    let idle = waits(&master, 2).await;
    let own = Arc::clone(&master);
    let first = tokio::spawn(async move { ask(&own, "worker", 0).await });
    assert_eq!(ask(&master, "worker", 1).await.r#type(), TaskType::None);
    assert_eq!([first.await.unwrap().r#type(), idle.await.unwrap().r#type()], [TaskType::None; 2]);
    // They report all the same when they leave.
    for task in &tasks {
        report(&master, task, "").await;
    }
    assert_eq!(known(&master).await.1, 0);
}

#[tokio::test]
async fn a_call_whose_client_is_gone_takes_no_shard() {
    let master = Arc::new(master());
    register(&master, ReportDatasetShardParamsRequest { dataset_size: 4, ..params("mnist") }).await;
    let first = ask(&master, "worker", 0).await;
    let gone = waits(&master, 1).await;
    gone.abort();
    assert!(gone.await.unwrap_err().is_cancelled());
    report(&master, &first, "try again").await;
    let again = ask(&master, "worker", 2).await;
    assert_eq!(span(&again), span(&first));
}

#[tokio::test]
async fn older_clients_name_no_dataset_and_get_that_of_their_type() {
    let master = master();
    register(&master, params("")).await;
    register(&master, ReportDatasetShardParamsRequest { task_type: TaskType::Evaluation.into(), ..params(EVALUATION) })
        .await;
    for (kind, dataset) in [(TaskType::Training, TRAINING), (TaskType::Evaluation, EVALUATION)] {
        let request = GetTaskRequest { worker_id: 3, task_type: kind.into(), ..GetTaskRequest::default() };
        let task = master.get_task(Request::new(request)).await.unwrap().into_inner();
        assert_eq!((task.r#type(), task.shard.unwrap().name.as_str()), (kind, dataset));
        let result = ReportTaskResultRequest { task_id: task.task_id, ..ReportTaskResultRequest::default() };
        master.report_task_result(Request::new(result)).await.unwrap();
        let delivered = |status: &forebay_proto::v1::LedgerStatus| {
            (status.name == task_ledger(dataset)).then_some(status.delivered)
        };
        let ledgers = master.0.call(ListLedgersRequest::default()).await.unwrap().ledgers;
        assert_eq!(ledgers.iter().find_map(delivered), Some(4), "{ledgers:?}");
    }
    assert_eq!(known(&master).await.0, ["worker-3", "worker-3"]);
}

#[tokio::test]
async fn a_dataset_that_nobody_has_registered_is_in_its_first_epoch_and_may_be_reset() {
    let master = master();
    let dataset_name = "mnist".to_owned();
    let epoch = master.get_dataset_epoch(Request::new(GetDatasetEpochRequest { dataset_name: dataset_name.clone() }));
    assert_eq!(epoch.await.unwrap().into_inner().epoch, 0);
    let checkpoint =
        master.get_shard_checkpoint(Request::new(GetShardCheckpointRequest { dataset_name: dataset_name.clone() }));
    assert_eq!(checkpoint.await.unwrap().into_inner().content, "");
    master.reset_dataset(Request::new(ResetDatasetRequest { dataset_name })).await.unwrap();
    // Nor is a report of a run that was forgotten an error.
    register(&master, params("mnist")).await;
    let task = ask(&master, "worker", 0).await;
    let forget = NewRunRequest { run: "default".to_owned(), stream: "mnist".to_owned() };
    assert_eq!(master.0.call(forget).await.unwrap().forgotten, 1);
    report(&master, &task, "").await;
}

#[tokio::test]
async fn a_checkpoint_is_gone_back_to_and_what_is_none_is_refused() {
    let master = master();
    register(&master, params("mnist")).await;
    let first = ask(&master, "worker", 0).await;
    report(&master, &first, "").await;
    let request = GetShardCheckpointRequest { dataset_name: "mnist".to_owned() };
    let checkpoint = master.get_shard_checkpoint(Request::new(request)).await.unwrap().into_inner();
    assert_eq!(span(&ask(&master, "worker", 0).await), (4, 8));
    for (content, success) in [(String::new(), false), ("{".to_owned(), false), (checkpoint.content, true)] {
        let reply = master.report_shard_checkpoint(Request::new(ShardCheckpoint { content })).await.unwrap();
        assert_eq!(reply.into_inner().success, success);
    }
    assert_eq!(span(&ask(&master, "worker", 0).await), (4, 8), "the task of before is nobody's");
}

#[tokio::test]
async fn reports_that_are_not_used_are_answered_because_a_client_repeats_refused_ones_for_long() {
    let master = master();
    let nothing = || Request::new(Nothing {});
    master.report_training_loop_status(nothing()).await.unwrap();
    master.report_used_resource(nothing()).await.unwrap();
    master.report_model_metric(nothing()).await.unwrap();
    master.report_global_step(nothing()).await.unwrap();
    master.report_autotune_status(nothing()).await.unwrap();
    master.report_prestop(nothing()).await.unwrap();
    master.update_critical_worker(nothing()).await.unwrap();
}

#[test]
fn numbers_that_no_dataset_can_have_are_refused_by_name() {
    let refusal = |params: ReportDatasetShardParamsRequest| registration(&params).unwrap_err().to_string();
    let good = || params("mnist");
    for (params, words) in [
        (ReportDatasetShardParamsRequest { dataset_size: 0, ..good() }, "dataset_size is 0"),
        (ReportDatasetShardParamsRequest { dataset_size: -1, ..good() }, "dataset_size is -1"),
        (ReportDatasetShardParamsRequest { batch_size: -2, ..good() }, "batch_size is -2"),
        (ReportDatasetShardParamsRequest { num_epochs: -3, ..good() }, "num_epochs is -3"),
        (
            ReportDatasetShardParamsRequest { num_minibatches_per_shard: -4, ..good() },
            "num_minibatches_per_shard is -4",
        ),
        (ReportDatasetShardParamsRequest { remainder: "keep".to_owned(), ..good() }, "remainder is \"keep\""),
    ] {
        let told = refusal(params);
        assert!(told.contains(words), "{words}: {told}");
    }
    for (remainder, kept) in [("", Remainder::Keep), ("fill", Remainder::Fill), ("drop", Remainder::Drop)] {
        let params = ReportDatasetShardParamsRequest { remainder: remainder.to_owned(), ..good() };
        assert_eq!(registration(&params).unwrap().remainder(), kept);
    }
    // The coordinator chooses the size of shards then.
    let chosen = registration(&ReportDatasetShardParamsRequest { num_minibatches_per_shard: 0, ..good() }).unwrap();
    assert_eq!((chosen.batches_per_shard, chosen.dataset.as_str()), (0, "mnist"));
    assert_eq!(registration(&params("")).unwrap().dataset, TRAINING);
}

proptest! {
    #[test]
    fn a_client_reads_the_task_that_the_coordinator_gave(
        id in 1..i32::MAX, start in 0..1_u64 << 40, len in 1..100_u64, records in prop::collection::vec(0..1_u64 << 40, 0..9),
    ) {
        let given = forebay_proto::v1::Task {
            id,
            dataset: "mnist".to_owned(),
            start,
            end: start + len,
            records: records.clone(),
            kind: TaskType::Training.into(),
            ..forebay_proto::v1::Task::default()
        };
        let read = task(NextTaskReply { task: Some(given), ..NextTaskReply::default() });
        let shard = read.shard.clone().unwrap();
        prop_assert_eq!((read.task_id, read.r#type()), (id, TaskType::Training));
        prop_assert_eq!((shard.start, shard.end), (i64::try_from(start).unwrap(), i64::try_from(start + len).unwrap()));
        let indices: Vec<u64> = shard.indices.iter().map(|index| u64::try_from(*index).unwrap()).collect();
        prop_assert_eq!(indices, records);
    }
}
