//! Rings in memory of a GPU, on the fake one: the same pixels as in the host, also after deaths, and refusals with their causes.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::process::Command;

use forebay_client::{AttachError, Batch, Next, Options, Patient};
use forebay_fake_gpu::{ENVIRONMENT, Fake, Knob};

use crate::daemon::{Daemon, Home};
use crate::memory::slots;
use crate::trainer::{GPUS, Puppet, Trainer, batches, options, records};

/// Pixels by epoch and record.
type Pixels = BTreeMap<(u64, i64), Vec<u8>>;

/// A home whose daemon finds the fake's driver; no picture is decoded by it.
struct Machine {
    home: Home,
    fake: Fake,
}

impl Machine {
    fn new(pictures: u64) -> Self {
        Self { home: Home::with_pictures(pictures), fake: Fake::new() }
    }

    fn command(&self, settings: &str, knobs: &[(Knob, i64)]) -> Command {
        self.command_with(settings, "", knobs)
    }

    /// With further tables in the configuration.
    fn command_with(&self, settings: &str, tables: &str, knobs: &[(Knob, i64)]) -> Command {
        self.home.configure(&(self.home.train(settings) + tables));
        let knobs: Vec<_> = knobs.iter().map(|(knob, value)| format!("{}={value}", *knob as usize)).collect();
        let mut command = self.home.serve_command();
        command.env("FOREBAY_CUDA_DRIVER", self.fake.path()).env(ENVIRONMENT, knobs.join(" "));
        command
    }

    fn start(&self, settings: &str, knobs: &[(Knob, i64)]) -> Daemon {
        let mut daemon = Daemon::spawn(self.command(settings, knobs));
        daemon.hears("INFO ready");
        daemon
    }
}

/// A batch's pixels, wherever they stand. A GPU's memory is a file here.
fn images(batch: &Batch) -> Vec<u8> {
    let (ring, slot) = batch.ring();
    let Some(gpu) = ring.gpu() else { return batch.images().to_vec() };
    assert!(batch.images().is_empty(), "the slot's own room for them is not shown");
    assert_eq!(gpu.pixels.device, GPUS[0]);
    let shape = batch.shape();
    let mut images =
        vec![0; [shape.batch, shape.height, shape.width, shape.channels].map(|n| n as usize).iter().product()];
    let file = File::from(gpu.fd.try_clone_to_owned().unwrap());
    file.read_exact_at(&mut images, u64::from(slot) * gpu.pixels.stride).unwrap();
    images
}

/// All that a run delivers, and whether it stood in a GPU.
fn run(home: &Home) -> (Pixels, bool) {
    let mut trainer = Trainer::attach(home);
    let (mut seen, mut in_gpu) = (Pixels::new(), false);
    loop {
        match trainer.session.next(None, &mut Patient).unwrap() {
            Next::Batch(batch) => {
                let images = images(&batch);
                in_gpu = batch.ring().0.gpu().is_some();
                let picture = images.len() / batch.records().len();
                for (place, &record) in batch.records()[..batch.shown()].iter().enumerate() {
                    let pixels = images[place * picture..][..picture].to_vec();
                    assert!(seen.insert((batch.epoch(), record), pixels).is_none());
                }
            }
            Next::EpochEnd(_) => {}
            Next::Done => return (seen, in_gpu),
        }
    }
}

/// Why a trainer with these GPUs is refused.
#[track_caller]
fn refusal(home: &Home, gpus: &[[u8; 16]]) -> String {
    match Trainer::with(home, Options { gpus: gpus.to_vec(), ..options() }) {
        Err(AttachError::Refused(refusal)) => refusal.message,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was let in"),
    }
}

#[test]
fn a_gpu_ring_has_the_pixels_of_a_host_ring_and_its_epochs_add_up() {
    let machine = Machine::new(38);
    let mut first = None;
    for (placement, in_gpu) in [("host", false), ("gpu:0", true), ("auto", true)] {
        let settings = format!("epochs = 2\nshuffle = true\nplacement = \"{placement}\"");
        let daemon = machine.start(&settings, &[(Knob::Gpus, 2)]);
        let (pixels, found) = run(&machine.home);
        assert_eq!((pixels.len(), found), (2 * 38, in_gpu), "{placement}");
        // Six slots of 2 MiB, in the GPU and, page-locked, in the host. A thread of their own locks them while the epochs go on.
        let taken = if in_gpu { 12 << 20 } else { 0 };
        machine.home.wait_for("all slots are page-locked", |status| {
            let place = status.ring.as_ref().unwrap();
            (place.gpu_bytes, place.page_locked) == (taken, taken)
        });
        assert_eq!(machine.home.status().ring.unwrap().placement, if in_gpu { "gpu:0" } else { "host" });
        machine.home.audit();
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
        assert!(*first.get_or_insert_with(|| pixels.clone()) == pixels, "{placement}");
    }
}

