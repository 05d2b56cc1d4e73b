//! Bare loops of the decoders.

use std::time::Duration;

use forebay_cuda::Form;
use forebay_cuda::lane::LaneKind;
use forebay_cuda::lane::ceiling::{Drive, ceiling};
use forebay_fake_gpu::{Count, Fake, Knob};

use crate::{LIMIT, gpu, photographs};

const ENGINES: Drive = Drive { kind: LaneKind::Hardware, form: Form::Planes, states: 2, batch: 5 };

#[test]
fn the_bare_loop_counts_what_it_decodes_and_leaves_out_what_the_engines_do_not_take() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let mut files = photographs(6);
    files.push(b"no JPEG".to_vec());
    assert!(ceiling(&gpu, &files, ENGINES, Duration::ZERO).unwrap() > 0.0);
    assert_eq!(fake.count(Count::Pictures), 20, "a batch of five to begin with and one that counts, for two states");
    fake.set(Knob::Memory, fake.count(Count::DeviceBytes) + (1 << 16));
    let third = Drive { states: 3, ..ENGINES };
    ceiling(&gpu, &files, third, Duration::ZERO).expect_err("states that cannot be set up hold nobody up");
    assert!(ceiling(&gpu, &files[6..], ENGINES, Duration::ZERO).unwrap() <= 0.0, "there is nothing to decode");
}

#[test]
fn every_lanes_decoder_has_a_bare_loop_and_the_batched_ones_give_rgb_as_well() {
    let fake = Fake::new();
    let gpu = gpu(&fake, LIMIT);
    let files = photographs(3);
    for kind in LaneKind::GPU {
        let drive = Drive { kind, ..ENGINES };
        assert!(ceiling(&gpu, &files, drive, Duration::ZERO).unwrap() > 0.0, "{kind}");
    }
    let rgb = Drive { form: Form::Rgb, ..ENGINES };
    assert!(ceiling(&gpu, &files, rgb, Duration::ZERO).unwrap() > 0.0);
}
