//! A daemon with the lanes of a GPU, on the fake one: the same pixels as on the CPU, shares, failures, and what is refused.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use forebay_client::{Next, Patient};
use forebay_fake_gpu::{ENVIRONMENT, Fake, Knob};
use forebay_pixels::sample::{JpegForm, photograph_rgb};
use forebay_proto::v1::control_client::ControlClient;
use forebay_proto::v1::{LaneStatus, StatusReply, StatusRequest, StreamStatus};

use crate::daemon::{Daemon, Home, runtime};
use crate::trainer::Trainer;

/// Pixels by epoch and record.
pub(crate) type Pixels = BTreeMap<(u64, i64), Vec<u8>>;

/// A home whose daemon finds the fake GPU, with these knobs turned from its start.
pub(crate) struct Machine {
    pub(crate) home: Home,
    fake: Fake,
    knobs: String,
}

impl Machine {
    pub(crate) fn new(pictures: u64, knobs: &[(Knob, i64)]) -> Self {
        let knobs: Vec<_> = knobs.iter().map(|(knob, value)| format!("{}={value}", *knob as usize)).collect();
        Self { home: Home::with_pictures(pictures), fake: Fake::new(), knobs: knobs.join(" ") }
    }

    pub(crate) fn configure(&self, settings: &str, lanes: &str) {
        let nvjpeg = self.fake.path();
        let decode = format!("[decode]\nthreads = 2\nlanes = {lanes}\nnvjpeg = \"{}\"\n", nvjpeg.display());
        self.home.configure(&(self.home.train(settings) + &decode));
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = self.home.serve_command();
        command.env("FOREBAY_CUDA_DRIVER", self.fake.path()).env(ENVIRONMENT, &self.knobs);
        command
    }

    pub(crate) fn start(&self) -> Daemon {
        let mut daemon = Daemon::spawn(self.command());
        daemon.hears("INFO ready");
        daemon
    }

    fn status(&self) -> StatusReply {
        runtime().block_on(async {
            let mut client = ControlClient::new(self.home.channel().await);
            client.status(StatusRequest {}).await.unwrap().into_inner()
        })
    }

    pub(crate) fn lanes(&self) -> Vec<LaneStatus> {
        self.status().lanes
    }

    /// What is switched off, and why.
    fn off(&self) -> Vec<(String, String)> {
        self.status().switched_off.into_iter().map(|off| (off.name, off.reason)).collect()
    }
}

/// Pictures that a lane left to the next one.
pub(crate) fn reasons(lane: &LaneStatus) -> Vec<(&str, u64)> {
    lane.refused.iter().map(|refusal| (&*refusal.reason, refusal.pictures)).collect()
}

/// All that a run delivers.
pub(crate) fn run(home: &Home) -> Pixels {
    let mut trainer = Trainer::attach(home);
    let mut seen = Pixels::new();
    loop {
        match trainer.session.next(None, &mut Patient).unwrap() {
            Next::Batch(batch) => {
                let picture = batch.images().len() / batch.records().len();
                for (place, &record) in batch.records()[..batch.shown()].iter().enumerate() {
                    let pixels = batch.images()[place * picture..][..picture].to_vec();
                    assert!(seen.insert((batch.epoch(), record), pixels).is_none());
                }
            }
            Next::EpochEnd(_) => {}
            Next::Done => return seen,
        }
    }
}

#[test]
fn rule_8_and_29_every_choice_of_lanes_gives_the_same_pixels_and_the_same_verdicts() {
    let machine = Machine::new(60, &[]);
    let form = JpegForm::default();
    let odd = |form: JpegForm| form.encode(&photograph_rgb(3, 33, 21), 33, 21).unwrap();
    fs::write(machine.home.picture(7), odd(JpegForm { progressive: true, ..form })).unwrap();
    fs::write(machine.home.picture(20), odd(JpegForm { sampling: [4, 1], ..form })).unwrap();
    let whole = fs::read(machine.home.picture(40)).unwrap();
    fs::write(machine.home.picture(40), &whole[..whole.len() - 20]).unwrap();
    let mut first = None;
    for lanes in [
        "[\"cpu\"]",
        "[\"hardware\", \"cpu\"]",
        "[\"hardware\"]",
        "[\"hardware-single\"]",
        "[\"gpu-huffman\"]",
        "[\"hybrid\"]",
        "[\"hardware\", \"hardware-single\", \"gpu-huffman\", \"hybrid\", \"cpu\"]",
        "\"auto\"",
        "\"fixed\"",
    ] {
        machine.configure("epochs = 2\nshuffle = true\non_error = \"skip\"", lanes);
        let daemon = machine.start();
        let pixels = run(&machine.home);
        assert_eq!(pixels.len(), 118, "all but the truncated one, twice");
        let reports = machine.lanes();
        assert!(reports.iter().map(|lane| lane.pictures).sum::<u64>() >= 118, "{reports:?}");
        if lanes.starts_with("[\"h") && !lanes.contains("cpu") {
            let expected = if lanes == "[\"hybrid\"]" {
                (2 * 58, vec![("damaged", 2), ("sampling", 2)])
            } else {
                (2 * 57, vec![("damaged", 2), ("kind of JPEG", 2), ("sampling", 2)])
            };
            assert_eq!((reports[1].pictures, reasons(&reports[1])), expected);
        }
        machine.home.audit();
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
        assert!(*first.get_or_insert_with(|| pixels.clone()) == pixels, "{lanes}");
    }
}