#[test]
fn a_copy_that_fails_on_a_gpu_that_is_well_is_made_again_and_one_that_fails_twice_fails_the_stream_alone() {
    let machine = Machine::new(20);
    let daemon = machine.start("epochs = 1\nplacement = \"gpu:0\"", &[(Knob::FailUploads, 1)]);
    assert_eq!(run(&machine.home).0.len(), 20);
    machine.home.audit();
    daemon.stop();
    fs::remove_dir_all(machine.home.path("state")).unwrap();
    let daemon = machine.start("epochs = 1\nplacement = \"gpu:0\"", &[(Knob::FailUploads, 1000)]);
    let mut trainer = Trainer::attach(&machine.home);
    let error = trainer.session.next(None, &mut Patient).unwrap_err().to_string();
    assert!(error.contains("cannot be copied to GPU 0") && error.contains("OUT_OF_MEMORY"), "{error}");
    assert!(machine.home.status().failure.contains("OUT_OF_MEMORY"), "the daemon stands, and says so");
    drop(trainer);
    daemon.stop();
}

#[test]
fn a_copy_that_never_comes_back_ends_the_daemon_and_the_next_one_delivers_everything() {
    let machine = Machine::new(20);
    let settings = "epochs = 1\nplacement = \"gpu:0\"";
    let mut command = machine.command(settings, &[(Knob::HoldUploads, 1)]);
    command.env("FOREBAY_GPU_HANG_MS", "200");
    let (status, said) = Daemon::spawn(command).ends();
    assert!(!status.success() && said.contains("the driver hangs") && said.contains("forebay-upload"), "{said}");
    let _daemon = machine.start(settings, &[]);
    assert_eq!(run(&machine.home).0.len(), 20);
    machine.home.audit();
}

#[test]
fn rule_25_trainers_can_make_a_ring_writable_only_with_pin_memory_and_its_pixels_in_the_host() {
    let machine = Machine::new(8);
    for (settings, pinnable) in [
        ("pin_memory = false", false),
        ("pin_memory = true", true),
        ("pin_memory = true\nplacement = \"gpu:0\"", false),
    ] {
        let daemon = machine.start(&format!("epochs = 1\n{settings}"), &[]);
        let mut trainer = Trainer::attach(&machine.home);
        let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("no batch") };
        let ring = batch.ring().0;
        assert_eq!((ring.is_pinnable(), ring.while_writable(|| ()).is_ok()), (pinnable, pinnable), "{settings}");
        assert_eq!(batch.records(), [0, 1, 2, 3]);
        drop((batch, trainer));
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
    }
}

#[test]
fn lanes_of_the_gpu_write_into_the_ring_and_only_what_others_made_is_copied_there() {
    let machine = Machine::new(30);
    let bad = |number| fs::write(machine.home.picture(number), b"no picture").unwrap();
    bad(7);
    let picture: u64 = 16 * 16 * 3;
    let mut first = None;
    // A place that stands in for the bad record, two more that fill up the last batch, and what the CPU lane has made.
    for (lanes, gpus, copied) in
        [("cpu", 1, None), ("hardware", 1, Some(3)), ("hybrid", 1, Some(3)), ("hardware", 2, Some(3))]
    {
        let decode =
            format!("[decode]\nthreads = 2\nlanes = [\"{lanes}\"]\nnvjpeg = \"{}\"\n", machine.fake.path().display());
        let settings =
            "epochs = 1\nshuffle = true\non_error = \"replace\"\nlast_batch_policy = \"fill\"\nplacement = \"gpu:0\"";
        let command = machine.command_with(settings, &decode, &[(Knob::Gpus, gpus)]);
        let mut daemon = Daemon::spawn(command);
        daemon.hears("INFO ready");
        let mut trainer = Trainer::attach(&machine.home);
        let mut seen = Vec::new();
        while let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() {
            seen.push((batch.records().to_vec(), images(&batch)));
        }
        let place = machine.home.status().ring.unwrap();
        if let Some(places) = copied {
            assert_eq!(place.copied, places * picture, "{lanes}");
        } else {
            assert!(place.copied > 3 * picture, "{lanes} on {gpus}: {place:?}");
        }
        drop(trainer);
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
        assert!(*first.get_or_insert_with(|| seen.clone()) == seen, "{lanes} on {gpus}");
    }
}

