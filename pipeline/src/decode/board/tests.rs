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

/// A board with one thread of the pool and these lanes of GPUs, which decode what the CPU need not.
fn board(lanes: &[(LaneKind, i32)]) -> Board {
    let lane = |(kind, ordinal): &(LaneKind, i32)| GpuLane { kind: *kind, ordinal: *ordinal, workers: 1 };
    let choice = LaneChoice { fixed: false, cpu: false };
    Board::new(1, lanes.iter().map(lane).collect(), choice, Limits::default())
}

fn both(gpus: [i32; 2]) -> Board {
    board(&gpus.map(|gpu| (LaneKind::Hardware, gpu)))
}

/// What a thread of this lane has in hand, if there is anything for it.
fn take(board: &Board, lane: LaneId) -> Option<Group> {
    board.state.lock().take(lane, 64)
}

fn records(group: Option<&Group>) -> Vec<u32> {
    group.into_iter().flat_map(|group| &group.pictures).map(|picture| picture.item.at.1).collect()
}

/// The records that wait for the CPU lane, which decodes them.
fn decoded_by_the_cpu(board: &Board) -> Vec<u32> {
    let mut records = Vec::new();
    while let Ok(Some((job, ticket))) = board.task(Duration::ZERO) {
        records.push(job.at.1);
        board.done(ticket, TOOK, true);
        job.end(Ok(ORIGIN));
    }
    records
}

/// Pictures that each lane decoded, and those that it left.
fn report(board: &Board) -> Vec<(u64, Vec<(Refusal, u64)>)> {
    board.report().into_iter().map(|lane| (lane.pictures, lane.refused)).collect()
}

const HARDWARE: LaneId = LaneId(1);
const SECOND: LaneId = LaneId(2);

#[test]
fn a_picture_that_lanes_leave_goes_from_hardware_to_hybrid_to_the_cpu() {
    let (board, mut jobs) = (board(&[(LaneKind::Hardware, 0), (LaneKind::Hybrid, 0)]), Jobs::new());
    board.push(jobs.job(photograph(JpegForm::default())));
    for (lane, answer) in [(HARDWARE, Refusal::NotSupported), (SECOND, Refusal::Failed)] {
        let mut group = take(&board, lane).unwrap();
        board.came_back(&mut group, vec![Err(answer)]);
        board.group_done(group, TOOK);
    }
    assert_eq!(decoded_by_the_cpu(&board), [0]);
    let left = |refusal| (0, vec![(refusal, 1)]);
    assert_eq!(report(&board), [(1, vec![]), left(Refusal::NotSupported), left(Refusal::Failed)]);
}

#[test]
fn good_pictures_of_a_group_are_reported_and_a_bad_one_does_not_go_to_its_kind_on_another_gpu() {
    let (board, mut jobs) = (both([0, 1]), Jobs::new());
    for _ in 0..4 {
        board.push(jobs.job(photograph(JpegForm::default())));
    }
    let mut group = take(&board, HARDWARE).unwrap();
    assert_eq!(records(Some(&group)), [0, 2]);
    board.came_back(&mut group, vec![Ok(())]);
    assert_eq!((jobs.made(), group.pictures.len()), ([0].into(), 1), "the rest is for another call");
    board.came_back(&mut group, vec![Err(Refusal::NotSupported)]);
    board.group_done(group, TOOK);
    assert_eq!(records(take(&board, SECOND).as_ref()), [1, 3]);
    assert_eq!(decoded_by_the_cpu(&board), [2]);
}

#[test]
fn pictures_that_a_lane_leaves_stay_in_their_order_and_come_before_those_that_wait() {
    let (board, mut jobs) = (board(&[(LaneKind::Hardware, 0), (LaneKind::Hybrid, 0)]), Jobs::new());
    for _ in 0..4 {
        board.push(jobs.job(photograph(JpegForm::default())));
    }
    let mut group = board.state.lock().take(HARDWARE, 3).unwrap();
    let count = group.pictures.len();
    let first = records(Some(&group));
    assert!(count > 1 && first.is_sorted(), "{first:?}");
    let waiting = board.state.lock().schedule.waiting();
    assert_eq!(waiting + count, 4);
    board.came_back(&mut group, vec![Err(Refusal::NotSupported); count]);
    board.group_done(group, TOOK);
    let second = records(take(&board, SECOND).as_ref());
    assert_eq!(second[..count], first);
}