#[test]
fn what_hardware_leaves_is_decoded_by_hybrid_and_what_that_leaves_by_the_cpu_which_says_what_is_bad() {
    let machine = Machine::new(71, &[(Knob::RefuseWidth, 33), (Knob::FailWidth, 35)]);
    let form = JpegForm::default();
    let write = |record, form: JpegForm, width| {
        let file = form.encode(&photograph_rgb(record, width, 21), width, 21).unwrap();
        fs::write(machine.home.picture(record), &file).unwrap();
        file
    };
    (0..40).for_each(|record| drop(write(record, form, 33)));
    (40..60).for_each(|record| drop(write(record, form, 35)));
    (60..70).for_each(|record| drop(write(record, JpegForm { progressive: true, ..form }, 37)));
    let mut bad = write(70, form, 37);
    // Its scan is of a component that the frame does not have.
    let scan = bad.windows(2).position(|marker| marker == [0xFF, 0xDA]).unwrap();
    bad[scan + 5] = 9;
    fs::write(machine.home.picture(70), bad).unwrap();
    machine.configure("epochs = 1\non_error = \"skip\"", "[\"hardware\", \"hybrid\"]");
    let _daemon = machine.start();
    assert_eq!(run(&machine.home).len(), 70);
    let lanes = machine.lanes();
    let [cpu, hardware, hybrid] = &lanes[..] else { panic!("{lanes:?}") };
    assert_eq!((cpu.pictures, hybrid.pictures, hardware.pictures), (20, 50, 0), "{lanes:?}");
    assert_eq!(reasons(hybrid), [("damaged", 21)]);
    let names: Vec<_> = reasons(hardware).iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["damaged", "kind of JPEG", "not supported by nvJPEG"],
        "some of each were first given to the engines"
    );
    assert_eq!(reasons(hardware)[1].1, 10);
    machine.home.audit();
}

#[test]
fn slots_in_the_host_are_page_locked_where_a_gpu_copies_its_pictures_to_them() {
    let machine = Machine::new(12, &[]);
    // Six slots of 2 MiB.
    for (lanes, locked) in [("[\"hardware\"]", 12 << 20), ("[\"cpu\"]", 0)] {
        machine.configure("epochs = 1", lanes);
        let daemon = machine.start();
        assert_eq!(run(&machine.home).len(), 12);
        // Slots come one after the other, the last of them perhaps after the last batch.
        let place = |status: &StreamStatus| status.ring.clone().unwrap();
        machine.home.wait_for("every slot is locked", |status| place(status).page_locked == locked);
        assert_eq!(place(&machine.home.status()).placement, "host");
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
    }
}