#[test]
fn rule_16_pixels_in_a_gpu_outlive_their_daemon_and_the_next_one_delivers_the_rest() {
    let machine = Machine::new(40);
    let settings = "epochs = 1\nplacement = \"gpu:0\"";
    let daemon = machine.start(settings, &[]);
    let mut trainer = Trainer::attach(&machine.home);
    let Next::Batch(held) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("no batch") };
    let before = images(&held);
    daemon.kill();
    let _daemon = machine.start(settings, &[]);
    let mut seen: Vec<i64> = held.records().to_vec();
    while let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() {
        assert_eq!(images(&batch).len(), before.len());
        seen.extend(&batch.records()[..batch.shown()]);
    }
    assert_eq!(images(&held), before, "the memory of the dead daemon's ring");
    seen.sort_unstable();
    // Whoever comes back late may get again what it holds (rule 15).
    seen.dedup();
    assert_eq!(seen, (0..40).collect::<Vec<_>>());
    machine.home.audit();
}

#[test]
fn rule_15_a_trainer_that_is_killed_with_a_batch_of_a_gpu_ring_leaves_it_to_another() {
    let machine = Machine::new(24);
    let _daemon = machine.start("epochs = 1\nplacement = \"gpu:0\"", &[]);
    let (mut victim, mut other) = (Puppet::attach(&machine.home), Puppet::attach(&machine.home));
    let lost = victim.next().batch();
    victim.kill();
    let seen = batches(&other.finish());
    assert_eq!(records(&seen), (0..24).collect::<Vec<_>>());
    assert!(seen.iter().any(|batch| batch.seq == lost.seq), "the same batch, from the same slot");
    machine.home.audit();
}

#[test]
fn rule_04_a_further_ring_stands_in_the_same_gpu_and_the_memory_of_the_first_is_free_when_its_last_slot_is() {
    let machine = Machine::new(60);
    let expected = {
        let daemon = machine.start("epochs = 1\ntrainers = 1", &[]);
        let (pixels, _) = run(&machine.home);
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
        pixels
    };
    let _daemon = machine.start("epochs = 1\ntrainers = 1\nplacement = \"gpu:0\"", &[]);
    let gpu_bytes = || machine.home.status().ring.unwrap().gpu_bytes;
    let ring = gpu_bytes();
    let mut leavers = [(); 2].map(|()| {
        let mut leaver = Puppet::attach(&machine.home);
        leaver.leave(2);
        leaver
    });
    let mut trainer = Trainer::attach(&machine.home);
    let Next::Batch(first) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("no batch") };
    assert!(trainer.session.rings().count() == 2 && trainer.session.rings().all(|ring| ring.gpu().is_some()));
    assert_eq!(gpu_bytes(), 2 * ring);
    for leaver in &mut leavers {
        leaver.kill();
    }
    machine.home.wait_for("the first ring is gone", |status| slots(status) == 4 && status.slots_quarantined == 0);
    assert_eq!(gpu_bytes(), ring);
    let mut seen = vec![(first.records().to_vec(), images(&first))];
    while let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() {
        assert_eq!(trainer.session.rings().count(), 1);
        seen.push((batch.records().to_vec(), images(&batch)));
    }
    assert_eq!(seen.len(), 60 / 4 - 4);
    for (records, images) in seen {
        let pixels: Vec<u8> = records.iter().flat_map(|record| expected[&(0, *record)].clone()).collect();
        assert!(images == pixels, "{records:?}");
    }
    machine.home.audit();
}

#[test]
fn a_trainer_that_cannot_map_the_gpu_is_refused_with_the_cause() {
    let machine = Machine::new(8);
    let _daemon = machine.start("placement = \"gpu:1\"", &[(Knob::Gpus, 2)]);
    let blind = refusal(&machine.home, &[]);
    assert!(blind.contains("this trainer sees none") && blind.contains("placement = \"host\""), "{blind}");
    let other = refusal(&machine.home, &GPUS[..1]);
    assert!(other.contains("GPU 1 (GPU-a1a1") && other.contains("sees another GPU: GPU-a0a0"), "{other}");
}