#[test]
fn a_lane_that_is_given_up_leaves_its_line_and_what_it_has_in_hand_to_its_kind_on_another_gpu() {
    let (board, mut jobs) = (both([0, 1]), Jobs::new());
    for _ in 0..4 {
        board.push(jobs.job(photograph(JpegForm::default())));
    }
    let in_hand = take(&board, HARDWARE).unwrap();
    for _ in 4..8 {
        board.push(jobs.job(photograph(JpegForm::default())));
    }
    board.switch_off(HARDWARE, "the test wants it".into());
    assert!(board.is_off(HARDWARE) && !board.is_off(SECOND));
    assert_eq!(board.group(HARDWARE, 64).map(drop), Err(Closed), "its threads end, and steal nothing before");
    board.group_done(in_hand, TOOK);
    board.push(jobs.job(photograph(JpegForm::default())));
    let mut all = records(take(&board, SECOND).as_ref());
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(report(&board)[1], (0, vec![]), "nothing was wrong with any picture");
    let off = board.switched_off();
    assert!(off.len() == 1 && off[0].name == "hardware on GPU 0" && off[0].reason.contains("wants"), "{off:?}");
}

#[test]
fn the_cpu_decodes_what_no_lane_is_left_for() {
    let (board, mut jobs) = (board(&[(LaneKind::Hardware, 0)]), Jobs::new());
    board.push(jobs.job(photograph(JpegForm::default())));
    board.switch_off(HARDWARE, "the test wants it".into());
    board.switch_off(HARDWARE, "once is enough".into());
    board.push(jobs.job(photograph(JpegForm::default())));
    assert_eq!(decoded_by_the_cpu(&board), [0, 1]);
    assert_eq!(board.switched_off().len(), 1);
}

#[test]
fn a_closed_board_has_the_cpu_decode_what_comes_back_for_other_threads_may_have_ended() {
    let (board, mut jobs) = (board(&[(LaneKind::Hardware, 0), (LaneKind::Hybrid, 0)]), Jobs::new());
    board.push(jobs.job(photograph(JpegForm::default())));
    let mut group = take(&board, HARDWARE).unwrap();
    board.close();
    assert_eq!(board.group(SECOND, 64).map(drop), Err(Closed));
    assert!(matches!(board.task(Duration::ZERO), Ok(None)), "the group may still come back");
    board.came_back(&mut group, vec![Err(Refusal::NotSupported)]);
    assert_eq!(decoded_by_the_cpu(&board), [0]);
    board.group_done(group, TOOK);
    assert!(matches!(board.task(Duration::ZERO), Err(Closed)));
}

#[test]
fn a_lane_that_is_given_up_as_the_board_closes_leaves_all_to_the_cpu() {
    let (board, mut jobs) = (both([0, 1]), Jobs::new());
    for _ in 0..4 {
        board.push(jobs.job(photograph(JpegForm::default())));
    }
    board.close();
    board.switch_off(HARDWARE, "the test wants it".into());
    let mut all = decoded_by_the_cpu(&board);
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3]);
    assert!(matches!(board.task(Duration::ZERO), Err(Closed)));
}

#[test]
fn only_decoded_jpegs_tell_how_fast_a_lane_is() {
    let (board, mut jobs) = (board(&[(LaneKind::Hardware, 0)]), Jobs::new());
    let cost = |lane| -> Cost { board.state.lock().schedule.cost(lane).clone() };
    let (cpu, hardware) = (cost(CPU), cost(HARDWARE));
    let jpeg = photograph(JpegForm::default());
    board.push(jobs.job(b"\x89PNG\r\n\x1a\n and so on".to_vec()));
    board.push(jobs.job(jpeg[..jpeg.len() - 2].to_vec()));
    assert_eq!(decoded_by_the_cpu(&board), [0, 1]);
    board.push(jobs.job(progressive()));
    let (job, ticket) = board.task(Duration::ZERO).unwrap().unwrap();
    board.done(ticket, TOOK, false);
    job.end(Err(Fault::Truncated.into()));
    board.push(jobs.job(jpeg.clone()));
    let mut group = take(&board, HARDWARE).unwrap();
    board.came_back(&mut group, vec![Err(Refusal::Failed)]);
    board.group_done(group, TOOK);
    assert_eq!((cost(CPU), cost(HARDWARE)), (cpu.clone(), hardware.clone()));
    assert_eq!(decoded_by_the_cpu(&board), [3]);
    assert_ne!(cost(CPU), cpu);
    board.push(jobs.job(jpeg));
    let mut group = take(&board, HARDWARE).unwrap();
    board.came_back(&mut group, vec![Ok(())]);
    board.group_done(group, TOOK);
    assert_ne!(cost(HARDWARE), hardware);
}