/// The test at the start takes seven batches of each of three workers; the two after them are the stream's, which fills its ring before a trainer comes.
#[test]
fn a_gpu_that_breaks_ends_the_daemon_with_a_clear_message_and_the_next_one_delivers_everything() {
    let machine = Machine::new(100, &[(Knob::BreakAfter, 23)]);
    machine.configure("epochs = 1", "[\"hardware\"]");
    let (status, said) = Daemon::spawn(machine.command()).ends();
    assert!(!status.success(), "{said}");
    assert!(said.contains("the GPU failed") && said.contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{said}");
    let machine = Machine { knobs: String::new(), ..machine };
    let _daemon = machine.start();
    assert_eq!(run(&machine.home).len(), 100);
    machine.home.audit();
}

/// The tests at the start launch seven times for each of three workers.
#[test]
fn a_lane_whose_batches_fail_on_a_gpu_that_is_well_is_switched_off_and_its_pictures_go_to_the_next() {
    let machine = Machine::new(400, &[(Knob::FailLaunches, 24)]);
    machine.configure("epochs = 1", "[\"hardware\"]");
    let _daemon = machine.start();
    assert_eq!(run(&machine.home).len(), 400);
    let reports = machine.lanes();
    assert_eq!(reports[0].pictures + reports[1].pictures, 400, "{reports:?}");
    assert!(reports[0].pictures > 0 && reports[1].pictures > 0, "{reports:?}");
    let off = machine.off();
    assert!(off.len() == 1 && off[0].0 == "hardware on GPU 0" && off[0].1.contains("OUT_OF_MEMORY"), "{off:?}");
    machine.home.audit();
}

#[test]
fn a_lane_that_gives_wrong_pictures_is_switched_off_or_refused_where_it_is_named() {
    let machine = Machine::new(12, &[(Knob::Wrong, 1)]);
    machine.configure("epochs = 1", "\"auto\"");
    let mut daemon = Daemon::spawn(machine.command());
    daemon.hears("the lane is switched off");
    daemon.hears("INFO ready");
    assert_eq!(run(&machine.home).len(), 12);
    assert_eq!(machine.lanes().len(), 1, "the CPU lane alone");
    let off = machine.off();
    assert!(off.len() == 1 && off[0].0 == "hardware on GPU 0" && off[0].1.contains("wrongly"), "{off:?}");
    daemon.stop();
    machine.configure("epochs = 1", "[\"hardware\", \"cpu\"]");
    let (_, said) = Daemon::spawn(machine.command()).fails();
    assert!(said.contains("decode.lanes names \"hardware\"") && said.contains("wrongly"), "{said}");
}

#[test]
fn without_a_gpu_auto_decodes_on_the_cpu_and_a_named_lane_is_refused_with_the_cause() {
    let machine = Machine::new(8, &[(Knob::Gpus, 0)]);
    machine.configure("epochs = 1", "\"auto\"");
    let daemon = machine.start();
    assert_eq!(run(&machine.home).len(), 8);
    let off = machine.off();
    assert!(off.len() == 1 && off[0].0 == "GPUs" && off[0].1.contains("CUDA_ERROR_NO_DEVICE"), "{off:?}");
    daemon.stop();
    machine.configure("epochs = 1", "[\"hardware\", \"cpu\"]");
    let (_, said) = Daemon::spawn(machine.command()).fails();
    assert!(said.contains("CUDA_ERROR_NO_DEVICE") && said.contains("forebay doctor"), "{said}");
}

#[test]
fn every_gpu_has_lanes_of_its_own_and_pictures_are_spread_over_them() {
    let machine = Machine::new(150, &[(Knob::Gpus, 2)]);
    for lanes in ["[\"hardware\"]", "\"fixed\""] {
        machine.configure("epochs = 2", lanes);
        let daemon = machine.start();
        assert_eq!(run(&machine.home).len(), 300);
        let reports = machine.lanes();
        let names: Vec<_> = reports.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["cpu", "hardware on GPU 0", "hardware on GPU 1"]);
        assert!(reports[1..].iter().all(|lane| lane.pictures > 0), "{reports:?}");
        assert_eq!(reports.iter().map(|lane| lane.pictures).sum::<u64>(), 300, "{reports:?}");
        machine.home.audit();
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
    }
}

#[test]
fn a_stream_that_names_a_gpu_is_decoded_by_that_one_and_one_that_is_not_there_is_refused() {
    let machine = Machine::new(60, &[(Knob::Gpus, 2)]);
    machine.configure("epochs = 1\ndecode_gpu = 1", "[\"hardware\"]");
    let daemon = machine.start();
    assert_eq!(run(&machine.home).len(), 60);
    let pictures: Vec<_> = machine.lanes().iter().map(|lane| lane.pictures).collect();
    assert_eq!(pictures, [0, 0, 60], "the CPU, GPU 0, GPU 1");
    machine.home.audit();
    daemon.stop();
    machine.configure("epochs = 1\ndecode_gpu = 2", "[\"hardware\"]");
    let (_, said) = Daemon::spawn(machine.command()).fails();
    assert!(said.contains("decode_gpu = 2") && said.contains("[0, 1]"), "{said}");
    machine.configure("epochs = 1\ndecode_gpu = 0", "[\"cpu\"]");
    let (_, said) = Daemon::spawn(machine.command()).fails();
    assert!(said.contains("decodes on no GPU"), "{said}");
    let machine = Machine::new(6, &[(Knob::Gpus, 2), (Knob::WrongGpu, 2)]);
    machine.configure("epochs = 1\ndecode_gpu = 1", "[\"hardware\"]");
    let (_, said) = Daemon::spawn(machine.command()).fails();
    assert!(said.contains("decode_gpu = 1: this daemon decodes on GPU 0 alone"), "{said}");
}

