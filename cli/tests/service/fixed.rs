//! `decode.lanes = "fixed"` on the fake GPU: a record's lane follows from the record alone, or the daemon ends.

use std::fs;

use forebay_fake_gpu::Knob;
use forebay_pixels::sample::{JpegForm, photograph_rgb};

use crate::daemon::Daemon;
use crate::gpu::{Machine, reasons, run};

/// From the first call after the tests at the start on, what the GPU decodes comes out inverted: the pixels of a record say which lane
/// it had.
#[test]
fn with_fixed_lanes_a_record_has_the_same_lane_whatever_the_load() {
    let machine = Machine::new(120, &[(Knob::WrongAfter, 22)]);
    let runs = ["1", "4"].map(|threads| {
        machine.configure("epochs = 2\nshuffle = true", "\"fixed\"");
        let config = fs::read_to_string(machine.home.path("forebay.toml")).unwrap();
        let config = config.replace("threads = 2", &format!("threads = {threads}"));
        fs::write(machine.home.path("forebay.toml"), config).unwrap();
        let daemon = machine.start();
        let pixels = run(&machine.home);
        let shares: Vec<_> = machine.lanes().iter().map(|lane| lane.pictures).collect();
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
        (pixels, shares)
    });
    let (pixels, shares) = &runs[1];
    assert!(shares[0] > 30 && shares[1] > 120 && shares[0] + shares[1] == 240, "{shares:?}");
    assert!(*pixels == runs[0].0 && *shares == runs[0].1, "{:?}", runs[0].1);
}

#[test]
fn without_its_lane_on_every_gpu_fixed_is_refused_at_the_start() {
    let machine = Machine::new(8, &[(Knob::Engines, 0)]);
    machine.configure("epochs = 1", "\"fixed\"");
    let (_, said) = Daemon::spawn(machine.command()).fails();
    assert!(said.contains("decode.lanes names \"hardware\"") && said.contains("architecture mismatch"), "{said}");
    for (knob, reason) in [(Knob::WrongGpu, "hardware on GPU 1: it decodes a "), (Knob::DeadGpu, "GPU 1: cuDevice")] {
        let machine = Machine::new(8, &[(Knob::Gpus, 2), (knob, 2)]);
        machine.configure("epochs = 1", "\"fixed\"");
        let (_, said) = Daemon::spawn(machine.command()).fails();
        assert!(said.contains("decode.lanes names \"hardware\"") && said.contains(reason), "{said}");
    }
}

/// Records that their numbers give to the GPU: what nvJPEG fails on because of the file is the CPU's, all else ends the daemon.
#[test]
fn with_fixed_lanes_a_picture_leaves_its_lane_for_what_its_file_is_and_for_nothing_else() {
    let wide = photograph_rgb(9, 77, 48);
    let wide = JpegForm::default().encode(&wide, 77, 48).unwrap();
    for (knobs, end) in [
        (&[(Knob::FailWidth, 77)][..], None),
        (&[(Knob::FailWidth, 77), (Knob::FailStatus, 6)], None),
        (&[(Knob::SkipWidth, 77)], None),
        (&[(Knob::FailWidth, 77), (Knob::FailStatus, 5)], Some("allocator failure (5)")),
        (&[(Knob::FailAfter, 24)], Some("execution failed (6)")),
        (&[(Knob::FailLaunches, 24)], Some("CUDA_ERROR_OUT_OF_MEMORY")),
    ] {
        let machine = Machine::new(90, knobs);
        for record in 0..10 {
            fs::write(machine.home.picture(record), &wide).unwrap();
        }
        machine.configure("epochs = 1", "\"fixed\"");
        match end {
            None => {
                let _daemon = machine.start();
                assert_eq!(run(&machine.home).len(), 90);
                assert!(machine.lanes()[1].refused.iter().map(|refusal| refusal.pictures).sum::<u64>() > 0);
                machine.home.audit();
            }
            Some(reason) => {
                let (status, said) = Daemon::spawn(machine.command()).ends();
                assert!(!status.success(), "{said}");
                assert!(said.contains("\"fixed\" cannot be kept") && said.contains(reason), "{said}");
            }
        }
    }
}

/// One record has one picture, so that both of its tries are known: the launches after the 21 of the tests at the start.
#[test]
fn with_fixed_lanes_what_the_driver_lacks_for_two_tries_alone_is_not_the_files_fault() {
    for (mended, passes) in [(2, true), (3, false)] {
        let machine = Machine::new(1, &[(Knob::FailLaunches, 22), (Knob::MendLaunches, mended)]);
        machine.configure("epochs = 1\nbatch_size = 1", "\"fixed\"");
        if passes {
            let _daemon = machine.start();
            assert_eq!(run(&machine.home).len(), 1);
            assert_eq!((machine.lanes()[1].pictures, reasons(&machine.lanes()[1])), (1, vec![]));
        } else {
            let (status, said) = Daemon::spawn(machine.command()).ends();
            assert!(!status.success(), "{said}");
            assert!(said.contains("\"fixed\" cannot be kept") && said.contains("CUDA_ERROR_OUT_OF_MEMORY"), "{said}");
        }
    }
}
