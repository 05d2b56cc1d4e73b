//! Tests of which lanes a picture may use: by its properties, by its record, by where its batch is, and by which lanes
//! have already passed it on.

use forebay_pixels::sample::{JpegColors, JpegForm, photograph_rgb};

use super::*;
use crate::decode::work_queue::jobs::{Jobs, photograph, progressive};

fn routes(lanes: &[(LaneKind, i32)], choice: LaneChoice) -> Routes {
    let lane = |(kind, ordinal): &(LaneKind, i32)| GpuLane { kind: *kind, ordinal: *ordinal, workers: 1 };
    Routes::new(lanes.iter().map(lane).collect(), choice, Limits::default())
}

fn set(lanes: &[usize]) -> LaneSet {
    lanes.iter().copied().map(LaneId).collect()
}

const LOAD: LaneChoice = LaneChoice { fixed: false, cpu: true };
const NO_CPU: LaneChoice = LaneChoice { fixed: false, cpu: false };
const FIXED: LaneChoice = LaneChoice { fixed: true, cpu: true };
/// Two kinds on each of two GPUs; the lanes are 1 to 4 in this order.
const FOUR: [(LaneKind, i32); 4] =
    [(LaneKind::Hardware, 0), (LaneKind::Hardware, 1), (LaneKind::Hybrid, 0), (LaneKind::Hybrid, 1)];

#[test]
fn what_a_picture_is_decides_who_takes_it_and_the_reason_is_told() {
    let (mut jobs, form) = (Jobs::new(), JpegForm::default());
    let jpeg = photograph(form);
    let cmyk = JpegForm { colors: JpegColors::Cmyk, ..form };
    let cmyk = cmyk.encode(&[photograph_rgb(1, 48, 32), vec![0; 48 * 32]].concat(), 48, 32).unwrap();
    for (content, takers, refusal) in [
        (jpeg.clone(), Takers::All, None),
        (progressive(), Takers::SeveralScans, Some(Refusal::Kind)),
        (photograph(JpegForm { arithmetic: true, ..form }), Takers::Cpu, Some(Refusal::Kind)),
        (cmyk, Takers::Cpu, Some(Refusal::Colours)),
        (photograph(JpegForm { sampling: [4, 1], ..form }), Takers::Cpu, Some(Refusal::Sampling)),
        (b"\x89PNG\r\n\x1a\n and so on".to_vec(), Takers::Cpu, Some(Refusal::NotJpeg)),
        (jpeg[..jpeg.len() - 2].to_vec(), Takers::Cpu, Some(Refusal::Damaged)),
        (b"\xFF\xD8\xFF and so on".to_vec(), Takers::Cpu, Some(Refusal::Damaged)),
    ] {
        let Routing { takers: who, refusal: why, .. } = routes(&FOUR, LOAD).admit(&jobs.job(content));
        assert_eq!((who, why), (takers, refusal));
    }
    let hybrid = routes(&[(LaneKind::Hybrid, 0)], NO_CPU);
    assert_eq!(hybrid.admit(&jobs.job(progressive())).refusal, None, "its first lane takes it");
}

#[test]
fn rule_29_a_picture_beyond_the_limits_is_for_the_lane_that_says_so() {
    let mut jobs = Jobs::new();
    let (jpeg, scans) = (photograph(JpegForm::default()), progressive());
    let mut admit = |content: &[u8], change: &dyn Fn(&mut Limits)| {
        let mut routes = routes(&FOUR, LOAD);
        change(&mut routes.limits);
        let Routing { takers, refusal, .. } = routes.admit(&jobs.job(content.to_vec()));
        assert_eq!(refusal == Some(Refusal::Limits), takers == Takers::Cpu && content == jpeg);
        takers
    };
    assert_eq!(admit(&jpeg, &|limits| limits.pixels = 48 * 32 - 1), Takers::Cpu);
    assert_eq!(admit(&jpeg, &|limits| limits.bytes = 100), Takers::Cpu);
    let count = scans_at_most(&scans);
    assert!(count > 5, "{count} scans");
    assert_eq!(admit(&scans, &|limits| limits.scans = count), Takers::SeveralScans);
    assert_eq!(admit(&scans, &|limits| limits.scans = count - 1), Takers::Cpu);
}

