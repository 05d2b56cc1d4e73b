//! Tests of which thread gets which picture, of pictures that a lane passes on, and of a lane that is given up. Nothing
//! is decoded.

use forebay_cuda::schedule::Cost;
use forebay_pixels::Fault;
use forebay_pixels::sample::JpegForm;

use super::jobs::{Jobs, photograph, progressive};
use super::*;
use crate::decode::ORIGIN;

/// Longer than any picture takes; nothing waits for it.
const TOOK: Duration = Duration::from_millis(1);

/// A work queue with one thread of the pool and these lanes of GPUs, which decode what the CPU need not.
fn work_queue(lanes: &[(LaneKind, i32)]) -> WorkQueue {
    let lane = |(kind, ordinal): &(LaneKind, i32)| GpuLane { kind: *kind, ordinal: *ordinal, workers: 1 };
    let choice = LaneChoice { fixed: false, cpu: false };
    WorkQueue::new(1, lanes.iter().map(lane).collect(), choice, Limits::default())
}

fn both(gpus: [i32; 2]) -> WorkQueue {
    work_queue(&gpus.map(|gpu| (LaneKind::Hardware, gpu)))
}

/// What a thread of this lane has in hand, if there is anything for it.
fn take(work_queue: &WorkQueue, lane: LaneId) -> Option<Group> {
    work_queue.state.lock().take(lane, 64)
}

fn records(group: Option<&Group>) -> Vec<u32> {
    group.into_iter().flat_map(|group| &group.pictures).map(|picture| picture.item.at.1).collect()
}

/// The records that wait for the CPU lane, which decodes them.
fn decoded_by_the_cpu(work_queue: &WorkQueue) -> Vec<u32> {
    let mut records = Vec::new();
    while let Ok(Some((job, ticket))) = work_queue.task(Duration::ZERO) {
        records.push(job.at.1);
        work_queue.done(ticket, TOOK, true);
        job.end(Ok(ORIGIN));
    }
    records
}

/// Pictures that each lane decoded, and those that it left.
fn report(work_queue: &WorkQueue) -> Vec<(u64, Vec<(Refusal, u64)>)> {
    work_queue.report().into_iter().map(|lane| (lane.pictures, lane.refused)).collect()
}

const HARDWARE: LaneId = LaneId(1);
const SECOND: LaneId = LaneId(2);

#[test]
fn a_picture_that_lanes_leave_goes_from_hardware_to_hybrid_to_the_cpu() {
    let (work_queue, mut jobs) = (work_queue(&[(LaneKind::Hardware, 0), (LaneKind::Hybrid, 0)]), Jobs::new());
    work_queue.push(jobs.job(photograph(JpegForm::default())));
    for (lane, answer) in [(HARDWARE, Refusal::NotSupported), (SECOND, Refusal::Failed)] {
        let mut group = take(&work_queue, lane).unwrap();
        work_queue.came_back(&mut group, vec![Err(answer)]);
        work_queue.group_done(group, TOOK);
    }
    assert_eq!(decoded_by_the_cpu(&work_queue), [0]);
    let left = |refusal| (0, vec![(refusal, 1)]);
    assert_eq!(report(&work_queue), [(1, vec![]), left(Refusal::NotSupported), left(Refusal::Failed)]);
}

#[test]
fn good_pictures_of_a_group_are_reported_and_a_bad_one_does_not_go_to_its_kind_on_another_gpu() {
    let (work_queue, mut jobs) = (both([0, 1]), Jobs::new());
    for _ in 0..4 {
        work_queue.push(jobs.job(photograph(JpegForm::default())));
    }
    let mut group = take(&work_queue, HARDWARE).unwrap();
    assert_eq!(records(Some(&group)), [0, 2]);
    work_queue.came_back(&mut group, vec![Ok(())]);
    assert_eq!((jobs.made(), group.pictures.len()), ([0].into(), 1), "the rest is for another call");
    work_queue.came_back(&mut group, vec![Err(Refusal::NotSupported)]);
    work_queue.group_done(group, TOOK);
    assert_eq!(records(take(&work_queue, SECOND).as_ref()), [1, 3]);
    assert_eq!(decoded_by_the_cpu(&work_queue), [2]);
}

#[test]
fn pictures_that_a_lane_leaves_stay_in_their_order_and_come_before_those_that_wait() {
    let (work_queue, mut jobs) = (work_queue(&[(LaneKind::Hardware, 0), (LaneKind::Hybrid, 0)]), Jobs::new());
    for _ in 0..4 {
        work_queue.push(jobs.job(photograph(JpegForm::default())));
    }
    let mut group = work_queue.state.lock().take(HARDWARE, 3).unwrap();
    let count = group.pictures.len();
    let first = records(Some(&group));
    assert!(count > 1 && first.is_sorted(), "{first:?}");
    let waiting = work_queue.state.lock().schedule.waiting();
    assert_eq!(waiting + count, 4);
    work_queue.came_back(&mut group, vec![Err(Refusal::NotSupported); count]);
    work_queue.group_done(group, TOOK);
    let second = records(take(&work_queue, SECOND).as_ref());
    assert_eq!(second[..count], first);
}