#[test]
fn one_gpu_that_is_wrong_or_dead_is_switched_off_and_the_other_continues() {
    for (knob, said, name) in [
        (Knob::WrongGpu, "the lane is switched off", "hardware on GPU 0"),
        (Knob::DeadGpu, "the GPU is switched off", "GPU 0"),
    ] {
        let machine = Machine::new(40, &[(Knob::Gpus, 2), (knob, 1)]);
        machine.configure("epochs = 1", "[\"hardware\"]");
        let mut daemon = Daemon::spawn(machine.command());
        daemon.hears(said);
        daemon.hears("INFO ready");
        assert_eq!(run(&machine.home).len(), 40);
        let reports = machine.lanes();
        assert_eq!((reports.len(), reports[1].name.as_str()), (2, "hardware on GPU 1"));
        assert_eq!(reports[1].pictures, 40, "{reports:?}");
        let off = machine.off();
        assert!(off.len() == 1 && off[0].0 == name, "{off:?}");
        machine.home.audit();
    }
}

/// The tests at the start take 21 calls.
#[test]
fn a_lane_whose_every_call_to_nvjpeg_fails_on_a_gpu_that_is_well_is_switched_off_and_said_to_be() {
    let machine = Machine::new(300, &[(Knob::FailAfter, 24)]);
    machine.configure("epochs = 1", "[\"hardware\"]");
    let mut daemon = Daemon::spawn(machine.command());
    daemon.hears("INFO ready");
    assert_eq!(run(&machine.home).len(), 300);
    daemon.hears("the lane is switched off");
    let off = machine.off();
    let reason = "nvjpegDecodeBatched answered execution failed (6)";
    assert!(off.len() == 1 && off[0].0 == "hardware on GPU 0" && off[0].1.contains(reason), "{off:?}");
    machine.home.audit();
}

/// All pictures of the dataset are passed over. Those of the tests at the start have other widths.
#[test]
fn a_lane_that_passes_over_every_picture_is_switched_off_and_no_record_shows_another_one() {
    let machine = Machine::new(60, &[(Knob::SkipWidth, 77)]);
    for record in 0..60 {
        let pixels = photograph_rgb(record, 77, 48);
        fs::write(machine.home.picture(record), JpegForm::default().encode(&pixels, 77, 48).unwrap()).unwrap();
    }
    machine.configure("epochs = 1", "[\"hardware\"]");
    let mut daemon = Daemon::spawn(machine.command());
    daemon.hears("INFO ready");
    let by_the_cpu = run(&machine.home);
    daemon.hears("the lane is switched off");
    let off = machine.off();
    assert!(off.len() == 1 && off[0].1.contains("reported success, and wrote no pixels"), "{off:?}");
    daemon.stop();
    fs::remove_dir_all(machine.home.path("state")).unwrap();
    machine.configure("epochs = 1", "[\"cpu\"]");
    let _daemon = machine.start();
    assert!(run(&machine.home) == by_the_cpu);
}

#[test]
fn a_gpu_that_never_comes_back_from_a_group_ends_the_daemon_with_the_lanes_name_and_the_next_one_delivers_everything() {
    let machine = Machine::new(60, &[(Knob::HoldAfter, 23)]);
    machine.configure("epochs = 1", "[\"hardware\"]");
    let mut command = machine.command();
    command.env("FOREBAY_GPU_HANG_MS", "200");
    let (status, said) = Daemon::spawn(command).ends();
    assert!(!status.success(), "{said}");
    assert!(said.contains("nvJPEG or the driver hangs") && said.contains("forebay-hardware-0-"), "{said}");
    let machine = Machine { knobs: String::new(), ..machine };
    let _daemon = machine.start();
    assert_eq!(run(&machine.home).len(), 60);
    machine.home.audit();
}