#[test]
fn pictures_of_several_scans_are_for_hybrid_lanes_and_the_cpu() {
    let lanes = |choice, takers| routes(&FOUR, choice).lanes(takers, Errand::default(), LaneSet::default());
    assert_eq!(lanes(LOAD, Takers::SeveralScans), set(&[0, 3, 4]));
    assert_eq!(lanes(NO_CPU, Takers::SeveralScans), set(&[3, 4]));
    assert_eq!(lanes(NO_CPU, Takers::All), set(&[1, 2, 3, 4]));
    assert_eq!(lanes(NO_CPU, Takers::Cpu), set(&[0]));
    let hardware = routes(&FOUR[..2], NO_CPU);
    assert_eq!(hardware.lanes(Takers::SeveralScans, Errand::default(), LaneSet::default()), set(&[0]));
}

#[test]
fn rule_8_fixed_lanes_follow_from_the_record_alone_on_several_gpus_too() {
    let gpus = [0, 1, 2].map(|gpu| (LaneKind::Hardware, gpu));
    let routes = routes(&gpus, FIXED);
    let mut counts = [0_u32; 4];
    for record in 0..8000 {
        let of = Errand { record, ..Errand::default() };
        let lanes = routes.lanes(Takers::All, of, LaneSet::default());
        let one: Vec<_> = (0..4).filter(|lane| lanes.has(LaneId(*lane))).collect();
        assert_eq!(one.len(), 1, "the load would choose among {one:?}");
        counts[one[0]] += 1;
        let in_ring = routes.lanes(Takers::All, Errand { ring: Some(1), ..of }, LaneSet::default());
        assert_eq!(in_ring, set(&[if one[0] == 0 { 0 } else { 2 }]));
    }
    assert!(counts.iter().all(|count| count.abs_diff(2000) < 40), "{counts:?}");
}

/// The CPU's pictures go to such a ring through the host, and so do another GPU's.
#[test]
fn pictures_for_slots_in_a_gpu_are_for_its_own_lanes_as_long_as_it_has_one_that_decodes() {
    let routes = routes(&FOUR, LOAD);
    let lanes = |ring, closed: &[usize]| routes.lanes(Takers::All, Errand { ring, ..Errand::default() }, set(closed));
    assert_eq!(lanes(Some(1), &[]), set(&[0, 2, 4]));
    assert_eq!(
        lanes(Some(1), &[2]),
        set(&[0, 2, 4]),
        "the hybrid lane is left, and the schedule knows which are closed"
    );
    assert_eq!(lanes(Some(1), &[2, 4]), set(&[0, 1, 2, 3, 4]));
    assert_eq!(lanes(Some(7), &[]), set(&[0, 1, 2, 3, 4]), "a GPU without lanes");
    assert_eq!(lanes(None, &[]), set(&[0, 1, 2, 3, 4]));
}

#[test]
fn pictures_of_a_stream_that_is_bound_to_a_gpu_are_for_that_one_and_the_cpu_wherever_they_go() {
    let routes = routes(&FOUR, LOAD);
    for ring in [None, Some(0), Some(1)] {
        for closed in [&[][..], &[2, 4]] {
            let of = Errand { bound: Some(1), ring, ..Errand::default() };
            assert_eq!(routes.lanes(Takers::All, of, set(closed)), set(&[0, 2, 4]));
        }
    }
}

#[test]
fn after_a_lane_come_later_kinds_of_those_that_may_and_at_last_the_cpu() {
    let routes = routes(&FOUR, LOAD);
    let all = set(&[0, 1, 2, 3, 4]);
    assert_eq!(routes.next(all, LaneId(1)), set(&[3, 4]), "not the same kind on another GPU");
    assert_eq!(routes.next(set(&[0, 1, 3]), LaneId(1)), set(&[3]));
    assert_eq!(routes.next(set(&[3, 4]), LaneId(4)), set(&[0]));
}
