//! What a node with another dataset is told.

use forebay_ledger_client::CallError;
use forebay_proto::v1::{
    CompareDatasetReply, CompareDatasetRequest, DatasetSummary, DescribeRequest, NewRunRequest, Range,
};

use crate::scene::{Daemon, Scene, spec, static_spec};

/// Of so many records, all equal but one.
fn summary(records: usize, other: Option<usize>) -> DatasetSummary {
    let sums = (0..records).map(|record| record as u64 + u64::from(Some(record) == other) * 1000);
    DatasetSummary { bytes: 10 * records as u64, block: 1, sums: sums.collect() }
}

fn describe(scene: &Scene, daemon: &mut Daemon, summary: DatasetSummary) -> Result<(), CallError> {
    scene.call(DescribeRequest { caller: Some(daemon.next()), summary: Some(summary) }).map(drop)
}

/// What a node with this dataset is told, whose fingerprint is another one.
fn compare(scene: &Scene, summary: Option<DatasetSummary>) -> CompareDatasetReply {
    let records = summary.as_ref().map_or(0, |summary| summary.sums.len() as u64);
    let (run, stream) = ("run".to_owned(), "train".to_owned());
    scene.call(CompareDatasetRequest { run, stream, fingerprint: vec![9; 32], records, summary }).unwrap()
}

#[test]
fn rule_41_the_first_block_that_differs_is_told_with_the_run_s_records_and_bytes_also_after_a_restart() {
    let mut scene = Scene::new(spec(40), 10, 1);
    let (mut one, opened) = scene.open("one", 1);
    assert!(opened.wants_summary);
    assert_eq!(compare(&scene, None), CompareDatasetReply::default(), "nobody has left a summary");
    describe(&scene, &mut one, summary(40, None)).unwrap();
    scene.restart();
    assert!(!scene.open("two", 1).1.wants_summary);
    let told =
        |start, end| CompareDatasetReply { differs: true, records: 40, bytes: 400, first: Some(Range { start, end }) };
    assert_eq!(compare(&scene, Some(summary(40, Some(7)))), told(7, 8));
    assert_eq!(compare(&scene, Some(summary(38, None))), told(38, 39));
    assert_eq!(compare(&scene, Some(summary(41, None))), told(40, 41));
    let equal = CompareDatasetReply { first: None, ..told(0, 0) };
    assert_eq!(compare(&scene, Some(summary(40, None))), equal, "the fingerprints differ in something else");
    assert_eq!(compare(&scene, None), equal);
}

#[test]
fn rule_41_a_node_with_the_run_s_own_fingerprint_is_told_nothing() {
    let scene = Scene::new(spec(40), 10, 1);
    describe(&scene, &mut scene.daemon("one", 1), summary(40, None)).unwrap();
    let (run, stream, fingerprint) = ("run".to_owned(), "train".to_owned(), scene.spec.fingerprint.clone());
    let request = CompareDatasetRequest { run, stream, fingerprint, ..CompareDatasetRequest::default() };
    assert_eq!(scene.call(request).unwrap(), CompareDatasetReply::default());
}

#[test]
fn rule_41_one_summary_is_enough_for_all_shards_and_goes_with_the_run() {
    let mut scene = Scene::new(static_spec(40, 0, 2, false), 10, 1);
    describe(&scene, &mut scene.daemon("one", 1), summary(40, None)).unwrap();
    scene.spec = static_spec(40, 1, 2, false);
    assert!(!scene.open("two", 1).1.wants_summary);
    assert!(compare(&scene, Some(summary(40, Some(0)))).differs);
    let documents = || scene.store.documents().iter().filter(|(key, _)| key.ends_with("/outline")).count();
    assert_eq!(documents(), 1);
    scene.call(NewRunRequest { run: "run".to_owned(), stream: "train".to_owned() }).unwrap();
    assert_eq!((documents(), compare(&scene, None).differs), (0, false));
}

#[test]
fn rule_41_summaries_that_are_none_of_their_records_are_refused_and_the_first_one_is_kept() {
    let scene = Scene::new(spec(40), 10, 1);
    let mut one = scene.daemon("one", 1);
    for wrong in [summary(39, None), DatasetSummary { block: 0, ..summary(40, None) }, DatasetSummary::default()] {
        assert!(matches!(describe(&scene, &mut one, wrong), Err(CallError::Invalid(_))));
    }
    describe(&scene, &mut one, summary(40, None)).unwrap();
    describe(&scene, &mut one, summary(40, Some(3))).unwrap();
    assert_eq!(compare(&scene, Some(summary(40, None))).first, None);
    let (run, stream) = ("run".to_owned(), "train".to_owned());
    let request =
        CompareDatasetRequest { run, stream, records: 9, summary: Some(summary(40, None)), ..Default::default() };
    assert!(matches!(scene.call(request), Err(CallError::Invalid(_))));
}