#[test]
fn a_lane_that_is_given_up_leaves_its_line_and_what_it_has_in_hand_to_its_kind_on_another_gpu() {
    let (work_queue, mut jobs) = (both([0, 1]), Jobs::new());
    for _ in 0..4 {
        work_queue.push(jobs.job(photograph(JpegForm::default())));
    }
    let in_hand = take(&work_queue, HARDWARE).unwrap();
    for _ in 4..8 {
        work_queue.push(jobs.job(photograph(JpegForm::default())));
    }
    work_queue.switch_off(HARDWARE, "the test wants it".into());
    assert!(work_queue.is_off(HARDWARE) && !work_queue.is_off(SECOND));
    assert_eq!(work_queue.group(HARDWARE, 64).map(drop), Err(Closed), "its threads end, and steal nothing before");
    work_queue.group_done(in_hand, TOOK);
    work_queue.push(jobs.job(photograph(JpegForm::default())));
    let mut all = records(take(&work_queue, SECOND).as_ref());
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(report(&work_queue)[1], (0, vec![]), "nothing was wrong with any picture");
    let off = work_queue.switched_off();
    assert!(off.len() == 1 && off[0].name == "hardware on GPU 0" && off[0].reason.contains("wants"), "{off:?}");
}

#[test]
fn the_cpu_decodes_what_no_lane_is_left_for() {
    let (work_queue, mut jobs) = (work_queue(&[(LaneKind::Hardware, 0)]), Jobs::new());
    work_queue.push(jobs.job(photograph(JpegForm::default())));
    work_queue.switch_off(HARDWARE, "the test wants it".into());
    work_queue.switch_off(HARDWARE, "once is enough".into());
    work_queue.push(jobs.job(photograph(JpegForm::default())));
    assert_eq!(decoded_by_the_cpu(&work_queue), [0, 1]);
    assert_eq!(work_queue.switched_off().len(), 1);
}

#[test]
fn a_closed_work_queue_has_the_cpu_decode_what_comes_back_for_other_threads_may_have_ended() {
    let (work_queue, mut jobs) = (work_queue(&[(LaneKind::Hardware, 0), (LaneKind::Hybrid, 0)]), Jobs::new());
    work_queue.push(jobs.job(photograph(JpegForm::default())));
    let mut group = take(&work_queue, HARDWARE).unwrap();
    work_queue.close();
    assert_eq!(work_queue.group(SECOND, 64).map(drop), Err(Closed));
    assert!(matches!(work_queue.task(Duration::ZERO), Ok(None)), "the group may still come back");
    work_queue.came_back(&mut group, vec![Err(Refusal::NotSupported)]);
    assert_eq!(decoded_by_the_cpu(&work_queue), [0]);
    work_queue.group_done(group, TOOK);
    assert!(matches!(work_queue.task(Duration::ZERO), Err(Closed)));
}

#[test]
fn a_lane_that_is_given_up_as_the_work_queue_closes_leaves_all_to_the_cpu() {
    let (work_queue, mut jobs) = (both([0, 1]), Jobs::new());
    for _ in 0..4 {
        work_queue.push(jobs.job(photograph(JpegForm::default())));
    }
    work_queue.close();
    work_queue.switch_off(HARDWARE, "the test wants it".into());
    let mut all = decoded_by_the_cpu(&work_queue);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
    assert!(matches!(work_queue.task(Duration::ZERO), Err(Closed)));
}

#[test]
fn only_decoded_jpegs_tell_how_fast_a_lane_is() {
    let (work_queue, mut jobs) = (work_queue(&[(LaneKind::Hardware, 0)]), Jobs::new());
    let cost = |lane| -> Cost { work_queue.state.lock().schedule.cost(lane).clone() };
    let (cpu, hardware) = (cost(CPU), cost(HARDWARE));
    let jpeg = photograph(JpegForm::default());
    work_queue.push(jobs.job(b"\x89PNG\r\n\x1a\n and so on".to_vec()));
    work_queue.push(jobs.job(jpeg[..jpeg.len() - 2].to_vec()));
    assert_eq!(decoded_by_the_cpu(&work_queue), [0, 1]);
    work_queue.push(jobs.job(progressive()));
    let (job, ticket) = work_queue.task(Duration::ZERO).unwrap().unwrap();
    work_queue.done(ticket, TOOK, false);
    job.end(Err(Fault::Truncated.into()));
    work_queue.push(jobs.job(jpeg.clone()));
    let mut group = take(&work_queue, HARDWARE).unwrap();
    work_queue.came_back(&mut group, vec![Err(Refusal::Failed)]);
    work_queue.group_done(group, TOOK);
    assert_eq!((cost(CPU), cost(HARDWARE)), (cpu.clone(), hardware.clone()));
    assert_eq!(decoded_by_the_cpu(&work_queue), [3]);
    assert_ne!(cost(CPU), cpu);
    work_queue.push(jobs.job(jpeg));
    let mut group = take(&work_queue, HARDWARE).unwrap();
    work_queue.came_back(&mut group, vec![Ok(())]);
    work_queue.group_done(group, TOOK);
    assert_ne!(cost(HARDWARE), hardware);
}