#[test]
fn the_first_trainer_of_an_auto_stream_decides_and_others_have_to_agree() {
    let machine = Machine::new(8);
    let mut daemon = machine.start("placement = \"auto\"", &[]);
    let first = Trainer::attach(&machine.home);
    assert!(first.session.rings().all(|ring| ring.gpu().is_some()));
    let refused = refusal(&machine.home, &GPUS[1..]);
    assert!(refused.contains("sees another GPU"), "{refused}");
    drop((first, daemon.hears("are in memory of a GPU")));
    daemon.stop();
    let mut daemon = machine.start("placement = \"auto\"", &[]);
    let blind = Trainer::with(&machine.home, Options { gpus: Vec::new(), ..options() }).unwrap();
    assert!(blind.session.rings().all(|ring| ring.gpu().is_none()));
    daemon
        .hears("are in memory of the host: the stream's pixels belong in memory of a GPU, but this trainer sees none");
    let _seeing = Puppet::attach(&machine.home);
    assert_eq!(machine.home.status().ring.unwrap().placement, "host", "it has a trainer");
}

#[test]
fn an_auto_stream_that_nobody_reads_is_placed_again_and_continues_from_its_ledger() {
    let machine = Machine::new(40);
    let mut daemon = machine.start("epochs = 1\nplacement = \"auto\"", &[]);
    let (blind, seeing) = (Options { gpus: Vec::new(), ..options() }, options());
    let mut seen = Vec::new();
    for (trainer, in_gpu) in [(&blind, false), (&seeing, true), (&seeing, true), (&blind, false), (&seeing, true)] {
        let mut trainer = Trainer::with(&machine.home, trainer.clone()).unwrap();
        assert!(trainer.session.rings().all(|ring| ring.gpu().is_some() == in_gpu));
        for _ in 0..2 {
            let Next::Batch(batch) = trainer.session.next(None, &mut Patient).unwrap() else { panic!("no batch") };
            batch.ack().unwrap();
            assert_eq!(images(&batch).len(), 4 * 16 * 16 * 3);
            seen.extend_from_slice(batch.records());
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..40).collect::<Vec<_>>());
    for _ in 0..3 {
        daemon.hears("opened again as this trainer needs it");
    }
    machine.home.audit();
}

#[test]
fn a_machine_that_cannot_share_a_gpu_says_why_and_auto_takes_the_host() {
    let machine = Machine::new(8);
    let cases: [(&[(Knob, i64)], &str); 8] = [
        (&[(Knob::Gpus, 0)], "/dev/nvidiactl is not"),
        (&[(Knob::Part, 1)], "MIG"),
        (&[(Knob::ComputeMode, 3)], "compute mode"),
        (&[(Knob::NoVirtualMemory, 1)], "virtual memory management"),
        (&[(Knob::NoDescriptors, 1)], "file descriptors"),
        (&[(Knob::Memory, 1 << 20)], "CUDA_ERROR_OUT_OF_MEMORY"),
        (&[(Knob::NoStreams, 1)], "cuStreamCreate"),
        (&[(Knob::DeadGpu, 1)], "GPU 0 cannot be used (cuDevicePrimaryCtxRetain"),
    ];
    for (knobs, cause) in cases {
        let (_, said) = Daemon::spawn(machine.command("epochs = 1\nplacement = \"gpu:0\"", knobs)).fails();
        assert!(said.contains("stream \"train\": placement: ") && said.contains(cause), "{cause}: {said}");
        let mut daemon = machine.start("epochs = 1\nplacement = \"auto\"", knobs);
        let (pixels, in_gpu) = run(&machine.home);
        assert_eq!((pixels.len(), in_gpu), (8, false), "{cause}");
        daemon.hears(cause);
        daemon.stop();
        fs::remove_dir_all(machine.home.path("state")).unwrap();
    }
    let (_, said) = Daemon::spawn(machine.command("placement = \"gpu:3\"", &[])).fails();
    assert!(said.contains("there is no GPU 3; the daemon sees 1"), "{said}");
}

#[test]
fn a_ring_that_cannot_be_page_locked_works_and_says_so() {
    let machine = Machine::new(8);
    let mut daemon = machine.start("epochs = 1\nplacement = \"gpu:0\"", &[(Knob::NoRegister, 1)]);
    assert_eq!(run(&machine.home).0.len(), 8);
    daemon.hears("not page-locked");
}
